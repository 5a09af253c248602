// SPDX-License-Identifier: Apache-2.0
//
// Dispatcher entry: one configured dispatcher, as the resolver knows it.
//
// It has a number, counted from 0 in the order they were added. What runs for it (workers, limits
// that may be changed, inhabitants) is a dispatcher of the kernel, made when it is first needed:
// see runtime::dispatchers. Address and configuration stay for as long as the resolver.
//
// Thread safety: any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include <tactus/dispatch/dispatcher_config.hpp>

namespace tactus::inline v0 {

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
    /// As it was added; its throughput is the preset's where nothing was said.
    [[nodiscard]] const dispatcher_config& config() const noexcept { return config_; }

private:
    friend class resolver;

    void configure(const dispatcher_config& config,
                   std::optional<std::uint32_t> default_throughput) noexcept {
        config_ = config;
        if (!config_.throughput)
            config_.throughput = default_throughput;
    }

    std::string_view id_;
    std::uint32_t number_;
    bool handed_out_ = false;   // under the resolver's lock: from then on it is in use
    dispatcher_config config_;  // constant once it was handed out
};

}  // namespace tactus::inline v0
