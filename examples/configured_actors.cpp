// SPDX-License-Identifier: Apache-2.0
//
// Where actors run, said by a file: the program names paths, the file dispatchers and mailboxes.
//
// usage: configured_actors [FILE]       without one, the settings below
#include <tactus/config/settings.hpp>
#include <tactus/dispatch/turn.hpp>
#include <tactus/runtime/dispatchers.hpp>
#include <tactus/runtime/heap_memory.hpp>
#include <tactus/runtime/scheduler_memory.hpp>
#include <tactus/runtime/steady_clock.hpp>

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

[deployment."/user/reader"]
dispatcher = "app.files"
mailbox = "app.patient"
)";

struct who_am_i {
    std::string path;
    std::binary_semaphore* done;
    who_am_i(std::string p, std::binary_semaphore* d) : path(std::move(p)), done(d) {}
    void receive(turn&, envelope&) {
        char name[16] = {};
        pthread_getname_np(pthread_self(), name, sizeof name);
        std::printf("%s runs on %s\n", path.c_str(), name);
        done->release();
    }
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
    runtime::heap_memory heap;
    resolver names({.memory = &heap, .rules = settings->rules()});
    if (const auto filled = config::fill(*settings, names); !filled)
        return failed(filled.error().message());

    const auto first = names.resolve_dispatcher(default_dispatcher_id);
    runtime::scheduler_memory memory;
    runtime::steady_clock time;
    actor_scheduler system(
        memory.fill(runtime::dispatchers::fill({.time = &time}, (*first)->config())));
    runtime::dispatchers all(system, {.system_name = "app", .names = &names},
                             {.id = default_dispatcher_id, .config = (*first)->config()});

    for (const char* path : {"/user/reader", "/user/parser"}) {
        const auto where = all.place({.path = path});
        if (!where)
            return failed(text_of(where.error()));
        std::binary_semaphore done(0);
        actor_scheduler::tell(*system.spawn<who_am_i>(*where, path, &done), 1);
        done.acquire();
    }
    return all.shut_down(std::chrono::seconds(1)) ? 0 : 1;
}
