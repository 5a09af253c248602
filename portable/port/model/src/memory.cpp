// SPDX-License-Identifier: Apache-2.0
//
// The memory model: which stores a load may return, and what it learns from them.
//
//   load     any store from the floor on (location.hpp); the newest is tried first
//   store    comes last in modification order
//   modify   reads the newest store and comes right after it; continues its release sequence
//   compare  succeeds on the newest store; fails by reading any store that a load may return and
//            that differs, also an old one, with the failure order
//
// seq_cst accesses are ordered as they are executed: one of them reads no store older than the
// newest that an earlier seq_cst access of the cell read or wrote. What a thread may read again and
// again is bounded (stale_rereads), since otherwise a waiting loop would have no end.
#include "execution.hpp"

namespace tactus::inline v0::port::model::detail {
namespace {

constexpr unsigned idle_reads_max = 8;  // then a loop without pause() is taken to give way

constexpr bool acquires(order o) noexcept {
    return o == order::acquire || o == order::acq_rel || o == order::seq_cst || o == order::consume;
}
constexpr bool releases(order o) noexcept {
    return o == order::release || o == order::acq_rel || o == order::seq_cst;
}

std::uint64_t cut(std::uint64_t value, std::uint32_t size) noexcept {
    return size >= 8 ? value : value & ((std::uint64_t{1} << size * 8) - 1);
}

std::uint64_t changed(std::uint64_t old, change how, std::uint64_t operand) noexcept {
    switch (how) {
    case change::exchange:
        return operand;
    case change::add:
        return old + operand;
    case change::subtract:
        return old - operand;
    case change::set_bits:
        return old | operand;
    case change::keep_bits:
        break;
    }
    return old & operand;
}

// A seq_cst load moves the floor of later ones: they do not commute.
std::uint8_t load_ways(order o) noexcept {
    return o == order::seq_cst ? touch_read | touch_write : touch_read;
}

// Under a bound of preemptions the order of a load and a store matters even when the values do not.
std::uint8_t load_ways(order o, const options& how) noexcept {
    if (o == order::seq_cst || !how.reduction || how.preemption_bound)
        return load_ways(o);
    return touch_peek;
}

}  // namespace

execution::readable execution::read_floor(const location& l, bool seq_cst) const {
    std::uint32_t floor = l.floor(threads_[current_].clock);
    if (seq_cst && l.seq_cst_floor > floor)
        floor = l.seq_cst_floor;
    // Reads are counted whether the store was old or not: then it does not depend on when the next
    // store came, and a peek can be done after it as well as before.
    const std::uint32_t last = l.last_seen[current_];
    const bool often = last != 0 && l.rereads[current_] > how_.stale_rereads;
    if (often && last > floor && last <= l.newest())
        floor = last;  // the store after the one that it read so often
    return {floor, !often};
}

/// The current thread reads this store.
std::uint64_t execution::read_store(location& l, std::uint32_t index, order o) {
    const store_record& s = l.stores[index];
    const bool again = l.last_seen[current_] == index + 1;
    l.rereads[current_] = again ? l.rereads[current_] + 1 : 1;
    l.observe(current_, now(), index);
    if (acquires(o) && s.releases)
        me().clock.join(s.published);
    if (o == order::seq_cst && index > l.seq_cst_floor)
        l.seq_cst_floor = index;
    return s.value;
}

void execution::append_store(location& l, std::uint64_t value, order o, bool continues) {
    store_record s;
    s.value = cut(value, l.memory.size);
    if (continues && l.stores.back().releases) {
        s.releases = true;
        s.published = l.stores.back().published;
    }
    if (releases(o)) {
        s.releases = true;
        s.published.join(me().clock);
    }
    l.stores.push_back(s);
    l.observe(current_, now(), l.newest());
    l.rereads[current_] = 0;
    if (o == order::seq_cst)
        l.seq_cst_floor = l.newest();
    std::memcpy(l.memory.value, &s.value, l.memory.size);
}

/// Counts reads in a row that brought nothing new.
void execution::note_idle(bool idle) {
    model_thread& self = me();
    self.idle_reads = idle ? self.idle_reads + 1 : 0;
}

std::uint64_t execution::load(const cell& c, order o, where at) {
    if (me().idle_reads >= idle_reads_max)
        give_way(at);
    const std::uint32_t object = find(c, location_kind::atomic);
    operation done{op::load, o, at, {{{object, load_ways(o, how_)}, {}}}};
    arrive(done);
    location& l = *locations_[find(c, location_kind::atomic)];
    check_usable(l, at);
    l.use(current_, now(), at);
    const std::uint32_t newest = l.newest();
    const auto [floor, all] = read_floor(l, o == order::seq_cst);
    if (!all)
        done.touched[0].ways = load_ways(o);
    check_promises(object, nullptr);
    const std::size_t promised = promise_count(l, o);
    const unsigned chosen = choose(newest - floor + 1 + static_cast<unsigned>(promised));
    if (chosen > newest - floor) {
        const std::uint64_t value = make_promise(object, chosen - (newest - floor) - 1, at);
        done.touched[0].ways = load_ways(o);
        step(done, value, false, true);
        remember(op::load, l.identity, value);
        return value;
    }
    const std::uint32_t index = newest - chosen;
    done.peeked = index;
    note_idle(l.last_seen[current_] == index + 1);
    const std::uint64_t value = read_store(l, index, o);
    step(done, value, chosen != 0);
    remember(op::load, l.identity, value);
    return value;
}

void execution::store(const cell& c, std::uint64_t value, order o, where at) {
    const std::uint32_t object = find(c, location_kind::atomic);
    operation done{op::store, o, at, {{{object, touch_write}, {}}}};
    arrive(done);
    done.appended = true;
    location& l = *locations_[find(c, location_kind::atomic)];
    check_usable(l, at);
    l.use(current_, now(), at);
    check_promises(object, &value);
    append_store(l, value, o, false);
    note_idle(false);
    step(done, value);
    remember(op::store, l.identity, value);
}

std::uint64_t execution::modify(const cell& c, change how, std::uint64_t operand, order o,
                                where at) {
    const std::uint32_t object = find(c, location_kind::atomic);
    operation done{op::modify, o, at, {{{object, touch_read | touch_write}, {}}}};
    arrive(done);
    done.appended = true;
    location& l = *locations_[find(c, location_kind::atomic)];
    check_usable(l, at);
    l.use(current_, now(), at);
    const std::uint64_t old = read_store(l, l.newest(), o);
    const std::uint64_t value = cut(changed(old, how, operand), l.memory.size);
    check_promises(object, &value);
    append_store(l, value, o, true);
    note_idle(false);
    step(done, value);
    remember(op::modify, l.identity, old);
    return old;
}

bool execution::compare_exchange(const cell& c, std::uint64_t& seen, std::uint64_t wanted,
                                 order success, order failure_order, strength how, where at) {
    if (me().idle_reads >= idle_reads_max)
        give_way(at);
    const std::uint32_t object = find(c, location_kind::atomic);
    arrive({op::compare, success, at, {{{object, touch_read | touch_write}, {}}}});
    location& l = *locations_[find(c, location_kind::atomic)];
    check_usable(l, at);
    l.use(current_, now(), at);
    const std::uint32_t newest = l.newest();
    const bool can_succeed = l.stores[newest].value == seen;
    const bool can_fail_weakly = can_succeed && how == strength::weak &&
                                 how_.spurious_weak_failures && me().failed_weakly != object;
    const std::uint32_t floor = read_floor(l, failure_order == order::seq_cst).floor;
    unsigned differing = 0;
    for (std::uint32_t i = floor; i <= newest; ++i)
        differing += l.stores[i].value != seen ? 1 : 0;
    const unsigned chosen =
        choose(differing + (can_succeed ? 1u : 0u) + (can_fail_weakly ? 1u : 0u));
    if (can_succeed && chosen == 0) {
        const std::uint64_t old = read_store(l, newest, success);
        const std::uint64_t value = cut(wanted, l.memory.size);
        check_promises(object, &value);
        append_store(l, value, success, true);
        note_idle(false);
        operation done{op::exchanged, success, at, {{{object, touch_read | touch_write}, {}}}};
        done.appended = true;
        step(done, value);
        remember(op::exchanged, l.identity, old);
        return true;
    }
    std::uint32_t index = newest;
    const bool weakly = can_fail_weakly && chosen == 1;
    if (!weakly) {
        unsigned skip = chosen - (can_succeed ? 1u : 0u) - (can_fail_weakly ? 1u : 0u);
        while (l.stores[index].value == seen || skip-- > 0)
            --index;
    }
    check_promises(object, nullptr);
    note_idle(l.last_seen[current_] == index + 1);
    me().failed_weakly = weakly ? object : no_object;
    seen = read_store(l, index, failure_order);
    step({op::not_exchanged, failure_order, at, {{{object, load_ways(failure_order)}, {}}}}, seen,
         index != newest);
    remember(op::not_exchanged, l.identity, seen);
    return false;
}

}  // namespace tactus::inline v0::port::model::detail
