// SPDX-License-Identifier: Apache-2.0
//
// The rare paths of envelopes and their pool: what is boxed, the reserve, and poisoning.
#include <tactus/mailbox/envelope_pool.hpp>

namespace tactus::inline v0 {
namespace {

/// Bytes from a member to the end of its envelope.
template <class Member>
std::size_t behind(const Member& from, const envelope& e) noexcept {
    return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&e + 1) -
                                    reinterpret_cast<const std::byte*>(&from));
}

}  // namespace

void* envelope::make_room(const message_type& t, memory_source* source,
                          std::uint32_t extras) noexcept {
    void* place = &inside_;
    if (!fits(t, extras)) {
        const std::size_t lead = lead_of(t, extras);
        void* const block =
            source != nullptr ? source->allocate(lead + t.size, t.alignment) : nullptr;
        if (block == nullptr)
            return nullptr;
        place = static_cast<std::byte*>(block) + lead;
        const box b{place, source};
        std::memcpy(&inside_, &b, sizeof b);
        extras |= boxed;
    }
    type.write(&t);
    set_flags(extras);
    return place;
}

void envelope::drop_room() noexcept {
    if ((flags() & boxed) != 0)
        release_block(*type.read(), flags());
    type.write(nullptr);
    set_flags(0);
}

void envelope::destroy_slowly(const message_type& t, std::uint32_t f) noexcept {
    if (t.destroy != nullptr)
        t.destroy(payload());
    envelope_note note;
    if ((f & has_note) != 0)
        std::memcpy(&note, note_place(), envelope_note::size);
    if ((f & boxed) != 0)
        release_block(t, f);
    if ((f & has_note) != 0)
        note.reader->ended(note, (f & was_begun) != 0);
}

void envelope::release_block(const message_type& t, std::uint32_t f) const noexcept {
    const box b = outside();
    const std::size_t lead = lead_of(t, f);
    b.source->release(static_cast<std::byte*>(b.block) - lead, lead + t.size, t.alignment);
}

bool envelope::begin(envelope_guard::scope& during) noexcept {
    const std::uint32_t f = flags();
    if ((f & has_guard) != 0)
        return guard_before(outside().block).begin(during);
    envelope_note note;
    std::memcpy(&note, note_place(), envelope_note::size);
    if (!note.reader->begins(note, during))
        return false;
    set_flags(f | was_begun);
    return true;
}

// The sender's place holds it, as two halves: a free envelope has none, and all of the inside can
// be poisoned.
envelope* envelope_links::get_magazine(const envelope& e) noexcept {
    const mailbox_index halves = e.sender.read();
    const std::uint64_t bits = (std::uint64_t{halves.generation} << 32) | halves.slot;
    return reinterpret_cast<envelope*>(static_cast<std::uintptr_t>(bits));
}
void envelope_links::set_magazine(envelope& e, envelope* to) noexcept {
    const auto bits = std::uint64_t{reinterpret_cast<std::uintptr_t>(to)};
    e.sender.write({static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)});
}

envelope_pool::envelope_pool(const options& o) noexcept
    : depot_({.memory = o.memory,
              .capacity = o.capacity + o.reserve_for_system,
              .magazine_size = o.magazine_size}),
      large_payloads_(o.large_payloads),
      poisons_(port::poisoning()) {
    depot_cache cache(depot_);
    for (std::uint32_t n = 0; n < o.reserve_for_system; ++n) {
        envelope* e = cache.take();
        TACTUS_CHECK(2, e != nullptr);  // the region cannot hold even these
        e->set_flags(envelope::from_reserve);
        give_for_system(*e);
    }
    cache.flush();
}

envelope_pool::~envelope_pool() {
    // The memory goes back to whoever gave it.
    if (poisons_)
        port::unpoison(depot_.data(), depot_.constructed_count() * sizeof(envelope));
}

envelope& envelope_pool::take_for_system() noexcept {
    const port::lock_guard held(mutex_);
    envelope* e = reserve_;
    TACTUS_CHECK(1, e != nullptr);
    reserve_ = e->next.read();
    --reserve_count_;
    if (poisons_)
        unpoison(*e);
    e->set_flags(envelope::from_reserve);
    return *e;
}

void envelope_pool::give_for_system(envelope& e) noexcept {
    const port::lock_guard held(mutex_);
    e.next.write(reserve_);
    reserve_ = &e;
    ++reserve_count_;
    if (poisons_)
        poison(e);
}

namespace {

/// In the place of an envelope.
struct pooled_system_message : system_message {
    envelope_pool* pool = nullptr;
};
static_assert(sizeof(pooled_system_message) <= sizeof(envelope));
static_assert(alignof(pooled_system_message) <= alignof(envelope));

void give_back(system_message& m) noexcept {
    auto& pooled = static_cast<pooled_system_message&>(m);
    envelope_pool* pool = pooled.pool;
    pooled.~pooled_system_message();
    pool->give_for_system(*::new (static_cast<void*>(&pooled)) envelope);
}

}  // namespace

system_message& envelope_pool::take_system_message() noexcept {
    envelope& e = take_for_system();
    e.~envelope();
    auto* m = ::new (static_cast<void*>(&e)) pooled_system_message;
    m->pool = this;
    m->done = give_back;
    return *m;
}

std::uint32_t envelope_pool::reserve_count() noexcept {
    const port::lock_guard held(mutex_);
    return reserve_count_;
}

// Everything but the two links: next, and the sender's place.
void envelope_pool::poison(envelope& e) noexcept {
    port::poison(&e.type, sizeof e.type);
    port::poison(&e.tag, behind(e.tag, e));
}
void envelope_pool::unpoison(envelope& e) noexcept {
    port::unpoison(&e.type, sizeof e.type);
    port::unpoison(&e.tag, behind(e.tag, e));
    // Valgrind takes what was unpoisoned for undefined; an empty envelope says that it is empty.
    e.type.write(nullptr);
    e.tag.write(0);
}

}  // namespace tactus::inline v0
