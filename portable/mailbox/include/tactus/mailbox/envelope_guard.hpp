// SPDX-License-Identifier: Apache-2.0
//
// Envelope guard: who sent a message, and wants to know what becomes of it (BT-2).
//
// Such a message lies in a block of its sender's, who is the block's memory source: when the
// envelope is done with it, for whatever reason, the block is released, and that is how the sender
// learns of it. Before it is handled the sender is asked, through the guard whose address lies in
// front of the message.
//
// A sender that has no block writes a note into the envelope instead: who it is, and what it must
// know to answer the same two questions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tactus::inline v0 {

class envelope_guard {
public:
    /// What a guard keeps while its message is handled: on the stack of who handles it. The message
    /// may be gone before its handler returns, and the guard with it.
    struct scope {
        static constexpr std::size_t room_size = 24 + 6 * sizeof(void*);

        scope() = default;
        scope(const scope&) = delete;
        scope& operator=(const scope&) = delete;
        ~scope() {
            if (end != nullptr)
                end(*this);
        }

        alignas(std::max_align_t) std::byte room[room_size];
        void (*end)(scope&) noexcept = nullptr;  // null: nothing to end
        const void* what = nullptr;              // address of what the guard put there; its own
    };

    envelope_guard(const envelope_guard&) = delete;
    envelope_guard& operator=(const envelope_guard&) = delete;

    /// On the thread that is about to handle the message. False: it was withdrawn, and is not
    /// handled.
    [[nodiscard]] virtual bool begin(scope& during) noexcept = 0;

protected:
    envelope_guard() = default;
    ~envelope_guard() = default;
};

struct envelope_note;

class note_reader {
public:
    note_reader(const note_reader&) = delete;
    note_reader& operator=(const note_reader&) = delete;

    /// As envelope_guard::begin.
    [[nodiscard]] virtual bool begins(const envelope_note& what,
                                      envelope_guard::scope& during) noexcept = 0;
    /// The message is gone. `was_begun`: it was handled before, or its handler has begun.
    virtual void ended(const envelope_note& what, bool was_begun) noexcept = 0;

protected:
    note_reader() = default;
    ~note_reader() = default;
};

struct envelope_note {
    /// Bytes of it that are kept.
    static constexpr std::size_t size = sizeof(void*) + 3 * sizeof(std::uint32_t);

    note_reader* reader;
    std::uint32_t words[3];  // the reader's
};

}  // namespace tactus::inline v0
