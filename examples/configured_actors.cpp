// SPDX-License-Identifier: Apache-2.0
//
// A system that a file configures: where actors run, what is logged, and how it ends.
//
// usage: configured_actors [FILE]       without one, the settings below
#include <tactus/config/system_options.hpp>

#include <pthread.h>

#include <chrono>
#include <cstdio>
#include <semaphore>
#include <string>
#include <string_view>

namespace {

using namespace tactus;

constexpr std::string_view own_settings = R"(
[dispatchers."app.files"]
executor = "thread_pool"         # its handlers block
workers = 1

[dispatchers."tactus.default-dispatcher"]
workers = 1

[mailboxes."app.patient"]
capacity = 100
overflow = "block"

[system]
log_level = "warning"

[coordinated_shutdown.phases.service-stop]
timeout = "1s"

[deployment."/user/reader"]
dispatcher = "app.files"
mailbox = "app.patient"
)";

struct who_are_you {
    std::binary_semaphore* done;
};
class worker_bee : public actor<who_are_you> {
public:
    explicit worker_bee(std::string path) : path_(std::move(path)) {}
    void on(const who_are_you& m) {
        char name[16] = {};
        pthread_getname_np(pthread_self(), name, sizeof name);
        std::printf("%s runs on %s\n", path_.c_str(), name);
        m.done->release();
    }

private:
    std::string path_;
};

int failed(const std::string& why) {
    std::fprintf(stderr, "configured_actors: %s\n", why.c_str());
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    const auto settings = argc > 1
                              ? config::read_settings(argv[1])
                              : config::parse_settings(own_settings, config::format::toml, "own");
    if (!settings)
        return failed(settings.error().message());
    const auto options = config::system_options(*settings);
    if (!options)
        return failed(options.error().message());

    actor_system system("app", *options);
    system.shutdown().add_task(phases::service_stop, "say so", [] { std::puts("closing time"); });
    for (const std::string name : {"reader", "parser"}) {
        std::binary_semaphore done(0);
        system.spawn<worker_bee>(name, "/user/" + name).tell(who_are_you{&done});
        done.acquire();
    }
    return system.terminate_and_wait(std::chrono::seconds(10)) ? system.exit_code() : 1;
}
