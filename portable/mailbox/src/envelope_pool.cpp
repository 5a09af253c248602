// SPDX-License-Identifier: Apache-2.0
//
// The rare paths of envelopes and their pool: what is boxed, the reserve, and poisoning.
#include <tactus/mailbox/envelope_pool.hpp>

namespace tactus::inline v0 {

void envelope::destroy_slowly(const message_type& t, std::uint32_t f) noexcept {
    void* object = payload();
    if (t.destroy != nullptr)
        t.destroy(object);
    if ((f & boxed) != 0)
        outside().source->release(object, t.size, t.alignment);
}

// The start of the inside holds it: a free envelope has no payload.
envelope* envelope_links::get_magazine(const envelope& e) noexcept {
    envelope* to = nullptr;
    std::memcpy(&to, &e.inside_, sizeof to);
    return to;
}
void envelope_links::set_magazine(envelope& e, envelope* to) noexcept {
    std::memcpy(&e.inside_, &to, sizeof to);
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
        e->flags.write(envelope::from_reserve);
        give_for_system(*e);
    }
    cache.flush();
}

envelope& envelope_pool::take_for_system() noexcept {
    const port::lock_guard held(mutex_);
    envelope* e = reserve_;
    TACTUS_CHECK(1, e != nullptr);
    reserve_ = e->next.read();
    --reserve_count_;
    if (poisons_)
        unpoison(*e);
    e->flags.write(envelope::from_reserve);
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

std::uint32_t envelope_pool::reserve_count() noexcept {
    const port::lock_guard held(mutex_);
    return reserve_count_;
}

namespace {

// Beside the link: the magazine link at the start of the inside stays usable too.
constexpr std::size_t poison_from = sizeof(void*);
constexpr std::size_t poison_to = 32;

}  // namespace

void envelope_pool::poison(envelope& e) noexcept {
    auto* bytes = reinterpret_cast<std::byte*>(&e);
    port::poison(bytes + poison_from, poison_to - poison_from);
    port::poison(bytes + poison_to + 8, sizeof(envelope) - poison_to - 8);
}
void envelope_pool::unpoison(envelope& e) noexcept {
    port::unpoison(reinterpret_cast<std::byte*>(&e) + poison_from, sizeof(envelope) - poison_from);
}

}  // namespace tactus::inline v0
