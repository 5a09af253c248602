// SPDX-License-Identifier: Apache-2.0
//
// Host toolbox: a complete toolbox for a device_system on a host (PT-7). Each part that is given is
// left as it is.
//
//     runtime::host_toolbox defaults(device_system::required_bytes(config));
//     auto system = device_system::create("demo", defaults.fill({.log = &mine}), config);
//
//   time     the monotonic clock
//   ticks    none: whoever calls run sleeps until the next deadline, or until something is sent
//   driver   none: the same
//   memory   an array of the size that is asked for
//   runs     none: the thread that calls run
//   local    64 bytes of each thread
//   log      standard error, opened by the first line
//   seed     1
//
// Outlives the system it is for.
#pragma once

#include <cstddef>
#include <memory>

#include <tactus/actor/toolbox.hpp>
#include <tactus/runtime/steady_clock.hpp>

namespace tactus::inline v0::runtime {

class host_toolbox {
public:
    explicit host_toolbox(std::size_t bytes);
    ~host_toolbox();
    host_toolbox(const host_toolbox&) = delete;
    host_toolbox& operator=(const host_toolbox&) = delete;

    [[nodiscard]] toolbox fill(toolbox given) noexcept;

private:
    static constexpr std::size_t local_bytes = 64;

    steady_clock time_;
    port_local_slot<local_bytes> local_;
    std::size_t size_;
    std::unique_ptr<std::byte[]> bytes_;
    std::unique_ptr<log_sink, void (*)(log_sink*)> log_;
};

}  // namespace tactus::inline v0::runtime
