// SPDX-License-Identifier: Apache-2.0
//
// Envelope pool: where envelopes come from, with thread caches over one region (MB-9).
//
// Some envelopes are kept apart for system messages that have no node of their own (SQ-5): user
// messages never get them, so a full pool cannot hold up the end of an actor. Freed envelopes are
// poisoned for AddressSanitizer and Valgrind (UP-6): type-stable memory hides no use after free.
#pragma once

#include <cstdint>

#include <tactus/mailbox/depot.hpp>
#include <tactus/mailbox/envelope.hpp>
#include <tactus/mailbox/system_message.hpp>

namespace tactus::inline v0 {

struct envelope_links {
    [[nodiscard]] static envelope* get(const envelope& e) noexcept { return e.next.read(); }
    static void set(envelope& e, envelope* to) noexcept { e.next.write(to); }
    [[nodiscard]] static envelope* get_magazine(const envelope& e) noexcept;
    static void set_magazine(envelope& e, envelope* to) noexcept;
};

class envelope_pool {
public:
    struct options {
        memory_region* memory = nullptr;        // holds capacity + reserve_for_system envelopes
        std::uint32_t capacity = 0;             // for user messages
        std::uint32_t reserve_for_system = 10;  // for system messages alone
        std::uint32_t magazine_size = 128;
        memory_source* large_payloads = nullptr;  // null: messages must fit an envelope
    };
    using depot_type = depot<envelope, envelope_links>;

    explicit envelope_pool(const options& o) noexcept;
    /// Requires: nobody uses an envelope of it any more.
    ~envelope_pool();
    envelope_pool(const envelope_pool&) = delete;
    envelope_pool& operator=(const envelope_pool&) = delete;

    /// One of the kept ones. Finding them gone is fatal (check envelope_pool:1), never a silent
    /// loss. Callable from any thread.
    [[nodiscard]] envelope& take_for_system() noexcept;
    /// Requires: the envelope came from take_for_system. Callable from any thread.
    void give_for_system(envelope& e) noexcept;
    [[nodiscard]] std::uint32_t reserve_count() noexcept;
    /// A system message in one of the kept ones, for what has no node of its own (SQ-5); it goes
    /// back by itself when it was handled or refused. Callable from any thread.
    [[nodiscard]] system_message& take_system_message() noexcept;

    [[nodiscard]] memory_source* large_payloads() const noexcept { return large_payloads_; }
    [[nodiscard]] depot_type& shared() noexcept { return depot_; }
    [[nodiscard]] bool poisons() const noexcept { return poisons_; }

    /// What is in a free envelope must not be touched, apart from its links.
    static void poison(envelope& e) noexcept;
    static void unpoison(envelope& e) noexcept;

private:
    TACTUS_CHECK_MODULE("envelope_pool");

    depot_type depot_;
    memory_source* large_payloads_;
    const bool poisons_;

    port::mutex mutex_;  // of the reserve
    envelope* reserve_ = nullptr;
    std::uint32_t reserve_count_ = 0;
};

/// One thread's way to the pool. Owner thread only.
class envelope_cache {
public:
    envelope_cache() = default;
    explicit envelope_cache(envelope_pool& pool) noexcept { attach(&pool); }

    void attach(envelope_pool* pool) noexcept {
        pool_ = pool;
        cache_.attach(pool != nullptr ? &pool->shared() : nullptr);
        poisons_ = pool != nullptr && pool->poisons();
    }
    [[nodiscard]] envelope_pool* pool() const noexcept { return pool_; }

    /// An empty envelope, or nullptr when the pool has none.
    [[nodiscard]] envelope* take() noexcept {
        envelope* e = cache_.take();
        if (poisons_ && e != nullptr) [[unlikely]]
            envelope_pool::unpoison(*e);
        return e;
    }

    /// Takes back an empty envelope.
    void give(envelope& e) noexcept {
        if ((e.flags() & envelope::from_reserve) != 0) [[unlikely]] {
            pool_->give_for_system(e);
            return;
        }
        if (poisons_) [[unlikely]]
            envelope_pool::poison(e);
        cache_.give(e);
    }

    /// Ends the message and takes the envelope back.
    void dispose(envelope& e) noexcept {
        if (!e.ends_plainly() || poisons_) [[unlikely]] {
            e.destroy_payload();
            give(e);
            return;
        }
        cache_.give(e);
    }

    void flush() noexcept { cache_.flush(); }

private:
    depot_cache<envelope, envelope_links> cache_;
    envelope_pool* pool_ = nullptr;
    bool poisons_ = false;
};

}  // namespace tactus::inline v0
