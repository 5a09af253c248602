// SPDX-License-Identifier: Apache-2.0
//
// A user queue against a naive one: an array in the order in which messages are to be handled, kept
// by insertion, straight from the specification (MB).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <tactus/base/det_rng.hpp>
#include <tactus/mailbox/user_queue.hpp>

#include "portable_test.hpp"

namespace tactus_test {

struct ranked {
    std::uint32_t rank;
};
struct urgent : tactus::control_message {
    std::uint32_t rank = 0;
};

/// By rank; says that it failed on the call it is told to.
struct rank_order final : tactus::message_order {
    std::uint64_t calls = 0;
    std::uint64_t fails_at = ~std::uint64_t{0};

    [[nodiscard]] answer before(tactus::envelope& a, tactus::envelope& b) noexcept override {
        if (++calls >= fails_at)
            return answer::failed;
        return a.get_if<ranked>()->rank < b.get_if<ranked>()->rank ? answer::yes : answer::no;
    }
};

class queue_duel {
public:
    static constexpr std::size_t size_max = board::roomy ? 96 : 40;

    queue_duel(tactus::user_queue& queue, tactus::mailbox_kind kind, std::uint64_t seed) noexcept
        : queue_(queue), kind_(kind), random_(seed) {
        for (tactus::envelope& e : envelopes())
            free_[free_count_++] = &e;
    }

    /// One random operation. False when the queue broke, or differs.
    bool step() {
        switch (random_.below(8)) {
        case 0:
            return push_front();
        case 1:
        case 2:
        case 3:
            return random_.below(40) == 0 ? drain(size_max) : pop();
        case 4:
            return pop_back();
        default:
            return push();
        }
    }
    /// Takes everything out in order.
    bool drain(std::size_t max) {
        for (std::size_t i = 0; i < max && count_ > 0; ++i) {
            if (!pop())
                return false;
        }
        return true;
    }
    /// After it broke: everything is there, once, in whatever order.
    void expect_nothing_lost() {
        EXPECT_TRUE(queue_.broken() != nullptr);
        EXPECT_EQ(queue_.size(), count_);
        const auto any = [this] {
            tactus::envelope* e = queue_.take_unreadable();
            return e != nullptr ? e : queue_.pop();
        };
        while (tactus::envelope* e = any()) {
            bool found = false;
            for (std::size_t i = 0; i < count_ && !found; ++i) {
                if (model_[i] == e) {
                    remove(i);
                    found = true;
                }
            }
            EXPECT_TRUE(found);
        }
        EXPECT_EQ(count_, 0u);
        EXPECT_EQ(queue_.size(), 0u);
        queue_.mend();
        EXPECT_TRUE(queue_.broken() == nullptr);
    }
    [[nodiscard]] std::size_t count() const { return count_; }

private:
    [[nodiscard]] static std::array<tactus::envelope, size_max>& envelopes() {
        static std::array<tactus::envelope, size_max> all;
        return all;
    }
    [[nodiscard]] bool by_rank() const {
        return kind_ == tactus::mailbox_kind::priority ||
               kind_ == tactus::mailbox_kind::stable_priority;
    }
    [[nodiscard]] static bool is_urgent(tactus::envelope& e) {
        return e.get_if<urgent>() != nullptr;
    }
    tactus::envelope& fresh() {
        tactus::envelope& e = *free_[--free_count_];
        const auto rank = static_cast<std::uint32_t>(random_.below(6));
        if (kind_ == tactus::mailbox_kind::control_aware && random_.below(3) == 0) {
            EXPECT_TRUE(e.emplace<urgent>(urgent{{}, rank}, nullptr));
        } else {
            EXPECT_TRUE(e.emplace<ranked>(ranked{rank}, nullptr));
        }
        return e;
    }
    void insert(std::size_t at, tactus::envelope& e) {
        for (std::size_t i = count_; i > at; --i)
            model_[i] = model_[i - 1];
        model_[at] = &e;
        ++count_;
    }
    void remove(std::size_t at) {
        free_[free_count_++] = model_[at];
        --count_;
        for (std::size_t i = at; i < count_; ++i)
            model_[i] = model_[i + 1];
    }
    [[nodiscard]] std::size_t place_of(tactus::envelope& e) const {
        std::size_t at = count_;
        if (by_rank()) {
            const std::uint32_t rank = e.get_if<ranked>()->rank;
            while (at > 0 && model_[at - 1]->get_if<ranked>()->rank > rank)
                --at;
        } else if (kind_ == tactus::mailbox_kind::control_aware && is_urgent(e)) {
            while (at > 0 && !is_urgent(*model_[at - 1]))
                --at;
        }
        return at;
    }
    bool push() {
        if (free_count_ == 0)
            return true;
        tactus::envelope& e = fresh();
        if (!queue_.push(e)) {
            free_[free_count_++] = &e;
            EXPECT_TRUE(queue_.broken() != nullptr);
            return false;
        }
        insert(place_of(e), e);
        return same();
    }
    bool push_front() {
        if (free_count_ == 0)
            return true;
        tactus::envelope& e = fresh();
        const bool can =
            kind_ == tactus::mailbox_kind::fifo || kind_ == tactus::mailbox_kind::deque;
        const bool done = queue_.push_front(e);
        if (done)
            insert(0, e);
        else
            free_[free_count_++] = &e;
        EXPECT_EQ(done, can && queue_.broken() == nullptr);
        return same();
    }
    bool pop() {
        const tactus::envelope* expected = count_ == 0 ? nullptr : model_[0];
        EXPECT_TRUE(queue_.peek() == expected);
        const tactus::envelope* got = queue_.pop();
        EXPECT_TRUE(got == expected);
        if (count_ > 0)
            remove(0);
        return got == expected && same();
    }
    bool pop_back() {
        const bool has = kind_ == tactus::mailbox_kind::deque && count_ > 0;
        const tactus::envelope* expected = has ? model_[count_ - 1] : nullptr;
        const tactus::envelope* got = queue_.pop_back();
        EXPECT_TRUE(got == expected);
        if (has)
            remove(count_ - 1);
        return got == expected && same();
    }
    /// A push or pop that broke it is done all the same.
    bool same() {
        EXPECT_EQ(queue_.size(), count_);
        return queue_.size() == count_ && queue_.broken() == nullptr;
    }

    tactus::user_queue& queue_;
    tactus::mailbox_kind kind_;
    tactus::det_rng random_;
    std::array<tactus::envelope*, size_max> model_{};  // the next to be handled first
    std::size_t count_ = 0;
    std::array<tactus::envelope*, size_max> free_{};
    std::size_t free_count_ = 0;
};

}  // namespace tactus_test
