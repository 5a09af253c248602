// SPDX-License-Identifier: Apache-2.0
//
// Goal: a gate counts, keeps the line in order, evicts the oldest, and a life that has ended leaves
// nothing behind (MB-1, MB-2).
// Method: random operations of one thread against a naive gate; then the situations that take two,
// step by step.
#include <tactus/mailbox/mailbox_gate.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include <tactus/base/det_rng.hpp>

#include "naive_mailbox.hpp"
#include "portable_test.hpp"
#include "queue_duel.hpp"

using tactus::envelope;
using tactus::gate_waiter;
using tactus::inbox;
using tactus::mailbox_gate;
using tactus::mailbox_options;
using tactus::overflow;
using tactus_test::board;
using tactus_test::ranked;
using tactus_test::urgent;
using entry = tactus::mailbox_gate::entry;

namespace {

constexpr std::size_t count_max = 24;

mailbox_options bounded(std::uint32_t capacity, overflow how) {
    mailbox_options o;
    o.capacity = capacity;
    o.when_full = how;
    return o;
}

/// A bounded mailbox of one thread: the gate and an inbox, and beside it what they should be.
class gate_duel {
public:
    gate_duel(std::uint64_t seed, overflow how) : random_(seed), how_(how) { begin(); }

    void step() {
        switch (random_.below(how_ == overflow::block ? 7 : 5)) {
        case 0:
        case 1:
            how_ == overflow::drop_oldest ? push_over() : push();
            break;
        case 2:
            handle();
            break;
        case 3:
            how_ == overflow::drop_oldest ? take() : handle();
            break;
        case 4:
            if (random_.below(20) == 0) {
                end();
                begin();
            } else {
                handle();
            }
            break;
        case 5:
            wait();
            break;
        default:
            cancel();
            break;
        }
        EXPECT_EQ(gate_.taken(), there_.size() + taken_.size());
        EXPECT_EQ(gate_.anybody_waits(), !line_.empty());
        EXPECT_TRUE(gate_.taken() <= capacity_);
        EXPECT_EQ(gate_.has_aside() || !in_.looks_empty(), !there_.empty());
    }

private:
    struct waiting : gate_waiter {
        gate_duel* duel = nullptr;
        unsigned told = 0;
    };

    void begin() {
        capacity_ = 1 + static_cast<std::uint32_t>(random_.below(5));
        ++generation_;
        gate_.open(generation_, bounded(capacity_, how_));
        in_.open();
        EXPECT_EQ(gate_.capacity(), capacity_);
        EXPECT_TRUE(gate_.when_full() == how_);
    }
    /// A message nobody uses; count_max when there is none.
    std::size_t fresh() {
        for (std::size_t i = 0; i < count_max; ++i) {
            if (!used_[i]) {
                used_[i] = true;
                EXPECT_TRUE(all_[i].emplace<ranked>(ranked{0}, nullptr));
                all_[i].set_generation(generation_);
                return i;
            }
        }
        return count_max;
    }
    [[nodiscard]] unsigned id_of(const envelope& e) const {
        return static_cast<unsigned>(&e - all_.data());
    }
    [[nodiscard]] bool full() const {
        return !line_.empty() || there_.size() + taken_.size() >= capacity_;
    }

    void push() {
        const std::size_t i = fresh();
        if (i == count_max)
            return;
        EXPECT_TRUE(gate_.enter(generation_ + 1) == entry::ended);
        EXPECT_TRUE(gate_.enter(generation_) == (full() ? entry::full : entry::entered));
        if (full()) {
            used_[i] = false;
            return;
        }
        (void)in_.push(all_[i]);
        there_.push_back(static_cast<unsigned>(i));
    }
    void push_over() {
        if (!full()) {
            push();
            return;
        }
        const std::size_t i = fresh();
        if (i == count_max)
            return;
        EXPECT_TRUE(gate_.enter(generation_) == entry::full);
        const auto made = gate_.evict(in_, generation_);
        EXPECT_TRUE(made.result == (there_.empty() ? entry::full : entry::entered));
        EXPECT_TRUE(made.out == (there_.empty() ? nullptr : &all_[there_.at(0)]));
        if (there_.empty()) {
            used_[i] = false;
            return;
        }
        used_[there_.pop_front()] = false;
        (void)in_.push(all_[i]);
        there_.push_back(static_cast<unsigned>(i));
    }
    /// The owner takes some out to handle them later.
    void take() {
        const auto max = static_cast<std::uint32_t>(1 + random_.below(3));
        for (std::uint32_t i = 0; i < max; ++i) {
            if (envelope* e = gate_.take(in_); e != nullptr)
                (void)mine_.push(*e);
        }
        for (std::uint32_t i = 0; i < max && !there_.empty(); ++i)
            taken_.push_back(there_.pop_front());
        EXPECT_EQ(mine_.size(), taken_.size());
    }
    /// The owner handles one: the first that waits gets its credit.
    void handle() {
        if (how_ == overflow::drop_oldest) {
            if (taken_.empty())
                take();
        } else {
            envelope* e = in_.take_all();
            while (e != nullptr) {
                envelope* after = e->next.read();
                EXPECT_TRUE(mine_.push(*e));
                taken_.push_back(there_.pop_front());
                e = after;
            }
        }
        if (taken_.empty())
            return;
        const unsigned id = taken_.pop_front();
        EXPECT_TRUE(mine_.pop() == &all_[id]);
        used_[id] = false;
        std::size_t first = count_max;
        if (!line_.empty()) {
            first = line_.pop_front();
            there_.push_back(carried_[first]);
            expected_ = first;
        }
        gate_.leave(1, in_);
        EXPECT_EQ(expected_, count_max);  // it was told
        if (first != count_max) {
            EXPECT_TRUE(waiters_[first].decided == gate_waiter::outcome::accepted);
        }
    }
    void wait() {
        std::size_t place = 0;
        while (place < waiters_.size() && waiters_[place].listed)
            ++place;
        const std::size_t i = place == waiters_.size() ? count_max : fresh();
        if (i == count_max)
            return;
        waiting& w = waiters_[place];
        w.duel = this;
        w.carried = &all_[i];
        w.served = [](gate_waiter& told) noexcept {
            auto& self = static_cast<waiting&>(told);
            ++self.told;
            gate_duel& duel = *self.duel;
            // In order: while one is served, and while all are told of the end.
            EXPECT_TRUE(&self == &duel.waiters_[duel.expected_]);
            duel.expected_ =
                duel.ending_ && !duel.line_.empty() ? duel.line_.pop_front() : count_max;
        };
        w.told = 0;
        EXPECT_TRUE(gate_.wait(generation_, w) == (full() ? entry::full : entry::entered));
        if (full()) {
            carried_[place] = static_cast<unsigned>(i);
            line_.push_back(static_cast<unsigned>(place));
            EXPECT_TRUE(w.limit == tactus::duration::from_s(10));  // MB-12
        } else {
            (void)in_.push(all_[i]);
            there_.push_back(static_cast<unsigned>(i));
        }
    }
    void cancel() {
        const auto place = static_cast<std::size_t>(random_.below(waiters_.size()));
        const bool waits = waiters_[place].listed;
        EXPECT_EQ(gate_.cancel(waiters_[place]), waits);
        if (!waits)
            return;
        EXPECT_EQ(waiters_[place].told, 0u);
        used_[carried_[place]] = false;
        tactus_test::naive_queue<count_max> rest;
        while (!line_.empty()) {
            const unsigned id = line_.pop_front();
            if (id != place)
                rest.push_back(id);
        }
        line_ = rest;
    }
    void end() {
        envelope* rest = in_.close();
        std::array<unsigned, count_max> left{};
        std::size_t count = 0;
        const auto note = [&](envelope& e) { left[count++] = id_of(e); };
        ending_ = true;
        expected_ = line_.empty() ? count_max : line_.pop_front();
        for (std::size_t i = 0; i < waiters_.size(); ++i) {
            if (waiters_[i].listed)
                used_[carried_[i]] = false;
        }
        gate_.close(note);
        ending_ = false;
        EXPECT_EQ(expected_, count_max);
        while (rest != nullptr) {
            note(*rest);
            rest = rest->next.read();
        }
        EXPECT_EQ(count, there_.size());
        for (std::size_t i = 0; i < count; ++i) {
            EXPECT_EQ(left[i], there_.at(0));
            used_[there_.pop_front()] = false;
        }
        while (envelope* e = mine_.pop()) {
            EXPECT_EQ(id_of(*e), taken_.at(0));
            used_[taken_.pop_front()] = false;
        }
        EXPECT_TRUE(gate_.enter(generation_) == entry::ended);
        EXPECT_TRUE(gate_.enter(generation_ + 1) == entry::ended);  // nobody's, before it is opened
        waiting late;
        EXPECT_TRUE(gate_.wait(generation_ + 1, late) == entry::ended);
        EXPECT_TRUE(gate_.evict(in_, generation_).result == entry::ended);
        EXPECT_EQ(gate_.taken(), 0u);
        for (const bool used : used_)
            EXPECT_FALSE(used);
    }

    tactus::det_rng random_;
    overflow how_;
    std::uint32_t generation_ = 1'020;  // the mark of a life wraps after 1,024
    std::uint32_t capacity_ = 0;
    mailbox_gate gate_;
    inbox in_;
    tactus::envelope_list mine_;
    std::array<envelope, count_max> all_;
    std::array<bool, count_max> used_{};
    std::array<waiting, 4> waiters_;
    std::array<unsigned, 4> carried_{};
    std::size_t expected_ = count_max;  // who is told next
    bool ending_ = false;
    tactus_test::naive_queue<count_max> there_;  // in the inbox or set aside, the oldest first
    tactus_test::naive_queue<count_max> taken_;  // by the owner
    tactus_test::naive_queue<count_max> line_;
};

/// A gate, its inbox and three messages of life 5.
struct small_gate {
    mailbox_gate gate;
    inbox in;
    std::array<envelope, 4> all;

    explicit small_gate(const mailbox_options& o) {
        gate.open(5, o);
        in.open();
        for (envelope& e : all) {
            EXPECT_TRUE(e.emplace<ranked>(ranked{0}, nullptr));
            e.set_generation(5);
        }
    }
    void put(std::size_t i) {
        EXPECT_TRUE(gate.enter(5) == entry::entered);
        (void)in.push(all[i]);
    }
};

}  // namespace

// MB-1, MB-2
TEST(mailbox_gate, MB2_random_operations_with_a_line) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        gate_duel duel(seed, overflow::block);
        for (unsigned i = 0; i < board::random_operations / 32; ++i)
            duel.step();
    }
}
TEST(mailbox_gate, MB1_random_operations_with_evictions) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        gate_duel duel(seed, overflow::drop_oldest);
        for (unsigned i = 0; i < board::random_operations / 32; ++i)
            duel.step();
    }
}

// A message meant for an earlier life, pushed late, holds no credit of this one: evicting it would
// let one in for nothing, and its credit would be given back twice.
TEST(mailbox_gate, RG2_a_late_message_of_an_earlier_life_is_not_evicted) {
    small_gate g(bounded(1, overflow::drop_oldest));
    g.all[0].set_generation(4);
    (void)g.in.push(g.all[0]);
    g.put(1);
    EXPECT_TRUE(g.gate.enter(5) == entry::full);
    const auto made = g.gate.evict(g.in, 5);
    EXPECT_TRUE(made.result == entry::entered);
    EXPECT_TRUE(made.out == &g.all[1]);
    EXPECT_EQ(g.gate.taken(), 1u);
    EXPECT_TRUE(g.gate.has_aside());  // the late one is still its owner's to refuse
    EXPECT_TRUE(g.gate.evict(g.in, 5).result == entry::full);
    g.gate.close([](envelope&) {});
}

// The owner made room between a sender's look and its eviction: nothing has to go.
TEST(mailbox_gate, MB1_nothing_is_evicted_when_there_is_room_after_all) {
    small_gate g(bounded(2, overflow::drop_oldest));
    g.put(0);
    g.put(1);
    EXPECT_TRUE(g.gate.enter(5) == entry::full);
    EXPECT_TRUE(g.gate.take(g.in) == &g.all[0]);
    g.gate.leave(1, g.in);
    const auto made = g.gate.evict(g.in, 5);
    EXPECT_TRUE(made.result == entry::entered);
    EXPECT_TRUE(made.out == nullptr);
    EXPECT_EQ(g.gate.taken(), 2u);
    g.gate.close([](envelope&) {});
}

// TC-M15: control messages stay where the kind knows them, and only there.
TEST(mailbox_gate, TC_M15_control_messages_are_spared_in_control_aware_mailboxes_only) {
    for (const bool knows : {false, true}) {
        mailbox_options o = bounded(2, overflow::drop_oldest);
        if (knows)
            o.kind = tactus::mailbox_kind::control_aware;
        small_gate g(o);
        EXPECT_TRUE(g.all[0].emplace<urgent>(urgent{}, nullptr));
        EXPECT_TRUE(g.all[1].emplace<urgent>(urgent{}, nullptr));
        g.put(0);
        g.put(1);
        const auto made = g.gate.evict(g.in, 5);
        EXPECT_TRUE(made.result == (knows ? entry::full : entry::entered));
        EXPECT_TRUE(made.out == (knows ? nullptr : &g.all[0]));
        EXPECT_TRUE(g.gate.when_full() == overflow::drop_oldest);
        g.gate.close([](envelope&) {});
    }
}

// MB-7: all of several, or none.
TEST(mailbox_gate, MB7_credits_are_taken_together_or_not_at_all) {
    mailbox_gate gate;
    gate.open(1, bounded(3, overflow::reject));
    EXPECT_TRUE(gate.enter(1) == entry::entered);
    EXPECT_TRUE(gate.enter(1, 3) == entry::full);
    EXPECT_EQ(gate.taken(), 1u);
    EXPECT_TRUE(gate.enter(1, 2) == entry::entered);
    EXPECT_EQ(gate.taken(), 3u);
    gate.close([](envelope&) {});
}

// A sender stalled for 1,024 lives must not take a credit that nobody gives back.
// DF-3
TEST(mailbox_gate, DF_3_the_mark_of_a_life_never_comes_round_where_senders_can_stall) {
    if (sizeof(void*) <= 4)
        return;  // cores without threads: see the header
    mailbox_gate gate;
    for (const std::uint32_t later : {1U, 1'024U, 65'536U, 1U << 20U, 1U << 31U}) {
        const std::uint32_t now = 5 + later;
        gate.open(now, bounded(1, overflow::block));
        gate_waiter w;
        EXPECT_TRUE(gate.enter(5) == entry::ended);
        EXPECT_TRUE(gate.wait(5, w) == entry::ended);
        EXPECT_TRUE(gate.has_room(5));
        EXPECT_EQ(gate.taken(), 0u);
        EXPECT_TRUE(gate.enter(now) == entry::entered);
        EXPECT_TRUE(gate.enter(now) == entry::full);
        gate.close([](envelope&) {});
    }
}

TEST(mailbox_gate, a_gate_that_was_never_opened_is_nobodys) {
    mailbox_gate gate;
    gate_waiter w;
    for (const std::uint32_t generation : {0U, 1U, 1'024U}) {
        EXPECT_TRUE(gate.enter(generation) == entry::ended);
        EXPECT_TRUE(gate.wait(generation, w) == entry::ended);
    }
    EXPECT_EQ(gate.taken(), 0u);
    EXPECT_FALSE(gate.anybody_waits());
}

TEST(mailbox_gate, the_largest_capacity_counts_to_its_end) {
    mailbox_gate gate;
    const std::uint32_t most = mailbox_gate::capacity_max;
    gate.open(1, bounded(most, overflow::reject));
    EXPECT_TRUE(gate.enter(1, most - 1) == entry::entered);
    EXPECT_TRUE(gate.enter(1) == entry::entered);
    EXPECT_TRUE(gate.enter(1) == entry::full);
    EXPECT_EQ(gate.taken(), most);
    gate.close([](envelope&) {});
}
