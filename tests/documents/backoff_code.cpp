// SPDX-License-Identifier: Apache-2.0
//
// The code of docs/backoff.md and docs/selection.md, compiled and run.
#include <tactus/actor/backoff_supervisor.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

using namespace tactus;  // NOLINT: as the page does
using namespace std::chrono_literals;

namespace {

std::atomic<int> lines_sent{0};

class connection : public actor<std::string> {
public:
    std::expected<void, failure> on(const std::string& line) {
        if (line.empty()) {
            failure busy("the other side is busy");
            busy.retry_after = duration::from_ms(20);
            return std::unexpected(busy);
        }
        ++lines_sent;
        return {};
    }
};

class client : public actor<std::string> {
public:
    void pre_start() { connection_ = *context().try_spawn<connection>("connection", {}); }
    void on(const std::string& line) { connection_.tell(line); }
    supervisor_strategy supervision() {
        return {.backoff = {.min = duration::from_ms(5), .max = duration::from_s(30)}};
    }

private:
    actor_ref<std::string> connection_;
};

void supervised(actor_system& system) {
    backoff_supervisor_options how{.on = backoff_on::failure,
                                   .min = duration::from_ms(5),
                                   .max = duration::from_s(30),
                                   .max_retries = 10};
    how.reply_while_stopped = [](any_ref sender) { sender.tell(std::string("try later")); };
    const auto guarded = system.spawn<backoff_supervisor<connection>>("guarded", how);
    guarded.tell(std::string("hello"));
}

struct deposit {
    int amount;
};

class manager : public actor<deposit> {
public:
    task<> on(deposit m) {
        context().select("../savings*").tell(m);  // siblings; nobody: a dead letter
        const auto first =
            co_await context().resolve(context().select("/user/savings"), duration::from_s(1));
        if (first)
            (void)co_await context().graceful_stop(*first, duration::from_s(1));
    }
};

}  // namespace

int main() {
    actor_system system{"page"};
    const auto c = system.spawn<client>("client");
    const auto before = std::chrono::steady_clock::now();
    c.tell(std::string());
    c.tell(std::string("after the restart"));
    supervised(system);
    system.spawn<manager>("manager").tell(deposit{1});
    while (lines_sent != 2 && std::chrono::steady_clock::now() - before < 10s)
        std::this_thread::sleep_for(1ms);
    const bool waited = std::chrono::steady_clock::now() - before >= 20ms;
    const bool good = lines_sent == 2 && waited && system.terminate_and_wait(5s);
    std::puts(good ? "the page's code works" : "the page's code does not work");
    return good ? 0 : 1;
}
