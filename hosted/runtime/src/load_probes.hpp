// SPDX-License-Identifier: Apache-2.0
//
// Load probes: what a hosted system tells the scheduler's gauge, so that it takes fewer timers when
// there is too much to do already (BP-5).
//
//   mailbox      the fullest bounded mailbox that said so lately
//   dispatcher   mailboxes that wait for a worker, of so many for each
//   runtime      actors alive, of as many as there may be
//
// Thread safety: any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include <tactus/dispatch/actor_scheduler.hpp>
#include <tactus/port/port.hpp>
#include <tactus/scheduler/backpressure_gauge.hpp>
#include <tactus/time/clock.hpp>

namespace tactus::inline v0::runtime {

class load_probes {
public:
    /// Mailboxes for each worker that are as much as it can bear.
    static constexpr std::uint64_t waiting_per_worker = 4'096;
    /// A mailbox that was full so long ago is not any more, or says so again.
    static constexpr std::uint32_t mailbox_memory_ms = 10;

    load_probes(const clock& time, std::uint32_t actors_max) noexcept
        : mailbox_(*this),
          dispatcher_(*this),
          runtime_(*this),
          time_(time),
          actors_max_(actors_max) {}

    /// From now on. Both outlive the probes.
    void begin(actor_scheduler& kernel, backpressure_gauge& gauge) noexcept {
        kernel_ = &kernel;
        // There is room for them: the system made the gauge.
        (void)gauge.register_probe("mailbox", mailbox_);
        (void)gauge.register_probe("dispatcher", dispatcher_);
        (void)gauge.register_probe("runtime", runtime_);
    }
    /// A bounded mailbox is so full.
    void mailbox_filled(std::uint32_t percent) noexcept {
        // Relaxed: one is as good as another that was as full.
        filled_.store(percent, std::memory_order_relaxed);
        filled_at_ms_.store(now_ms(), std::memory_order_relaxed);
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
            if (of.now_ms() - of.filled_at_ms_.load(std::memory_order_relaxed) > mailbox_memory_ms)
                return 0;
            return of.filled_.load(std::memory_order_relaxed) * 10;
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

    [[nodiscard]] std::uint32_t now_ms() const noexcept {
        return static_cast<std::uint32_t>(time_.now().ns() / 1'000'000);
    }

    mailbox_probe mailbox_;
    dispatcher_probe dispatcher_;
    runtime_probe runtime_;
    const clock& time_;
    const std::uint64_t actors_max_;
    actor_scheduler* kernel_ = nullptr;
    port::atomic<std::uint32_t> filled_{0};
    port::atomic<std::uint32_t> filled_at_ms_{0};  // of a time that wraps after 49 days
};

}  // namespace tactus::inline v0::runtime
