// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a configuration, and how it is said.
#include <tactus/scheduler/scheduler_config.hpp>

#include <tactus/scheduler/diagnostics.hpp>

#include <array>

namespace tactus::inline v0 {
namespace {

using errc = scheduler_config_errc;

struct error_text {
    const char* name;
    const char* before_value;  // after the field and a colon
    const char* before_limit;  // nullptr: both have names, and no number is shown
    const char* after;
};

constexpr auto error_texts = std::to_array<error_text>({
    {"invalid_resolution", "a tick of ", " ns, but it has 1 ns to 1000000000 ns: nearest is ",
     " ns"},
    {"invalid_catch_up_window", "a window of ", " ns is below the minimum of ", " ns"},
    {"catch_up_window_too_large", "a window of ", " ticks exceeds the limit of ", " ticks"},
    {"invalid_chunk", "a chunk of ", " ticks is below the minimum of ", ""},
    {"capacity_out_of_range", "", " is out of range, nearest is ", ""},
    {"invalid_divisor", "", " is below the minimum of ", ""},
    {"invalid_shutdown_timeout", "", " ns is below the minimum of ", " ns"},
    {"invalid_diagnostics_capacity", "", " is below the minimum of ", ""},
    {"unsupported_profile", "unbounded needs a hosted system, the most here is large", nullptr, ""},
    {"manual_ticks_in_production",
     "ticks made by hand (deterministic) are for tests, production has those of realtime_host",
     nullptr, ""},
});
static_assert(error_texts.size() == scheduler_config_errc_count);

class text_writer {
public:
    explicit text_writer(std::span<char> out) noexcept : out_(out) {}

    text_writer& add(std::string_view text) noexcept {
        for (const char c : text) {
            if (used_ == out_.size())
                break;
            out_[used_++] = c;
        }
        return *this;
    }
    text_writer& add(std::int64_t number) noexcept {
        char digits[20];
        std::size_t begin = sizeof digits;
        auto rest = static_cast<std::uint64_t>(number);
        if (number < 0) {
            add("-");
            rest = ~rest + 1;
        }
        do {
            digits[--begin] = static_cast<char>('0' + rest % 10);
            rest /= 10;
        } while (rest != 0);
        return add({digits + begin, sizeof digits - begin});
    }
    [[nodiscard]] std::string_view written() const noexcept { return {out_.data(), used_}; }

private:
    std::span<char> out_;
    std::size_t used_ = 0;
};

std::unexpected<scheduler_config_error> wrong(errc code, const char* field, std::int64_t value,
                                              std::int64_t limit) noexcept {
    return std::unexpected(scheduler_config_error{code, field, value, limit});
}

std::expected<void, scheduler_config_error> check_range(const char* field, std::uint32_t value,
                                                        std::uint32_t least,
                                                        std::uint32_t most) noexcept {
    if (value < least)
        return wrong(errc::capacity_out_of_range, field, value, least);
    if (value > most)
        return wrong(errc::capacity_out_of_range, field, value, most);
    return {};
}

std::expected<void, scheduler_config_error> check_capacity(
    const scheduler_config& config) noexcept {
    if (config.profile == scheduler_profile::unbounded &&
        (port::has_interrupts || config.clock == clock_kind::realtime_hardware))
        return wrong(errc::unsupported_profile, "profile",
                     static_cast<std::int64_t>(config.profile),
                     static_cast<std::int64_t>(scheduler_profile::large));
    if (config.profile != scheduler_profile::custom)
        return {};
    const scheduler_capacity& c = config.custom;
    const scheduler_capacity& most = scheduler_capacity_max;
    if (const auto timers = check_range("timers", c.timers, 1, most.timers); !timers)
        return timers;
    // Entries of overflow are timers.
    const std::uint32_t overflow_max = c.timers < most.overflow ? c.timers : most.overflow;
    if (const auto overflow = check_range("overflow", c.overflow, 0, overflow_max); !overflow)
        return overflow;
    return check_range("tasks", c.tasks, 1, most.tasks);
}

}  // namespace

const char* name_of(scheduler_config_errc code) noexcept {
    const auto i = static_cast<std::size_t>(code);
    return i < error_texts.size() ? error_texts[i].name : "unknown";
}

std::string_view describe(const scheduler_config_error& error, std::span<char> out) noexcept {
    static constexpr error_text unknown{"unknown", "unknown error, value ", ", limit ", ""};
    const auto i = static_cast<std::size_t>(error.code);
    const error_text& text = i < error_texts.size() ? error_texts[i] : unknown;
    text_writer writer(out);
    writer.add(error.field).add(": ").add(text.before_value);
    if (text.before_limit != nullptr)
        writer.add(error.value).add(text.before_limit).add(error.limit).add(text.after);
    return writer.written();
}

std::expected<void, scheduler_config_error> validate(const scheduler_config& config) noexcept {
    if (config.resolution <= duration::zero())
        return wrong(errc::invalid_resolution, "resolution", config.resolution.ns(), 1);
    if (config.resolution > resolution_max)
        return wrong(errc::invalid_resolution, "resolution", config.resolution.ns(),
                     resolution_max.ns());
    if (config.catch_up && *config.catch_up <= duration::zero())
        return wrong(errc::invalid_catch_up_window, "catch_up", config.catch_up->ns(), 1);
    const std::uint64_t window = catch_up_ticks(config);
    if (window > catch_up_ticks_max(config.clock))
        return wrong(errc::catch_up_window_too_large, "catch_up", static_cast<std::int64_t>(window),
                     catch_up_ticks_max(config.clock));
    if (config.chunk_ticks == 0)
        return wrong(errc::invalid_chunk, "chunk_ticks", 0, 1);
    if (config.adaptive_quota_divisor == 0)
        return wrong(errc::invalid_divisor, "adaptive_quota_divisor", 0, 1);
    if (config.shutdown_timeout <= duration::zero())
        return wrong(errc::invalid_shutdown_timeout, "shutdown_timeout",
                     config.shutdown_timeout.ns(), 1);
    if (config.diagnostics_capacity == 0)
        return wrong(errc::invalid_diagnostics_capacity, "diagnostics_capacity", 0, 1);
    if (config.diagnostics_capacity > diagnostics::capacity_max)
        return wrong(errc::capacity_out_of_range, "diagnostics_capacity",
                     config.diagnostics_capacity, diagnostics::capacity_max);
    if (config.use == scheduler_use::production &&
        runner_mode_of(config.clock) == runner_mode::manual)
        return wrong(errc::manual_ticks_in_production, "clock",
                     static_cast<std::int64_t>(config.clock),
                     static_cast<std::int64_t>(clock_kind::realtime_host));
    return check_capacity(config);
}

}  // namespace tactus::inline v0
