// SPDX-License-Identifier: Apache-2.0
//
// Closing: what is due is delivered, what is left is cancelled in the order of registration, the
// on-close tasks run (SH).
#include "this_thread.hpp"

#include <tactus/scheduler/scheduler.hpp>

namespace tactus::inline v0 {

using detail::job;
namespace {

/// Which of two lists begins with the job that was registered first.
job*& older(job*& a, job*& b) noexcept {
    return b == nullptr || (a != nullptr && a->sequence < b->sequence) ? a : b;
}

/// How jobs are linked that are nobody else's.
struct by_next {
    static job* after(const job& j) noexcept { return j.next.read(); }
    static void link(job& j, job* to) noexcept { j.next.write(to); }
};
/// The same of periodic jobs that somebody may have in a list of what is due.
struct by_metadata {
    static job* after(const job& j) noexcept {
        return reinterpret_cast<job*>(static_cast<std::uintptr_t>(j.metadata));
    }
    static void link(job& j, job* to) noexcept {
        j.metadata = reinterpret_cast<std::uintptr_t>(to);
    }
};

/// Sorts jobs in the order of registration: lists of 1, 2, 4, ... of them, merged as digits carry.
template <class Link>
class sorter {
public:
    void add(job& j) noexcept {
        Link::link(j, nullptr);
        job* list = &j;
        unsigned digit = 0;
        for (; runs_[digit] != nullptr; ++digit)
            list = merged(std::exchange(runs_[digit], nullptr), list);
        runs_[digit] = list;
    }
    [[nodiscard]] job* all() noexcept {
        job* list = nullptr;
        for (job*& run : runs_)
            list = merged(run, list);
        return list;
    }

private:
    [[nodiscard]] static job* merged(job* a, job* b) noexcept {
        job* first = nullptr;
        job* last = nullptr;
        while (a != nullptr || b != nullptr) {
            job*& from = older(a, b);
            job* const j = std::exchange(from, Link::after(*from));
            if (last == nullptr)
                first = j;
            else
                Link::link(*last, j);
            last = j;
        }
        if (last != nullptr)
            Link::link(*last, nullptr);
        return first;
    }

    job* runs_[33] = {};
};

}  // namespace

bool scheduler::close() noexcept {
    enter();
    do_left();
    const bool is_first = !is_closed_;
    is_closed_ = true;
    closed_.store(1, std::memory_order_relaxed);
    sorter<by_next> left;
    sorter<by_metadata> under_way;
    for (std::uint32_t i = 0; is_first && i < store_.made_count(); ++i) {
        job& j = store_.at(i);
        job_word word(j.word.load(std::memory_order_relaxed));
        // Who waits is woken, and asks whether its time has come.
        const bool waits = word.is(job_word::wakes) && word.state() == job_state::scheduled &&
                           j.carries == nullptr;
        if (changed(j, job_state::scheduled, waits ? job_state::executing : job_state::cancelled,
                    job_end::closed)) {
            left.add(j);
        } else if ((word.is(job_word::periodic) || word.is(job_word::owned)) &&
                   changed(j, word, job_state::executing, job_state::cancelled, job_end::closed)) {
            if (!word.is_sent()) {
                under_way.add(j);
                continue;
            }
            // Nobody has it. Who sent its message is done with it, as is seen here.
            (void)j.word.load(job::state.acquire());
            left.add(j);
        }
    }
    job* newest_wait = nullptr;
    job* oldest_left = left.all();
    job* oldest_under_way = under_way.all();
    while (oldest_left != nullptr || oldest_under_way != nullptr) {
        job*& oldest = older(oldest_left, oldest_under_way);
        const bool is_under_way = &oldest == &oldest_under_way;
        job& j = *oldest;
        oldest = is_under_way ? by_metadata::after(j) : by_next::after(j);
        j.is_counted = true;
        ++counts_.cancelled;
        note(diagnostic_kind::cancel, j, now_if_watched());
        if (is_under_way) {
            deactivate(j);  // who runs it finds that it is not to go on
            if (j.kind == job_kind::note)
                end_alive(j);  // its owner's part: that finds it over, too
            continue;
        }
        (void)wheel_.cancel(j.timer);
        if (j.kind != job_kind::wake || j.carries != nullptr) {
            end_scheduled(j);
            continue;
        }
        deactivate(j);
        j.next.write(nullptr);
        if (newest_wait == nullptr)
            waits_left_ = &j;
        else
            newest_wait->next.write(&j);
        newest_wait = &j;
    }
    let_go();
    if (is_first) {
        end_waits();
        if (services_ != nullptr)
            services_->close_tasks();
    }
    return is_first;
}

void scheduler::end_waits() noexcept {
    if (waits_left_ == nullptr)
        return;
    // As one who fires: who is told may cancel others. Within one that fires it is that already.
    const bool is_firing = firing_thread_.load(std::memory_order_relaxed) == this_thread();
    if (!is_firing)
        wait_to_fire();
    while (waits_left_ != nullptr) {
        job& j = *std::exchange(waits_left_, waits_left_->next.read());
        fire_wake(j);
    }
    if (!is_firing) {
        while (!end_firing()) {
        }
    }
}

// SH-1.
close_report scheduler::shutdown(close_runner* runner) noexcept {
    // Within one that fires it would wait for itself; what is due is cancelled then.
    if (firing_thread_.load(std::memory_order_relaxed) != this_thread()) {
        wait_to_fire();
        fire_due(time_.now());
    }
    if (!close() || services_ == nullptr)
        return {};
    struct noter final : close_observer {
        explicit noter(scheduler& s) noexcept : of(s) {}
        void task_ran(const close_result& what) noexcept override { of.note_task(what); }
        scheduler& of;
    };
    noter notes(*this);
    return services_->run_tasks(time_, shutdown_timeout_, listener_, notes, runner);
}

void scheduler::note_task(const close_result& what) noexcept {
    if (!services_->has(scheduler_services::watching))
        return;
    enter();
    note_watched(diagnostic_kind::on_close, nullptr, scale_.floor(time_.now()),
                 static_cast<std::int64_t>(what.number));
    let_go();
}

}  // namespace tactus::inline v0
