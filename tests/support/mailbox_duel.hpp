// SPDX-License-Identifier: Apache-2.0
//
// A mailbox against the naive one: every operation is done to both, and everything that can be
// seen must agree. Each message's fate is kept, so that none is lost and none is seen twice (M3).
#pragma once

#include <tactus/base/det_rng.hpp>
#include <tactus/mailbox/mailbox.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

#include "naive_mailbox.hpp"

namespace tactus_test {

template <std::size_t Count>
class mailbox_duel {
public:
    explicit mailbox_duel(std::uint64_t seed) : rng_(seed) {}

    /// One random operation; false when the two disagree.
    [[nodiscard]] bool step() {
        const std::uint64_t drawn = rng_.below(100);
        // What was never opened refuses messages; its state word says nothing yet.
        if (!opened_ && drawn >= 40)
            reopen();
        else if (drawn < 30)
            enqueue();
        else if (drawn < 40)
            enqueue_system();
        else if (drawn < 60)
            handle_user();
        else if (drawn < 68)
            handle_system();
        else if (drawn < 78)
            end_run();
        else if (drawn < 82)
            suspend();
        else if (drawn < 95)
            resume();
        else if (drawn < 96 && rng_.below(4) == 0)
            request_close();
        else if (elected_)
            finalize();
        else if (model_.state.closed)
            reopen();
        compare();
        return good_;
    }

    /// Ends the current life; true when every message has met its end once.
    [[nodiscard]] bool conclude() {
        if (!model_.state.ending())
            request_close();
        if (owned_ && !elected_)
            end_run();
        if (elected_)
            finalize();
        for (std::size_t i = 0; i < Count; ++i)
            require(!user_queued_[i] && !system_queued_[i]);
        require(users_.ended() == users_.sent && systems_.ended() == systems_.sent);
        return good_;
    }

    struct tally {
        unsigned sent = 0;
        unsigned handled = 0;
        unsigned refused = 0;
        unsigned finalized = 0;
        [[nodiscard]] unsigned ended() const { return handled + refused + finalized; }
    };
    [[nodiscard]] const tally& users() const { return users_; }
    [[nodiscard]] const tally& systems() const { return systems_; }
    [[nodiscard]] unsigned lives() const { return generation_; }

private:
    void require(bool condition) { good_ = good_ && condition; }

    void enqueue() {
        const unsigned id = unused(user_queued_);
        if (id == Count)
            return;
        ++users_.sent;
        settle(real_.enqueue(envelopes_[id]), model_.enqueue(id), user_queued_[id], users_);
    }
    void enqueue_system() {
        const unsigned id = unused(system_queued_);
        if (id == Count)
            return;
        ++systems_.sent;
        settle(real_.enqueue_system(messages_[id]), model_.enqueue_system(id), system_queued_[id],
               systems_);
    }
    void settle(tactus::enqueued got, naive_taken expected, bool& queued, tally& counts) {
        agree(got, expected);
        if (expected == naive_taken::closed)
            ++counts.refused;
        else
            queued = true;
        if (expected == naive_taken::submit)
            win();
    }

    void handle_user() {
        if (!owned_ || !model_.state.should_process())
            return;
        require(real_.owner_has_user() == !model_.user.empty());
        if (rng_.below(4) == 0) {
            require(real_.fetch_batch() <= model_.user.size());
            require(!real_.first_deadline());
        }
        tactus::envelope* e = real_.next_user();
        require((e == nullptr) == model_.user.empty());
        if (e == nullptr || !good_)
            return;
        const unsigned id = model_.user.pop_front();
        require(e == &envelopes_[id]);
        if (rng_.below(8) == 0) {
            real_.put_back(*e);
            model_.user.push_front(id);
            return;
        }
        end(user_queued_[id], users_.handled);
    }

    void handle_system() {
        if (!owned_ || model_.state.closing)
            return;
        if (held_.empty()) {
            held_list_ = real_.drain_system();
            require(held_list_.size() == model_.system.size());
            while (!model_.system.empty())
                held_.push_back(model_.system.pop_front());
        }
        handle_held(rng_.below(4));
    }
    void handle_held(std::uint64_t at_most) {
        for (; at_most > 0 && !held_.empty() && good_; --at_most) {
            const unsigned id = held_.pop_front();
            require(held_list_.pop() == &messages_[id]);
            end(system_queued_[id], systems_.handled);
        }
    }

    void end_run() {
        if (!owned_ || elected_)
            return;
        if (!model_.state.closing)
            handle_held(Count);
        const naive_taken expected = model_.end_run();
        agree(real_.end_run(), expected);
        owned_ = expected != naive_taken::accepted;
        elected_ = expected == naive_taken::closed;
    }

    void suspend() {
        const auto why = any_kind();
        const bool changed = model_.state.suspend(why) == tactus::mailbox_owed::changed;
        require(real_.state().suspend(why) == changed);
    }
    void resume() {
        const auto why = any_kind();
        const bool changed = model_.state.resume(why) == tactus::mailbox_owed::changed;
        require(real_.state().resume(why) == changed);
        if (!changed)
            return;
        const bool submit = model_.offer_work();
        require(real_.offer_work() == submit);
        if (submit)
            win();
    }

    void request_close() {
        const tactus::mailbox_owed owed = model_.state.request_close();
        require(real_.state().request_close() == owed);
        if (owed == tactus::mailbox_owed::finalize) {
            win();
            elected_ = true;
        }
    }

    struct sink {
        mailbox_duel& duel;
        void refused(tactus::system_message& m) { duel.finalized(m); }
        void refused(tactus::envelope& e) { duel.finalized(e); }
    };
    // Order: the drained ones, the queued ones, then the users.
    void finalized(tactus::system_message& m) {
        auto& from = held_.empty() ? model_.system : held_;
        require(!from.empty());
        if (!good_)
            return;
        const unsigned id = from.pop_front();
        require(&m == &messages_[id]);
        end(system_queued_[id], systems_.finalized);
    }
    void finalized(tactus::envelope& e) {
        require(held_.empty() && model_.system.empty() && !model_.user.empty());
        if (!good_)
            return;
        const unsigned id = model_.user.pop_front();
        require(&e == &envelopes_[id]);
        end(user_queued_[id], users_.finalized);
    }
    void finalize() {
        const std::size_t systems = held_.size() + model_.system.size();
        const std::size_t users = model_.user.size();
        ++generation_;
        const auto left = real_.finalize(generation_, held_list_, sink{*this});
        held_list_ = {};
        require(left.system == systems && left.user == users);
        require(held_.empty() && model_.system.empty() && model_.user.empty());
        model_.state.finish_close();
        owned_ = false;
        elected_ = false;
    }
    void reopen() {
        const bool scheduled = rng_.next_bool();
        generation_ += static_cast<std::uint32_t>(rng_.below(2));  // not lower than announced
        real_.open(generation_, scheduled);
        model_.open(scheduled);
        opened_ = true;
        owned_ = scheduled;
    }

    void compare() {
        if (!opened_)
            return;
        require(real_.state().state() == model_.state.state());
        require(real_.state().should_process() == model_.state.should_process());
        for (const auto why : {tactus::suspension::supervision, tactus::suspension::await})
            require(real_.state().suspend_count(why) == model_.state.count(why));
        require(real_.generation() == generation_);
        require(real_.has_system_messages() == !model_.system.empty());
        if (!owned_)
            require(real_.has_user_messages() == !model_.user.empty());
    }

    /// M1: there is at most one owner.
    void win() {
        require(!owned_);
        owned_ = true;
    }
    void end(bool& queued, unsigned& counter) {
        require(queued);
        queued = false;
        ++counter;
    }
    void agree(tactus::enqueued got, naive_taken expected) {
        require(static_cast<unsigned>(got) == static_cast<unsigned>(expected));
    }
    tactus::suspension any_kind() {
        return rng_.next_bool() ? tactus::suspension::supervision : tactus::suspension::await;
    }
    unsigned unused(const std::array<bool, Count>& queued) {
        const auto from = static_cast<unsigned>(rng_.below(Count));
        for (unsigned i = 0; i < Count; ++i) {
            if (!queued[(from + i) % Count])
                return static_cast<unsigned>((from + i) % Count);
        }
        return Count;
    }

    tactus::det_rng rng_;
    tactus::mailbox real_;
    naive_mailbox<Count> model_;
    std::array<tactus::envelope, Count> envelopes_;
    std::array<tactus::system_message, Count> messages_;
    std::array<bool, Count> user_queued_{};
    std::array<bool, Count> system_queued_{};
    naive_queue<Count> held_;  // system messages drained and not yet handled
    tactus::oldest_first held_list_;
    tally users_;
    tally systems_;
    std::uint32_t generation_ = 1;
    bool opened_ = false;
    bool owned_ = false;
    bool elected_ = false;
    bool good_ = true;
};

static_assert(static_cast<unsigned>(naive_taken::submit) ==
              static_cast<unsigned>(tactus::enqueued::submit));
static_assert(static_cast<unsigned>(naive_taken::closed) ==
              static_cast<unsigned>(tactus::enqueued::closed));

}  // namespace tactus_test
