// SPDX-License-Identifier: Apache-2.0
//
// Messages put aside until they can be handled: queries wait while there is no connection, and come
// first, in their order, when there is one.
#include <tactus/tactus.hpp>

#include <chrono>
#include <cstdio>
#include <expected>

using namespace std::chrono_literals;

namespace {

struct connected {};
struct disconnected {};
struct query {
    int number;
};
struct are_you_done {
    tactus::actor_ref<bool> reply_to;
};

/// At most ten queries wait: with more, it fails, and its supervisor decides.
class session : public tactus::actor<connected, disconnected, query, are_you_done>,
                public tactus::with_stash<10> {
public:
    std::expected<void, tactus::failure> on(const query& q) {
        if (!connected_) {
            std::printf("query %d is put aside\n", q.number);
            return context().stash();
        }
        std::printf("query %d is answered\n", q.number);
        return {};
    }
    void on(connected) {
        std::printf("connected, %u put aside\n", context().stash_size());
        connected_ = true;
        context().unstash_all();
    }
    void on(disconnected) {
        std::printf("disconnected\n");
        connected_ = false;
    }
    void on(const are_you_done& m) { m.reply_to.tell(true); }

private:
    bool connected_ = false;
};

}  // namespace

int main() {
    tactus::actor_system system{"client"};
    const auto s = system.spawn<session>("session");
    s.tell(query{1});
    s.tell(query{2});
    s.tell(connected{});
    s.tell(query{3});  // behind the two that were put aside
    s.tell(disconnected{});
    s.tell(query{4});
    s.tell(connected{});
    const auto done = system.ask<bool>(s, [](auto me) { return are_you_done{me}; }, 10s);
    return done.has_value() ? 0 : 1;
}
