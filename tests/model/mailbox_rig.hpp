// SPDX-License-Identifier: Apache-2.0
//
// A mailbox whose runs belong to whoever wins them: the smallest dispatcher there is. Nothing but
// the state word orders one run and the next, so what it forgets to order is a race here.
#pragma once

#include <array>

#include <tactus/mailbox/mailbox.hpp>
#include <tactus/port/model.hpp>

namespace scenario {

namespace model = tactus::port::model;
namespace port = tactus::port;

class mailbox_rig {
public:
    static constexpr unsigned count_max = 6;

    mailbox_rig() { box.open(1, false); }

    /// Sends message `number` of `sender`; runs the mailbox when that is owed.
    void send(unsigned sender, unsigned number) {
        tactus::envelope& e = envelopes[number];
        e.sender.write({sender, number + 1});
        ++sent_[number];
        owe(box.enqueue(e), fate_[number]);
    }
    void send_system(unsigned number) {
        ++sent_system_[number];
        messages[number].data.write(this);
        owe(box.enqueue_system(messages[number]), fate_system_[number]);
    }
    void suspend(tactus::suspension why) { (void)box.state().suspend(why); }
    void resume(tactus::suspension why) {
        if (box.state().resume(why) && box.offer_work())
            run();
    }
    void close() {
        if (box.state().request_close() == tactus::mailbox_owed::finalize)
            finalize();
    }

    /// At the end: everything sent was handled, in order; nothing waits.
    void check_all_handled() {
        for (unsigned i = 0; i < count_max; ++i) {
            model::require(fate_[i].handled == sent_[i], "a message stays behind");
            model::require(fate_system_[i].handled == sent_system_[i], "a message stays behind");
        }
        model::require(!box.state().scheduled(), "nobody runs it, and it counts as queued");
        model::require(box.system_length() == 0, "what was handled counts as waiting");
    }
    /// At the end, after a close: each was handled, left over or refused, once.
    void check_closed() {
        model::require(finalizers_ == 1, "one finalizer");
        for (unsigned i = 0; i < count_max; ++i) {
            model::require(fate_[i].sum() == sent_[i]);
            model::require(fate_system_[i].sum() == sent_system_[i]);
        }
        model::require(box.state().closed() && !box.state().scheduled());
        model::require(box.system_length() == 0, "what was refused counts as waiting");
    }

    tactus::mailbox box;
    std::array<tactus::envelope, count_max> envelopes;
    std::array<tactus::system_message, count_max> messages;

private:
    struct fate {
        unsigned handled = 0;
        unsigned refused = 0;    // told to the sender
        unsigned left_over = 0;  // told to the finalizer
        [[nodiscard]] unsigned sum() const { return handled + refused + left_over; }
    };
    struct sink {
        mailbox_rig& rig;
        void refused(tactus::envelope& e) noexcept { ++rig.fate_of(e).left_over; }
        void refused(tactus::system_message& m) noexcept { ++rig.fate_of(m).left_over; }
    };

    [[nodiscard]] fate& fate_of(const tactus::envelope& e) {
        const tactus::mailbox_index sender = e.sender.read();
        return fate_[sender.generation - 1];
    }
    [[nodiscard]] fate& fate_of(const tactus::system_message& m) {
        model::require(m.data.read() == this);
        return fate_system_[static_cast<std::size_t>(&m - messages.data())];
    }

    void owe(tactus::enqueued what, fate& of) {
        if (what == tactus::enqueued::submit)
            run();
        else if (what == tactus::enqueued::closed)
            ++of.refused;
    }

    void run() {
        for (;;) {
            owner_.write(owner_.read() + 1);  // a race unless runs exclude and follow each other
            tactus::oldest_first list = box.drain_system();
            while (tactus::system_message* m = list.pop()) {
                model::require(box.system_length() != 0 && box.system_length() <= count_max,
                               "a message that waits is not counted");
                box.note_system_handled(1);
                ++fate_of(*m).handled;
            }
            while (box.state().should_process()) {
                tactus::envelope* e = box.next_user();
                if (e == nullptr)
                    break;
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
        ++finalizers_;
        (void)box.finalize(2, {}, sink{*this});
    }

    port::plain<unsigned> owner_{0};
    // Written by owners; each message's part by its sender, or its owner.
    std::array<unsigned, 4> last_{};
    std::array<fate, count_max> fate_{};
    std::array<fate, count_max> fate_system_{};
    std::array<unsigned, count_max> sent_{};
    std::array<unsigned, count_max> sent_system_{};
    unsigned finalizers_ = 0;
};

}  // namespace scenario
