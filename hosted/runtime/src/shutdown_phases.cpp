// SPDX-License-Identifier: Apache-2.0
//
// Depth first: a phase is placed behind its dependencies. The path being walked is a vector, not
// the call stack, and names are looked up in a map: depth and count are the user's to choose.
#include <tactus/runtime/shutdown_phases.hpp>

#include <algorithm>
#include <map>
#include <utility>

namespace tactus::inline v0 {
namespace {

std::unexpected<shutdown_error> wrong(shutdown_error::kind what, std::string text) {
    return std::unexpected(shutdown_error{what, std::move(text)});
}

struct counted_less {
    std::size_t* comparisons;
    bool operator()(std::string_view a, std::string_view b) const {
        ++*comparisons;
        return a < b;
    }
};
/// Maps the name of a phase to its index. Its keys are names in the vector given to in_order.
using phase_places = std::map<std::string_view, std::size_t, counted_less>;

/// The declared phases, then those that are only named as a dependency.
std::vector<shutdown_phase> with_implied(const std::vector<shutdown_phase>& declared,
                                         phase_places& places) {
    std::vector<shutdown_phase> all = declared;
    for (const shutdown_phase& phase : declared) {
        for (const std::string& name : phase.depends_on) {
            if (places.try_emplace(name, all.size()).second)
                all.push_back({.name = name});
        }
    }
    return all;
}

class sorter {
public:
    sorter(std::vector<shutdown_phase> all, const phase_places& places)
        : all_(std::move(all)), places_(places), marks_(all_.size(), mark::unseen) {}

    std::expected<std::vector<shutdown_phase>, shutdown_error> sort() {
        sorted_.reserve(all_.size());
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (!place(i))
                return wrong(shutdown_error::kind::cycle,
                             "phases of the shutdown depend on each other: " + cycle_);
        }
        return std::move(sorted_);
    }

private:
    enum class mark : std::uint8_t { unseen, open, placed };
    /// A phase on the path, and which of its dependencies is looked at next.
    struct step {
        std::size_t phase;
        std::size_t next = 0;
    };

    /// Places a phase and all that it depends on. False: there is a cycle.
    bool place(std::size_t first) {
        if (marks_[first] == mark::placed)
            return true;
        open(first);
        while (!path_.empty()) {
            step& at = path_.back();
            const shutdown_phase& phase = all_[at.phase];
            if (at.next == phase.depends_on.size()) {
                marks_[at.phase] = mark::placed;
                sorted_.push_back(phase);
                path_.pop_back();
                continue;
            }
            const std::size_t before = places_.find(phase.depends_on[at.next++])->second;
            if (marks_[before] == mark::open) {
                describe_cycle(before);
                return false;
            }
            if (marks_[before] == mark::unseen)
                open(before);
        }
        return true;
    }
    void open(std::size_t i) {
        marks_[i] = mark::open;
        path_.push_back({i});
    }
    /// The path from this phase on leads back to it.
    void describe_cycle(std::size_t i) {
        for (auto at = std::ranges::find(path_, i, &step::phase); at != path_.end(); ++at)
            cycle_ += all_[at->phase].name + " -> ";
        cycle_ += all_[i].name;
    }

    std::vector<shutdown_phase> all_;
    const phase_places& places_;  // of all_
    std::vector<mark> marks_;
    std::vector<step> path_;
    std::vector<shutdown_phase> sorted_;
    std::string cycle_;
};

}  // namespace

const char* name_of(shutdown_error::kind what) noexcept {
    static constexpr const char* names[shutdown_error_count] = {
        "empty_name",    "duplicate_phase", "invalid_timeout", "cycle",
        "contradiction", "unknown_phase",   "phase_over"};
    return names[static_cast<std::size_t>(what)];
}

std::vector<shutdown_phase> default_shutdown_phases() {
    using namespace std::chrono_literals;
    struct row {
        std::string_view name;
        std::optional<std::chrono::nanoseconds> timeout;
    };
    const row rows[] = {
        {phases::before_service_unbind, {}},
        {phases::service_unbind, {}},
        {phases::service_requests_done, {}},
        {phases::service_stop, {}},
        {phases::before_cluster_shutdown, {}},
        {phases::cluster_sharding_shutdown_region, 10s},
        {phases::cluster_leave, {}},
        {phases::cluster_exiting, 10s},
        {phases::cluster_exiting_done, {}},
        {phases::cluster_shutdown, {}},
        {phases::before_actor_system_terminate, {}},
        {phases::actor_system_terminate, 10s},
    };
    std::vector<shutdown_phase> all;
    for (const row& r : rows) {
        shutdown_phase next{.name = std::string(r.name), .timeout = r.timeout};
        if (!all.empty())
            next.depends_on.push_back(all.back().name);
        all.push_back(std::move(next));
    }
    return all;
}

std::expected<std::vector<shutdown_phase>, shutdown_error> in_order(
    const std::vector<shutdown_phase>& all) {
    std::size_t comparisons = 0;
    return detail::in_order(all, comparisons);
}

std::expected<std::vector<shutdown_phase>, shutdown_error> detail::in_order(
    const std::vector<shutdown_phase>& all, std::size_t& comparisons) {
    phase_places places(counted_less{&comparisons});
    for (std::size_t i = 0; i < all.size(); ++i) {
        const shutdown_phase& phase = all[i];
        const auto& before = phase.depends_on;
        const bool nameless = std::ranges::find(before, "") != before.end();
        if (phase.name.empty() || nameless)
            return wrong(shutdown_error::kind::empty_name, "a phase of the shutdown has no name");
        if (!places.try_emplace(phase.name, i).second)
            return wrong(shutdown_error::kind::duplicate_phase,
                         "there are two phases named '" + phase.name + "'");
        if (phase.timeout.value_or(std::chrono::nanoseconds(1)) <= std::chrono::nanoseconds::zero())
            return wrong(shutdown_error::kind::invalid_timeout,
                         "the timeout of phase '" + phase.name + "' must be positive");
    }
    std::vector<shutdown_phase> whole = with_implied(all, places);
    return sorter(std::move(whole), places).sort();
}

}  // namespace tactus::inline v0
