// SPDX-License-Identifier: Apache-2.0
//
// The oracle of the timer wheel: the same contract, as plainly as it can be written (TW-14).
//
// An ordered map by (deadline, sequence) in one sorted array: no levels, no slots, no lists, no
// heap of its own. The latest entry comes first, so that taking the earliest is cheap. Written from
// the specification (TW-2, TW-3, TW-7 … TW-10), not from the wheel's source; where the wheel keeps
// an entry (overflow or not) follows from its invariant W2 and is computed anew at each question.
//
// It compiles for bare metal: no allocation, capacity by template argument.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>

#include <tactus/time/timer_wheel.hpp>

namespace tactus_test {

template <std::size_t Capacity>
class naive_wheel {
public:
    struct entry {
        tactus::tick deadline;   // effective
        std::uint64_t sequence;  // counted from 0, so it does not wrap when the wheel's does
        std::uint64_t payload;
        std::uint64_t id;  // the caller's name for the registration
    };
    using refusal = std::unexpected<tactus::timer_error>;

    void reset(const tactus::timer_wheel_options& o) noexcept {
        options_ = o;
        resolution_ = static_cast<std::uint64_t>(o.resolution.ns());
        wheel_ticks_ = ticks_in(o.max_wheel_duration);
        window_ = std::min<tactus::tick>(ticks_in(o.coalescing.window), 0x7fff'ffff);
        now_ = position_ = o.start.ns() / resolution_;
        today_ = 0;
        sequence_ = 0;
        size_ = 0;
        advancing_ = false;
        capacity_ = o.timers_max;
    }

    /// Nodes retire (TW-4), which is the wheel's affair: it says how many are left.
    void limit_capacity(std::size_t capacity) noexcept { capacity_ = capacity; }

    [[nodiscard]] std::expected<void, tactus::timer_error> insert(tactus::instant now,
                                                                  tactus::duration delay,
                                                                  std::uint64_t payload,
                                                                  std::uint64_t id) noexcept {
        const auto deadline = deadline_tick(now, delay);
        if (!deadline)
            return refusal(deadline.error());
        // Nothing is pending: time may move on to the registration without an advance.
        const std::array was{now_, position_};
        if (size_ == 0 && !advancing_)
            now_ = position_ = std::max(now_, now.ns() / resolution_);
        see_ahead(now, *deadline);
        // Which one is named when both limits are reached is not specified; the wheel names this.
        auto full = overflow_full(*deadline, overflow_size());
        if (!full && size_ == capacity_)
            full = {tactus::timer_errc::capacity_exceeded, as_signed(size_), as_signed(capacity_)};
        if (full) {
            now_ = was[0];
            position_ = was[1];
            return refusal(*full);
        }
        add(*deadline, payload, id);
        return {};
    }

    bool cancel(std::uint64_t id) noexcept {
        const std::size_t at = find(id);
        if (at == size_)
            return false;
        remove(at);
        return true;
    }

    [[nodiscard]] std::expected<void, tactus::timer_error> reschedule(
        std::uint64_t id, tactus::instant now, tactus::duration delay) noexcept {
        const std::size_t at = find(id);
        if (at == size_)
            return refusal({tactus::timer_errc::unknown_timer, 0, 0});
        const auto deadline = deadline_tick(now, delay);
        if (!deadline)
            return refusal(deadline.error());
        see_ahead(now, *deadline);
        // What waits in overflow already makes room for itself.
        const std::size_t others = overflow_size() - (in_overflow(entries_[at]) ? 1u : 0u);
        if (const auto full = overflow_full(*deadline, others))
            return refusal(*full);
        const std::uint64_t payload = entries_[at].payload;
        remove(at);
        add(*deadline, payload, id);
        return {};
    }

    // An advance: begin, take until nothing comes, end. Between two takes anything may be added or
    // removed, as a sink may.
    [[nodiscard]] std::expected<void, tactus::timer_error> begin_advance(
        tactus::instant now) noexcept {
        const tactus::tick target = now.ns() / resolution_;
        if (target < now_)
            return refusal(
                {tactus::timer_errc::time_went_back, as_signed(target), as_signed(now_)});
        now_ = target;
        advancing_ = true;
        deciding_ = true;
        first_of_advance_ = sequence_;
        return {};
    }

    [[nodiscard]] std::optional<entry> next_expired() noexcept {
        // What the sink adds is at the current tick or later and has a later sequence: once it is
        // the earliest, everything before it is out.
        if (size_ == 0 || earliest().sequence >= first_of_advance_)
            return std::nullopt;
        if (deciding_ || earliest().deadline > together_until_) {
            const tactus::tick when = fires_at();
            if (when > now_)
                return std::nullopt;
            deciding_ = false;
            together_until_ = when;
            position_ = std::max(position_, when);
        }
        const entry out = earliest();
        --size_;
        return out;
    }

    void end_advance() noexcept {
        advancing_ = false;
        position_ = now_;
    }

    [[nodiscard]] std::optional<tactus::tick> next_deadline() const noexcept {
        if (size_ == 0)
            return std::nullopt;
        return std::max(fires_at(), now_);
    }

    [[nodiscard]] tactus::tick now() const noexcept { return now_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint64_t sequence() const noexcept {
        return options_.first_sequence + sequence_;
    }
    [[nodiscard]] bool pending(std::uint64_t id) const noexcept { return find(id) != size_; }
    /// The entry that is number `rank` in order; 0 is the earliest.
    [[nodiscard]] const entry& by_rank(std::size_t rank) const noexcept {
        return entries_[size_ - 1 - rank];
    }

    [[nodiscard]] std::size_t overflow_size() const noexcept {
        std::size_t count = 0;
        for (std::size_t i = 0; i < size_ && entries_[i].deadline > position_; ++i)
            count += in_overflow(entries_[i]) ? 1u : 0u;
        return count;
    }

    /// Marks in `slots[level]` where TW-1 puts the entries that wait in the wheel.
    template <class Bitmap>
    void mark_occupied(Bitmap (&slots)[4]) const noexcept {
        for (std::size_t i = 0; i < size_ && entries_[i].deadline > position_; ++i) {
            if (in_overflow(entries_[i]))
                continue;
            const tactus::tick deadline = entries_[i].deadline;
            unsigned level = 3;
            while (level > 0 && digit(deadline, level) == digit(position_, level))
                --level;
            slots[level].set(digit(deadline, level));
        }
    }

private:
    [[nodiscard]] static std::size_t digit(tactus::tick t, unsigned level) noexcept {
        return static_cast<std::size_t>(t >> (8 * level)) & 0xff;
    }
    [[nodiscard]] static std::int64_t as_signed(std::uint64_t n) noexcept {
        return static_cast<std::int64_t>(n);
    }
    [[nodiscard]] tactus::tick ticks_in(tactus::duration d) const noexcept {
        return d.ns() <= 0 ? 0 : static_cast<std::uint64_t>(d.ns()) / resolution_;
    }
    [[nodiscard]] const entry& earliest() const noexcept { return entries_[size_ - 1]; }

    [[nodiscard]] std::expected<tactus::tick, tactus::timer_error> deadline_tick(
        tactus::instant now, tactus::duration delay) const noexcept {
        if (delay > options_.max_timer_duration)
            return refusal({tactus::timer_errc::duration_exceeded, delay.ns(),
                            options_.max_timer_duration.ns()});
        // A deadline in the last incomplete tick could never fire; what is due already always can.
        constexpr std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
        const std::uint64_t last = end / resolution_ * resolution_;
        const std::uint64_t left = last < now.ns() ? 0 : last - now.ns();
        if (delay.ns() > 0 && static_cast<std::uint64_t>(delay.ns()) > left)
            return refusal({tactus::timer_errc::deadline_overflow, delay.ns(), as_signed(left)});
        const std::uint64_t at = (now + delay).ns();
        if (delay.ns() <= 0 && at / resolution_ == now.ns() / resolution_)
            return now.ns() / resolution_;  // past, though its tick has not ended
        return at / resolution_ + (at % resolution_ != 0 ? 1 : 0);
    }

    [[nodiscard]] bool fits_wheel(tactus::tick deadline) const noexcept {
        // Near as seen from the position, or from the latest registration of a far one; and 255
        // slots of the last level ahead at most.
        const tactus::tick from = std::max(position_, today_);
        return (deadline >> 24) - (position_ >> 24) <= 255 &&
               (deadline <= from || deadline - from <= wheel_ticks_);
    }
    void see_ahead(tactus::instant now, tactus::tick deadline) noexcept {
        const tactus::tick today = now.ns() / resolution_;
        if (deadline > now_ && !fits_wheel(deadline) && today > position_)
            today_ = std::max(today_, today);
    }
    [[nodiscard]] bool in_overflow(const entry& e) const noexcept {
        const bool added_due = advancing_ && e.sequence >= first_of_advance_ && e.deadline == now_;
        return e.deadline > position_ && !added_due && !fits_wheel(e.deadline);
    }
    [[nodiscard]] std::optional<tactus::timer_error> overflow_full(
        tactus::tick deadline, std::size_t others) const noexcept {
        const std::size_t limit = options_.overflow_max.value_or(options_.timers_max);
        if (deadline <= now_ || fits_wheel(deadline) || others < limit)
            return std::nullopt;
        return tactus::timer_error{tactus::timer_errc::overflow_exceeded, as_signed(others),
                                   as_signed(limit)};
    }

    void add(tactus::tick deadline, std::uint64_t payload, std::uint64_t id) noexcept {
        const entry added{std::max(deadline, now_), sequence_++, payload, id};
        // Behind everything that is later, before its equals: it has the highest sequence.
        const auto begin = entries_.begin();
        const auto end = begin + static_cast<std::ptrdiff_t>(size_);
        const auto at = std::partition_point(
            begin, end, [&](const entry& e) { return e.deadline > added.deadline; });
        std::move_backward(at, end, end + 1);
        *at = added;
        ++size_;
    }
    void remove(std::size_t at) noexcept {
        const auto begin = entries_.begin();
        std::move(begin + static_cast<std::ptrdiff_t>(at + 1),
                  begin + static_cast<std::ptrdiff_t>(size_),
                  begin + static_cast<std::ptrdiff_t>(at));
        --size_;
    }
    [[nodiscard]] std::size_t find(std::uint64_t id) const noexcept {
        std::size_t at = 0;
        while (at < size_ && entries_[at].id != id)
            ++at;
        return at;
    }

    // TW-10: the tick at which the earliest entry fires, alone or with its group.
    [[nodiscard]] tactus::tick fires_at() const noexcept {
        const tactus::tick first = earliest().deadline;
        if (window_ == 0)
            return first;
        const tactus::tick last_possible = tactus::saturating_add(first, window_);
        std::size_t members = 0;
        tactus::tick latest = first;
        for (; members < size_ && by_rank(members).deadline <= last_possible; ++members)
            latest = by_rank(members).deadline;
        return members >= options_.coalescing.group_min ? latest : first;
    }

    tactus::timer_wheel_options options_{};
    std::size_t capacity_ = 0;
    std::uint64_t resolution_ = 1;
    tactus::tick wheel_ticks_ = 0;
    tactus::tick window_ = 0;
    tactus::tick now_ = 0;
    tactus::tick position_ = 0;  // behind now_ only during an advance
    tactus::tick today_ = 0;     // of the latest registration that was far, seen from there
    std::uint64_t sequence_ = 0;
    std::uint64_t first_of_advance_ = 0;
    tactus::tick together_until_ = 0;  // what was decided last fires up to this tick
    bool deciding_ = false;            // nothing was decided yet in this advance
    bool advancing_ = false;
    std::size_t size_ = 0;
    std::array<entry, Capacity> entries_{};  // latest first
};

}  // namespace tactus_test
