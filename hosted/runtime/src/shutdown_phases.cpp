// SPDX-License-Identifier: Apache-2.0
//
// Depth first: a phase is put behind its dependencies when they have their places.
#include <tactus/runtime/shutdown_phases.hpp>

#include <algorithm>
#include <utility>

namespace tactus::inline v0 {
namespace {

std::unexpected<shutdown_error> wrong(shutdown_error::kind what, std::string text) {
    return std::unexpected(shutdown_error{what, std::move(text)});
}

/// What stands in the file, and what is only named by another.
std::vector<shutdown_phase> with_implied(std::vector<shutdown_phase> all) {
    const std::size_t declared = all.size();
    for (std::size_t i = 0; i < declared; ++i) {
        for (std::size_t k = 0; k < all[i].depends_on.size(); ++k) {
            const std::string name = all[i].depends_on[k];
            if (std::ranges::find(all, name, &shutdown_phase::name) == all.end())
                all.push_back({.name = name});
        }
    }
    return all;
}

class sorter {
public:
    explicit sorter(std::vector<shutdown_phase> all)
        : all_(std::move(all)), marks_(all_.size(), mark::unseen) {}

    std::expected<std::vector<shutdown_phase>, shutdown_error> sort() {
        for (std::size_t i = 0; i < all_.size(); ++i) {
            if (!place(i))
                return wrong(shutdown_error::kind::cycle,
                             "phases of the shutdown depend on each other: " + cycle_);
        }
        return std::move(sorted_);
    }

private:
    enum class mark : std::uint8_t { unseen, open, placed };

    bool place(std::size_t i) {
        if (marks_[i] == mark::placed)
            return true;
        if (marks_[i] == mark::open) {
            // What is open from here on is the circle.
            const auto first = std::ranges::find(open_, i);
            for (auto at = first; at != open_.end(); ++at)
                cycle_ += all_[*at].name + " -> ";
            cycle_ += all_[i].name;
            return false;
        }
        marks_[i] = mark::open;
        open_.push_back(i);
        for (const std::string& before : all_[i].depends_on) {
            const auto at = std::ranges::find(all_, before, &shutdown_phase::name);
            if (!place(static_cast<std::size_t>(at - all_.begin())))
                return false;
        }
        open_.pop_back();
        marks_[i] = mark::placed;
        sorted_.push_back(all_[i]);
        return true;
    }

    std::vector<shutdown_phase> all_;
    std::vector<mark> marks_;
    std::vector<std::size_t> open_;
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
    for (auto at = all.begin(); at != all.end(); ++at) {
        const bool nameless = std::ranges::find(at->depends_on, "") != at->depends_on.end();
        if (at->name.empty() || nameless)
            return wrong(shutdown_error::kind::empty_name, "a phase of the shutdown has no name");
        if (std::find_if(all.begin(), at,
                         [&](const shutdown_phase& other) { return other.name == at->name; }) != at)
            return wrong(shutdown_error::kind::duplicate_phase,
                         "there are two phases named '" + at->name + "'");
        if (at->timeout.value_or(std::chrono::nanoseconds(1)) <= std::chrono::nanoseconds::zero())
            return wrong(shutdown_error::kind::invalid_timeout,
                         "the timeout of phase '" + at->name + "' must be positive");
    }
    return sorter(with_implied(all)).sort();
}

}  // namespace tactus::inline v0
