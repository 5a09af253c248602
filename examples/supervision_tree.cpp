// SPDX-License-Identifier: Apache-2.0
//
// A supervision tree alive: kitchens with cooks who drop plates. A cook who drops one is restarted
// by its kitchen; one who drops too many in a second is dismissed, and the kitchen hires another.
// The terminal shows the tree, what waits, and how often everybody was restarted.
//
// usage: supervision_tree [--seconds N] [--plain]
#include <tactus/tactus.hpp>

#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include <unistd.h>

using namespace std::chrono_literals;

namespace {

constexpr int kitchens = 3;
constexpr int cooks = 4;

/// What the view shows of one cook; counted by whoever has the place.
struct place {
    std::atomic<std::uint64_t> plates{0};
    std::atomic<std::uint32_t> waiting{0};
    std::atomic<std::uint32_t> restarts{0};
    std::atomic<std::uint32_t> hired{0};
};
struct restaurant {
    std::array<std::array<place, cooks>, kitchens> places;
    std::atomic<std::uint64_t> served{0};
    std::atomic<std::uint64_t> broken{0};
};

struct order {
    int number;
};

/// Drops every eighteenth plate or so.
class cook : public tactus::actor<order> {
public:
    explicit cook(place* at, restaurant* in) : at_(at), in_(in) {}
    void on(const order& o) {
        --at_->waiting;
        if ((static_cast<std::uint32_t>(o.number) * 2'654'435'761U >> 8U) % 18 == 0) {
            ++in_->broken;
            throw std::runtime_error("dropped a plate");
        }
        ++at_->plates;
        ++in_->served;
    }
    void post_restart(const tactus::failure_cause&) { ++at_->restarts; }

private:
    place* at_;
    restaurant* in_;
};

/// Hires cooks, gives orders in turn, and hires again when one was dismissed.
class kitchen : public tactus::actor<order> {
public:
    kitchen(int number, restaurant* in) : number_(number), in_(in) {}
    void pre_start() {
        for (int i = 0; i < cooks; ++i)
            hire(i);
    }
    void on(const order& o) {
        const auto i = static_cast<std::size_t>(next_++ % cooks);
        ++in_->places[static_cast<std::size_t>(number_)][i].waiting;
        staff_[i].tell(o);
    }
    void on(const tactus::terminated& t) {
        for (int i = 0; i < cooks; ++i) {
            if (staff_[static_cast<std::size_t>(i)].any() == t.who)
                hire(i);
        }
    }
    // At most five dropped plates a second.
    tactus::supervisor_strategy supervision() {
        return {.max_restarts = 5U, .within = tactus::duration::from_s(1)};
    }

private:
    void hire(int i) {
        const auto at = static_cast<std::size_t>(i);
        place& p = in_->places[static_cast<std::size_t>(number_)][at];
        p.waiting = 0;
        ++p.hired;
        const std::string name = "cook-" + std::to_string(i) + "-" + std::to_string(p.hired.load());
        staff_[at] = context().try_spawn<cook>(name, {}, &p, in_).value();
        context().watch(staff_[at]);
    }

    int number_;
    restaurant* in_;
    std::array<tactus::actor_ref<order>, cooks> staff_;
    int next_ = 0;
};

void show(const restaurant& in, bool plain, bool first) {
    if (!plain && !first)
        std::printf("\x1b[%dA", kitchens * (cooks + 1) + 1);  // up again
    std::printf("tactus://restaurant/user%62s\n", "plates  waiting  restarts  hired");
    for (std::size_t k = 0; k < kitchens; ++k) {
        std::printf("%s kitchen-%zu%*s\n", k + 1 == kitchens ? "`--" : "|--", k, 60, "");
        for (std::size_t c = 0; c < cooks; ++c) {
            const place& p = in.places[k][c];
            std::printf("%s   %s cook-%zu%34s%12llu %8u %9u %6u\n", k + 1 == kitchens ? " " : "|",
                        c + 1 == cooks ? "`--" : "|--", c, "",
                        static_cast<unsigned long long>(p.plates.load()), p.waiting.load(),
                        p.restarts.load(), p.hired.load());
        }
    }
    std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    int seconds = 5;
    bool plain = isatty(STDOUT_FILENO) == 0;
    for (int i = 1; i < argc; ++i) {
        const std::string_view arg = argv[i];
        if (arg == "--plain") {
            plain = true;
        } else if (arg == "--seconds" && i + 1 < argc) {
            const std::string_view n = argv[++i];
            const auto [end, error] = std::from_chars(n.data(), n.data() + n.size(), seconds);
            if (error != std::errc{} || end != n.data() + n.size() || seconds < 1 ||
                seconds > 3'600) {
                std::fprintf(stderr, "supervision_tree: '%s' is no number from 1 to 3600\n",
                             argv[i]);
                return 2;
            }
        } else {
            std::fprintf(stderr, "usage: supervision_tree [--seconds N] [--plain]\n");
            return 2;
        }
    }
    auto in = std::make_unique<restaurant>();
    std::uint64_t told = 0;
    {
        // Plates that break are the point here: no line for each.
        tactus::actor_system system("restaurant", {.log_level = tactus::log_level::off});
        std::array<tactus::actor_ref<order>, kitchens> doors;
        for (int k = 0; k < kitchens; ++k)
            doors[static_cast<std::size_t>(k)] =
                system.spawn<kitchen>("kitchen-" + std::to_string(k), k, in.get());
        const auto begin = std::chrono::steady_clock::now();
        const auto end = begin + std::chrono::seconds(seconds);
        auto next_view = begin;
        bool first = true;
        while (std::chrono::steady_clock::now() < end) {
            for (int i = 0; i < 12; ++i) {
                doors[told % kitchens].tell(order{static_cast<int>(told)});
                ++told;
            }
            if (std::chrono::steady_clock::now() >= next_view && !plain) {
                show(*in, plain, first);
                first = false;
                next_view += 250ms;
            }
            std::this_thread::sleep_for(10ms);
        }
        if (!system.terminate_and_wait(10s))
            return 1;
        show(*in, true, true);
    }
    std::uint64_t restarts = 0;
    std::uint64_t hired = 0;
    for (const auto& k : in->places) {
        for (const place& p : k) {
            restarts += p.restarts.load();
            hired += p.hired.load();
        }
    }
    std::printf("%llu orders: %llu served, %llu plates broken, %llu restarts, %llu cooks hired\n",
                static_cast<unsigned long long>(told),
                static_cast<unsigned long long>(in->served.load()),
                static_cast<unsigned long long>(in->broken.load()),
                static_cast<unsigned long long>(restarts), static_cast<unsigned long long>(hired));
    return in->broken.load() >= restarts ? 0 : 1;
}
