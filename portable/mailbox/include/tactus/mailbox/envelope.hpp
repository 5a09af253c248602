// SPDX-License-Identifier: Apache-2.0
//
// Envelope: one message on its way, one cache line.
//
// It is an intrusive node (link), says what it carries (descriptor by address), who sent it and
// which generation of the receiver is meant. A payload of up to 32 bytes lies inside; a larger one
// is a block of a memory source, and the inside holds {block, source}. A deadline, a span id or a
// note, where a message has one, take the last bytes of the inside; the flags say so. The note of a
// message in a block lies in front of it.
//
// Fields are `plain`: an envelope has one owner at a time, and the queues hand it over. The model
// checks that they do.
//
// Exactly once: whoever owns an envelope either passes it on or calls destroy_payload() and gives
// it back to its pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include <tactus/base/memory_source.hpp>
#include <tactus/mailbox/envelope_guard.hpp>
#include <tactus/mailbox/mailbox_index.hpp>
#include <tactus/mailbox/message_type.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

class alignas(port::cache_line < 8 ? 8 : port::cache_line) envelope {
public:
    static constexpr std::size_t inside_size = 32;
    // A core without a cache has no types that need more than 8 either.
    static constexpr std::size_t inside_alignment = port::cache_line < 16 ? 8 : 16;

    enum flag : std::uint32_t {
        boxed = 1,         // the payload is outside
        has_deadline = 2,  // 8 bytes at the end of the inside
        has_span = 4,      // 8 bytes before the deadline's place
        from_reserve = 8,  // belongs to the part of the pool kept for system messages
        has_stamp = 16,    // when it was sent, in the deadline's place; with no other extras
        has_guard = 32,    // boxed, and the address of an envelope_guard lies in front of it
        has_note = 64,     // before the other extras
        was_begun = 128,   // its note was asked, and it is handled
        is_owed = 256  // a signal of the runtime in a mailbox that is not plain: takes no credit
                       // of a gate, is not evicted, and survives when the queue breaks
    };

    envelope() noexcept = default;
    envelope(const envelope&) = delete;
    envelope& operator=(const envelope&) = delete;

    /// Puts a message in; false when it needs a block and `source` has none, and then `value` is
    /// untouched. Requires: the envelope is empty, and none of the reserve.
    template <message M, class From>
    [[nodiscard]] bool emplace(From&& value, memory_source* source, std::uint32_t extras = 0) {
        if constexpr (fits<M>(0)) {
            if (fits<M>(extras)) [[likely]] {
                ::new (static_cast<void*>(&inside_)) M(std::forward<From>(value));
                type.write(&message_type_of<M>);
                set_flags(extras);
                return true;
            }
        }
        void* place = make_room(message_type_of<M>, source, extras);
        if (place == nullptr)
            return false;
        unused_room unused{this};
        ::new (place) M(std::forward<From>(value));
        unused.in = nullptr;
        return true;
    }

    /// Takes over a message that lies in a block of `source`, with the address of a guard in front
    /// of it (see place_guard). Requires: the envelope is empty, and none of the reserve.
    void adopt(void* block, const message_type& of, memory_source& source,
               std::uint32_t extras = 0) noexcept {
        const box b{block, &source};
        std::memcpy(&inside_, &b, sizeof b);
        type.write(&of);
        set_flags(extras | boxed | has_guard);
    }
    /// Room for a guard's address in front of a message that needs no larger alignment.
    static constexpr std::size_t guard_room = sizeof(void*) < 8 ? 8 : 16;
    static void place_guard(void* block, envelope_guard& guard) noexcept {
        envelope_guard* const address = &guard;
        std::memcpy(static_cast<std::byte*>(block) - sizeof address, &address, sizeof address);
    }
    [[nodiscard]] static envelope_guard& guard_before(const void* block) noexcept {
        envelope_guard* address = nullptr;
        std::memcpy(&address, static_cast<const std::byte*>(block) - sizeof address,
                    sizeof address);
        return *address;
    }
    /// Requires: emplaced with has_note.
    void set_note(const envelope_note& what) noexcept {
        std::memcpy(note_place(), &what, envelope_note::size);
    }
    /// Before it is handled: asks who sent it. Requires: has_guard or has_note.
    [[nodiscard]] bool begin(envelope_guard::scope& during) noexcept;

    /// The same in two steps, for who does not know the type: where the message is to be made; null
    /// when it needs a block and `source` has none. Requires: as emplace. Owes: a message is made
    /// there, or drop_room().
    [[nodiscard]] void* make_room(const message_type& t, memory_source* source,
                                  std::uint32_t extras) noexcept;
    /// Nothing was made there. The envelope is empty afterwards.
    void drop_room() noexcept;

    /// As emplace, for a message that fits without extras, with everything else an envelope says.
    template <message M, class From>
    void fill(From&& value, mailbox_index from, std::uint32_t of_generation) {
        static_assert(fits<M>(0));
        ::new (static_cast<void*>(&inside_)) M(std::forward<From>(value));
        type.write(&message_type_of<M>);
        sender.write(from);
        tag.write(of_generation);
    }

    template <message M>
    [[nodiscard]] static constexpr bool fits(std::uint32_t extras) noexcept {
        return fits(message_type_of<M>, extras);
    }
    [[nodiscard]] static constexpr bool fits(const message_type& t, std::uint32_t extras) noexcept {
        return t.size + extras_size(extras) <= inside_size && t.alignment <= inside_alignment;
    }

    [[nodiscard]] void* payload() noexcept {
        if ((flags() & boxed) == 0) [[likely]]
            return &inside_;
        return outside().block;
    }

    /// The message, when it is an M.
    template <message M>
    [[nodiscard]] M* get_if() noexcept {
        return type.read() == &message_type_of<M> ? std::launder(static_cast<M*>(payload()))
                                                  : nullptr;
    }

    /// Requires: emplaced with has_deadline. Nanoseconds of the system's clock.
    void set_deadline(std::int64_t at) noexcept { store_extra(inside_size - 8, at); }
    [[nodiscard]] std::int64_t deadline() const noexcept { return load_extra(inside_size - 8); }
    [[nodiscard]] std::optional<std::int64_t> deadline_if_any() const noexcept {
        return (flags() & has_deadline) != 0 ? std::optional(deadline()) : std::nullopt;
    }
    /// Says when it was sent, in nanoseconds of the system's clock. Requires: the message is
    /// inside, without extras, and fits<M>(has_stamp).
    void set_stamp(std::int64_t at) noexcept {
        store_extra(inside_size - 8, at);
        set_flags(has_stamp);
    }
    /// Requires: has_stamp.
    [[nodiscard]] std::int64_t stamp() const noexcept { return load_extra(inside_size - 8); }
    /// Requires: emplaced with has_span.
    void set_span(std::int64_t id) noexcept { store_extra(inside_size - 16, id); }
    [[nodiscard]] std::int64_t span() const noexcept { return load_extra(inside_size - 16); }

    /// Its payload needs no end, and it belongs to the common part of its pool: one look for what
    /// nearly all are.
    [[nodiscard]] bool ends_plainly() const noexcept {
        return type.read()->destroy == nullptr &&
               (flags() & (boxed | from_reserve | has_note)) == 0;
    }
    /// Ends the payload's life. The envelope is empty afterwards.
    void destroy_payload() noexcept {
        const message_type* t = type.read();
        const std::uint32_t f = flags();
        if (t->destroy == nullptr && (f & (boxed | has_note)) == 0) [[likely]]
            return;
        destroy_slowly(*t, f);
    }

    port::plain<envelope*> next;
    port::plain<const message_type*> type;
    port::plain<mailbox_index> sender;
    port::plain<std::uint64_t> tag;  // flags above, generation below

    [[nodiscard]] std::uint32_t generation() const noexcept {
        return static_cast<std::uint32_t>(tag.read());
    }
    void set_generation(std::uint32_t n) noexcept { tag.write(tag_of(n, flags())); }
    [[nodiscard]] std::uint32_t flags() const noexcept {
        return static_cast<std::uint32_t>(tag.read() >> 32U);
    }
    void set_flags(std::uint32_t f) noexcept { tag.write(tag_of(generation(), f)); }
    /// See is_owed.
    [[nodiscard]] bool owed() const noexcept { return (flags() & is_owed) != 0; }
    /// Meant for this life, inside, and with no extras: one look for what nearly all are.
    [[nodiscard]] bool is_plain_for(std::uint32_t of_generation) const noexcept {
        return tag.read() == of_generation;
    }

private:
    [[nodiscard]] static constexpr std::uint64_t tag_of(std::uint32_t generation,
                                                        std::uint32_t flags) noexcept {
        return (std::uint64_t{flags} << 32U) | generation;
    }

    struct box {
        void* block;
        memory_source* source;
    };
    /// For constructors that throw, on the host.
    struct unused_room {
        envelope* in;
        ~unused_room() {
            if (in != nullptr)
                in->drop_room();
        }
    };

    [[nodiscard]] static constexpr std::size_t extras_size(std::uint32_t extras) noexcept {
        const std::size_t noted = (extras & has_note) != 0 ? envelope_note::size : 0;
        return noted + ((extras & has_span) != 0                     ? 16U
                        : (extras & (has_deadline | has_stamp)) != 0 ? 8U
                                                                     : 0U);
    }
    /// Bytes in front of a message in a block, for its note.
    [[nodiscard]] static constexpr std::size_t lead_of(const message_type& t,
                                                       std::uint32_t f) noexcept {
        const std::size_t unit = t.alignment;
        return (f & has_note) != 0 ? (envelope_note::size + unit - 1) / unit * unit : 0;
    }
    [[nodiscard]] std::byte* note_place() noexcept {
        const std::uint32_t f = flags();
        return (f & boxed) != 0 ? static_cast<std::byte*>(outside().block) - envelope_note::size
                                : inside_ + inside_size - extras_size(f);
    }
    void release_block(const message_type& t, std::uint32_t f) const noexcept;
    [[nodiscard]] box outside() const noexcept {
        box b;
        std::memcpy(&b, &inside_, sizeof b);
        return b;
    }
    void store_extra(std::size_t at, std::int64_t value) noexcept {
        std::memcpy(inside_ + at, &value, sizeof value);
    }
    [[nodiscard]] std::int64_t load_extra(std::size_t at) const noexcept {
        std::int64_t value = 0;
        std::memcpy(&value, inside_ + at, sizeof value);
        return value;
    }
    void destroy_slowly(const message_type& t, std::uint32_t f) noexcept;

    alignas(inside_alignment) std::byte inside_[inside_size];
};

}  // namespace tactus::inline v0
