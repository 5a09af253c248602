// SPDX-License-Identifier: Apache-2.0
//
// Dispatcher entry: one configured dispatcher, as the resolver knows it.
//
// It has a number, counted from 0 in the order they were added, by which the runtime finds the
// executor it has started for it, and counts the actors that live there. Its address and its
// configuration stay for as long as the resolver, except for a few limits that may be changed while
// it runs (DR-5): who runs mailboxes reads them anew for each run.
//
// The limits are words of 32 bits, so durations are kept in whole microseconds, rounded up; 71
// minutes (2^32 - 1 of them) and more are none at all.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tactus/base/check.hpp>
#include <tactus/dispatch/dispatcher_config.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

/// What may be changed while a dispatcher runs; from the next run on.
struct dispatcher_limits {
    std::optional<std::uint32_t> throughput = {};    // none: the default rule; 0 means 1
    duration throughput_deadline = duration::max();  // max: none
    duration starvation_deadline = duration::from_s(1);

    friend constexpr bool operator==(const dispatcher_limits&, const dispatcher_limits&) = default;
};

class dispatcher_entry {
public:
    dispatcher_entry(std::string_view id, std::uint32_t number, const dispatcher_config& config,
                     std::optional<std::uint32_t> default_throughput) noexcept
        : id_(id), number_(number) {
        configure(config, default_throughput);
    }
    dispatcher_entry(const dispatcher_entry&) = delete;
    dispatcher_entry& operator=(const dispatcher_entry&) = delete;

    [[nodiscard]] std::string_view id() const noexcept { return id_; }
    [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
    /// As it was added; see limits() for what may have been changed since.
    [[nodiscard]] const dispatcher_config& config() const noexcept { return config_; }

    // ---- limits

    /// Messages per run, exactly; 0: the default rule.
    [[nodiscard]] std::uint32_t throughput() const noexcept {
        return throughput_.load(std::memory_order_relaxed);
    }
    [[nodiscard]] duration throughput_deadline() const noexcept {
        return from_us(throughput_deadline_us_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] duration starvation_deadline() const noexcept {
        return from_us(starvation_deadline_us_.load(std::memory_order_relaxed));
    }
    [[nodiscard]] dispatcher_limits limits() const noexcept {
        const std::uint32_t share = throughput();
        return {share == 0 ? std::nullopt : std::optional(share), throughput_deadline(),
                starvation_deadline()};
    }
    /// One word after the other: a run that begins meanwhile may see some of the new ones.
    void change(const dispatcher_limits& to) noexcept {
        throughput_.store(share_of(to.throughput), std::memory_order_relaxed);
        throughput_deadline_us_.store(to_us(to.throughput_deadline), std::memory_order_relaxed);
        starvation_deadline_us_.store(to_us(to.starvation_deadline), std::memory_order_relaxed);
    }

    // ---- inhabitants: how many actors live here (TC-M38)

    /// How many there are with the new one.
    std::uint32_t attach() noexcept {
        return inhabitants_.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    /// How many are left. Requires: one was attached.
    std::uint32_t detach() noexcept {
        const std::uint32_t before = inhabitants_.fetch_sub(1, std::memory_order_relaxed);
        TACTUS_CHECK(1, before != 0);
        return before - 1;
    }
    [[nodiscard]] std::uint32_t inhabitants() const noexcept {
        return inhabitants_.load(std::memory_order_relaxed);
    }

private:
    friend class resolver;
    TACTUS_CHECK_MODULE("dispatcher_entry");

    static constexpr std::uint32_t no_limit = 0xffff'ffff;

    [[nodiscard]] static constexpr std::uint32_t share_of(
        std::optional<std::uint32_t> throughput) noexcept {
        if (!throughput)
            return 0;
        return *throughput == 0 ? 1 : *throughput;
    }
    [[nodiscard]] static constexpr std::uint32_t to_us(duration d) noexcept {
        if (d.ns() <= 0)
            return 0;
        const std::int64_t us = (d.ns() - 1) / 1'000 + 1;
        return us >= no_limit ? no_limit : static_cast<std::uint32_t>(us);
    }
    [[nodiscard]] static constexpr duration from_us(std::uint32_t us) noexcept {
        return us == no_limit ? duration::max() : duration::from_us(us);
    }

    void configure(const dispatcher_config& config,
                   std::optional<std::uint32_t> default_throughput) noexcept {
        config_ = config;
        change({config.throughput ? config.throughput : default_throughput,
                config.throughput_deadline, config.starvation_deadline});
    }

    std::string_view id_;
    std::uint32_t number_;
    bool handed_out_ = false;   // under the resolver's lock: from then on it is in use
    dispatcher_config config_;  // constant once it was handed out

    // Values that stand alone: nothing else is learnt from seeing one, hence relaxed.
    port::atomic<std::uint32_t> throughput_{0};
    port::atomic<std::uint32_t> throughput_deadline_us_{no_limit};
    port::atomic<std::uint32_t> starvation_deadline_us_{no_limit};
    // A count: it orders nothing, who starts or ends an executor by it has a lock of its own.
    port::atomic<std::uint32_t> inhabitants_{0};
};

}  // namespace tactus::inline v0
