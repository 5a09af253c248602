// SPDX-License-Identifier: Apache-2.0
//
// Bench: a virtual world in which every actor stands behind a gate, and what actors ask of it is
// recorded. What a behavior_kit and its children share.
//
// Time stands still; who wants some to pass says so. Timers that are due come to the inbox.
//
// Thread safety: none; one thread has it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tactus/test_kit/gate.hpp>
#include <tactus/test_kit/virtual_world.hpp>

namespace tactus::inline v0::test {

class bench final : public std::enable_shared_from_this<bench>, private effect_recorder {
public:
    bench();
    ~bench();
    bench(const bench&) = delete;
    bench& operator=(const bench&) = delete;

    /// A top-level actor behind a gate, with its instance. What its constructor throws is thrown.
    [[nodiscard]] gate& spawn(actor_world::spawn_request wanted);
    /// One that has no instance, and keeps all it gets.
    [[nodiscard]] gate& spawn_inbox();
    /// Null: there is none.
    [[nodiscard]] gate* find(any_ref who) noexcept;
    /// The child that was spawned last by that name.
    [[nodiscard]] gate& child(const gate& parent, std::string_view name,
                              const std::source_location& where);

    [[nodiscard]] virtual_world& world() noexcept { return world_; }
    void run() { world_.run_until_idle(); }
    [[nodiscard]] bool is_closing() const noexcept { return closing_; }
    void dispose(envelope& e) noexcept { world_.world().kernel().dispose_kept(e); }

    // For effects.
    [[nodiscard]] bool send_timer(std::uint64_t number);
    void time_out(const question& q);

private:
    void spawning(turn& t, actor_world::spawn_request& wanted) noexcept override;
    void spawned(turn& t, const actor_world::spawn_request& asked,
                 mailbox_index child) noexcept override;
    void stopping_child(turn& t, mailbox_index child) noexcept override;
    void watched(turn& t, mailbox_index who, const held_message* with) noexcept override;
    void adapting(turn& t, const message_type& from) noexcept override;
    void unwatched(turn& t, mailbox_index who) noexcept override;
    void unstashing(turn& t, std::uint32_t count) noexcept override;
    void timer_started(turn& t, const started_timer& what) noexcept override;
    void timer_cancelled(turn& t, timer_key key) noexcept override;
    void timer_gone(const actor_timer& timer) noexcept override;
    void scheduled(turn& t, any_ref to, const message_type& what, duration delay) noexcept override;
    void receive_timeout_set(turn& t, duration after) noexcept override;
    void asked(const question& q) noexcept override;

    /// Null: it is none of ours.
    [[nodiscard]] gate* gate_of(mailbox_index who) noexcept { return find(any_ref(who)); }
    [[nodiscard]] gate& add(const actor_type& of, std::string_view name, bool begun);

    std::vector<std::unique_ptr<gate>> gates_;  // the latest last
    struct child_entry {
        mailbox_index parent;
        gate* which;
    };
    std::vector<child_entry> children_;
    gate* pending_ = nullptr;  // of the child being spawned
    struct live_timer {
        std::uint64_t number;
        const actor_timer* timer;
    };
    std::vector<live_timer> timers_;
    std::uint64_t last_timer_ = 0;
    bool closing_ = false;
    virtual_world world_;  // last: it ends first
};

}  // namespace tactus::inline v0::test
