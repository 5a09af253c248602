// SPDX-License-Identifier: Apache-2.0
//
// Task-local slot: a few bytes that belong to what runs now, for facts about a message that its
// handler may ask for and nobody else (PT-8, BT-3).
//
// A lease puts a value there and gives back what was there before when it ends, so leases nest: a
// handler that runs others inside it finds its own value again. A lease copies only as many bytes
// as it overwrites; what is on the stack of the task is the stack of leases.
//
//     if (task_local_slot::holds<batch>(slot)) {
//         const task_local_slot::lease<batch> held(*slot, b);   // slot->get<batch>() from here on
//         run();
//     } else {
//         // too small, or there is none: the value travels in the envelope
//     }
//
// Thread safety: each thread has bytes of its own. On a device an interrupt handler has those of
// what it interrupts: it may lease them (from_interrupt), since it is done before that goes on.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

class task_local_slot {
protected:
    struct contents {
        const void* volatile* type;  // null: nothing is there
        std::span<std::byte> bytes;
    };

public:
    /// What is stated about it: bytes for a value, and whether interrupt handlers may lease it.
    struct traits {
        std::size_t size = 0;
        bool from_interrupt = false;
    };

    task_local_slot(const task_local_slot&) = delete;
    task_local_slot& operator=(const task_local_slot&) = delete;

    [[nodiscard]] const traits& states() const noexcept { return traits_; }

    /// Where a T is kept: true in the slot, false in the envelope, because the slot is too small or
    /// there is none (BT-3).
    template <class T>
    [[nodiscard]] static bool holds(const task_local_slot* s) noexcept {
        return s != nullptr && sizeof(T) <= s->traits_.size;
    }

    /// What the innermost lease of this task put there; nothing when that is of another type, or
    /// there is none. `value` is a copy.
    template <class T>
    [[nodiscard]] bool get(T& value) noexcept {
        static_assert(std::is_trivially_copyable_v<T>);
        const contents here = of_task();
        if (*here.type != &type_tag<T>)
            return false;
        std::memcpy(&value, here.bytes.data(), sizeof(T));
        return true;
    }

    template <class T>
    class lease {
        static_assert(std::is_trivially_copyable_v<T>);

    public:
        /// Requires: holds<T>(&slot).
        lease(task_local_slot& slot, const T& value) noexcept
            : here_(slot.of_task()), type_before_(*here_.type) {
            std::memcpy(before_, here_.bytes.data(), sizeof(T));
            // No type while the bytes are half written: an interrupt handler may look.
            *here_.type = nullptr;
            std::memcpy(here_.bytes.data(), &value, sizeof(T));
            *here_.type = &type_tag<T>;
        }
        ~lease() {
            *here_.type = nullptr;
            std::memcpy(here_.bytes.data(), before_, sizeof(T));
            *here_.type = type_before_;
        }
        lease(const lease&) = delete;
        lease& operator=(const lease&) = delete;

    private:
        contents here_;
        const void* type_before_;
        std::byte before_[sizeof(T)];
    };

protected:
    explicit task_local_slot(const traits& t) noexcept : traits_(t) {}
    ~task_local_slot() = default;

    /// Of the task that calls.
    [[nodiscard]] virtual contents of_task() noexcept = 0;

private:
    template <class T>
    static constexpr char type_tag = 0;

    const traits traits_;
};

/// The port's: of a thread, or of the one stack a device has.
template <std::size_t Size>
class port_local_slot final : public task_local_slot {
public:
    port_local_slot() noexcept
        : task_local_slot({.size = Size, .from_interrupt = port::has_interrupts}) {}

private:
    struct storage {
        const void* volatile type = nullptr;
        alignas(std::max_align_t) std::byte bytes[Size] = {};
    };
    [[nodiscard]] contents of_task() noexcept override {
        auto& mine = port::thread_instance<storage>();
        return {&mine.type, mine.bytes};
    }
};

}  // namespace tactus::inline v0
