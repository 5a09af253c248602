// SPDX-License-Identifier: Apache-2.0
//
// What the system guardian does beside guarding.
#include "system_guardian.hpp"

#include <tactus/dispatch/dump.hpp>

#include <new>

namespace tactus::inline v0 {

// OH-3: samples are taken from the first subscription on.
const system_services all_services{
    .guardian = []() noexcept -> const actor_type& {
        using guardian = detail::system_guardian;
        static_assert(fits_slot(sizeof(guardian), alignof(guardian)),
                      "it takes no memory that actor_world::plan() does not know");
        return actor_type_of<guardian>();
    },
    .subscribed =
        [](actor_world& world, const event_type& channel) noexcept {
            if (event_type_of<mailbox_sample>.is_a(channel) ||
                event_type_of<dispatcher_sample>.is_a(channel))
                actor_scheduler::tell(world.system_guardian().index(), detail::sampling_wanted{});
        },
};

}  // namespace tactus::inline v0

namespace tactus::inline v0::detail {
namespace {

constexpr lane lanes[dispatcher_sample::lanes] = {lane::cancel, lane::timed, lane::ready};

/// Counts all, keeps what there is room for.
class counting_sink final : public text_sink {
public:
    explicit counting_sink(char* to = nullptr, std::size_t room = 0) noexcept
        : to_(to), room_(room) {}
    void write(std::string_view piece) noexcept override {
        if (kept_ == count_ && kept_ < room_)
            kept_ += piece.copy(to_ + kept_, room_ - kept_);
        count_ += piece.size();
    }
    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] std::size_t kept() const noexcept { return kept_; }

private:
    char* to_;
    std::size_t room_;
    std::size_t kept_ = 0;
    std::size_t count_ = 0;
};

std::uint32_t ms_of(instant t) noexcept {
    return static_cast<std::uint32_t>(t.ns() / 1'000'000);
}

mailbox_sample sample_of(actor_scheduler& kernel, const slot& s, instant at) noexcept {
    mailbox_sample m{.ref = any_ref(kernel.slots().index_of(s)),
                     .user_len = s.user_length(),
                     .system_len = s.system_length(),
                     .at = at};
    if (const mailbox_block* block = s.gated(); block != nullptr) {
        m.capacity = block->gate().capacity();
        if (m.capacity != 0)
            m.percent = static_cast<std::uint32_t>(std::uint64_t{m.user_len} * 100 / m.capacity);
    }
    return m;
}

dispatcher_sample sample_of(dispatcher& d, instant at) noexcept {
    dispatcher_sample s{.dispatcher = d.number(),
                        .workers = d.worker_count(),
                        .parked = d.parked(),
                        .rejected = d.rejected(),
                        .at = at};
    for (std::size_t i = 0; i < dispatcher_sample::lanes; ++i)
        s.queued[i] = d.order().queued_count(lanes[i]);
    for (std::uint32_t i = 0; i < d.worker_count(); ++i)
        s.running += d.worker_at(i).running() != nullptr ? 1U : 0U;
    return s;
}

}  // namespace

// OH-5. Twice: how long it is, and then what it says; it may have grown meanwhile.
void system_guardian::on(const dump_request& r) {
    actor_world& world = context().world();
    dump_options o{.format = r.format};
    if (r.what == dump_what::dispatchers)
        o.actors_max = 0;
    const auto write = [&](text_sink& to) {
        if (r.what == dump_what::scheduler && world.timers() != nullptr)
            world.timers()->dump(to, r.format);
        else
            world.dump(to, o);
    };
    counting_sink length;
    write(length);
    const std::size_t size = length.count();
    const std::size_t room = sizeof(dump_reply::block) + size;
    void* at = world.memory().allocate(room, alignof(dump_reply::block));
    if (at == nullptr) {
        r.reply_to.tell(dump_reply(r.what, r.format, size));
        return;
    }
    auto* block = ::new (at) dump_reply::block{.from = &world.memory(), .room = room};
    counting_sink text(block->text(), size);
    write(text);
    block->size = text.kept();
    r.reply_to.tell(dump_reply(r.what, r.format, text.count(), block));
}

bool system_guardian::wanted() const noexcept {
    const event_stream& stream = context().world().events();
    return stream.is_wanted(event_type_of<mailbox_sample>) ||
           stream.is_wanted(event_type_of<dispatcher_sample>);
}

// One that comes again is not refused (BP-3).
void system_guardian::begin_after(duration d) {
    rests_ =
        context().start_timer_with_fixed_delay("samples", sample_due{}, d, sample_interval) ? 0 : 1;
}

void system_guardian::on(sampling_wanted) {
    if (rests_ == 0)
        return;
    const clock* time = context().world().kernel().time();
    if (time == nullptr)
        return;
    const auto since = duration::from_ms(ms_of(time->now()) - ended_ms_);
    if (sampled_ != 0 && since < sample_interval) {
        begin_after(sample_interval - since);
        return;
    }
    begin_after(sample_interval);
    if (rests_ == 0)
        on(sample_due{});
}

void system_guardian::on(sample_due) {
    // While the last ones are being taken it goes on with these: what says so may have been lost.
    if (next_slot_ != 0 || wanted()) {
        take();
        return;
    }
    (void)context().cancel_timer("samples");
    rests_ = 1;
}

void system_guardian::take() {
    actor_world& world = context().world();
    actor_scheduler& kernel = world.kernel();
    const instant now = kernel.time()->now();
    if (world.events().is_wanted(event_type_of<mailbox_sample>)) {
        const std::uint32_t end = kernel.slots().constructed_count();
        for (std::uint32_t i = 0; i < batch && next_slot_ < end; ++next_slot_) {
            const slot& s = kernel.slots().at(next_slot_);
            if (s.state().closed())
                continue;
            world.events().publish(sample_of(kernel, s, now));
            ++i;
        }
        if (next_slot_ < end) {
            actor_ref<sample_more>(context().self()).tell(sample_more{});
            return;
        }
    }
    if (world.events().is_wanted(event_type_of<dispatcher_sample>)) {
        for (std::uint32_t i = 0; dispatcher* d = kernel.dispatcher_at(i); ++i)
            world.events().publish(sample_of(*d, now));
    }
    sampled_ = 1;
    ended_ms_ = ms_of(now);
    next_slot_ = 0;
}

}  // namespace tactus::inline v0::detail
