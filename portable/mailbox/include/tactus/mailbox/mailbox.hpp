// SPDX-License-Identifier: Apache-2.0
//
// Mailbox: a system queue, an inbox and one state word, on three cache lines (RG-3).
//
//   senders   inbox head, generation            written by whoever sends
//   state     state word, ticket, system head   written at the edges of a run
//   owner     the batch in work, and what the invoker keeps
//
// A plain mailbox (first in first out, unbounded) is all of this and nothing else; one of another
// kind, or a bounded one, has a block (mailbox_block.hpp) with its queue and its gate.
//
// Senders touch the second line only when their push found the queue empty; the owner's line is
// nobody else's business. It holds no business logic: the invoker runs it.
//
// Invariants
//   M1  who holds the scheduled bit is the owner; there is at most one
//   M2  an open mailbox that is not scheduled has no work its state allows, except between a push
//       and the sender's request_schedule, or between run_ended and the look that follows
//   M3  every envelope and system message taken is handled or reaches the finalizer's sink, once
//
// A mailbox begins closed (all zero) and is used again after it was closed: type-stable memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <tactus/mailbox/envelope.hpp>
#include <tactus/mailbox/inbox.hpp>
#include <tactus/mailbox/life.hpp>
#include <tactus/mailbox/mailbox_block.hpp>
#include <tactus/mailbox/state_engine.hpp>
#include <tactus/mailbox/system_queue.hpp>

namespace tactus::inline v0 {

enum class enqueued : std::uint8_t {
    accepted,  // and somebody else sees to it
    submit,    // and the caller now puts the mailbox into a lane
    closed,    // not taken: it goes to dead letters
};

/// How many system messages wait. Kept where a mailbox has whole cache lines: what is left of the
/// state's line has room for it. A device has none.
template <bool Kept>
class basic_system_count {
public:
    static constexpr bool is_kept = true;
    // Relaxed: nothing is decided by it, and nothing is found through it.
    void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
    void take(std::uint32_t n) noexcept { count_.fetch_sub(n, std::memory_order_relaxed); }
    [[nodiscard]] std::uint32_t value() const noexcept {
        return count_.load(std::memory_order_relaxed);
    }

private:
    port::atomic<std::uint32_t> count_{0};
};
template <>
class basic_system_count<false> {
public:
    static constexpr bool is_kept = false;
    void add() noexcept {}
    void take(std::uint32_t) noexcept {}
    [[nodiscard]] std::uint32_t value() const noexcept { return 0; }
};

class mailbox {
    using system_count = basic_system_count<(port::cache_line >= 64)>;

public:
    mailbox() noexcept { state_.begin_closed(); }

    // ---- any thread

    /// Always in place: it is a part of every send, and whether it is called is not to depend on
    /// what else there is in a program (11 of 440 instructions of a ping-pong's hop).
    [[nodiscard, gnu::always_inline]] enqueued enqueue(envelope& e) noexcept {
        const pushed result = inbox_.push(e);
        if (result == pushed::behind_others)
            return enqueued::accepted;
        return after_push(result, schedule_hint::user);
    }
    [[nodiscard]] enqueued enqueue_system(system_message& m) noexcept {
        system_waiting_.add();  // before the push: the owner never takes more than was counted
        const pushed result = system_.push(m);
        if (result == pushed::behind_others)
            return enqueued::accepted;
        if (result == pushed::closed) [[unlikely]]
            note_system_handled(1);
        return after_push(result, schedule_hint::system);
    }

    [[nodiscard]] std::uint32_t generation() const noexcept {
        // A guess that saves work: the envelope carries the generation, and the owner compares.
        return generation_.load(std::memory_order_relaxed);
    }
    /// The generation, unless senders cannot take the short way: what no life is called then, and
    /// why. So one look tells.
    [[nodiscard]] std::uint32_t plain_generation() const noexcept {
        return plain_generation_.load(std::memory_order_relaxed);
    }
    static constexpr std::uint32_t is_gated = life::is_gated;            // bounded: has a gate
    static constexpr std::uint32_t has_deadlines = life::has_deadlines;  // messages get a deadline
    /// LN-8: how much later than sending its messages are due, in microseconds; 0: they have no
    /// deadline. Set before it is opened; for others a guess, as the generation is.
    [[nodiscard]] std::uint32_t deadline_us() const noexcept {
        return deadline_us_.load(std::memory_order_relaxed);
    }
    void set_deadline_us(std::uint32_t us) noexcept {
        deadline_us_.store(us, std::memory_order_relaxed);  // ordered by opening the queues
    }
    /// The gate of a bounded mailbox; nullptr when it has none. A guess, as the generation is: the
    /// gate knows which life it belongs to.
    [[nodiscard]] mailbox_block* gated() const noexcept {
        return plain_generation() == is_gated ? block_.load(placed.acquire()) : nullptr;
    }
    /// For who has passed the gate.
    [[nodiscard]] inbox& senders_inbox() noexcept { return inbox_; }
    [[nodiscard]] state_engine& state() noexcept { return state_; }
    [[nodiscard]] const state_engine& state() const noexcept { return state_; }
    [[nodiscard]] bool has_system_messages() const noexcept { return system_.has_messages(); }
    /// User messages that a run would find. Exact for the owner and for who just resumed it.
    [[nodiscard]] bool has_user_messages() const noexcept {
        if (!inbox_.looks_empty() || kept_.load(std::memory_order_relaxed) != 0)
            return true;
        const mailbox_block* b = block_.load(placed.acquire());
        return b != nullptr && b->gate().has_aside();
    }
    /// Something is left from the last run for after a resume. A look.
    [[nodiscard]] bool keeps() const noexcept { return kept_.load(std::memory_order_relaxed) != 0; }
    /// How many user messages wait: those that hold a credit, or of an unbounded mailbox the
    /// owner's estimate: what the last run left, and one when more have come since. A look.
    [[nodiscard]] std::uint32_t user_length() const noexcept {
        if (const mailbox_block* b = gated())
            return b->gate().taken();
        return kept_.load(std::memory_order_relaxed) + (inbox_.looks_empty() ? 0U : 1U);
    }
    /// How many system messages wait: sent, and neither handled nor refused yet. Racy snapshot; a
    /// message that is just being sent to a closed mailbox may be among them. On a device 0, or 1
    /// for one or more.
    [[nodiscard]] std::uint32_t system_length() const noexcept {
        if constexpr (system_count::is_kept)
            return system_waiting_.value();
        else
            return has_system_messages() ? 1 : 0;
    }
    /// Why it is held back, and since when, for who looks; in words of the layer above.
    void note_held(suspension kind, std::uint32_t note) noexcept {
        (kind == suspension::await ? awaits_ : held_).store(note, std::memory_order_relaxed);
    }
    [[nodiscard]] std::uint32_t held_note(suspension kind) const noexcept {
        return (kind == suspension::await ? awaits_ : held_).load(std::memory_order_relaxed);
    }
    /// Looks for work that the state allows, and asks for a run: true when the caller now submits.
    /// False when the mailbox is not in the life that is named by its state mark.
    [[nodiscard]] bool offer_work(std::uint32_t life = state_engine::any_life) noexcept {
        return offer_work_here(life);
    }

    // ---- owner

    [[nodiscard]] oldest_first drain_system() noexcept { return system_.drain(); }
    [[nodiscard]] system_queue& system() noexcept { return system_; }
    /// Of those that were drained, `n` wait no more (see system_length).
    void note_system_handled(std::uint32_t n) noexcept { system_waiting_.take(n); }

    /// The next user message, or nullptr.
    [[nodiscard]] envelope* next_user() noexcept {
        envelope* e = batch_;
        if (e == nullptr) {
            if (kind_ != nullptr) [[unlikely]]
                return kind_->next(inbox_);
            e = inbox_.take_all(batch_count_);
            if (e == nullptr)
                return nullptr;
        }
        batch_ = e->next.read();
        --batch_count_;
        return e;
    }
    /// Fetches what the inbox has, if nothing is in work; how many messages then are.
    [[nodiscard]] std::uint32_t fetch_batch() noexcept {
        if (kind_ != nullptr) [[unlikely]]
            return batch_count_ + kind_->fetch(inbox_);
        if (batch_ == nullptr)
            batch_ = inbox_.take_all(batch_count_);
        return batch_count_;
    }
    /// True when next_user would return one.
    [[nodiscard]] bool owner_has_user() const noexcept {
        return batch_ != nullptr || !inbox_.looks_empty() || (kind_ != nullptr && !kind_->empty());
    }
    /// The deadline of the next message, if it has one.
    [[nodiscard]] std::optional<std::int64_t> first_deadline() noexcept {
        (void)fetch_batch();
        if (batch_ != nullptr) [[likely]]
            return batch_->deadline_if_any();
        return kind_ != nullptr ? kind_->first_deadline(inbox_) : std::nullopt;
    }
    /// The block of a mailbox that is not plain; nullptr otherwise.
    [[nodiscard]] mailbox_block* kind() const noexcept { return kind_; }
    /// Before everything that is queued.
    void put_back(envelope& e) noexcept {
        e.next.write(batch_);
        batch_ = &e;
        ++batch_count_;
    }

    /// MB-7: all of `batch`, in its order, before everything that is queued, but not before what
    /// was put back; or an error, and the batch is as it was.
    [[nodiscard]] prepended prepend(envelope_list& batch) noexcept {
        if (kind_ != nullptr)
            return kind_->prepend(batch);
        return batch.size() == 0 ? prepended::done : prepended::not_a_deque;
    }
    /// MB-8: the run ends, and the mailbox is queued again at once: how much is left, for who
    /// looks.
    void note_length() noexcept { kept_.store(kept_count(), std::memory_order_relaxed); }

    /// Gives the mailbox up; submit when it must be queued again at once, closed when the caller is
    /// elected to finalize (and is still the owner). `holds` says that continuations are held back:
    /// there is more to do after a resume than the batch.
    [[nodiscard]] enqueued end_run(bool holds = false) noexcept {
        if (holds || batch_ != nullptr || kind_ != nullptr ||
            kept_.load(std::memory_order_relaxed) != 0) [[unlikely]]
            return end_run_slowly(holds);
        const std::uint32_t left = state_.give_up();
        if ((left & state_word::closing) != 0) [[unlikely]]
            return enqueued::closed;
        const std::uint32_t life = left & state_word::life_mask;
        const bool more = port::has_interrupts ? offer_work(life) : offer_work_here(life);
        return more ? enqueued::submit : enqueued::accepted;
    }

    /// Gives the life about to be opened a block, which was opened for it; null: a plain one.
    void set_kind(mailbox_block* b) noexcept {
        kind_ = b;
        if (b != nullptr)
            block_.store(b, placed.release());
    }
    /// The life that a block was opened for does not begin after all.
    void drop_kind() noexcept {
        if (kind_ != nullptr)
            kind_->close([](envelope&) {});
        kind_ = nullptr;
    }
    /// The block this mailbox has, whether its present life uses it or not. For who has the mailbox
    /// between two lives.
    [[nodiscard]] mailbox_block* block() const noexcept {
        // Relaxed: who made it had the mailbox before, and the depot hands that over.
        return block_.load(std::memory_order_relaxed);
    }

    /// Opens it for a new life. Requires: closed, and the caller is the only one who may open it.
    void open(std::uint32_t generation, bool scheduled) noexcept {
        batch_ = nullptr;
        batch_count_ = 0;
        kept_.store(0, std::memory_order_relaxed);  // ordered by opening the queues below
        generation_.store(generation, std::memory_order_relaxed);
        const bool bounded = kind_ != nullptr && kind_->options().is_bounded();
        plain_generation_.store(bounded              ? is_gated
                                : deadline_us() != 0 ? has_deadlines
                                                     : generation,
                                std::memory_order_relaxed);
        state_.open(scheduled, life::state_mark(generation));
        system_.open();
        inbox_.open();
    }

    /// What the elected finalizer does: nothing is accepted from now on, what was left goes to the
    /// sink in order, system messages first. `next_generation` is what the slot's next life will
    /// have, so that late senders fail on either. Returns how much there was.
    struct leftovers {
        std::size_t system = 0;
        std::size_t user = 0;
    };
    template <class Sink>
    leftovers finalize(std::uint32_t next_generation, oldest_first taken, Sink&& sink) noexcept {
        leftovers left;
        generation_.store(next_generation, std::memory_order_relaxed);
        plain_generation_.store(is_gated, std::memory_order_relaxed);
        for (oldest_first list : {taken, system_.close()}) {
            while (system_message* m = list.pop()) {
                ++left.system;
                sink.refused(*m);
            }
        }
        note_system_handled(static_cast<std::uint32_t>(left.system));
        envelope* rest = inbox_.close();
        const auto refuse = [&](envelope& e) {
            ++left.user;
            sink.refused(e);
        };
        const auto refuse_all = [&](envelope* list) {
            while (list != nullptr) {
                envelope* e = list;
                list = e->next.read();
                refuse(*e);
            }
        };
        refuse_all(batch_);
        if (kind_ != nullptr) {
            kind_->close(refuse);
            kind_ = nullptr;
        }
        refuse_all(rest);
        batch_ = nullptr;
        batch_count_ = 0;
        kept_.store(0, std::memory_order_relaxed);  // ordered by the state word
        state_.finish_close();
        return left;
    }

    // ---- the coordinator's: which registration of this mailbox is meant (see ticket.hpp). Here,
    //      because it is written when the state is.
    [[nodiscard]] port::atomic<std::uint32_t>& ticket() noexcept { return ticket_; }

private:
    /// offer_work for the end of a run, where a call would be felt.
    [[nodiscard, gnu::always_inline]] bool offer_work_here(std::uint32_t life) noexcept {
        if (system_.has_messages() && state_.request_schedule(schedule_hint::system, life))
            return true;
        return has_user_messages() && state_.request_schedule(schedule_hint::user, life);
    }
    [[nodiscard]] enqueued end_run_slowly(bool holds) noexcept;
    /// For user_length; never 0, since it also says that there is more to do.
    [[nodiscard]] std::uint32_t kept_count() const noexcept {
        const std::uint32_t n = batch_count_ + (kind_ != nullptr ? kind_->queue().size() : 0);
        return n != 0 ? n : 1;
    }
    [[nodiscard]] enqueued after_push(pushed result, schedule_hint hint) noexcept {
        if (result == pushed::closed) [[unlikely]]
            return enqueued::closed;
        return state_.request_schedule(hint) ? enqueued::submit : enqueued::accepted;
    }

    static constexpr std::size_t line = port::cache_line < 8 ? 8 : port::cache_line;

    // Senders' line.
    alignas(line) inbox inbox_;
    port::atomic<std::uint32_t> generation_{0};
    port::atomic<std::uint32_t> plain_generation_{0};
    port::atomic<std::uint32_t> deadline_us_{0};  // see deadline_us

protected:
    // Written before the mailbox is opened, and by its owner. Relaxed: who reads it without having
    // won the scheduled bit only wants to know where to queue it.
    port::atomic<std::uint32_t> traits_{0};
    // Constant while open, for its owner; here because there is room.
    std::uint32_t suspend_limit_ = 0;

private:
    // State line.
    alignas(line) state_engine state_;
    port::atomic<std::uint32_t> ticket_{0};
    system_queue system_;
    // What a mailbox that does not run keeps from its last run: how many, as far as is known, and
    // not 0 as long as there is anything.
    port::atomic<std::uint32_t> kept_{0};
    // See held_note: by supervision, and by await.
    port::atomic<std::uint32_t> held_{0};
    port::atomic<std::uint32_t> awaits_{0};
    [[no_unique_address]] system_count system_waiting_;  // see system_length
    // "placed": a block is made before it is found. It stays for as long as the slot does.
    static constexpr port::edge placed{"block-placed"};
    port::atomic<mailbox_block*> block_{nullptr};

public:
    // For the layers above, and for people: what anybody may read of it.
    port::atomic<std::uint32_t> tag{0};
    // Owner only, for the invoker; here because there is room.
    system_ring held;       // continuations that wait for supervision, or for the next run
    system_ring unhandled;  // system messages taken when the actor was closed, or worked

protected:
    // Owner's line: the batch here, the rest by who derives.
    alignas(line) envelope* batch_ = nullptr;  // taken from the inbox, the oldest first

private:
    mailbox_block* kind_ = nullptr;  // the block, when the present life uses it

protected:
    std::uint32_t batch_count_ = 0;  // how many are in the batch
};

}  // namespace tactus::inline v0
