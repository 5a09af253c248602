// SPDX-License-Identifier: Apache-2.0
//
// Event stream: who subscribes a type is told every event of it, and of the types that declare it
// as a base (EV-1).
//
// A subscriber has subscriptions, each to a channel, and each with the channels below it that were
// taken out since. An event reaches the subscriber when one of its channels is subscribed, and
// nothing that was taken out of that subscription is among its channels; once, as a message of the
// nearest such channel's type.
//
//   subscribe    a new subscription, or an old one made whole again; others stay as they are
//   unsubscribe  ends the subscriptions to the channel and to those below it, and takes the channel
//                out of those above it. What is both below it and below a subscribed channel beside
//                it still comes through that one
//
// Both say whether that changed anything. A reference that names nothing is not taken: false.
//
// Publishing tells each subscriber in the order of their first subscriptions, on the publishing
// thread and without a lock held: telling may lead to the next event. It looks at every
// subscription there is, under the lock; with none it is one comparison. So
//   - events that one thread publishes reach each subscriber in that order;
//   - who subscribes while an event is being published is not told that one;
//   - who unsubscribes meanwhile may be told it afterwards, once unsubscribe has returned, too.
//
// A subscriber that has ended is told nothing more after forget(), which is the system's to call:
// until then events for it become dead letters. The stream does not know who lives: when an actor
// may have ended before it was subscribed, the system looks again afterwards, and forgets it then.
// An event that says of a dead letter must not be published for a letter that was such an event
// itself, or the two would never end.
//
// Invariants
//   V1  the entries of a subscriber are next to each other, and subscribers ordered by their ids
//   V2  of a subscriber no two entries are the same
//   V3  what is taken out lies below the channel it is taken out of, which has an entry of its own;
//       no channel is taken out of a subscription below another that is
//
// Thread safety: everything from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>

#include <tactus/actor/event_type.hpp>
#include <tactus/base/memory_source.hpp>
#include <tactus/port/port.hpp>

namespace tactus::inline v0 {

enum class event_error : std::uint8_t {
    no_memory,       // nothing was changed
    another_system,  // the actor is of another system
};
inline constexpr std::size_t event_error_count = 2;
[[nodiscard]] const char* name_of(event_error error) noexcept;
/// One line for people.
[[nodiscard]] const char* text_of(event_error error) noexcept;

class event_stream {
public:
    /// True: something changed.
    using changed = std::expected<bool, event_error>;

    /// `memory` outlives the stream; blocks are taken and given back under the stream's lock.
    explicit event_stream(memory_source& memory) noexcept : memory_(memory) {}
    ~event_stream();
    event_stream(const event_stream&) = delete;
    event_stream& operator=(const event_stream&) = delete;

    template <event E>
    [[nodiscard]] changed subscribe(mailbox_index who) noexcept {
        return subscribe(who, event_type_of<E>);
    }
    /// Taking a channel out of a subscription needs memory, too.
    template <event E>
    [[nodiscard]] changed unsubscribe(mailbox_index who) noexcept {
        return unsubscribe(who, event_type_of<E>);
    }
    /// From everything.
    bool unsubscribe(mailbox_index who) noexcept;
    /// `who` has ended. As unsubscribe, for the system, which asks knows() first.
    void forget(mailbox_index who) noexcept { (void)unsubscribe(who); }
    /// Somebody would be told such an event: worth making one that costs something.
    [[nodiscard]] bool is_wanted(const event_type& type) const noexcept;
    /// Who is told of every subscription, afterwards and without the lock; null: nobody. Before the
    /// first.
    struct watcher {
        void (*subscribed)(void* context, const event_type& channel) noexcept = nullptr;
        void* context = nullptr;
    };
    void set_watcher(const watcher& w) noexcept { watcher_ = w; }
    /// It has a subscription.
    [[nodiscard]] bool knows(mailbox_index who) const noexcept;

    /// Tells the subscribers, each a copy.
    template <event E>
    void publish(const E& e) noexcept {
        if (!is_empty()) [[unlikely]]
            publish(event_type_of<E>, &e);
    }
    /// Nobody would be told anything: not worth making an event.
    [[nodiscard]] bool is_empty() const noexcept {
        // Relaxed: who was told of a subscription sees it; everything else is under the lock.
        return count_.load(std::memory_order_relaxed) == 0;
    }

    // For who has the descriptor instead of the type.
    [[nodiscard]] changed subscribe(mailbox_index who, const event_type& channel) noexcept;
    [[nodiscard]] changed unsubscribe(mailbox_index who, const event_type& channel) noexcept;
    /// Requires: `e` is an event of that type.
    void publish(const event_type& type, const void* e) noexcept;

private:
    struct entry {
        std::uint64_t id;  // of the subscriber: the order in which they are told
        mailbox_index who;
        const event_type* channel;
        const event_type* taken_out;  // of the subscription to the channel; null: that itself
    };
    /// The entries of one subscriber; none: `from` is where they would be.
    struct range {
        std::uint32_t from;
        std::uint32_t to;
    };
    struct delivery {
        mailbox_index who;
        void (*deliver)(mailbox_index to, const void* event) noexcept;
    };
    /// Whom the next lock finds: those from `from` up to, not including, `end`.
    struct progress {
        std::uint64_t from = 0;
        std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
    };
    static constexpr std::size_t batch_size = 16;
    static constexpr std::uint32_t first_capacity = 4;

    [[nodiscard]] changed add(mailbox_index who, const event_type& channel) noexcept;
    [[nodiscard]] static bool is_below(const event_type& a, const event_type& b) noexcept;
    [[nodiscard]] range find(mailbox_index who) const noexcept;
    /// Of the subscription to `channel`: `part`, or something above that.
    [[nodiscard]] bool is_taken_out(range of, const event_type& channel,
                                    const event_type& part) const noexcept;
    [[nodiscard]] const event_channel* nearest(range of, const event_type& type) const noexcept;
    [[nodiscard]] std::size_t next_batch(const event_type& type, progress& done,
                                         delivery (&batch)[batch_size]) const noexcept;
    [[nodiscard]] bool reserve(std::uint32_t wanted) noexcept;
    void insert(std::uint32_t at, const entry& e) noexcept;
    template <class Goes>
    std::uint32_t remove(range of, Goes&& goes) noexcept;

    memory_source& memory_;
    watcher watcher_;
    mutable port::mutex mutex_;
    // Under the mutex; the count is read without.
    entry* entries_ = nullptr;
    std::uint32_t capacity_ = 0;
    std::uint64_t last_id_ = 0;
    port::atomic<std::uint32_t> count_{0};
};

}  // namespace tactus::inline v0
