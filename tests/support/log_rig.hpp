// SPDX-License-Identifier: Apache-2.0
//
// A sink that keeps the last records it was given, on a host and on a board.
#pragma once

#include <cstddef>
#include <string_view>

#include <tactus/actor/log.hpp>

namespace tactus_test {

class kept_log final : public tactus::log_sink {
public:
    void write(const tactus::log_record& r) noexcept override {
        ++count;
        last = r;
        // What a record shows ends with the call.
        size_ = r.text.copy(text_, sizeof text_);
        last.text = {text_, size_};
    }
    [[nodiscard]] bool says(std::string_view part) const noexcept {
        return last.text.find(part) != std::string_view::npos;
    }

    unsigned count = 0;
    tactus::log_record last;

private:
    char text_[512];
    std::size_t size_ = 0;
};

}  // namespace tactus_test
