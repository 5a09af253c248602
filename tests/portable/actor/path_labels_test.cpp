// SPDX-License-Identifier: Apache-2.0
//
// Goal: actors are measured by name only if their path was chosen, alone or with those below it
// (OH-2).
#include <tactus/actor/path_labels.hpp>

#include <string_view>

#include "world_rig.hpp"

using namespace tactus;  // NOLINT: the whole vocabulary is used
using tactus_test::world_rig;

namespace {

class idler : public actor<int> {
public:
    void on(int) {}
};

/// Has a child.
class boss : public actor<int> {
public:
    void pre_start() { (void)context().spawn<idler>("worker"); }
    void on(int) {}
};

/// Adds up the depths that are labelled.
class depths final : public metrics_sink {
public:
    void counter(const metric_info&, std::string_view, std::uint64_t) noexcept override {}
    void gauge(const metric_info& what, std::string_view label,
               std::uint64_t value) noexcept override {
        if (&what != &info_of(metric::mailbox_depth))
            return;
        ++count;
        if (label == wanted)
            depth = value;
    }
    void histogram(const metric_info&, std::string_view, const histogram_sums&) noexcept override {}
    std::string_view wanted;
    std::uint64_t depth = ~std::uint64_t{0};
    unsigned count = 0;
};

struct labelled {
    unsigned count;
    std::uint64_t depth;  // of the one that is looked for
};
labelled collect(world_rig& rig, std::span<const std::string_view> paths, std::string_view wanted) {
    path_labels labels(rig.world, paths);
    depths sink;
    sink.wanted = wanted;
    EXPECT_TRUE(rig.kernel->set_metrics_sink(&sink, &labels));
    EXPECT_TRUE(rig.kernel->collect_metrics());
    EXPECT_TRUE(rig.kernel->set_metrics_sink(nullptr));
    return {sink.count, sink.depth};
}

}  // namespace

// OH-2
TEST(path_labels, only_chosen_paths_are_measured_by_name) {
    if constexpr (!tactus_test::board::roomy)
        return;  // no memory for what is measured
    world_rig rig;
    const auto quiet = rig.spawn<idler>("quiet");
    const auto above = rig.spawn<boss>("boss");
    rig.run();
    quiet.tell(1);
    above.tell(1);

    // One actor, not those below it, nor one whose name begins alike.
    constexpr std::string_view one[] = {"/user/boss"};
    labelled seen = collect(rig, one, "/user/boss");
    EXPECT_EQ(seen.count, 1U);
    EXPECT_EQ(seen.depth, 1U);

    constexpr std::string_view below[] = {"/user/boss/**"};
    seen = collect(rig, below, "/user/boss/worker");
    EXPECT_EQ(seen.count, 1U);
    EXPECT_EQ(seen.depth, 0U);

    constexpr std::string_view both[] = {"/user/quiet", "/user/**"};
    EXPECT_EQ(collect(rig, both, "/user/quiet").count, 3U);
    constexpr std::string_view nobody[] = {"/user/qui", "/quiet", ""};
    EXPECT_EQ(collect(rig, nobody, "").count, 0U);
    EXPECT_EQ(collect(rig, {}, "").count, 0U);
}
