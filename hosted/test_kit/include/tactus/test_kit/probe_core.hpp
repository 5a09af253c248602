// SPDX-License-Identifier: Apache-2.0
//
// Probe core: what probes of all protocols have in common: a queue of what came, in order, and the
// ways to wait for it.
//
// The probe's actor puts messages in, on its thread; the test takes them out, on its own. Ended
// actors are kept apart from messages: waiting for one does not care what else came.
//
// Thread safety: the members under "the actor's" from its turn; the rest from one thread, the
// test's, which is none of the system's workers.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tactus/actor/actor.hpp>
#include <tactus/test_kit/describe.hpp>
#include <tactus/test_kit/failure_handler.hpp>
#include <tactus/test_kit/probe_host.hpp>

namespace tactus::inline v0::test {

/// A message that a probe, or an inbox, has.
class received_message {
public:
    explicit received_message(any_ref from) noexcept : sender_(from) {}
    received_message(const received_message&) = delete;
    received_message& operator=(const received_message&) = delete;
    virtual ~received_message() = default;

    [[nodiscard]] any_ref sender() const noexcept { return sender_; }
    [[nodiscard]] virtual const message_type& type() const noexcept = 0;
    [[nodiscard]] virtual std::string text() const = 0;
    /// Sends it on, as if it had never come.
    virtual void give_to(any_ref whom) = 0;

private:
    any_ref sender_;
};

template <class M>
class received_of final : public received_message {
public:
    received_of(M&& message, any_ref from) : received_message(from), value(std::move(message)) {}
    [[nodiscard]] const message_type& type() const noexcept override { return message_type_of<M>; }
    [[nodiscard]] std::string text() const override { return describe(value); }
    void give_to(any_ref whom) override { whom.tell(std::move(value), sender()); }

    M value;
};

/// What a probe's pilot says after a message.
enum class pilot : std::uint8_t {
    keep,   // goes on flying
    leave,  // is not asked again
};

/// Something for the probe's actor to do in its turn.
struct probe_order {
    std::function<void(actor_context)> what;
};

class probe_core {
public:
    probe_core(probe_host& host, std::string name);
    probe_core(const probe_core&) = delete;
    probe_core& operator=(const probe_core&) = delete;

    // ---- the actor's

    void deliver(std::unique_ptr<received_message> m);
    void ended(any_ref who);
    /// What nobody took goes back: it becomes dead letters (PK-TST-6).
    void close(any_ref self);
    [[nodiscard]] supervisor_strategy strategy();

    // ---- the test's

    /// The next message; null: none came in time.
    [[nodiscard]] std::unique_ptr<received_message> next(duration max,
                                                         const std::source_location& where);
    [[nodiscard]] bool has_messages();
    /// It was told of the end, and nobody has expected that yet.
    [[nodiscard]] bool knows_ended(any_ref who);
    /// True: it has ended, and that is told once.
    [[nodiscard]] bool await_end(any_ref who, duration max, const std::source_location& where);
    /// Waits until `done`, which the probe's actor sets under the lock of `where()`.
    [[nodiscard]] bool await(duration max, const std::function<bool()>& done,
                             const std::source_location& where);
    void note(const std::function<void()>& change);  // under that lock, and tells

    /// How long to wait: what is said, dilated; else the rest of within(), else the default.
    [[nodiscard]] duration limit(std::optional<duration> said) const;
    [[nodiscard]] duration quiet_limit(std::optional<duration> said) const;
    /// PK-TST-6: from begin to end a block may take `max`.
    struct window {
        instant begin;
        std::optional<instant> before;  // the end of the window around it
        duration min;
        duration max;
    };
    [[nodiscard]] window open_window(duration min, duration max);
    void close_window(const window& w, const std::source_location& where);
    void leave_window(const window& w) noexcept { end_ = w.before; }

    [[noreturn]] void fail(const std::string& text, const std::source_location& where) const;
    [[noreturn]] void fail_late(duration limit, instant since, const std::string& during,
                                const std::source_location& where);

    void set_hint(std::string text) { hint_ = std::move(text); }
    void set_last_sender(any_ref who) noexcept { last_sender_ = who; }
    [[nodiscard]] any_ref last_sender() const noexcept { return last_sender_; }
    void set_self(any_ref who) noexcept { self_ = who; }
    [[nodiscard]] any_ref self() const noexcept { return self_; }
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] probe_host& host() const noexcept { return host_; }
    void order(std::function<void(actor_context)> what) const {
        self_.tell(probe_order{std::move(what)});
    }
    void watch(any_ref who);
    void unwatch(any_ref who);

    using pilot_function = std::function<pilot(any_ref sender, const received_message&)>;
    void set_pilot(pilot_function p);
    using ignore_function = std::function<bool(const received_message&)>;
    void set_ignore(ignore_function f);
    void set_strategy(const supervisor_strategy& s);

private:
    [[nodiscard]] bool wait(duration max, const std::function<bool()>& ready,
                            const std::source_location& where);

    // Constant after construction
    probe_host& host_;
    const std::string name_;
    // The test's
    any_ref self_;
    std::string hint_;
    std::optional<instant> end_;  // of the innermost within()
    any_ref last_sender_;
    bool last_was_silence_ = false;
    std::vector<any_ref> watched_;
    // Under the mutex
    probe_host::place place_;
    std::deque<std::unique_ptr<received_message>> queue_;
    std::vector<any_ref> ended_;
    pilot_function pilot_;
    ignore_function ignore_;
    supervisor_strategy strategy_;
};

}  // namespace tactus::inline v0::test
