// SPDX-License-Identifier: Apache-2.0
//
// The code of docs/services.md, compiled and run.
#include <tactus/actor/receptionist.hpp>
#include <tactus/actor/spawn_protocol.hpp>
#include <tactus/actor/topic.hpp>
#include <tactus/runtime/actor_system.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <thread>

using namespace tactus;  // NOLINT: as the page does
using namespace std::chrono_literals;

namespace {

struct order {
    int amount;
};
std::atomic<int> sold{0};
std::atomic<int> read{0};

const service_key<order> tills{"tills"};

class till : public actor<order> {
public:
    void pre_start() { receptionist_of(context().world()).tell(register_service(tills, self())); }
    void on(const order& o) { sold += o.amount; }
};

class shop : public actor<listing<order>, order> {
public:
    void pre_start() { receptionist_of(context().world()).tell(subscribe_services(tills, self())); }
    void on(const listing<order>& now) { now_ = now; }
    void on(const order& o) {
        if (!now_ || now_->refs().empty())
            return;
        now_->refs()[next_++ % now_->refs().size()].tell(o);
    }

private:
    std::optional<listing<order>> now_;
    std::size_t next_ = 0;
};

struct headline {
    std::string text;
};
class reader : public actor<headline> {
public:
    void on(const headline& h) { read += static_cast<int>(h.text.size()); }
};

template <class Condition>
bool soon(Condition&& condition) {
    for (int i = 0; i < 5'000 && !condition(); ++i)
        std::this_thread::sleep_for(1ms);
    return condition();
}

bool tells_news(actor_system& system) {
    const auto news = system.spawn<topic<headline>>("news");
    news.tell(subscribe_to<headline>(system.spawn<reader>("reader")));
    news.tell(headline{"it rains"});
    return soon([] { return read == 8; });
}

bool sells(actor_system& system) {
    const auto hall = system.spawn<spawn_protocol>("hall");
    const auto made = system.ask<actor_ref<order>>(
        hall, [&](auto me) { return spawn_order::of<till>(system.world(), "till", me); }, 5s);
    const auto front = system.spawn<shop>("shop");
    return made.has_value() && soon([&] {
               front.tell(order{5});
               return sold != 0;
           });
}

}  // namespace

int main() {
    actor_system system{"page"};
    const bool good = tells_news(system) && sells(system) && system.terminate_and_wait(5s);
    std::puts(good ? "the page's code works" : "the page's code does not work");
    return good ? 0 : 1;
}
