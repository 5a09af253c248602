// SPDX-License-Identifier: Apache-2.0
//
// Load probes: what a hosted system tells the scheduler's gauge, so that it takes fewer timers when
// there is too much to do already (BP-5).
//
//   mailbox      the fullest of the bounded mailboxes that told of pressure (MB-5), as it is now
//   dispatcher   mailboxes that wait for a worker, of so many for each
//   runtime      actors alive, of as many as there may be
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

namespace tactus::inline v0::runtime {

class load_probes {
public:
    /// Mailboxes for each worker that are as much as it can bear.
    static constexpr std::uint64_t waiting_per_worker = 4'096;
    /// So many mailboxes are looked at; of more the fullest.
    static constexpr std::size_t mailboxes_max = 8;

    explicit load_probes(std::uint32_t actors_max) noexcept
        : mailbox_(*this), dispatcher_(*this), runtime_(*this), actors_max_(actors_max) {}

    /// From now on. Both outlive the probes.
    void begin(actor_scheduler& kernel, backpressure_gauge& gauge) noexcept {
        kernel_ = &kernel;
        // There is room for them: the system made the gauge.
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
            return static_cast<std::uint32_t>(of.kernel_->live_count() * std::uint64_t{1'000} /
                                              of.actors_max_);
        }
    };

    struct filled {
        mailbox_index who;
        std::uint32_t capacity = 0;  // 0: none
    };
    /// In thousandths; of one that has ended nothing.
    [[nodiscard]] std::uint32_t load_of(const filled& m) const noexcept {
        if (m.capacity == 0)
            return 0;
        return static_cast<std::uint32_t>(kernel_->depth_of(m.who).value_or(0) *
                                          std::uint64_t{1'000} / m.capacity);
    }

    mailbox_probe mailbox_;
    dispatcher_probe dispatcher_;
    runtime_probe runtime_;
    const std::uint64_t actors_max_;
    actor_scheduler* kernel_ = nullptr;
    port::mutex mutex_;
    // Under the lock.
    filled mailboxes_[mailboxes_max];
};

}  // namespace tactus::inline v0::runtime
