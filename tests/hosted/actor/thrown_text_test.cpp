// SPDX-License-Identifier: Apache-2.0
//
// Goal: what an exception says is what people read, wherever it was thrown (UP-4, SC-12, SV-3), and
// it may be read when the exception, and its thread, are gone.
#include <tactus/actor/system_events.hpp>
#include <tactus/dispatch/thrown_texts.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

using namespace tactus;  // NOLINT: the whole vocabulary is used

namespace {

struct heard {
    std::mutex mutex;
    std::string warned;
    std::string failed;
    [[nodiscard]] bool are(const char* by_function, const char* by_actor) {
        const std::lock_guard held(mutex);
        return warned == by_function && failed == by_actor;
    }
};

/// What it says is gone with it.
class short_lived : public std::exception {
public:
    explicit short_lived(std::string_view says) { says.copy(text_, sizeof text_ - 1); }
    short_lived(const short_lived&) = default;
    short_lived& operator=(const short_lived&) = delete;
    ~short_lived() override {
        for (volatile char& c : text_)
            c = '?';
    }
    [[nodiscard]] const char* what() const noexcept override { return text_; }

private:
    char text_[16] = {};
};

/// Hears of warnings later, on a thread of its own time.
class listener : public actor<timer_warning> {
public:
    explicit listener(heard* to) : to_(to) {}
    void on(const timer_warning& w) {
        const std::lock_guard held(to_->mutex);
        if (w.what.kind == scheduler_warning_kind::handler_failed)
            to_->warned = w.what.text;
    }

private:
    heard* to_;
};

class thrower : public actor<int> {
public:
    void on(int) { throw short_lived("disk gone"); }
};

struct strategy final : world_events {
    explicit strategy(heard* to) : to_(to) {}
    void supervised(const decision& d) noexcept override {
        const std::lock_guard held(to_->mutex);
        to_->failed = d.why->text();
    }
    heard* to_;
};

}  // namespace

// SC-12, SV-3, UP-4
TEST(thrown_text, SC_12_who_is_told_of_a_failure_reads_what_the_exception_said) {
    heard all;
    strategy events(&all);
    actor_system system("demo", {.events = &events});
    const auto l = system.spawn<listener>("l", &all);
    ASSERT_TRUE(system.world().subscribe<timer_warning>(l).has_value());
    ASSERT_TRUE(system.timers().schedule_once_fn(
        duration::from_ms(1), [](const execution_batch&) { throw short_lived("disk full"); }));
    system.spawn<thrower>("t").tell(1);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!all.are("disk full", "disk gone") && std::chrono::steady_clock::now() < limit)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const std::lock_guard held(all.mutex);
    EXPECT_EQ(all.warned, "disk full");
    EXPECT_EQ(all.failed, "disk gone");
}

// UP-4: a few are kept, none without a bound.
TEST(thrown_text, UP_4_a_thread_keeps_the_last_few_cut_to_their_bound) {
    const std::string one = "one";
    const char* const first = thrown_texts::keep(one.c_str());
    const std::string endless(1'000, 'x');
    const char* const cut = thrown_texts::keep(endless.c_str());
    (void)thrown_texts::keep("three");
    (void)thrown_texts::keep("four");
    EXPECT_STREQ(first, "one");
    EXPECT_NE(first, one.c_str());
    EXPECT_EQ(std::string_view(cut), std::string(thrown_texts::text_max, 'x'));
}

// UP-4: a warning has a text of its own.
TEST(thrown_text, UP_4_a_warning_keeps_what_it_quotes) {
    char gone[] = "disk full";
    const scheduler_warning w{.text = gone};
    gone[0] = 'r';
    EXPECT_STREQ(w.text, "disk full");
    const scheduler_warning copy = w;
    EXPECT_STREQ(copy.text, "disk full");
    EXPECT_EQ(std::string_view(scheduler_warning{.text = std::string(500, 'y').c_str()}.text),
              std::string(copied_warning_text::size_max, 'y'));
}
