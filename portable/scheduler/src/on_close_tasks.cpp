// SPDX-License-Identifier: Apache-2.0
//
// On-close tasks: places, lists and the run.
#include <tactus/scheduler/on_close_tasks.hpp>

#include <tactus/base/check.hpp>
#include <tactus/dispatch/text_buffer.hpp>

namespace tactus::inline v0 {

TACTUS_CHECK_MODULE("on_close_tasks");

struct on_close_tasks::block {
    block* next;
    std::uint32_t count;

    [[nodiscard]] static constexpr std::size_t header() noexcept {
        return (sizeof(block) + alignof(task) - 1) / alignof(task) * alignof(task);
    }
    [[nodiscard]] static constexpr std::size_t size_of(std::uint32_t count) noexcept {
        return header() + count * sizeof(task);
    }
    [[nodiscard]] task* tasks() noexcept {
        return reinterpret_cast<task*>(reinterpret_cast<std::byte*>(this) + header());
    }
};

namespace {

constexpr std::uint32_t grown_by = 64;

}  // namespace

std::string_view describe(const close_report& report, std::span<char> out) noexcept {
    text_in text(out);
    text.add("on-close tasks: ").add(report.succeeded).add(" done, ").add(report.failed);
    text.add(" failed, ").add(report.not_begun).add(" not begun, in ");
    text.add(report.elapsed.ns() / 1'000).add(" us");
    if (report.unfinished_number == 0)
        return text.view();
    text.add(", time was over for ");
    if (*report.unfinished != '\0')
        text.add("'").add(report.unfinished).add("'");
    else
        text.add("number ").add(report.unfinished_number).add(", which has no name");
    if (report.still_running != 0)
        text.add(": it still runs, and is left behind");
    return text.view();
}

on_close_tasks::on_close_tasks(memory_source& memory, std::uint32_t capacity) noexcept
    : memory_(memory), capacity_(capacity) {
    if (capacity != scheduler_capacity::unlimited && !grow(capacity))
        capacity_ = 0;
}

on_close_tasks::~on_close_tasks() {
    TACTUS_CHECK(1, phase_ != phase::running);
    for (list& l : waiting_) {
        while (l.first != nullptr) {
            task& t = *l.first;
            unlink(t);
            destroy(t);
        }
    }
    while (blocks_ != nullptr) {
        block* b = blocks_;
        blocks_ = b->next;
        memory_.release(b, block::size_of(b->count), alignof(task));
    }
}

bool on_close_tasks::grow(std::uint32_t by) noexcept {
    if (by == 0)
        return false;
    void* memory = memory_.allocate(block::size_of(by), alignof(task));
    if (memory == nullptr)
        return false;
    blocks_ = ::new (memory) block{blocks_, by};
    for (std::uint32_t i = by; i-- > 0;) {
        task* t = ::new (static_cast<void*>(blocks_->tasks() + i)) task;
        t->next = free_;
        free_ = t;
    }
    return true;
}

std::expected<detail::close_task*, scheduler_error> on_close_tasks::reserve() noexcept {
    const port::lock_guard held(mutex_);
    if (phase_ != phase::open)
        return std::unexpected(scheduler_error{.code = scheduler_errc::closed});
    if (free_ == nullptr && (capacity_ != scheduler_capacity::unlimited || !grow(grown_by)))
        return std::unexpected(scheduler_error{
            .code = scheduler_errc::task_run_capacity_exceeded,
            .value = used_,
            .limit = capacity_ == scheduler_capacity::unlimited ? used_ : capacity_});
    task* t = free_;
    free_ = t->next;
    ++used_;
    return t;
}

std::expected<on_close_tasks::handle, scheduler_error> on_close_tasks::enqueue(
    task& t, close_priority priority, const char* name) noexcept {
    {
        const port::lock_guard held(mutex_);
        if (phase_ == phase::open) {  // T2: it may have closed while the task was made
            t.name = name;
            t.priority = priority;
            t.number = ++last_number_;
            t.next = nullptr;
            list& l = waiting_[static_cast<std::size_t>(priority)];
            t.previous = l.last;
            (l.last == nullptr ? l.first : l.last->next) = &t;
            l.last = &t;
            ++waiting_count_;
            return handle(&t, t.number);
        }
    }
    destroy(t);
    return std::unexpected(scheduler_error{.code = scheduler_errc::closed});
}

void on_close_tasks::unlink(task& t) noexcept {
    list& l = waiting_[static_cast<std::size_t>(t.priority)];
    (t.previous == nullptr ? l.first : t.previous->next) = t.next;
    (t.next == nullptr ? l.last : t.next->previous) = t.previous;
    t.number = 0;
    --waiting_count_;
}

void on_close_tasks::destroy(task& t) noexcept {
    t.work.reset();
    const port::lock_guard held(mutex_);
    t.next = free_;
    free_ = &t;
    --used_;
}

bool on_close_tasks::cancel(handle which) noexcept {
    if (which.number_ == 0)
        return false;
    {
        const port::lock_guard held(mutex_);
        if (which.at_->number != which.number_)
            return false;
        unlink(*which.at_);
    }
    destroy(*which.at_);
    return true;
}

void on_close_tasks::close() noexcept {
    const port::lock_guard held(mutex_);
    if (phase_ == phase::open)
        phase_ = phase::closed;
}

detail::close_task* on_close_tasks::take_next() noexcept {
    const port::lock_guard held(mutex_);
    for (const list& l : waiting_) {
        if (l.first == nullptr)
            continue;
        task* t = l.first;
        running_number_ = t->number;
        unlink(*t);
        running_ = t;
        return t;
    }
    return nullptr;
}

void on_close_tasks::note_result(const task& t, const char* error, instant now,
                                 scheduler_listener* told, close_observer* observer) noexcept {
    {
        const port::lock_guard held(mutex_);
        ++(error != nullptr ? report_.failed : report_.succeeded);
    }
    if (error != nullptr && told != nullptr)
        told->warned({.kind = scheduler_warning_kind::task_run_failed,
                      .value = static_cast<std::int64_t>(running_number_),
                      .text = error,
                      .at = now});
    if (observer != nullptr)
        observer->task_ran({running_number_, t.name, t.priority, error});
}

close_report on_close_tasks::run(const clock& time, duration timeout, scheduler_listener* told,
                                 close_observer* observer, close_runner* runner) noexcept {
    {
        const port::lock_guard held(mutex_);
        if (phase_ == phase::running || phase_ == phase::over)
            return {};
        phase_ = phase::running;
    }
    const instant begin = time.now();
    const instant end = begin + timeout;
    instant now = begin;
    bool is_left = false;
    while (now < end && !is_left) {
        task* t = take_next();
        if (t == nullptr)
            break;
        const close_runner::outcome result =
            runner != nullptr ? runner->run(std::move(t->work))
                              : close_runner::outcome{.is_over = true, .error = t->work()};
        is_left = !result.is_over;
        if (!is_left)
            note_result(*t, result.error, time.now(), told, observer);
        now = time.now();
        {
            const port::lock_guard held(mutex_);
            running_ = nullptr;
            report_.elapsed = now - begin;
            report_.still_running = is_left ? 1 : 0;
            if (is_left || now > end) {
                report_.unfinished = t->name;
                report_.unfinished_number = running_number_;
            }
        }
        destroy(*t);
    }
    const port::lock_guard held(mutex_);
    phase_ = phase::over;
    report_.not_begun = waiting_count_;
    // Time was over just as a task ended: the first that was to come is the one without.
    for (const list& l : waiting_) {
        if (report_.unfinished_number != 0)
            break;
        if (l.first == nullptr)
            continue;
        report_.unfinished = l.first->name;
        report_.unfinished_number = l.first->number;
    }
    return report_;
}

close_report on_close_tasks::progress() const noexcept {
    const port::lock_guard held(mutex_);
    close_report now = report_;
    if (running_ != nullptr) {
        now.unfinished = running_->name;
        now.unfinished_number = running_number_;
        now.still_running = 1;
        now.not_begun = waiting_count_;
    }
    return now;
}

std::size_t on_close_tasks::waiting_names(std::span<const char*> out) const noexcept {
    const port::lock_guard held(mutex_);
    std::size_t at = 0;
    for (const list& l : waiting_) {
        for (const task* t = l.first; t != nullptr; t = t->next, ++at) {
            if (at < out.size())
                out[at] = t->name;
        }
    }
    return at;
}

bool on_close_tasks::is_open() const noexcept {
    const port::lock_guard held(mutex_);
    return phase_ == phase::open;
}

std::uint32_t on_close_tasks::count() const noexcept {
    const port::lock_guard held(mutex_);
    return waiting_count_;
}

}  // namespace tactus::inline v0
