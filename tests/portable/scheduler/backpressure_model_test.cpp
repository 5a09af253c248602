// SPDX-License-Identifier: Apache-2.0
//
// Goal: the state machine does what the sentences of SC-32, SC-38, BP-2 … BP-4 and BP-9 say, for
// any history. Method: a second implementation, of those sentences, with fractions and without a
// table; random programs run on both, and everything that can be seen is compared after each step.
#include <tactus/scheduler/backpressure.hpp>

#include <tactus/base/det_rng.hpp>

#include "portable_test.hpp"

namespace tactus {
namespace {

using state = backpressure_state;
using cause = backpressure_cause;

struct naive_pressure {
    double window;
    std::uint32_t quota;
    std::uint32_t adaptive;
    tick cooldown;
    tick looked_at;
    state is = state::normal;
    cause why = cause::none;
    tick rejecting_since = 0;
    double before = 0;  // the worst of the tick before the one that was looked at last
    double last = 0;    // the worst of that one
    unsigned changes = 0;
    unsigned stalls = 0;
    bool stalled = false;

    void become(state s) {
        changes += s != is ? 1 : 0;
        is = s;
        if (s == state::normal)
            why = cause::none;
    }
    void step_down(double backlog, bool gauge, std::uint32_t active, tick now) {
        if (is == state::rejecting) {
            const bool gone =
                why == cause::adaptive_quota ? active < adaptive : backlog < window / 2;
            if (gone && now - rejecting_since >= cooldown)
                become(state::backpressure);
        } else if (is == state::backpressure && backlog < 0.8 * window && !gauge) {
            become(state::normal);
        }
    }
    void observe(tick now, std::uint64_t ticks, bool gauge, std::uint32_t active) {
        const auto backlog = static_cast<double>(ticks);
        unsigned steps = 0;
        if (now != looked_at) {
            // Ticks between the two at which nothing was late yet.
            bool idle = false;
            for (tick t = looked_at + 1; t < now; ++t)
                idle = idle || t + ticks < now;
            before = idle ? 0 : last;
            last = backlog;
            steps = idle ? 2 : 1;
        } else if (backlog > last) {
            last = backlog;
        }
        looked_at = now;
        const bool was_stalled = stalled;
        stalled = last > 2 * window && before > 2 * window;
        if (stalled) {
            stalls += was_stalled ? 0 : 1;
            why = cause::driver;
            rejecting_since = now;
            become(state::rejecting);
            return;
        }
        if (is == state::normal && (backlog > window || gauge)) {
            why = backlog > window ? cause::driver : cause::gauge;
            become(state::backpressure);
        }
        for (unsigned i = 0; i < steps; ++i)
            step_down(backlog, gauge, active, now);
        if (is == state::backpressure && backlog >= 0.8 * window)
            why = cause::driver;
        else if (is == state::backpressure && gauge)
            why = cause::gauge;
    }
    // 0: admitted, 1: quota_exceeded, 2: backpressured
    int admit(timer_priority priority, std::uint32_t active, tick now) {
        if (is == state::rejecting)
            return 2;
        if (is == state::normal)
            return active >= quota ? 1 : 0;
        if (priority != timer_priority::high)
            return 2;
        if (active < adaptive)
            return 0;
        why = cause::adaptive_quota;
        rejecting_since = now;
        become(state::rejecting);
        return 2;
    }
};

class duel {
public:
    explicit duel(std::uint64_t seed)
        : rng_(seed),
          window_(1 + static_cast<std::uint32_t>(rng_.below(8))),
          quota_(2 + static_cast<std::uint32_t>(rng_.below(10))),
          cooldown_(static_cast<std::uint32_t>(rng_.below(8))),
          real_({.window = window_,
                 .quota = quota_,
                 .adaptive_quota = adaptive_quota_of(quota_, 2),
                 .cooldown_ticks = cooldown_}),
          model_{static_cast<double>(window_), quota_, adaptive_quota_of(quota_, 2), cooldown_, 0} {
    }

    bool run(unsigned steps) {
        for (unsigned i = 0; i < steps; ++i) {
            if (!step() || !same())
                return false;
        }
        return true;
    }

private:
    bool step() {
        switch (rng_.below(4)) {
        case 0:
            if (active_ > 0)
                --active_;
            return true;
        case 1:
            return ask();
        default:
            look();
            return true;
        }
    }
    void look() {
        const std::uint64_t backlog = rng_.below(rng_.next_bool() ? 3 * window_ + 2 : window_);
        // Often just as long as it is late, as when ticks are pulled.
        now_ += rng_.next_bool() ? backlog : rng_.below(3 * window_);
        gauge_ = rng_.below(4) == 0 ? !gauge_ : gauge_;
        count(real_.observe(
            {.now = now_, .backlog = backlog, .active = active_, .gauge_engaged = gauge_}));
        model_.observe(now_, backlog, gauge_, active_);
    }
    bool ask() {
        const auto priority = static_cast<timer_priority>(rng_.below(3));
        const auto answer = real_.admit({.priority = priority, .active = active_, .now = now_});
        count(answer.warnings);
        const int wanted = model_.admit(priority, active_, now_);
        if (answer.result) {
            ++active_;
            return wanted == 0;
        }
        if (answer.result.error().code == scheduler_errc::quota_exceeded)
            return wanted == 1;
        return wanted == 2 && answer.result.error().cause == model_.why;
    }
    void count(const pressure_warnings& told) {
        for (const scheduler_warning& w : told.all()) {
            changes_ += w.kind == scheduler_warning_kind::backpressure_state ? 1 : 0;
            stalls_ += w.kind == scheduler_warning_kind::driver_catch_up_exceeded ? 1 : 0;
        }
    }
    [[nodiscard]] bool same() const {
        return real_.state() == model_.is && real_.cause() == model_.why &&
               changes_ == model_.changes && stalls_ == model_.stalls &&
               (real_.status().state == tick_state::stalled) == model_.stalled &&
               (real_.status().state != tick_state::ok) == (model_.last > model_.window) &&
               (real_.mode() == tick_mode::catch_up) == (model_.last > 0.8 * model_.window);
    }

    det_rng rng_;
    std::uint32_t window_;
    std::uint32_t quota_;
    std::uint32_t cooldown_;
    backpressure real_;
    naive_pressure model_;
    tick now_ = 0;
    std::uint32_t active_ = 0;
    bool gauge_ = false;
    unsigned changes_ = 0;
    unsigned stalls_ = 0;
};

// SC-32, BP-3, BP-4, BP-9
TEST(backpressure_model, random_programs_agree_with_the_sentences) {
    for (std::uint64_t seed = 1; seed <= tactus_test::board::random_operations / 10; ++seed) {
        const bool agreed = duel(seed).run(60);
        if (!agreed)
            TEST_LOG("seed", seed);
        ASSERT_TRUE(agreed);
    }
}

}  // namespace
}  // namespace tactus
