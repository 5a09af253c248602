// SPDX-License-Identifier: Apache-2.0
//
// A bounded mailbox whose runs belong to whoever wins them, and its senders, as gated_sending.cpp
// has them. At the end each message has exactly one fate, and nothing is left that nobody would
// look for.
#pragma once

#include <array>

#include <tactus/mailbox/mailbox.hpp>
#include <tactus/port/model.hpp>

#include "model_memory.hpp"

namespace scenario {

namespace model = tactus::port::model;
namespace port = tactus::port;

class gated_rig {
public:
    static constexpr unsigned count_max = 6;
    using entry = tactus::mailbox_gate::entry;

    gated_rig(std::uint32_t capacity, tactus::overflow how) : capacity_(capacity) {
        tactus::mailbox_options o;
        o.capacity = capacity;
        o.when_full = how;
        block_.open(o, 1, nullptr);
        box.set_kind(&block_);
        box.open(1, false);
        for (unsigned i = 0; i < count_max; ++i) {
            waiters_[i].rig = this;
            waiters_[i].carried = &envelopes_[i];
            waiters_[i].served = &told;
        }
    }

    /// Sends message `number` of `sender`; evicts where the strategy says so.
    void send(unsigned sender, unsigned number) {
        tactus::envelope& e = prepared(sender, number);
        tactus::mailbox_gate& gate = block_.gate();
        switch (gate.enter(1)) {
        case entry::entered:
            break;
        case entry::ended:
            ++fate_[number].refused;
            return;
        case entry::full: {
            if (gate.when_full() != tactus::overflow::drop_oldest) {
                ++fate_[number].refused;
                return;
            }
            const auto made = gate.evict(box.senders_inbox(), 1);
            if (made.result != entry::entered) {
                ++fate_[number].refused;
                if (made.result == entry::full && box.offer_work())
                    run();
                return;
            }
            if (made.out != nullptr)
                ++fate_of(*made.out).evicted;
            break;
        }
        }
        push(e, number);
    }
    /// Sends, or waits. True when it waits.
    bool offer(unsigned sender, unsigned number) {
        tactus::envelope& e = prepared(sender, number);
        switch (block_.gate().wait(1, waiters_[number])) {
        case entry::entered:
            push(e, number);
            return false;
        case entry::ended:
            ++fate_[number].refused;
            return false;
        case entry::full:
            break;
        }
        return true;
    }
    /// Gives up waiting; when it was decided meanwhile, waits to be told.
    void cancel(unsigned number) {
        if (block_.gate().cancel(waiters_[number])) {
            ++fate_[number].cancelled;
            return;
        }
        port::atomic<std::uint32_t>& told = waiters_[number].told;
        while (told.load(std::memory_order_acquire) == 0)
            (void)port::wait_on(told, 0, -1);
    }
    void suspend() { (void)box.state().suspend(tactus::suspension::await); }
    void resume() {
        if (box.state().resume(tactus::suspension::await) && box.offer_work())
            run();
    }
    void close() {
        if (box.state().request_close() == tactus::mailbox_owed::finalize)
            finalize();
    }

    /// At the end: each message has one fate, nobody waits, nothing is queued.
    void check_all() {
        for (unsigned i = 0; i < count_max; ++i)
            model::require(fate_[i].sum() == sent_[i], "lost, or twice");
        model::require(!block_.gate().anybody_waits(), "somebody waits for nothing");
        if (!box.state().closed()) {
            model::require(block_.gate().taken() == 0, "a credit is missing");
            model::require(!box.has_user_messages() && !box.state().scheduled());
        }
    }
    [[nodiscard]] bool was_handled(unsigned number) const { return fate_[number].handled == 1; }
    [[nodiscard]] tactus::mailbox_gate& gate() { return block_.gate(); }

    tactus::mailbox box;

private:
    struct fate {
        unsigned handled = 0;
        unsigned refused = 0;
        unsigned evicted = 0;
        unsigned left_over = 0;
        unsigned cancelled = 0;
        unsigned closed = 0;  // while it waited
        [[nodiscard]] unsigned sum() const {
            return handled + refused + evicted + left_over + cancelled + closed;
        }
    };
    struct waiter : tactus::gate_waiter {
        gated_rig* rig = nullptr;
        port::atomic<std::uint32_t> told{0};
    };
    struct sink {
        gated_rig& rig;
        void refused(tactus::envelope& e) noexcept { ++rig.fate_of(e).left_over; }
        void refused(tactus::system_message&) noexcept {}
    };

    [[nodiscard]] tactus::envelope& prepared(unsigned sender, unsigned number) {
        tactus::envelope& e = envelopes_[number];
        e.sender.write({sender, number + 1});
        e.set_generation(1);
        ++sent_[number];
        return e;
    }
    [[nodiscard]] fate& fate_of(const tactus::envelope& e) {
        const tactus::mailbox_index sender = e.sender.read();
        return fate_[sender.generation - 1];
    }
    static void told(tactus::gate_waiter& w) noexcept {
        auto& self = static_cast<waiter&>(w);
        if (w.decided == tactus::gate_waiter::outcome::closed)
            ++self.rig->fate_[static_cast<std::size_t>(&self - self.rig->waiters_.data())].closed;
        self.told.store(1, std::memory_order_release);
        port::wake_one(self.told);
    }
    void push(tactus::envelope& e, unsigned number) {
        switch (box.enqueue(e)) {
        case tactus::enqueued::accepted:
            break;
        case tactus::enqueued::submit:
            run();
            break;
        case tactus::enqueued::closed:
            ++fate_[number].refused;
            break;
        }
    }
    void run() {
        for (;;) {
            owner_.write(owner_.read() + 1);  // a race unless runs exclude and follow each other
            while (box.state().should_process()) {
                tactus::envelope* e = box.next_user();
                if (e == nullptr)
                    break;
                model::require(block_.gate().taken() <= capacity_, "more credits than there are");
                const tactus::mailbox_index from = e->sender.read();
                model::require(from.generation > last_[from.slot], "out of order, or twice");
                last_[from.slot] = from.generation;
                ++fate_of(*e).handled;
            }
            switch (box.end_run()) {
            case tactus::enqueued::submit:
                continue;
            case tactus::enqueued::accepted:
                return;
            case tactus::enqueued::closed:
                finalize();
                return;
            }
        }
    }
    void finalize() {
        owner_.write(owner_.read() + 1);
        (void)box.finalize(2, {}, sink{*this});
    }

    model_memory memory_;
    tactus::mailbox_block block_{memory_};
    std::uint32_t capacity_;
    std::array<tactus::envelope, count_max> envelopes_;
    std::array<waiter, count_max> waiters_;
    port::plain<unsigned> owner_{0};
    // Written by owners; each message's part by who has it.
    std::array<unsigned, 4> last_{};
    std::array<fate, count_max> fate_{};
    std::array<unsigned, count_max> sent_{};
};

}  // namespace scenario
