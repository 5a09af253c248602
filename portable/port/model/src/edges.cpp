// SPDX-License-Identifier: Apache-2.0
//
// Named edges: which were used where, and the one end that is weaker than it says (MC-4).
#include "execution.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tactus::inline v0::port::model {
namespace {

struct active_mutation {
    std::string name;
    edge_end end;
    std::string place;  // empty: everywhere
    std::uint64_t uses = 0;
};
std::optional<active_mutation> active;

std::map<std::pair<std::string, edge_end>, std::vector<std::string>>& registry() {
    static std::map<std::pair<std::string, edge_end>, std::vector<std::string>> all;
    return all;
}

// What was recorded already, by the addresses of name and place: a look at it is cheap.
struct use_key {
    const char* name;
    detail::end which;
    const char* file;
    std::uint32_t line;
    bool operator==(const use_key&) const = default;
};
struct use_hash {
    std::size_t operator()(const use_key& k) const noexcept {
        return reinterpret_cast<std::uintptr_t>(k.name) * 31 + k.line * 8 +
               static_cast<std::size_t>(k.which);
    }
};
std::unordered_map<use_key, bool, use_hash>& recorded() {
    static std::unordered_map<use_key, bool, use_hash> all;
    return all;
}

void record(const char* name, edge_end end, detail::where at) {
    std::vector<std::string>& places = registry()[{name, end}];
    std::string place = detail::place_text(at);
    if (std::ranges::find(places, place) == places.end())
        places.push_back(std::move(place));
}

bool mutated(const char* name, edge_end end, detail::where at) {
    if (!active || active->end != end || active->name != name)
        return false;
    if (!active->place.empty() && active->place != detail::place_text(at))
        return false;
    ++active->uses;
    return true;
}

}  // namespace

namespace detail {

namespace {

order whole(end which) noexcept {
    switch (which) {
    case end::acquire:
        return order::acquire;
    case end::release:
        return order::release;
    case end::acq_rel:
        return order::acq_rel;
    case end::seq_cst:
        break;
    }
    return order::seq_cst;
}

}  // namespace

order order_of(const char* edge_name, end which, where at) noexcept {
    if (running &&
        recorded().try_emplace({edge_name, which, at.file_name(), at.line()}, true).second) {
        switch (which) {
        case end::acquire:
            record(edge_name, edge_end::acquire, at);
            break;
        case end::release:
            record(edge_name, edge_end::release, at);
            break;
        case end::acq_rel:
            record(edge_name, edge_end::acq_rel_acquire, at);
            record(edge_name, edge_end::acq_rel_release, at);
            break;
        case end::seq_cst:
            record(edge_name, edge_end::seq_cst, at);
            record(edge_name, edge_end::seq_cst_whole, at);
            break;
        }
    }
    if (!active) [[likely]]
        return whole(which);
    switch (which) {
    case end::acquire:
        return mutated(edge_name, edge_end::acquire, at) ? order::relaxed : order::acquire;
    case end::release:
        return mutated(edge_name, edge_end::release, at) ? order::relaxed : order::release;
    case end::acq_rel:
        if (mutated(edge_name, edge_end::acq_rel_acquire, at))
            return order::release;
        return mutated(edge_name, edge_end::acq_rel_release, at) ? order::acquire : order::acq_rel;
    case end::seq_cst:
        break;
    }
    if (mutated(edge_name, edge_end::seq_cst_whole, at))
        return order::relaxed;
    return mutated(edge_name, edge_end::seq_cst, at) ? order::acq_rel : order::seq_cst;
}

}  // namespace detail

std::string_view to_text(edge_end end) noexcept {
    switch (end) {
    case edge_end::acquire:
        return "acquire";
    case edge_end::release:
        return "release";
    case edge_end::acq_rel_acquire:
        return "acquire of acq_rel";
    case edge_end::acq_rel_release:
        return "release of acq_rel";
    case edge_end::seq_cst:
        return "one order of seq_cst";
    case edge_end::seq_cst_whole:
        break;
    }
    return "seq_cst";
}

std::vector<edge_use> edges_seen() {
    std::vector<edge_use> all;
    for (const auto& [key, places] : registry())
        all.push_back({key.first, key.second, places});
    return all;
}

void forget_edges_seen() {
    registry().clear();
    recorded().clear();
}

mutation::mutation(std::string_view edge_name, edge_end end, std::string_view place) {
    active = active_mutation{std::string(edge_name), end, std::string(place), 0};
}
mutation::~mutation() {
    active.reset();
}
std::uint64_t mutation::uses() const noexcept {
    return active ? active->uses : 0;
}

}  // namespace tactus::inline v0::port::model
