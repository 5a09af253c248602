// SPDX-License-Identifier: Apache-2.0
//
// System table: from the system number in a reference to the system, for whoever is not one of its
// workers.
//
// One constant-initialised table for the process, so that references may be globals and are good
// before main and after the system is gone. A thread that looks a system up is counted as a visitor
// while it is inside; a system that ends waits until the last one has left. A reference to a system
// that is gone finds nothing; that is counted.
//
// On hosts, threads that send messages from outside come in by a door of their own, which a system
// that drains shuts (CO-5): they find nothing then, and look why. Everything else still finds it. A
// device has one door.
//
// Numbers are given out in turn, and generations go on where the last system of that number ended,
// so that an old reference does not match an actor of a newer system.
#pragma once

#include <cstdint>

#include <tactus/base/check.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

class actor_scheduler;

class system_table {
public:
    static constexpr std::uint32_t number_count = port::cache_line < 16 ? 4 : 64;  // 0 is nobody's

    /// A number for a system; 0 when all are taken (63 systems at once) or used up.
    [[nodiscard]] static std::uint32_t claim(std::uint32_t& first_generation) noexcept;
    /// From now on the number finds the system.
    static void publish(std::uint32_t number, actor_scheduler& system) noexcept;
    /// From now on it finds nothing; returns when the last visitor has left. Requires: the calling
    /// thread is none, so a system is not ended from within a call to it (check system_table:1).
    static void withdraw(std::uint32_t number) noexcept;
    /// Gives the number back; `last_generation` 0 means that it must not be used again.
    static void release(std::uint32_t number, std::uint32_t last_generation) noexcept;

    /// After fork(), in the child, which has none of the systems' threads: from now on no number
    /// finds a system. Touches no lock. Requires: the process has one thread.
    static void leave_all() noexcept;
    /// leave_all() was called in this process.
    [[nodiscard]] static bool has_left() noexcept;

    /// How many calls found no system.
    [[nodiscard]] static std::uint32_t refused_count() noexcept;

    /// From now on senders from outside do not find the system. True: all that had found it are
    /// done; false: one was still inside after the limit. Hosts only.
    [[nodiscard]] static bool shut_door(std::uint32_t number, std::int64_t limit_ns) noexcept;
    /// There is a system, and senders from outside do not find it. A look.
    [[nodiscard]] static bool is_door_shut(std::uint32_t number) noexcept;

    /// This thread acts for a system while this lives, and does not send from outside: timers,
    /// events, tasks of its shutdown.
    class insider {
    public:
        explicit insider(std::uint32_t number) noexcept;
        ~insider();
        insider(const insider&) = delete;
        insider& operator=(const insider&) = delete;

    private:
        friend class system_table;

        std::uint32_t number_;  // 0: no system's
        insider* outer_;        // of the same thread
    };
    /// This thread acts for the system, or is in a call that does.
    [[nodiscard]] static bool is_inside(std::uint32_t number) noexcept;

    enum class door : std::uint8_t { any, senders };
    /// Keeps a system from going away while it lives.
    template <door By>
    class basic_visit : private insider {
    public:
        explicit basic_visit(std::uint32_t number) noexcept;
        ~basic_visit();
        basic_visit(const basic_visit&) = delete;
        basic_visit& operator=(const basic_visit&) = delete;
        /// Null when there is none.
        [[nodiscard]] actor_scheduler* system() const noexcept { return system_; }

    private:
        actor_scheduler* system_ = nullptr;
    };
    using visit = basic_visit<door::any>;
    using sender_visit = basic_visit<port::has_interrupts ? door::any : door::senders>;

private:
    TACTUS_CHECK_MODULE("system_table");
};

}  // namespace tactus::inline v0
