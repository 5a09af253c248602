// SPDX-License-Identifier: Apache-2.0
//
// Where text goes: a file, a serial line, a buffer. Dumps are written to it in small pieces, so
// that none is ever held as a whole.
#pragma once

#include <string_view>

namespace tactus::inline v0 {

/// Takes text, piece by piece.
class text_sink {
public:
    virtual void write(std::string_view piece) noexcept = 0;

protected:
    ~text_sink() = default;
};

}  // namespace tactus::inline v0
