// SPDX-License-Identifier: Apache-2.0
//
// The state engine with its queues: no lost wake-up, never two runs at once, and each run sees what
// the one before did (ME-1, ME-3, CO-2, C-MBX-20, MC-3).
//
// Bounds: two threads without a bound, three with two or three preemptions.
#include "mailbox_rig.hpp"
#include "scenario.hpp"

using scenario::mailbox_rig;
namespace model = tactus::port::model;
using tactus::suspension;

TACTUS_MODEL_TEST(mailbox, ME1_ME3_CO2_two_senders, scenario::every_interleaving()) {
    mailbox_rig r;
    {
        model::thread other([&] { r.send(1, 1); });
        r.send(0, 0);
    }
    r.check_all_handled();
}

TACTUS_MODEL_TEST(mailbox, ME1_ME3_CO2_two_senders_of_more, scenario::preempted(3)) {
    mailbox_rig r;
    {
        model::thread other([&] {
            r.send(1, 1);
            r.send(1, 2);
        });
        r.send(0, 0);
        r.send(0, 3);
    }
    r.check_all_handled();
}

TACTUS_MODEL_TEST(mailbox, ME1_ME3_CO2_three_senders, scenario::preempted(2)) {
    mailbox_rig r;
    {
        model::thread a([&] { r.send(1, 1); });
        model::thread b([&] { r.send(2, 2); });
        r.send(0, 0);
    }
    r.check_all_handled();
}

// After the last look of the run, before the bit is given up: the end of the run finds it.
TACTUS_MODEL_TEST(mailbox, CMBX20_a_message_during_the_end_of_a_run, scenario::preempted(3)) {
    mailbox_rig r;
    {
        model::thread other([&] { r.send(1, 1); });
        r.send(0, 0);
        r.send(0, 2);
    }
    r.check_all_handled();
}

TACTUS_MODEL_TEST(mailbox, ME1_user_and_system_messages, scenario::every_interleaving()) {
    mailbox_rig r;
    {
        model::thread other([&] { r.send_system(0); });
        r.send(0, 0);
    }
    r.check_all_handled();
}

TACTUS_MODEL_TEST(mailbox, ME1_user_and_system_messages_of_three, scenario::preempted(2)) {
    mailbox_rig r;
    {
        model::thread a([&] { r.send_system(0); });
        model::thread b([&] { r.send(2, 1); });
        r.send_system(1);
    }
    r.check_all_handled();
}

TACTUS_MODEL_TEST(mailbox, ME2_ME4_suspended_and_resumed_under_a_sender, scenario::preempted(4)) {
    mailbox_rig r;
    {
        model::thread other([&] {
            r.send(1, 0);
            r.send(1, 1);
        });
        r.suspend(suspension::await);
        r.resume(suspension::await);
    }
    r.check_all_handled();
}

// The run is held back in the middle of a batch; what it keeps is found by who resumes it.
TACTUS_MODEL_TEST(mailbox, ME2_ME3_a_batch_is_kept_while_suspended, scenario::preempted(2)) {
    mailbox_rig r;
    {
        model::thread sender([&] { r.send(1, 0); });
        model::thread other([&] {
            r.send(2, 1);
            r.send(2, 2);
        });
        r.suspend(suspension::supervision);
        r.resume(suspension::supervision);
    }
    r.check_all_handled();
}

TACTUS_MODEL_TEST(mailbox, ME2_two_reasons_are_counted, scenario::preempted(2)) {
    mailbox_rig r;
    {
        model::thread sender([&] { r.send(1, 0); });
        model::thread other([&] {
            r.suspend(suspension::await);
            r.resume(suspension::await);
        });
        r.suspend(suspension::supervision);
        r.resume(suspension::supervision);
    }
    r.check_all_handled();
}

// A resume that finds nothing to undo looks all the same, and harms nobody.
TACTUS_MODEL_TEST(mailbox, ME2_a_resume_too_many, scenario::every_interleaving()) {
    mailbox_rig r;
    {
        model::thread sender([&] { r.send(1, 0); });
        r.resume(suspension::await);
    }
    r.check_all_handled();
}

TACTUS_MODEL_TEST(mailbox, ME1_a_system_message_while_suspended, scenario::preempted(3)) {
    mailbox_rig r;
    {
        model::thread sender([&] {
            r.send_system(0);
            r.send(1, 0);
        });
        r.suspend(suspension::await);
        r.send_system(1);
        r.resume(suspension::await);
    }
    r.check_all_handled();
}

TACTUS_MODEL_TEST(mailbox, ME5_a_close_racing_a_sender, scenario::every_interleaving()) {
    mailbox_rig r;
    {
        model::thread sender([&] {
            r.send(1, 0);
            r.send(1, 1);
        });
        r.close();
    }
    r.check_closed();
}

TACTUS_MODEL_TEST(mailbox, ME5_a_close_racing_two_senders_and_a_run, scenario::preempted(3)) {
    mailbox_rig r;
    {
        model::thread a([&] { r.send(1, 0); });
        model::thread b([&] { r.send_system(0); });
        r.close();
    }
    r.check_closed();
}

TACTUS_MODEL_TEST(mailbox, ME5_two_closes_elect_one, scenario::preempted(3)) {
    mailbox_rig r;
    {
        model::thread a([&] { r.close(); });
        model::thread b([&] { r.send(1, 0); });
        r.close();
    }
    r.check_closed();
}

TACTUS_MODEL_TEST(mailbox, ME5_ME6_a_close_while_suspended, scenario::preempted(2)) {
    mailbox_rig r;
    {
        model::thread a([&] {
            r.suspend(suspension::await);
            r.resume(suspension::await);
        });
        model::thread b([&] {
            r.send(1, 0);
            r.send(1, 1);
        });
        r.close();
    }
    r.check_closed();
}

TACTUS_MODEL_TEST(mailbox, ME1_ME5_many_of_everything, scenario::by_priorities(5'000)) {
    mailbox_rig r;
    {
        model::thread a([&] {
            r.send(1, 0);
            r.send(1, 1);
            r.send_system(0);
        });
        model::thread b([&] {
            r.suspend(suspension::await);
            r.send(2, 2);
            r.resume(suspension::await);
        });
        model::thread c([&] {
            r.send_system(1);
            r.send(3, 3);
        });
        r.suspend(suspension::supervision);
        r.send(0, 4);
        r.resume(suspension::supervision);
    }
    r.check_all_handled();
}

// Weak exchanges that fail for no reason, and loads that come early.
TACTUS_MODEL_TEST(mailbox, ME1_ME3_two_senders_on_a_weak_machine, scenario::weakest(2)) {
    mailbox_rig r;
    {
        model::thread other([&] { r.send(1, 1); });
        r.send(0, 0);
    }
    r.check_all_handled();
}
