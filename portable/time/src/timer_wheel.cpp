// SPDX-License-Identifier: Apache-2.0
//
// Timer wheel: building, registering, cancelling, moving time. Coalescing is at the end.
#include <tactus/time/timer_wheel.hpp>

#include <tactus/base/check.hpp>
#include <tactus/base/saturating.hpp>

#include <algorithm>
#include <limits>

namespace tactus::inline v0 {

namespace {

constexpr unsigned digit_bits = 8;
constexpr tick digit_mask = detail::slots_per_level - 1;
static_assert(tick{1} << digit_bits == detail::slots_per_level);
static_assert(detail::level_count * digit_bits == 32,
              "one turn of the wheel must fit a node's half deadline");

constexpr tick wheel_span = tick{1} << (detail::level_count * digit_bits);
constexpr tick last_slot_mask = wheel_span / detail::slots_per_level - 1;  // of the last level
static_assert(wheel_span / (1000ull * 3600 * 24) == 49, "49.7 days at 1 ms per tick");

constexpr tick window_ticks_max = std::numeric_limits<std::int32_t>::max();

constexpr unsigned digit_of(tick t, unsigned level) noexcept {
    return static_cast<unsigned>((t >> (digit_bits * level)) & digit_mask);
}

constexpr unsigned slot_id(unsigned level, unsigned digit) noexcept {
    return level * detail::slots_per_level + digit;
}

// Where slot (level, digit) begins, seen from a position before it. Only the last level comes
// round.
constexpr tick slot_begin(tick position, unsigned level, unsigned digit) noexcept {
    const unsigned above = digit_bits * (level + 1);
    const tick begin = (position >> above << above) | (tick{digit} << (digit_bits * level));
    return begin < position ? begin + wheel_span : begin;
}

// Of a deadline less than a turn after the position.
constexpr tick deadline_ahead(tick position, std::uint32_t low) noexcept {
    return position + static_cast<std::uint32_t>(low - static_cast<std::uint32_t>(position));
}

// Numbers the wheels of the process, so that a handle of one is not mistaken for a handle of
// another.
std::uint32_t next_tag() noexcept {
    static constinit port::atomic<std::uint32_t> tags{1};
    return tags.fetch_add(1, std::memory_order_relaxed);  // only distinct, ordered with nothing
}

template <class Slab>
typename Slab::options slab_options(const timer_wheel_options& o) noexcept {
    // Spread over the circle by the golden ratio: tags that are near have generations that are far
    // apart.
    const std::uint32_t tag = o.tag ? *o.tag : next_tag();
    return {.memory = o.nodes,
            .capacity = o.timers_max,
            .first_generation = (tag * 0x9e3779b1u) & ~1u,
            .generation_count = o.generation_count & ~1u};
}

constexpr timer_error error(timer_errc code, std::uint64_t value, std::uint64_t limit) noexcept {
    return {code, static_cast<std::int64_t>(value), static_cast<std::int64_t>(limit)};
}

}  // namespace

template <class Index>
std::optional<timer_error> basic_timer_wheel<Index>::validate(const options& o) noexcept {
    if (o.resolution <= duration::zero())
        return timer_error{timer_errc::invalid_resolution, o.resolution.ns(), 1};
    if (o.timers_max == 0)
        return error(timer_errc::invalid_capacity, o.timers_max, 1);
    if (o.timers_max > timers_limit)
        return error(timer_errc::capacity_too_large, o.timers_max, timers_limit);
    const std::size_t overflow = o.overflow_max.value_or(o.timers_max);
    if (overflow > o.timers_max)
        return error(timer_errc::capacity_too_large, overflow, o.timers_max);
    const std::size_t node_memory = o.nodes == nullptr ? 0 : o.nodes->size_max();
    if (node_memory < node_bytes(o.timers_max))
        return error(timer_errc::node_memory_too_small, node_memory, node_bytes(o.timers_max));
    const bool own = o.overflow != nullptr && o.overflow != o.nodes;  // one region has one user
    const std::size_t overflow_memory = own ? o.overflow->size_max() : 0;
    if (overflow_memory < overflow_bytes(overflow))
        return error(timer_errc::overflow_memory_too_small, overflow_memory,
                     overflow_bytes(overflow));
    return std::nullopt;
}

template <class Index>
auto basic_timer_wheel<Index>::create(const options& o) noexcept
    -> std::expected<basic_timer_wheel, timer_error> {
    if (const auto wrong = validate(o))
        return std::expected<basic_timer_wheel, timer_error>(std::unexpect, *wrong);
    return std::expected<basic_timer_wheel, timer_error>(std::in_place, o);
}

template <class Index>
duration basic_timer_wheel<Index>::checked_resolution(const options& o) noexcept {
    TACTUS_CHECK(1, !validate(o));
    return o.resolution;
}

template <class Index>
basic_timer_wheel<Index>::basic_timer_wheel(const options& o) noexcept
    : scale_(checked_resolution(o)),
      last_deadline_ns_(scale_.begin_of(scale_.floor(instant::never())).ns()),
      max_timer_ns_(
          std::min(static_cast<std::uint64_t>(std::max<std::int64_t>(o.max_timer_duration.ns(), 0)),
                   last_deadline_ns_)),
      max_wheel_ticks_(std::min(scale_.ticks_in(o.max_wheel_duration), wheel_span - 1)),
      window_ticks_(std::min(scale_.ticks_in(o.coalescing.window), window_ticks_max)),
      group_min_(o.coalescing.group_min),
      retained_(o.retained),
      now_(scale_.floor(o.start)),
      position_(now_),
      sequence_(o.first_sequence),
      nodes_(slab_options<node_slab>(o)),
      lists_(nodes_),
      overflow_(nodes_, o.overflow, o.overflow_max.value_or(o.timers_max)) {
    set_position(now_);
}

template <class Index>
std::expected<tick, timer_error> basic_timer_wheel<Index>::unusual_deadline(
    instant now, duration delay) const noexcept {
    // Past already: in the tick of now at the latest, though that tick has begun.
    if (delay <= duration::zero())
        return std::min(scale_.ceil(now + delay), scale_.floor(now));
    const auto delay_ns = static_cast<std::uint64_t>(delay.ns());
    if (delay_ns > max_timer_ns_)
        return std::unexpected(error(timer_errc::duration_exceeded, delay_ns, max_timer_ns_));
    return std::unexpected(error(timer_errc::deadline_overflow, delay_ns,
                                 saturating_sub(last_deadline_ns_, now.ns())));
}

template <class Index>
auto basic_timer_wheel<Index>::insert(instant now, duration delay, std::uint64_t payload) noexcept
    -> std::expected<timer_handle, timer_error> {
    const auto deadline = deadline_tick(now, delay);
    if (!deadline) [[unlikely]]
        return std::unexpected(deadline.error());
    if (size() == 0 || !has_slot(*deadline)) [[unlikely]]
        return insert_unusual(now, *deadline, payload);
    const Index index = nodes_.acquire();
    if (index == none) [[unlikely]]
        return std::unexpected(timer_refused());
    if constexpr (lists::has_hints) {
        if (const Index ahead = nodes_.ahead(); ahead != none)
            port::prefetch(&nodes_[ahead]);
    }
    node& n = nodes_[index];
    n.payload = payload;
    const timer_handle handle(index, n.generation);
    ++sequence_;
    place_in_slot(index, *deadline);
    if (*deadline < next_)
        next_ = *deadline;
    return handle;
}

// The first timer, one that is due already, or one that is far away.
template <class Index>
[[gnu::noinline]] auto basic_timer_wheel<Index>::insert_unusual(instant now, tick deadline,
                                                                std::uint64_t payload) noexcept
    -> std::expected<timer_handle, timer_error> {
    const tick before = now_;
    if (size() == 0)
        pass_idle_time(now);
    if (goes_to_overflow(deadline))
        see_ahead(now);
    if (goes_to_overflow(deadline) && !overflow_.reserve_one()) {
        set_idle_time(before);
        return std::unexpected(overflow_refused());
    }
    const Index index = nodes_.acquire();
    if (index == none) {
        set_idle_time(before);
        return std::unexpected(timer_refused());
    }
    node& n = nodes_[index];
    n.payload = payload;
    const timer_handle handle(index, n.generation);
    place(index, deadline);
    return handle;
}

template <class Index>
[[gnu::noinline]] timer_error basic_timer_wheel<Index>::timer_refused() const noexcept {
    const std::size_t usable = capacity() - retired_count();
    return error(size() < usable ? timer_errc::memory_exhausted : timer_errc::capacity_exceeded,
                 size(), usable);
}

template <class Index>
timer_error basic_timer_wheel<Index>::overflow_refused() const noexcept {
    const std::size_t waiting = overflow_.size();
    if (waiting < overflow_.capacity())
        return error(timer_errc::memory_exhausted, size(), capacity() - retired_count());
    return error(timer_errc::overflow_exceeded, waiting, overflow_.capacity());
}

// Nothing is pending, so time may pass at once: an entry is not farther away because the wheel was
// idle.
template <class Index>
void basic_timer_wheel<Index>::pass_idle_time(instant now) noexcept {
    const tick today = scale_.floor(now);
    if (!advancing_ && today > now_)
        set_idle_time(today);
}

template <class Index>
void basic_timer_wheel<Index>::set_idle_time(tick now) noexcept {
    if (now == now_)
        return;
    now_ = now;
    set_position(now);
}

template <class Index>
bool basic_timer_wheel<Index>::cancel(timer_handle handle) noexcept {
    const Index index = nodes_.find(to_slab(handle));
    if (index == none) {
        TACTUS_DEBUG_CHECK(2, handle == timer_handle{} || nodes_.may_have_issued(to_slab(handle)));
        return false;
    }
    displace(index);
    nodes_.release(index);
    if (size() == 0) [[unlikely]]
        release_if_empty();
    return true;
}

template <class Index>
std::expected<void, timer_error> basic_timer_wheel<Index>::reschedule(timer_handle handle,
                                                                      instant now,
                                                                      duration delay) noexcept {
    const Index index = nodes_.find(to_slab(handle));
    if (index == none)
        return std::unexpected(error(timer_errc::unknown_timer, handle.index(), 0));
    const auto deadline = deadline_tick(now, delay);
    if (!deadline)
        return std::unexpected(deadline.error());
    if (goes_to_overflow(*deadline))
        see_ahead(now);
    // An entry of the overflow frees the place it needs.
    if (goes_to_overflow(*deadline) && nodes_[index].where != detail::in_overflow &&
        !overflow_.reserve_one())
        return std::unexpected(overflow_refused());
    displace(index);
    place(index, *deadline);
    return {};
}

// Links a new or moved entry where it belongs, as the youngest.
template <class Index>
inline void basic_timer_wheel<Index>::place(Index index, tick deadline) noexcept {
    const std::uint64_t sequence = sequence_++;
    if (has_slot(deadline)) [[likely]] {
        place_in_slot(index, deadline);
    } else if (deadline > now_) {
        nodes_[index].deadline_low = static_cast<std::uint32_t>(deadline);
        overflow_.push({deadline, sequence, index});
    } else {
        deadline = now_;  // W5
        nodes_[index].deadline_low = static_cast<std::uint32_t>(deadline);
        lists_.append(due_, index);
    }
    if (deadline < next_)
        next_ = deadline;
}

// The slot of a deadline (W2). One equal to the position shares all digits with it and has its slot
// in level 0, to be fired now.
template <class Index>
inline unsigned basic_timer_wheel<Index>::slot_of(std::uint32_t deadline_low) const noexcept {
    const std::uint32_t differing = deadline_low ^ static_cast<std::uint32_t>(position_);
    // Branches: delays come in kinds, so these are foreseen, and then shifts are constant.
    if (differing >> digit_bits == 0)
        return slot_id(0, digit_of(deadline_low, 0));
    if (differing >> 2 * digit_bits == 0)
        return slot_id(1, digit_of(deadline_low, 1));
    if (differing >> 3 * digit_bits == 0)
        return slot_id(2, digit_of(deadline_low, 2));
    return slot_id(3, digit_of(deadline_low, 3));
}

template <class Index>
inline void basic_timer_wheel<Index>::place_in_slot(Index index, tick deadline) noexcept {
    const auto low = static_cast<std::uint32_t>(deadline);
    nodes_[index].deadline_low = low;
    lists_.append(slot_of(low), index);
}

template <class Index>
void basic_timer_wheel<Index>::set_position(tick position) noexcept {
    position_ = position;
    horizon_ = horizon_from(position, today_);
    room_ = saturating_sub(horizon_, now_);
}

// What is near is a matter of its distance from today, but one slot of the last level cannot hold
// two turns.
template <class Index>
tick basic_timer_wheel<Index>::horizon_from(tick position, tick today) const noexcept {
    const tick turn = (~position & last_slot_mask) + (wheel_span - 1 - last_slot_mask);
    const tick behind = saturating_sub(today, position);
    return saturating_add(position, std::min(saturating_add(behind, max_wheel_ticks_), turn));
}

// The wheel stands where it was last advanced to. What waits in overflow, and is near as seen from
// now, comes in before what is registered now.
template <class Index>
void basic_timer_wheel<Index>::see_ahead(instant now) noexcept {
    const tick today = scale_.floor(now);
    if (today <= position_ || today <= today_)
        return;
    today_ = today;
    set_position(position_);
    promote();
}

template <class Index>
bool basic_timer_wheel<Index>::would_overflow(instant now, duration delay) const noexcept {
    const auto deadline = deadline_tick(now, delay);
    if (!deadline)
        return false;
    // With nothing pending, time passes at once: see pass_idle_time.
    const tick today = scale_.floor(now);
    if (size() == 0 && !advancing_ && today > now_)
        return *deadline > horizon_from(today, today);
    return goes_to_overflow(*deadline) && *deadline > horizon_from(position_, today);
}

template <class Index>
inline void basic_timer_wheel<Index>::displace(Index index) noexcept {
    const node& n = nodes_[index];
    if (n.deadline_low == static_cast<std::uint32_t>(next_))
        next_ = next_unknown;
    if (n.where == detail::in_overflow) [[unlikely]]
        overflow_.remove(index);
    else
        lists_.unlink(index);
}

template <class Index>
void basic_timer_wheel<Index>::release_if_empty() noexcept {
    if (size() != 0 || advancing_)
        return;
    nodes_.release_memory(retained_);
    overflow_.release_memory(retained_);
}

template <class Index>
bool basic_timer_wheel<Index>::begin_advance(tick target) noexcept {
    TACTUS_CHECK(3, !advancing_);
    if (target < now_)
        return false;
    advancing_ = true;
    finished_ = false;
    if (target >= next_)
        next_ = next_unknown;
    // Entries that are due already come first; those that the sink adds go to the other list, for
    // the next advance.
    now_ = target;
    room_ = saturating_sub(horizon_, now_);
    firing_ = due_;
    due_ = other_due();
    if (coalesces()) {
        move_list(firing_, detail::held_list);
        firing_ = detail::ready_list;
    }
    return true;
}

template <class Index>
void basic_timer_wheel<Index>::end_advance() noexcept {
    if (!finished_)
        abandon_advance();
    advancing_ = false;
    release_if_empty();
}

// The sink gave up in the middle. Whatever is due keeps its order and fires first at the next
// advance, without waiting for a group; what the sink had added comes after it.
template <class Index>
void basic_timer_wheel<Index>::abandon_advance() noexcept {
    unsigned rest = detail::ready_list;
    if (coalesces()) {
        move_list(detail::held_list, rest);
    } else {
        rest = other_due();
        if (firing_ != rest)
            move_list(firing_, rest);
    }
    while (step(now_))
        move_list(firing_, rest);
    if (!coalesces()) {
        move_list(due_, rest);
        due_ = rest;
    }
    for (Index i = lists_.head(rest); i != none; i = lists_.after(i))
        nodes_[i].deadline_low = static_cast<std::uint32_t>(now_);  // W5
}

// Moves to the next occupied slot that begins at `limit` or before, and makes its entries those
// that fire. False: there is none, and the position is `limit`.
template <class Index>
bool basic_timer_wheel<Index>::step(tick limit) noexcept {
    // The lowest level with an occupied slot ahead has the earliest one (W2). Higher levels have
    // nothing to offer before the present block of 256 ticks ends.
    constexpr std::size_t no_slot = bitmap<detail::slots_per_level>::none;
    unsigned level = 0;
    std::size_t digit = lists_.occupied(0).first_from(digit_of(position_, 0) + 1);
    if (digit == no_slot && (limit ^ position_) > digit_mask) {
        while (digit == no_slot && ++level < detail::level_count)
            digit = first_ahead(level);
    }
    const bool found = digit != no_slot;
    const tick begin = found ? slot_begin(position_, level, static_cast<unsigned>(digit)) : 0;

    if (!overflow_.empty()) [[unlikely]] {
        const tick far = overflow_.top().deadline;
        if (far <= limit && (!found || far < begin)) {
            enter(far);
            firing_ = slot_id(0, digit_of(position_, 0));
            return true;
        }
    }
    if (!found || begin > limit) {
        enter(limit);
        return false;
    }
    set_position(begin);
    if (level != 0)
        cascade(slot_id(level, static_cast<unsigned>(digit)));
    promote();
    firing_ = slot_id(0, digit_of(position_, 0));
    return true;
}

template <class Index>
inline void basic_timer_wheel<Index>::enter(tick position) noexcept {
    set_position(position);
    promote();
}

// The earliest occupied slot of a level. The last level comes round: what is before the position's
// digit belongs to the next turn.
template <class Index>
std::size_t basic_timer_wheel<Index>::first_ahead(unsigned level) const noexcept {
    const auto& occupied = lists_.occupied(level);
    const std::size_t digit = occupied.first_from(digit_of(position_, level) + 1);
    const bool comes_round =
        digit == bitmap<detail::slots_per_level>::none && level == detail::level_count - 1;
    return comes_round ? occupied.first_from(0) : digit;
}

// Takes from overflow what belongs into the wheel now that the position has moved. That happens
// before anybody can insert at the new position, so an older entry is always in front of a younger
// one of the same deadline.
template <class Index>
inline void basic_timer_wheel<Index>::promote() noexcept {
    while (!overflow_.empty() && fits_wheel(overflow_.top().deadline)) [[unlikely]] {
        const auto entry = overflow_.pop();
        place_in_slot(entry.node, entry.deadline);
    }
}

// Moves the entries of a slot whose time has come to lower levels, which are empty: taken from the
// tail and pushed to the front they keep their order.
template <class Index>
void basic_timer_wheel<Index>::cascade(unsigned where) noexcept {
    lists_.drain_backwards(where,
                           [&](Index i) { lists_.push_front(slot_of(nodes_[i].deadline_low), i); });
}

template <class Index>
void basic_timer_wheel<Index>::move_list(unsigned from, unsigned to) noexcept {
    lists_.drain(from, [&](Index i) { lists_.append(to, i); });
}

template <class Index>
std::optional<tick> basic_timer_wheel<Index>::earliest_in_wheel() const noexcept {
    const std::size_t digit = lists_.occupied(0).first_from(digit_of(position_, 0) + 1);
    if (digit != bitmap<detail::slots_per_level>::none)
        return slot_begin(position_, 0, static_cast<unsigned>(digit));
    for (unsigned level = 1; level < detail::level_count; ++level) {
        const std::size_t above = first_ahead(level);
        if (above != bitmap<detail::slots_per_level>::none)
            return deadline_ahead(position_,
                                  lists_.earliest(slot_id(level, static_cast<unsigned>(above))));
    }
    if (!overflow_.empty())
        return overflow_.top().deadline;
    return std::nullopt;
}

template <class Index>
std::optional<tick> basic_timer_wheel<Index>::find_next_deadline() const noexcept {
    if (!lists_.empty(detail::ready_list) || (advancing_ && !lists_.empty(firing_)))
        return now_;
    if (!lists_.empty(due_) && (advancing_ || !coalesces()))
        return now_;
    const bool held = !lists_.empty(detail::held_list) || !lists_.empty(due_);
    const auto earliest = held ? std::optional(earliest_held()) : earliest_in_wheel();
    if (!earliest)
        return std::nullopt;
    if (coalesces())
        return std::max(group_tick(*earliest), now_);
    // In the middle of an advance slots before now_ may still wait to be fired, and the answer is
    // good for this moment only.
    if (advancing_)
        return std::max(*earliest, now_);
    next_ = *earliest;
    return earliest;
}

// Coalescing (TW-10). Entries whose tick has come but whose group has not wait in held_list,
// ordered by tick; the list spans at most the window, so the lower halves of its deadlines are
// enough.

// The tick of the earliest entry that is due; now_ for one in the due list.
template <class Index>
tick basic_timer_wheel<Index>::earliest_held() const noexcept {
    const Index index = lists_.head(detail::held_list);
    return index == none ? now_ : whole_deadline(nodes_[index].deadline_low);
}

// Finds the next group, brings all of it into held_list and makes it fire. False: nothing fires up
// to now_.
template <class Index>
bool basic_timer_wheel<Index>::next_group() noexcept {
    const auto earliest =
        lists_.empty(detail::held_list) ? earliest_in_wheel() : std::optional(earliest_held());
    const tick fires_at = earliest ? group_tick(*earliest) : now_;
    const bool fires = earliest && fires_at <= now_;
    const tick limit = fires ? std::max(fires_at, position_) : now_;
    while (step(limit))
        move_list(firing_, detail::held_list);
    firing_ = detail::ready_list;
    if (!fires)
        return false;
    // The group is what is held up to fires_at: it moves over to the list that fires, so the rest
    // stays held.
    while (!lists_.empty(detail::held_list)) {
        const Index index = lists_.head(detail::held_list);
        if (whole_deadline(nodes_[index].deadline_low) > fires_at)
            break;
        lists_.unlink(index);
        lists_.append(firing_, index);
    }
    return true;
}

// When the group that begins with `earliest` fires: with its latest member, or at once if it has
// too few.
template <class Index>
tick basic_timer_wheel<Index>::group_tick(tick earliest) const noexcept {
    const tick last = saturating_add(earliest, window_ticks_);
    std::size_t members = 0;
    tick latest = earliest;
    const auto count = [&](tick deadline) {
        if (deadline > last)
            return;
        ++members;
        latest = std::max(latest, deadline);
    };
    const auto count_list = [&](unsigned where, auto whole) {
        for (Index i = lists_.head(where); i != none; i = lists_.after(i))
            count(whole(nodes_[i].deadline_low));
    };
    const auto past = [&](std::uint32_t low) { return whole_deadline(low); };
    const auto ahead = [&](std::uint32_t low) { return deadline_ahead(position_, low); };
    const auto count_slots = [&](unsigned level, std::size_t from, std::size_t end) {
        std::size_t digit = lists_.occupied(level).first_from(from);
        while (digit < end && slot_begin(position_, level, static_cast<unsigned>(digit)) <= last) {
            count_list(slot_id(level, static_cast<unsigned>(digit)), ahead);
            digit = lists_.occupied(level).first_from(digit + 1);
        }
    };

    count_list(detail::held_list, past);
    count_list(due_, [&](std::uint32_t) { return now_; });
    for (unsigned level = 0; level < detail::level_count; ++level)
        count_slots(level, digit_of(position_, level) + 1, detail::slots_per_level);
    constexpr unsigned top = detail::level_count - 1;
    count_slots(top, 0, digit_of(position_, top));
    overflow_.for_each_until(last, [&](const auto& entry) { count(entry.deadline); });
    return members >= group_min_ ? latest : earliest;
}

template class basic_timer_wheel<std::uint32_t>;
template class basic_timer_wheel<std::uint16_t>;

}  // namespace tactus::inline v0
