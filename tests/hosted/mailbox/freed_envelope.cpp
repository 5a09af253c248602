// SPDX-License-Identifier: Apache-2.0
//
// A program for Valgrind (UP-6): uses envelopes as one should, or touches the payload of one that
// was freed.
//
// usage: freed_envelope used | freed
#include <tactus/mailbox/envelope_pool.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <string_view>

namespace {

using tactus::envelope;

struct large {
    std::byte bytes[100];
};

alignas(64) std::array<std::byte, 16 * sizeof(envelope)> bytes;

/// Through caches, magazines and the reserve; also an envelope that stayed empty.
void use(tactus::envelope_pool& pool) {
    tactus::envelope_cache cache(pool);
    std::array<envelope*, 5> taken{};
    for (int round = 0; round < 3; ++round) {
        for (envelope*& e : taken) {
            e = cache.take();
            if (!e->emplace<int>(round, nullptr))
                std::puts("does not fit?");
        }
        for (envelope* e : taken) {
            if (*e->get_if<int>() != round)
                std::puts("not what was put in");
            cache.dispose(*e);
        }
        envelope* empty = cache.take();
        if (empty->emplace<large>(large{}, nullptr))
            std::puts("without memory?");
        cache.give(*empty);
        cache.give(pool.take_for_system());
        cache.flush();
    }
}

}  // namespace

int main(int argument_count, char** arguments) {
    const std::string_view how = argument_count > 1 ? arguments[1] : "";
    tactus::fixed_memory memory(bytes);
    tactus::envelope_pool pool(
        {.memory = &memory, .capacity = 5, .reserve_for_system = 2, .magazine_size = 2});
    std::printf("poisons: %s\n", pool.poisons() ? "yes" : "no");
    use(pool);
    if (how == "used")
        return 0;
    tactus::envelope_cache cache(pool);
    envelope* e = cache.take();
    if (!e->emplace<int>(7, nullptr))
        return 1;
    const volatile int* kept = e->get_if<int>();
    cache.dispose(*e);
    return *kept == 7 ? 0 : 2;
}
