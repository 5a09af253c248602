// SPDX-License-Identifier: Apache-2.0
//
// Thrown texts: what exceptions said, for as long as somebody is told of it (UP-4).
//
// A failure has a pointer to its text, and an exception is gone when it was caught. So a thread
// keeps the last few texts, cut to `text_max`, without memory from anywhere: more than one, as
// middleware may fail while a failure is on its way. Who keeps a failure for longer copies its
// text, as failure_cause and scheduler_warning do.
//
// Thread safety: each thread has its own.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

class thrown_texts {
public:
    static constexpr std::size_t text_max = 120;
    static constexpr std::uint32_t count = 4;

    /// The copy: as it is until this thread has kept so many others. Null, which an exception's
    /// what() may be, is kept as an empty text.
    [[nodiscard]] static const char* keep(const char* text) noexcept {
        if (text == nullptr)
            text = "";
        auto& mine = port::thread_instance<thrown_texts>();
        char* const to = mine.texts_[mine.next_++ % count];
        std::size_t size = 0;
        for (; size < text_max && text[size] != '\0'; ++size)
            to[size] = text[size];
        to[size] = '\0';
        return to;
    }

private:
    char texts_[count][text_max + 1] = {};
    std::uint32_t next_ = 0;
};

}  // namespace tactus::inline v0
