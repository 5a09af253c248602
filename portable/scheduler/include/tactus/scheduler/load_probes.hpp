// SPDX-License-Identifier: Apache-2.0
//
// Load probes: what a system tells the scheduler's gauge, so that it takes fewer timers when there
// is too much to do already (BP-5).
//
//   mailbox      the fullest of the bounded mailboxes that told of pressure (MB-5), as it is now
//   dispatcher   mailboxes that wait for a worker, of so many for each
//   runtime      actors alive, or messages in flight, of as many as there may be
//
// A device has as many actors as it was made for: there messages are what it runs out of.
//
// Thread safety: any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/dispatch/events.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/backpressure_gauge.hpp>

namespace tactus::inline v0 {

class load_probes {
public:
    /// Mailboxes for each worker that are as much as it can bear.
    static constexpr std::uint64_t waiting_per_worker = 4'096;
    /// So many mailboxes are looked at; of more the fullest.
    static constexpr std::size_t mailboxes_max = 8;

    /// What there may be; 0: it is not looked at.
    struct limits {
        std::uint32_t actors_max = 0;
        std::uint32_t messages_max = 0;
    };

    load_probes() noexcept : mailbox_(*this), dispatcher_(*this), runtime_(*this) {}

    /// From now on, of this kernel; it lives for as long as anybody samples. The gauge is always
    /// the same. Those that it has no room for are missing.
    void begin(actor_scheduler& kernel, const limits& most, backpressure_gauge& gauge) noexcept {
        const bool is_first = kernel_ == nullptr;
        kernel_ = &kernel;
        most_ = most;
        if (!is_first) {
            const port::lock_guard held(mutex_);
            for (filled& m : mailboxes_)
                m = {};
            return;
        }
        (void)gauge.register_probe("mailbox", mailbox_);
        (void)gauge.register_probe("dispatcher", dispatcher_);
        (void)gauge.register_probe("runtime", runtime_);
    }
    /// A bounded mailbox is filling up. It says so once, and then for a second no more, so it is
    /// looked at from now on.
    void mailbox_filled(const mailbox_pressure& what) noexcept {
        const port::lock_guard held(mutex_);
        filled* least = &mailboxes_[0];
        for (filled& m : mailboxes_) {
            if (m.who == what.ref) {
                m.capacity = what.capacity;
                return;
            }
            if (load_of(m) < load_of(*least))
                least = &m;
        }
        *least = {what.ref, what.capacity};
    }

private:
    struct probe : backpressure_probe {
        explicit probe(load_probes& whole) noexcept : of(whole) {}
        load_probes& of;

    protected:
        ~probe() = default;
    };
    struct mailbox_probe final : probe {
        using probe::probe;
        [[nodiscard]] std::optional<std::uint32_t> load_permille() noexcept override {
            const port::lock_guard held(of.mutex_);
            std::uint32_t load = 0;
            for (const filled& m : of.mailboxes_)
                load = std::max(load, of.load_of(m));
            return load;
        }
    };
    struct dispatcher_probe final : probe {
        using probe::probe;
        [[nodiscard]] std::optional<std::uint32_t> load_permille() noexcept override {
            std::uint64_t load = 0;
            for (std::uint32_t i = 0; of.kernel_->dispatcher_at(i) != nullptr; ++i) {
                dispatcher& d = *of.kernel_->dispatcher_at(i);
                const std::uint64_t most =
                    waiting_per_worker * std::max<std::uint32_t>(d.worker_count(), 1);
                load = std::max(load, d.order().waiting_count() * std::uint64_t{1'000} / most);
            }
            return static_cast<std::uint32_t>(std::min<std::uint64_t>(load, 1'000));
        }
    };
    struct runtime_probe final : probe {
        using probe::probe;
        [[nodiscard]] std::optional<std::uint32_t> load_permille() noexcept override {
            return std::max(
                part(of.most_.actors_max != 0 ? of.kernel_->live_count() : 0, of.most_.actors_max),
                part(of.most_.messages_max != 0 ? of.messages_count() : 0, of.most_.messages_max));
        }
    };
    [[nodiscard]] static std::uint32_t part(std::uint32_t count, std::uint32_t most) noexcept {
        return most == 0 ? 0 : static_cast<std::uint32_t>(count * std::uint64_t{1'000} / most);
    }
    /// Envelopes that caches may keep are not counted: there are so many more.
    [[nodiscard]] std::uint32_t messages_count() const noexcept {
        const std::uint32_t left = kernel_->envelopes().shared().free_count();
        return most_.messages_max - std::min(left, most_.messages_max);
    }

    struct filled {
        mailbox_index who;
        std::uint32_t capacity = 0;  // 0: none
    };
    /// In thousandths; of one that has ended nothing.
    [[nodiscard]] std::uint32_t load_of(const filled& m) const noexcept {
        return m.capacity == 0 ? 0 : part(kernel_->depth_of(m.who).value_or(0), m.capacity);
    }

    mailbox_probe mailbox_;
    dispatcher_probe dispatcher_;
    runtime_probe runtime_;
    actor_scheduler* kernel_ = nullptr;
    limits most_;
    port::mutex mutex_;
    // Under the lock.
    filled mailboxes_[mailboxes_max];
};

}  // namespace tactus::inline v0
