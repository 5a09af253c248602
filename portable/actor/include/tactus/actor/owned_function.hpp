// SPDX-License-Identifier: Apache-2.0
//
// Owned functions: functions that an actor scheduled through its context. They are cancelled when
// the actor's instance ends, so they may capture `this`.
//
// The actor keeps a list of records, one per function; the record is shared with the function,
// which asks it before each run. A function that runs while the instance ends is not waited for: it
// runs on another thread than the actor's turn.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/behaviour.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/cancellable.hpp>
#include <tactus/scheduler/execution_batch.hpp>

namespace tactus::inline v0 {

/// Shared by an actor and one function. The list and `job` belong to the actor's turn.
class owned_function {
public:
    explicit owned_function(memory_source& memory) noexcept : memory_(memory) {}
    owned_function(const owned_function&) = delete;
    owned_function& operator=(const owned_function&) = delete;

    /// Any thread: the instance has ended.
    [[nodiscard]] bool has_ended() const noexcept { return ended_.load(released.acquire()) != 0; }
    /// The actor's turn: the function does not run from here on.
    void end() noexcept {
        ended_.store(1, released.release());
        (void)job.cancel();
    }
    /// The actor's turn: the function is gone, so only the list refers to this.
    [[nodiscard]] bool is_over() const noexcept { return holders_.load(released.acquire()) == 1; }
    void release() noexcept {
        if (holders_.fetch_sub(1, released.acq_rel()) != 1)
            return;
        memory_source& to = memory_;
        this->~owned_function();
        to.release(this, sizeof(owned_function), alignof(owned_function));
    }

    owned_function* next = nullptr;
    cancellable job;

private:
    ~owned_function() = default;

    // "owned-function": what one holder did happens before the record is freed; the end of the
    // instance happens before a run that sees it.
    static constexpr port::edge released{"owned-function"};
    memory_source& memory_;
    port::atomic<std::uint32_t> holders_{2};  // the actor and the function
    port::atomic<std::uint32_t> ended_{0};
};

namespace detail {

/// Gives a record back that neither the actor nor a function holds: moving the function threw.
class unbound_record {
public:
    explicit unbound_record(owned_function& record) noexcept : record_(&record) {}
    unbound_record(const unbound_record&) = delete;
    unbound_record& operator=(const unbound_record&) = delete;
    ~unbound_record() {
        if (record_ == nullptr)
            return;
        record_->release();
        record_->release();
    }
    void forget() noexcept { record_ = nullptr; }

private:
    owned_function* record_;
};

/// A user's function with the record it asks.
template <class F>
class instance_bound {
public:
    instance_bound(owned_function& record, F&& f) : record_(&record), f_(std::move(f)) {}
    instance_bound(instance_bound&& other) noexcept(std::is_nothrow_move_constructible_v<F>)
        : f_(std::move(other.f_)) {
        record_ = std::exchange(other.record_, nullptr);  // last: a move that throws keeps it
    }
    instance_bound& operator=(instance_bound&&) = delete;
    ~instance_bound() {
        if (record_ != nullptr)
            record_->release();
    }

    handled operator()(const execution_batch& batch) {
        if (record_->has_ended())
            return handled::ok();
        return call_user([&] { return f_(batch); });
    }
    void cancelled()
        requires requires(F& f) { f.cancelled(); }
    {
        if (!record_->has_ended())
            f_.cancelled();
    }

private:
    owned_function* record_ = nullptr;
    F f_;
};

}  // namespace detail
}  // namespace tactus::inline v0
