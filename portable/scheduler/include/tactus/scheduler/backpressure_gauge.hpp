// SPDX-License-Identifier: Apache-2.0
//
// Backpressure gauge: says when the rest of the system has too much to do already for more timers
// (BP-5).
//
// Probes tell a load, 1000 being full. At most once per tick whoever runs timers samples all of
// them: the highest at 800 or more at two ticks in a row engages the gauge, below it at two ticks
// in a row clears it. Ticks at which nobody looked were calm (SC-38): two samples that are high are
// in a row as long as no idle time is between them, and one that is low clears after such a tick.
// Without probes nothing is measured. What was pushed engages it from the next tick on until the
// opposite is pushed, whatever is measured.
//
// Probes are called under no lock, one after the other, by one thread at a time. When remove_probe
// has returned, the probe is not called any more and may be destroyed; it may remove itself. One
// that throws counts as no load and is told to kernel_events (backpressure_probe_of).
//
// Thread safety: any thread, and not from interrupt handlers.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/guarded_user.hpp>
#include <tactus/port/port.hpp>
#include <tactus/time/tick_scale.hpp>

namespace tactus::inline v0 {

class backpressure_probe {
public:
    /// From 0, idle, to 1000, full; more is as good as full. Nothing: it failed. Must not block.
    [[nodiscard]] virtual std::optional<std::uint32_t> load_permille() noexcept = 0;

protected:
    ~backpressure_probe() = default;
};

/// A probe from a function that gives a number: of thousandths, or, with a fraction, of the whole.
template <class Call>
class backpressure_probe_of final : public backpressure_probe {
public:
    explicit backpressure_probe_of(Call call, kernel_events* told = nullptr) noexcept
        : call_(std::move(call)), calls_(user_code::load_probe, told) {}

    [[nodiscard]] std::optional<std::uint32_t> load_permille() noexcept override {
        std::uint32_t load = 0;
        if (!calls_([&] { load = permille(call_()); }))
            return std::nullopt;
        return load;
    }
    [[nodiscard]] std::uint32_t failure_count() const noexcept { return calls_.failure_count(); }

private:
    template <std::floating_point T>
    [[nodiscard]] static std::uint32_t permille(T load) noexcept {
        if (!(load > 0))  // also what is not a number
            return 0;
        return load >= 1 ? 1'000 : static_cast<std::uint32_t>(load * 1'000);
    }
    template <std::integral T>
    [[nodiscard]] static std::uint32_t permille(T load) noexcept {
        return std::cmp_less(load, 0)          ? 0
               : std::cmp_greater(load, 1'000) ? 1'000
                                               : static_cast<std::uint32_t>(load);
    }

    Call call_;
    user_calls calls_;
};

/// Whether a load has been high, or low, at enough ticks in a row to count.
class sustained_load {
public:
    static constexpr std::uint32_t engage_permille = 800;
    static constexpr std::uint32_t ticks_in_a_row = 2;
    /// Samples that are further apart have an idle time between them: the longest window there is.
    static constexpr std::uint32_t apart_ticks_max = 32;

    /// Takes note of a sample, so many ticks after the last one. True: it counts as the opposite
    /// from now on.
    bool note(std::uint32_t permille, tick elapsed) noexcept;
    [[nodiscard]] bool is_high() const noexcept { return is_high_; }
    /// Forgets samples that were not yet enough.
    void interrupt() noexcept { against_ = 0; }

private:
    std::uint32_t against_ = 0;  // samples in a row that speak against is_high_
    bool is_high_ = false;
};

/// What can be pushed.
enum class gauge_event : std::uint8_t { clear, engage };

/// Names one registration of a probe; value-initialised none.
struct probe_handle {
    std::uint32_t index = 0;
    std::uint32_t generation = 0;

    friend constexpr bool operator==(const probe_handle&, const probe_handle&) = default;
};

class backpressure_gauge {
public:
    /// All memory is taken here; probe_capacity() is 0 when there was none. It outlives the gauge.
    backpressure_gauge(memory_source& memory, std::uint32_t probes_max) noexcept;
    backpressure_gauge(const backpressure_gauge&) = delete;
    backpressure_gauge& operator=(const backpressure_gauge&) = delete;
    ~backpressure_gauge();

    /// Nothing when there are as many as there may be. `name` is a constant; the probe lives until
    /// it is removed, or longer than the gauge.
    [[nodiscard]] std::optional<probe_handle> register_probe(const char* name,
                                                             backpressure_probe& probe) noexcept;
    /// False for a handle that names none. Waits for the probe's call to end if another thread is
    /// in it.
    bool remove_probe(probe_handle handle) noexcept;

    /// Applied at the next tick; the last one counts.
    void push(gauge_event event) noexcept;

    /// Asks the probes, when nobody has at this tick yet, and tells whether the gauge is engaged.
    /// Requires: the caller holds no lock.
    [[nodiscard]] bool sample(tick now) noexcept;

    /// As of the last sample.
    [[nodiscard]] bool engaged() const noexcept;
    struct load {
        const char* name = "";  // of the probe, empty: there was none
        std::uint32_t permille = 0;
    };
    /// The highest of the last sample.
    [[nodiscard]] load highest() const noexcept;
    [[nodiscard]] std::uint32_t probe_count() const noexcept;
    [[nodiscard]] std::uint32_t probe_capacity() const noexcept { return capacity_; }
    /// How often a probe failed.
    [[nodiscard]] std::uint64_t failure_count() const noexcept;

private:
    struct place {
        backpressure_probe* probe = nullptr;  // null: free
        const char* name = "";
        std::uint32_t generation = 0;
    };
    static constexpr std::uint32_t none = ~0u;

    void take_pushed() noexcept;
    [[nodiscard]] load ask_probes() noexcept;

    // Constant after construction.
    memory_source& memory_;
    place* places_;
    std::uint32_t capacity_;

    mutable port::mutex mutex_;
    // Under the lock.
    std::uint32_t count_ = 0;
    std::uint32_t calling_ = none;    // the place whose probe is being called
    const void* sampler_ = nullptr;   // the thread that samples; null: none does
    std::optional<tick> sampled_at_;  // nothing: never
    std::optional<gauge_event> pushed_event_;
    sustained_load measured_;
    bool pushed_ = false;
    load highest_;
    std::uint64_t failures_ = 0;
};

}  // namespace tactus::inline v0
