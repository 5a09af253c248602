// SPDX-License-Identifier: Apache-2.0
//
// Dumps by message (OH-5): the system guardian, `/system`, answers a dump_request with what a call
// would have written, so that an actor, and later whoever is on another machine, can look at a
// system without a pointer to it.
//
//     context().world().system_guardian().tell(dump_request{.reply_to = ...});
//     void on(dump_reply&& r) { print(r.text()); }
//
// The text is one block of the world's memory, which the reply owns. Where there is none that
// large, the reply has no text and says how many bytes there would have been.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include <tactus/actor/actor_ref.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/dispatch/dump.hpp>

namespace tactus::inline v0 {

enum class dump_what : std::uint8_t {
    system,       // dispatchers and actors
    dispatchers,  // how many actors there are, and none of them
    scheduler,    // timers (SD-3)
};

class dump_reply {
public:
    /// Nothing was to be had: `needed` bytes of memory.
    dump_reply(dump_what what, dump_format format, std::size_t needed) noexcept
        : needed_(needed), what_(what), format_(format) {}
    /// What a block begins with; the text is behind it. `room`: of both.
    struct block {
        memory_source* from = nullptr;
        std::size_t room = 0;
        std::size_t size = 0;  // of the text
        [[nodiscard]] char* text() noexcept { return reinterpret_cast<char*>(this + 1); }
    };
    /// Owns the block.
    dump_reply(dump_what what, dump_format format, std::size_t needed, block* text) noexcept
        : text_(text), needed_(needed), what_(what), format_(format) {}
    dump_reply(dump_reply&& other) noexcept
        : text_(std::exchange(other.text_, nullptr)),
          needed_(other.needed_),
          what_(other.what_),
          format_(other.format_) {}
    dump_reply& operator=(dump_reply&&) = delete;
    ~dump_reply() {
        if (text_ != nullptr)
            text_->from->release(text_, text_->room, alignof(block));
    }

    [[nodiscard]] dump_what what() const noexcept { return what_; }
    [[nodiscard]] dump_format format() const noexcept { return format_; }
    [[nodiscard]] std::string_view text() const noexcept {
        return text_ != nullptr ? std::string_view(text_->text(), text_->size) : std::string_view();
    }
    /// Bytes of the whole text.
    [[nodiscard]] std::size_t needed() const noexcept { return needed_; }
    /// The text is shorter than that: there was no memory, or the system grew meanwhile.
    [[nodiscard]] bool is_cut() const noexcept { return text().size() < needed_; }

private:
    block* text_ = nullptr;  // null: none
    std::size_t needed_;
    dump_what what_;
    dump_format format_;
};

// To say that there is no memory takes none.
static_assert(envelope::fits<dump_reply>(0));

struct dump_request {
    dump_what what = dump_what::system;
    dump_format format = dump_format::text;
    actor_ref<dump_reply> reply_to;
};

}  // namespace tactus::inline v0
