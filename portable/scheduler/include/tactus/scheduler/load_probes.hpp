// SPDX-License-Identifier: Apache-2.0
//
// Load probes: what a system has too much of, so that its scheduler takes fewer timers when there
// is too much to do already (BP-5). Two are probes of the scheduler's gauge:
//
//   dispatcher   mailboxes that wait for a worker, of so many for each
//   runtime      actors alive, or messages in flight, of as many as there may be
//
// A device has as many actors as it was made for: there messages are what it runs out of.
//
// Bounded mailboxes that told of pressure (MB-5) are judged one by one, by the rule of the gauge
// but apart from it: a full mailbox refuses timers for its own actor, and no others.
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
    /// So many mailboxes are judged; of more the fullest.
    static constexpr std::size_t mailboxes_max = 8;

    /// What there may be; 0: it is not looked at.
    struct limits {
        std::uint32_t actors_max = 0;
        std::uint32_t messages_max = 0;
    };

    /// Mailboxes that have become too full, or are no longer.
    struct mailbox_changes {
        struct change {
            mailbox_index who;
            std::uint32_t permille;
            bool is_full;
        };
        change all[mailboxes_max];
        std::uint32_t count = 0;
        bool any_full = false;
    };
    struct mailbox_fill {
        std::uint32_t messages;
        std::uint32_t capacity;
    };

    load_probes() noexcept : dispatcher_(*this), runtime_(*this) {}

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
            sampled_at_.reset();
            return;
        }
        (void)gauge.register_probe("dispatcher", dispatcher_);
        (void)gauge.register_probe("runtime", runtime_);
    }
    /// A bounded mailbox is filling up. It says so once, and then for a second no more, so it is
    /// looked at from now on. One that is too full stays, so that its end can be told.
    void mailbox_filled(const mailbox_pressure& what) noexcept {
        const port::lock_guard held(mutex_);
        filled* least = &mailboxes_[0];
        for (filled& m : mailboxes_) {
            if (m.who == what.ref) {
                m.capacity = what.capacity;
                return;
            }
            if (least->load.is_high() ||
                (!m.load.is_high() && permille_of(m) < permille_of(*least)))
                least = &m;
        }
        if (!least->load.is_high())
            *least = {what.ref, what.capacity, {}};
    }
    /// Judges the mailboxes. Nothing: they were judged at this tick already.
    [[nodiscard]] std::optional<mailbox_changes> judge_mailboxes(tick now) noexcept {
        const port::lock_guard held(mutex_);
        if (sampled_at_ && now <= *sampled_at_)
            return std::nullopt;
        const tick elapsed = sampled_at_ ? now - *sampled_at_ : 1;
        sampled_at_ = now;
        mailbox_changes found;
        for (filled& m : mailboxes_) {
            const std::uint32_t permille = permille_of(m);
            if (m.load.note(permille, elapsed))
                found.all[found.count++] = {m.who, permille, m.load.is_high()};
            found.any_full = found.any_full || m.load.is_high();
        }
        return found;
    }
    /// Of a mailbox that is too full for timers; nothing of others.
    [[nodiscard]] std::optional<mailbox_fill> full_mailbox(mailbox_index who) noexcept {
        const port::lock_guard held(mutex_);
        for (const filled& m : mailboxes_) {
            if (m.who == who && m.load.is_high())
                return mailbox_fill{kernel_->depth_of(who).value_or(0), m.capacity};
        }
        return std::nullopt;
    }

private:
    struct probe : backpressure_probe {
        explicit probe(load_probes& whole) noexcept : of(whole) {}
        load_probes& of;

    protected:
        ~probe() = default;
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
        sustained_load load;
    };
    /// Of one that has ended 0.
    [[nodiscard]] std::uint32_t permille_of(const filled& m) const noexcept {
        return m.capacity == 0 ? 0 : part(kernel_->depth_of(m.who).value_or(0), m.capacity);
    }

    dispatcher_probe dispatcher_;
    runtime_probe runtime_;
    actor_scheduler* kernel_ = nullptr;
    limits most_;
    port::mutex mutex_;
    // Under the lock.
    filled mailboxes_[mailboxes_max];
    std::optional<tick> sampled_at_;  // nothing: never
};

}  // namespace tactus::inline v0
