// SPDX-License-Identifier: Apache-2.0
//
// Hashes linked by index.
#include <tactus/dispatch/suspension_records.hpp>

#include <new>

namespace tactus::inline v0 {
namespace {

/// Slots are numbered from 0 and keys are often small: neither may decide the bucket alone.
constexpr std::uint32_t spread(std::uint64_t value) noexcept {
    return static_cast<std::uint32_t>((value * 0x9e3779b97f4a7c15) >> 32);
}

}  // namespace

suspension_records::suspension_records(memory_source& memory, std::uint32_t capacity) noexcept
    : memory_(memory) {
    TACTUS_CHECK(2, capacity > 0 && (capacity & (capacity - 1)) == 0);
    const bool made = allocate(capacity);
    TACTUS_CHECK(1, made);
}

suspension_records::~suspension_records() {
    memory_.release(nodes_, capacity_ * bytes_each, alignof(node));
}

bool suspension_records::allocate(std::uint32_t capacity) noexcept {
    void* block = memory_.allocate(capacity * bytes_each, alignof(node));
    if (block == nullptr)
        return false;
    nodes_ = ::new (block) node[capacity];
    void* behind = nodes_ + capacity;
    actors_ = ::new (behind) std::uint32_t[std::size_t{2} * capacity];
    conditions_ = actors_ + capacity;
    for (std::uint32_t i = 0; i < 2 * capacity; ++i)
        actors_[i] = none;  // and the conditions
    capacity_ = capacity;
    return true;
}

bool suspension_records::grow() noexcept {
    node* const nodes = nodes_;
    const std::uint32_t capacity = capacity_;
    if (!allocate(2 * capacity))
        return false;
    // All are live, or there would have been one to use again. Rings go on as they are; who was in
    // a bucket goes into another.
    for (std::uint32_t i = 0; i < used_; ++i) {
        nodes_[i] = nodes[i];
        const suspension_record& r = nodes_[i].record;
        link<&node::actor>(bucket_of(r.who), i);
        if (nodes_[i].first)
            link<&node::bucket>(bucket_of(r.on, r.key), i);
    }
    memory_.release(nodes, capacity * bytes_each, alignof(node));
    return true;
}

std::uint32_t& suspension_records::bucket_of(mailbox_index who) const noexcept {
    return actors_[spread((std::uint64_t{who.generation} << 32) | who.slot) & (capacity_ - 1)];
}

std::uint32_t& suspension_records::bucket_of(resume_condition::kind on,
                                             std::uint64_t key) const noexcept {
    return conditions_[spread(key + static_cast<std::uint64_t>(on)) & (capacity_ - 1)];
}

template <suspension_records::links suspension_records::node::* Which>
void suspension_records::link(std::uint32_t& head, std::uint32_t at) noexcept {
    nodes_[at].*Which = {head, none};
    if (head != none)
        (nodes_[head].*Which).before = at;
    head = at;
}

template <suspension_records::links suspension_records::node::* Which>
void suspension_records::unlink(std::uint32_t& head, std::uint32_t at) noexcept {
    const links own = nodes_[at].*Which;
    (own.before == none ? head : (nodes_[own.before].*Which).next) = own.next;
    if (own.next != none)
        (nodes_[own.next].*Which).before = own.before;
}

std::uint32_t suspension_records::add(const suspension_record& r) noexcept {
    std::uint32_t at = free_;
    if (at != none) {
        free_ = nodes_[at].actor.next;
    } else {
        if (used_ == capacity_ && !grow())
            return none;
        at = used_++;
    }
    node& n = nodes_[at];
    n = {};
    n.record = r;
    n.number = next_number_++;
    n.live = true;
    ++live_;
    link<&node::actor>(bucket_of(r.who), at);
    if (r.on != resume_condition::kind::after)
        join_ring(at);
    return at;
}

void suspension_records::remove(std::uint32_t at) noexcept {
    node& n = nodes_[at];
    TACTUS_CHECK(3, n.live);
    unlink<&node::actor>(bucket_of(n.record.who), at);
    if (n.record.on != resume_condition::kind::after)
        leave_ring(at);
    n.live = false;
    n.actor.next = free_;
    free_ = at;
    --live_;
}

std::uint32_t suspension_records::of_actor(mailbox_index who) const noexcept {
    std::uint32_t at = bucket_of(who);
    while (at != none && !(nodes_[at].record.who == who))
        at = nodes_[at].actor.next;
    return at;
}

suspension_records::of_one suspension_records::all_of(mailbox_index who) const noexcept {
    of_one found{0, none};
    for (std::uint32_t at = bucket_of(who); at != none; at = nodes_[at].actor.next) {
        if (!(nodes_[at].record.who == who))
            continue;
        ++found.count;
        if (found.oldest == none || nodes_[at].number < nodes_[found.oldest].number)
            found.oldest = at;
    }
    return found;
}

std::uint32_t suspension_records::of_timer(mailbox_index who, timer_handle timer) const noexcept {
    std::uint32_t at = bucket_of(who);
    while (at != none && !(nodes_[at].record.who == who && nodes_[at].record.timer == timer))
        at = nodes_[at].actor.next;
    return at;
}

std::uint32_t suspension_records::oldest(resume_condition::kind on,
                                         std::uint64_t key) const noexcept {
    std::uint32_t at = bucket_of(on, key);
    while (at != none && (nodes_[at].record.on != on || nodes_[at].record.key != key))
        at = nodes_[at].bucket.next;
    return at;
}

// ---- rings

void suspension_records::join_ring(std::uint32_t at) noexcept {
    const suspension_record& r = nodes_[at].record;
    const std::uint32_t first = oldest(r.on, r.key);
    if (first == none) {
        nodes_[at].ring = {at, at};
        nodes_[at].first = true;
        link<&node::bucket>(bucket_of(r.on, r.key), at);
        return;
    }
    const std::uint32_t last = nodes_[first].ring.before;
    nodes_[at].ring = {first, last};
    nodes_[last].ring.next = at;
    nodes_[first].ring.before = at;
}

void suspension_records::leave_ring(std::uint32_t at) noexcept {
    const links own = nodes_[at].ring;
    if (nodes_[at].first) {
        std::uint32_t& head = bucket_of(nodes_[at].record.on, nodes_[at].record.key);
        unlink<&node::bucket>(head, at);
        if (own.next != at) {
            nodes_[own.next].first = true;
            link<&node::bucket>(head, own.next);
        }
    }
    nodes_[own.before].ring.next = own.next;
    nodes_[own.next].ring.before = own.before;
}

}  // namespace tactus::inline v0
