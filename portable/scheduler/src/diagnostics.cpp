// SPDX-License-Identifier: Apache-2.0
//
// Queues of subscribers: rings behind their header, in one block each.
#include <tactus/scheduler/diagnostics.hpp>

#include <tactus/base/check.hpp>

#include <algorithm>
#include <memory>
#include <new>

namespace tactus::inline v0 {
namespace {

TACTUS_CHECK_MODULE("diagnostics");

}  // namespace

struct diagnostics::queue {
    queue* next = nullptr;
    std::uint32_t number = 0;
    diagnostic_kinds kinds;
    std::uint32_t capacity;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    bool said = false;  // that something was lost, since the queue was last empty
    bool to_say = false;
    bool is_being_read = false;
    diagnostic_reader* reader;        // null: it is polled
    std::uint64_t lost_in_a_row = 0;  // since an event was taken
    tick lost_at = 0;                 // when the last of them came
    std::uint64_t dropped = 0;

    queue(diagnostic_kinds k, std::uint32_t c, diagnostic_reader* r) noexcept
        : kinds(k), capacity(c), reader(r) {}

    [[nodiscard]] diagnostic* events() noexcept {
        return std::launder(reinterpret_cast<diagnostic*>(this + 1));
    }
    [[nodiscard]] std::uint32_t at(std::uint32_t i) const noexcept {
        return i < capacity - first ? first + i : i - (capacity - first);
    }
    /// True: an event was lost.
    bool push(const diagnostic& what) noexcept {
        const bool full = count == capacity;
        if (full) {
            first = at(1);
            --count;
            lose_one();
            lost_at = what.at;
        }
        events()[at(count++)] = what;
        return full;
    }
    void lose_one() noexcept {
        ++dropped;
        ++lost_in_a_row;
        if (!said) {
            said = true;
            to_say = true;
        }
    }
    /// SD-6: it is taken before the events that are left.
    [[nodiscard]] bool has_overflowed() const noexcept { return lost_in_a_row >= capacity; }
    [[nodiscard]] std::size_t waiting() const noexcept {
        return count + (has_overflowed() ? 1 : 0);
    }
    [[nodiscard]] bool is_to_be_read() const noexcept {
        return reader != nullptr && !is_being_read && count != 0;
    }
    [[nodiscard]] diagnostic pop() noexcept {
        const bool overflowed = has_overflowed();
        const auto lost = static_cast<std::int64_t>(std::exchange(lost_in_a_row, 0));
        if (overflowed)
            return {.kind = diagnostic_kind::diagnostics_overflow, .at = lost_at, .detail = lost};
        const diagnostic what = events()[first];
        first = at(1);
        if (--count == 0)
            said = false;
        return what;
    }
    [[nodiscard]] scheduler_warning warning() noexcept {
        to_say = false;
        return {.kind = scheduler_warning_kind::diagnostics_dropped,
                .value = static_cast<std::int64_t>(dropped),
                .limit = capacity};
    }
};

static_assert(alignof(diagnostic) <= 8);

diagnostics::~diagnostics() {
    TACTUS_CHECK(1, queues_ == nullptr);
}

std::size_t diagnostics::queue_bytes(std::uint32_t capacity) noexcept {
    static_assert(sizeof(queue) % alignof(diagnostic) == 0);
    return sizeof(queue) + std::size_t{capacity} * sizeof(diagnostic);
}

auto diagnostics::subscribe(diagnostic_kinds kinds, std::uint32_t capacity,
                            diagnostic_reader* reader) noexcept
    -> std::expected<subscription, scheduler_error> {
    if (capacity == 0 || capacity > capacity_max)
        return std::unexpected(scheduler_error{.code = scheduler_errc::invalid_options,
                                               .field = "capacity",
                                               .value = capacity,
                                               .limit = capacity == 0 ? 1 : capacity_max});
    void* block = memory_.allocate(queue_bytes(capacity), alignof(queue));
    queue* q = nullptr;
    if (block != nullptr) {
        q = ::new (block) queue(kinds, capacity, reader);
        std::uninitialized_default_construct_n(reinterpret_cast<diagnostic*>(q + 1), capacity);
    }
    const port::lock_guard held(mutex_);
    queue** end = &queues_;
    std::uint32_t there = 0;
    for (; *end != nullptr; end = &(*end)->next)
        ++there;
    if (q == nullptr)
        return std::unexpected(scheduler_error{.code = scheduler_errc::capacity_exceeded,
                                               .field = "subscription",
                                               .value = there,
                                               .limit = there});
    q->number = ++subscriptions_;
    *end = q;
    note_wanted();
    return subscription(*this, *q);
}

void diagnostics::remove(queue& q) noexcept {
    const std::size_t bytes = queue_bytes(q.capacity);
    {
        const port::lock_guard held(mutex_);
        queue** at = &queues_;
        while (*at != &q)
            at = &(*at)->next;
        *at = q.next;
        note_wanted();
    }
    memory_.release(&q, bytes, alignof(queue));
}

void diagnostics::note_wanted() noexcept {
    std::uint32_t wanted = 0;
    for (const queue* q = queues_; q != nullptr; q = q->next)
        wanted |= q->kinds.bits();
    wanted_.store(wanted, std::memory_order_relaxed);  // a hint: deliver() looks at the queues
    if (in_use_.word == nullptr)
        return;
    // Relaxed: a hint, too.
    if (wanted != 0)
        (void)in_use_.word->fetch_or(in_use_.bit, std::memory_order_relaxed);
    else
        (void)in_use_.word->fetch_and(~in_use_.bit, std::memory_order_relaxed);
}

bool diagnostics::deliver(const diagnostic& what) noexcept {
    const port::lock_guard held(mutex_);
    bool to_say = false;
    for (queue* q = queues_; q != nullptr; q = q->next) {
        if (!q->kinds.has(what.kind))
            continue;
        if (q->push(what))
            ++dropped_;
        to_say = to_say || q->to_say || q->is_to_be_read();
    }
    return to_say;
}

std::optional<scheduler_warning> diagnostics::take_warning() noexcept {
    const port::lock_guard held(mutex_);
    for (queue* q = queues_; q != nullptr; q = q->next) {
        if (q->to_say)
            return q->warning();
    }
    return std::nullopt;
}

void diagnostics::tell(scheduler_listener& whom, instant now) noexcept {
    while (auto warning = take_warning()) {
        warning->at = now;
        whom.warned(*warning);
    }
    pass_on();
}

// One thread at a time reads a queue, so that its reader is told in order; what others publish
// meanwhile it reads, too.
void diagnostics::pass_on() noexcept {
    queue* q = nullptr;
    for (;;) {
        diagnostic what;
        {
            const port::lock_guard held(mutex_);
            if (q != nullptr && q->count == 0)
                std::exchange(q, nullptr)->is_being_read = false;
            for (queue* other = queues_; q == nullptr && other != nullptr; other = other->next) {
                if (other->is_to_be_read())
                    q = other;
            }
            if (q == nullptr)
                return;
            q->is_being_read = true;
            what = q->pop();
        }
        q->reader->read(what);
    }
}

auto diagnostics::look(std::span<subscriber> into) noexcept -> counts {
    const port::lock_guard held(mutex_);
    counts seen{.dropped = dropped_};
    for (const queue* q = queues_; q != nullptr; q = q->next) {
        if (seen.subscribers < into.size())
            into[seen.subscribers] = {.number = q->number,
                                      .kinds = q->kinds,
                                      .waiting = q->count,
                                      .capacity = q->capacity,
                                      .dropped = q->dropped};
        ++seen.subscribers;
    }
    return seen;
}

diagnostics::subscription::~subscription() {
    if (queue_ != nullptr)
        from_->remove(*queue_);
}

std::optional<diagnostic> diagnostics::subscription::poll() noexcept {
    diagnostic one;
    return drain({&one, 1}) == 1 ? std::optional(one) : std::nullopt;
}

std::size_t diagnostics::subscription::drain(std::span<diagnostic> into) noexcept {
    if (queue_ == nullptr)
        return 0;
    const port::lock_guard held(from_->mutex_);
    const std::size_t count = std::min(into.size(), queue_->waiting());
    for (std::size_t i = 0; i < count; ++i)
        into[i] = queue_->pop();
    return count;
}

void diagnostics::subscription::want(diagnostic_kinds kinds) noexcept {
    if (queue_ == nullptr)
        return;
    const port::lock_guard held(from_->mutex_);
    queue_->kinds = kinds;
    from_->note_wanted();
}

std::uint64_t diagnostics::subscription::dropped() const noexcept {
    if (queue_ == nullptr)
        return 0;
    const port::lock_guard held(from_->mutex_);
    return queue_->dropped;
}

}  // namespace tactus::inline v0
