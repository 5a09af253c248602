// SPDX-License-Identifier: Apache-2.0
//
// What a host has of everything.
#include <tactus/runtime/host_toolbox.hpp>

#include "system_log.hpp"

namespace tactus::inline v0::runtime {

host_toolbox::host_toolbox(std::size_t bytes)
    : size_(bytes),
      bytes_(std::make_unique<std::byte[]>(bytes)),
      log_(new system_log, [](log_sink* s) { delete static_cast<system_log*>(s); }) {}

host_toolbox::~host_toolbox() = default;

toolbox host_toolbox::fill(toolbox given) noexcept {
    if (given.time == nullptr)
        given.time = &time_;
    if (given.memory.empty())
        given.memory = {bytes_.get(), size_};
    if (given.local == nullptr)
        given.local = &local_;
    if (given.log == nullptr)
        given.log = log_.get();
    return given;
}

}  // namespace tactus::inline v0::runtime
