// SPDX-License-Identifier: Apache-2.0
//
// Housekeeper: one thread per system that looks after what nobody else has time for: dispatchers
// that starve, executors that rejected, threads that nobody needs (EX-1, EX-5, EX-6).
//
// The message path reads no clock and counts nothing for it: it samples. Each of its charges is
// tended and says when it wants to be tended again; one that says `never` has arranged to be called
// for (wake). When all say so, the housekeeper sleeps without a limit (EX-4).
//
// Thread safety: any thread. wake() and wake_within() take one lock and run no callback.
#pragma once

#include <memory>
#include <string>

#include <tactus/dispatch/waker.hpp>
#include <tactus/time/instant.hpp>

namespace tactus::inline v0::runtime {

/// Something that is looked after.
class housekept {
public:
    /// On the housekeeper's thread. Does what is due, and returns when there will be more: `never`
    /// when somebody calls wake() before that.
    [[nodiscard]] virtual instant tend(instant now) = 0;

protected:
    ~housekept() = default;
};

class housekeeper final : public waker {
public:
    /// Starts its thread, named `<name>-keeper`. Throws std::system_error without a thread or a
    /// file descriptor for it.
    explicit housekeeper(const std::string& name);
    /// Stops.
    ~housekeeper();
    housekeeper(const housekeeper&) = delete;
    housekeeper& operator=(const housekeeper&) = delete;

    /// Tends it from now on. It outlives the housekeeper's thread (see stop). Waits for nobody who
    /// is tended: whom that one waits for may call this.
    void add(housekept& who);
    /// Everybody is tended once more, now.
    void wake() noexcept override;
    /// The same in `d` at the latest. No thread is woken before.
    void wake_within(duration d) noexcept;
    /// Ends the thread: nothing is tended any more.
    void stop();

private:
    class sleep_timer;
    struct state;
    void run();

    std::unique_ptr<state> state_;
};

}  // namespace tactus::inline v0::runtime
