// SPDX-License-Identifier: Apache-2.0
//
// The lock's holder at work, and the ends of jobs (CN, K1 … K3).
#include <tactus/scheduler/scheduler.hpp>

#include <tactus/dispatch/system_table.hpp>
#include <tactus/dispatch/worker.hpp>

namespace tactus::inline v0 {
namespace {

struct identity {
    char unused = 0;
};
const void* this_thread() noexcept {
    return &port::thread_instance<identity>();
}

}  // namespace

bool scheduler::changed(job& j, job_state from, job_state to) noexcept {
    job_word seen(j.word.load(std::memory_order_relaxed));
    while (seen.state() == from) {
        job_word::stored bits = seen.bits();
        if (j.word.compare_exchange_weak(bits, seen.with(to).bits(), job::state.release(),
                                         std::memory_order_relaxed))
            return true;
        seen = job_word(bits);
    }
    return false;
}

// ---- the lock's holder

bool scheduler::insert(job& j) noexcept {
    const auto before = wheel_.next_deadline();
    const auto made = wheel_.insert(j.registered_at, j.due - j.registered_at, store_.index_of(j));
    if (!made) [[unlikely]]
        return false;
    j.timer = *made;
    if (wheel_.next_deadline() != before)  // only a nearer one changes that
        is_nearer_ = true;
    if (j.sequence == 0) {
        j.sequence = ++sequence_;
        ++counts_.registered;
    }
    if (!j.is_active) {
        j.is_active = true;
        ++active_;
    }
    return true;
}

void scheduler::deactivate(job& j) noexcept {
    if (j.is_active) {
        j.is_active = false;
        --active_;
    }
}

void scheduler::doom(job& j) noexcept {
    j.next.write(doomed_);
    doomed_ = &j;
}

void scheduler::apply(job& j) noexcept {
    // Relaxed, as all looks of the holder: what it needs was done by who has left it here.
    job_word word(j.word.load(std::memory_order_relaxed));
    if (word.state() == job_state::pending) {
        const bool is_in = !is_closed_ && insert(j);
        if (is_in && changed(j, job_state::pending, job_state::scheduled)) [[likely]]
            return;
        if (!is_in && changed(j, job_state::pending, job_state::cancelled) && !is_closed_)
            ++counts_.dropped;  // no memory for it
        word = job_word(j.word.load(std::memory_order_relaxed));
    }
    // Ended, by who is here or has left it here.
    if (j.holders.load(std::memory_order_relaxed) == 0) {
        store_.give(j);
        return;
    }
    (void)wheel_.cancel(j.timer);
    deactivate(j);
    if (word.state() == job_state::cancelled && !j.is_counted) {
        j.is_counted = true;
        ++counts_.cancelled;
    }
    if (j.carries != nullptr)
        doom(j);
    else
        end_alive(j);
}

void scheduler::end_alive(job& j) noexcept {
    // Nobody else can hold what only this one does.
    if (j.holders.load(job::held.acquire()) == 1 ||
        j.holders.fetch_sub(1, job::held.acq_rel()) == 1)
        store_.give(j);
}

void scheduler::let_go() noexcept {
    bool nearer = false;
    instant nearest;
    job* doomed = nullptr;
    for (;;) {
        if (std::exchange(is_nearer_, false)) {
            nearer = true;
            nearest = scale_.begin_of(wheel_.next_deadline().value_or(0));
        }
        if (job* const more = std::exchange(doomed_, nullptr)) [[unlikely]] {
            job* last = more;
            while (last->next.read() != nullptr)
                last = last->next.read();
            last->next.write(doomed);
            doomed = more;
        }
        if (store_.wants_spares()) [[unlikely]]
            store_.refill();
        if (lock_.try_leave()) [[likely]]
            break;
        lock_.do_left([this](job& j) {
            ++counts_.commands_left;
            apply(j);
        });
    }
    if (nearer)
        kernel_->deadline_added(nearest);
    // Last doomed first, so oldest last: turned round.
    job* oldest = nullptr;
    while (doomed != nullptr) {
        job* const next = doomed->next.read();
        doomed->next.write(oldest);
        oldest = doomed;
        doomed = next;
    }
    while (oldest != nullptr) {
        job* const next = oldest->next.read();
        drop_cargo(*oldest);
        submit(*oldest);
        oldest = next;
    }
}

// ---- anybody

void scheduler::submit(job& j) noexcept {
    if (!lock_.enter_or_leave(j))
        return;
    apply(j);
    let_go();
}

void scheduler::drop_cargo(job& j) noexcept {
    if (j.carries == nullptr)
        return;
    if (j.carries->cancelled != nullptr &&
        job_word(j.word.load(std::memory_order_relaxed)).state() == job_state::cancelled)
        j.carries->cancelled(j.cargo);
    if (j.carries->destroy != nullptr)
        j.carries->destroy(j.cargo);
    free_room(j);
}

bool scheduler::stop(std::uint32_t index, std::uint32_t generation, job_state to) noexcept {
    if (generation == 0)
        return false;
    job& j = store_.at(index);
    job_word seen(j.word.load(job::state.acquire()));
    for (;;) {
        if (seen.generation() != generation)
            return false;
        if (!seen.can_be_cancelled()) {
            // Who is woken may be gone when this returns: not before it was woken.
            if (seen.state() == job_state::executing && seen.is(job_word::wakes) &&
                firing_thread_.load(std::memory_order_relaxed) != this_thread()) {
                port::yield();
                seen = job_word(j.word.load(job::state.acquire()));
                continue;
            }
            return false;
        }
        job_word::stored bits = seen.bits();
        if (j.word.compare_exchange_weak(bits, seen.with(to).bits(), job::state.acquire(),
                                         job::state.acquire()))
            break;
        seen = job_word(bits);
    }
    // K2: pending and executing jobs are ended by who has them.
    if (seen.state() == job_state::scheduled) {
        drop_cargo(j);
        submit(j);
    }
    return true;
}

std::optional<job_state> scheduler::state_of(const cancellable& which) const noexcept {
    if (which.serial_ != serial_ || which.generation_ == 0)
        return std::nullopt;
    return job_word(store_.at(which.index_).word.load(job::state.acquire()))
        .outcome_of(which.generation_);
}

std::uint32_t scheduler::active_count() noexcept {
    lock_.enter();
    lock_.do_left([this](job& j) { apply(j); });
    const std::uint32_t n = active_;
    let_go();
    return n;
}

std::uint32_t scheduler::cell_count() noexcept {
    lock_.enter();
    lock_.do_left([this](job& j) { apply(j); });
    const std::uint32_t n = store_.used_count();
    let_go();
    return n;
}

scheduler::counts scheduler::counted() noexcept {
    lock_.enter();
    lock_.do_left([this](job& j) { apply(j); });
    counts c = counts_;
    let_go();
    c.dropped += dropped_.load(std::memory_order_relaxed);
    c.fired += fired_.load(std::memory_order_relaxed);
    c.missed += missed_.load(std::memory_order_relaxed);
    return c;
}

// ---- closing

namespace {

/// Merges two lists that are in the order of registration.
job* merged(job* a, job* b) noexcept {
    job* first = nullptr;
    job* last = nullptr;
    while (a != nullptr || b != nullptr) {
        job*& from = b == nullptr || (a != nullptr && a->sequence < b->sequence) ? a : b;
        job* const j = from;
        from = j->next.read();
        if (last == nullptr)
            first = j;
        else
            last->next.write(j);
        last = j;
    }
    if (last != nullptr)
        last->next.write(nullptr);
    return first;
}

/// Lists of 1, 2, 4, ... jobs, merged as digits carry.
class sorter {
public:
    void add(job& j) noexcept {
        j.next.write(nullptr);
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
    job* runs_[33] = {};
};

}  // namespace

bool scheduler::close() noexcept {
    lock_.enter();
    lock_.do_left([this](job& j) { apply(j); });
    const bool is_first = !is_closed_;
    is_closed_ = true;
    closed_.store(1, std::memory_order_relaxed);
    sorter left;
    for (std::uint32_t i = 0; is_first && i < store_.made_count(); ++i) {
        job& j = store_.at(i);
        // Who has a periodic job that is being run finds that it is not to go on.
        if (changed(j, job_state::scheduled, job_state::cancelled))
            left.add(j);
        else if (j.mode != job_mode::one_shot && j.kind != job_kind::flight)
            (void)changed(j, job_state::executing, job_state::cancelled);
    }
    job* oldest = left.all();
    // let_go() ends those first that were doomed last.
    job* newest = nullptr;
    while (oldest != nullptr) {
        job* const next = oldest->next.read();
        (void)wheel_.cancel(oldest->timer);
        deactivate(*oldest);
        oldest->is_counted = true;
        ++counts_.cancelled;
        oldest->next.write(newest);
        newest = oldest;
        oldest = next;
    }
    if (newest != nullptr) {
        job* last = newest;
        while (last->next.read() != nullptr)
            last = last->next.read();
        last->next.write(doomed_);
        doomed_ = newest;
    }
    let_go();
    return is_first;
}

// ---- handles

namespace {

/// The scheduler of a system, for as long as it is looked at.
class visited {
public:
    explicit visited(std::uint32_t system_number) noexcept {
        const worker* w = worker::current();
        if (w != nullptr && w->system().system_number() == system_number)
            found_ = &w->system();
        else
            found_ = visit_.emplace(system_number).system();
    }
    [[nodiscard]] scheduler* get() const noexcept {
        timer_phase* const timers = found_ != nullptr ? found_->timers() : nullptr;
        return timers != nullptr ? timers->as_scheduler() : nullptr;
    }

private:
    std::optional<system_table::visit> visit_;
    actor_scheduler* found_ = nullptr;
};

}  // namespace

bool cancellable::cancel() noexcept {
    if (is_cancelled_ || generation_ == 0)
        return false;
    const visited in(system_);
    is_cancelled_ = in.get() != nullptr && in.get()->cancel(*this);
    return is_cancelled_;
}

std::optional<job_state> cancellable::state() const noexcept {
    if (generation_ == 0)
        return std::nullopt;
    const visited in(system_);
    return in.get() != nullptr ? in.get()->state_of(*this) : std::nullopt;
}

}  // namespace tactus::inline v0
