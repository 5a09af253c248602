// SPDX-License-Identifier: Apache-2.0
//
// Failure cause: why an actor failed, as its supervisor sees it (SV-3).
//
// An exception is caught where the user's code was compiled and kept as it was; `is<E>()` asks for
// its type there, too. What a handler returned has a code. Causes are shared: a cause that is
// escalated, or given to siblings, is the same object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__cpp_exceptions)
#include <exception>
#include <utility>
#endif

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/invoke_result.hpp>
#include <tactus/port/port.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0 {

enum class failure_kind : std::uint8_t {
    returned,        // a handler returned a failure, or called context().fail
    exception,       // a handler threw
    initialization,  // constructor or pre_start, at the first start
    post_restart,    // constructor or post_restart, at a restart
    killed,          // it was sent `kill`
    death_pact,      // an actor it watched has ended, and it does not handle `terminated`
    supervision,     // its decider failed
    runtime,         // its mailbox broke, or it was suspended for too long
};
inline constexpr std::size_t failure_kind_count = 8;
[[nodiscard]] const char* name_of(failure_kind kind) noexcept;

class failure_cause {
public:
    static constexpr std::size_t text_max = 120;

    [[nodiscard]] failure_kind kind() const noexcept { return kind_; }
    /// For people: what the exception said, or the text of the failure. Cut to text_max.
    [[nodiscard]] std::string_view text() const noexcept { return {text_, text_size_}; }
    /// What the handler returned; 0 for exceptions.
    [[nodiscard]] std::int32_t code() const noexcept { return code_; }
    /// SV-4: how long to wait before a restart; zero: nothing was said.
    [[nodiscard]] duration retry_after() const noexcept { return retry_after_; }

#if defined(__cpp_exceptions)
    /// It is an exception that a `catch (const E&)` would catch.
    template <class E>
    [[nodiscard]] bool is() const noexcept {
        if (exception_ == nullptr)
            return false;
        try {
            std::rethrow_exception(*static_cast<std::exception_ptr*>(exception_));
        } catch (const E&) {
            return true;
        } catch (...) {
            return false;
        }
    }
    /// The exception itself; null when there is none.
    [[nodiscard]] std::exception_ptr exception() const noexcept {
        return exception_ == nullptr ? nullptr : *static_cast<std::exception_ptr*>(exception_);
    }
#endif

private:
    friend class cause_ref;

    void set_text(std::string_view text) noexcept;

    port::atomic<std::uint32_t> holders_{1};
    failure_kind kind_ = failure_kind::returned;
    std::uint8_t text_size_ = 0;
    char text_[text_max];
    std::int32_t code_ = 0;
    duration retry_after_ = duration::zero();
    void* exception_ = nullptr;
    void (*drop_exception_)(void*) noexcept = nullptr;
    memory_source* memory_ = nullptr;  // null: it is the one there is when memory is short
};

/// Shares a cause.
class cause_ref {
public:
    cause_ref() = default;
    cause_ref(const cause_ref& other) noexcept : cause_(other.cause_) { hold(); }
    cause_ref(cause_ref&& other) noexcept : cause_(other.cause_) { other.cause_ = nullptr; }
    cause_ref& operator=(cause_ref other) noexcept {
        failure_cause* mine = cause_;
        cause_ = other.cause_;
        other.cause_ = mine;
        return *this;
    }
    ~cause_ref() {
        // Most refer to nothing. On devices a call is less code than a look.
        if (port::has_interrupts || cause_ != nullptr)
            drop();
    }

    /// A cause that says this. When there is no memory for it, one that says that.
    [[nodiscard]] static cause_ref make(memory_source& memory, failure_kind kind,
                                        const failure& why) noexcept;
    /// The same cause as another kind: what wraps an exception of a constructor.
    [[nodiscard]] cause_ref as(memory_source& memory, failure_kind kind) const noexcept;

#if defined(__cpp_exceptions)
    /// The exception being handled. Compiled where the user's code is (UP-4).
    [[nodiscard]] static cause_ref from_current_exception(memory_source& memory) noexcept {
        const char* text = unknown_text;
        std::exception_ptr current = std::current_exception();
        try {
            throw;
        } catch (const std::exception& e) {
            text = e.what() != nullptr ? e.what() : unknown_text;
            return of_exception(memory, text, std::move(current));
        } catch (...) {
            return of_exception(memory, text, std::move(current));
        }
    }
#endif

    explicit operator bool() const noexcept { return cause_ != nullptr; }
    const failure_cause& operator*() const noexcept { return *cause_; }
    const failure_cause* operator->() const noexcept { return cause_; }

    // For who passes it through a void*: it is held until taken again.
    [[nodiscard]] void* release() noexcept {
        void* raw = cause_;
        cause_ = nullptr;
        return raw;
    }
    [[nodiscard]] static cause_ref take(void* raw) noexcept {
        cause_ref r;
        r.cause_ = static_cast<failure_cause*>(raw);
        return r;
    }

private:
    static constexpr const char* unknown_text = "exception of unknown type";

#if defined(__cpp_exceptions)
    static cause_ref of_exception(memory_source& memory, const char* text,
                                  std::exception_ptr e) noexcept {
        cause_ref made = make(memory, failure_kind::exception, failure(text));
        if (made.cause_->memory_ == nullptr)
            return made;
        void* block = memory.allocate(sizeof(std::exception_ptr), alignof(std::exception_ptr));
        if (block == nullptr)
            return made;
        ::new (block) std::exception_ptr(std::move(e));
        made.cause_->exception_ = block;
        made.cause_->drop_exception_ = [](void* p) noexcept {
            static_cast<std::exception_ptr*>(p)->~exception_ptr();
        };
        return made;
    }
#endif
    void hold() const noexcept;
    void drop() noexcept;

    // "cause-dropped": what holders read happens before the last one ends it.
    static constexpr port::edge dropped{"cause-dropped"};
    failure_cause* cause_ = nullptr;
};

}  // namespace tactus::inline v0
