// SPDX-License-Identifier: Apache-2.0
//
// Reading the turn of the thread whose check failed.
#include "check_place.hpp"

#include <tactus/actor/actor_world.hpp>
#include <tactus/dispatch/text_buffer.hpp>
#include <tactus/dispatch/turn.hpp>
#include <tactus/port/last_words.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <pthread.h>
#include <unistd.h>

namespace tactus::inline v0::runtime {
namespace {

void describe(char* to, std::size_t size) noexcept {
    text_buffer<900> text;
    const turn* const t = turn::current();
    // A bare kernel has no paths.
    if (t != nullptr && t->system().above() != nullptr) {
        text.add("actor ");
        actor_world::of(t->system()).write_path(t->self(), text);
        text.add(", ");
        if (const envelope* e = t->current_message())
            text.add("message [").add(e->type.read()->name).add("], ");
    }
    char name[16] = {};
    text.add("thread ").add(static_cast<std::uint64_t>(gettid()));
    if (pthread_getname_np(pthread_self(), name, sizeof name) == 0)
        text.add(" ").add(std::string_view(name));
    const std::string_view all = text.view();
    to[std::min(all.copy(to, size - 1), size - 1)] = '\0';
}

}  // namespace

void describe_failed_checks() noexcept {
    port::last_words::set_describe(describe);
}

}  // namespace tactus::inline v0::runtime
