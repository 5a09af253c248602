// SPDX-License-Identifier: Apache-2.0
//
// Mutations (MC-4): every end of every named edge, at every place that uses it, is weakened alone,
// and some scenario must fail then. An order that no scenario misses is not needed, or a scenario
// is.
//
//     model_mutations                        prints the table; fails when something is not caught
//     model_mutations --check docs/model.md  the same, and the page must have this table
//     model_mutations --render docs/model.md writes it there, between its marks
//     model_mutations --edge state-wake      only edges whose name contains that
//
// Scenarios are asked in the order of their size, those that pass there first, so a run takes about
// as long as a few passes of the tests. Everything is deterministic: no time limit decides.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "scenario.hpp"

namespace model = tactus::port::model;

namespace {

constexpr std::uint64_t execution_limit = 400'000;  // of one scenario under one mutation
constexpr std::string_view begin_mark = "<!-- mutations: begin -->\n";
constexpr std::string_view end_mark = "<!-- mutations: end -->";

struct weakening {
    std::string edge;
    model::edge_end end;
    std::string place;
    auto operator<=>(const weakening&) const = default;
};

struct known_scenario {
    const scenario::entry* entry;
    std::uint64_t executions;
    std::set<weakening> uses;
};

struct result {
    weakening what;
    const known_scenario* caught_by = nullptr;
    model::failure how = model::failure::none;
    std::uint64_t executions = 0;
};

struct text_of_end {
    const char* order;
    const char* weaker;
};
text_of_end text_of(model::edge_end end) {
    switch (end) {
    case model::edge_end::acquire:
        return {"acquire", "relaxed"};
    case model::edge_end::release:
        return {"release", "relaxed"};
    case model::edge_end::acq_rel_acquire:
        return {"acq_rel", "release"};
    case model::edge_end::acq_rel_release:
        return {"acq_rel", "acquire"};
    case model::edge_end::seq_cst:
        return {"seq_cst", "acq_rel"};
    case model::edge_end::seq_cst_whole:
        break;
    }
    return {"seq_cst", "relaxed"};
}

std::string name_of(const scenario::entry& e) {
    return std::string(e.suite) + "." + e.name;
}

/// Every scenario once, without a mutation: it must hold, and shows which edges it uses where.
std::vector<known_scenario> learn() {
    std::vector<known_scenario> known;
    for (const scenario::entry& e : scenario::all()) {
        if (std::string_view(e.name).starts_with("DISABLED_"))
            continue;
        model::forget_edges_seen();
        const model::report r = model::check(e.how, e.body);
        if (!r.ok) {
            std::fprintf(stderr, "%s fails without a mutation:\n%s", name_of(e).c_str(),
                         r.text.c_str());
            std::exit(1);
        }
        known_scenario k{&e, r.executions, {}};
        for (const model::edge_use& use : model::edges_seen()) {
            for (const std::string& place : use.places)
                k.uses.insert({use.name, use.end, place});
        }
        known.push_back(std::move(k));
    }
    std::ranges::sort(known, [](const known_scenario& a, const known_scenario& b) {
        return a.executions != b.executions ? a.executions < b.executions
                                            : name_of(*a.entry) < name_of(*b.entry);
    });
    return known;
}

result try_out(const weakening& w, const std::vector<known_scenario>& known) {
    result r{w};
    for (const known_scenario& k : known) {
        if (!k.uses.contains(w))
            continue;
        model::options how = k.entry->how;
        how.execution_limit = execution_limit;
        const model::mutation weaker(w.edge, w.end, w.place);
        const model::report found = model::check(how, k.entry->body);
        if (!found.ok) {
            r.caught_by = &k;
            r.how = found.kind;
            r.executions = found.executions;
            break;
        }
    }
    return r;
}

std::string table_of(const std::vector<result>& results) {
    std::string text =
        "| edge | order | weakened to | where | caught by | as | executions |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n";
    for (const result& r : results) {
        const text_of_end t = text_of(r.what.end);
        text +=
            "| " + r.what.edge + " | " + t.order + " | " + t.weaker + " | " + r.what.place + " | ";
        if (r.caught_by == nullptr)
            text += "NOT CAUGHT | | |\n";
        else
            text += name_of(*r.caught_by->entry) + " | " + std::string(model::to_text(r.how)) +
                    " | " + std::to_string(r.executions) + " |\n";
    }
    return text;
}

/// Lines and counts change with every edit; what is caught by what is not to.
std::string without_numbers(std::string_view text) {
    std::string plain;
    for (const char c : text) {
        const bool digit = c >= '0' && c <= '9';
        if (!digit)
            plain += c;
        else if (plain.empty() || plain.back() != '#')
            plain += '#';
    }
    return plain;
}

std::string read(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// Where the table is in the page.
struct part {
    std::size_t from = std::string::npos;
    std::size_t count = 0;
};
part find_table(const std::string& page) {
    const std::size_t begin = page.find(begin_mark);
    const std::size_t end = page.find(end_mark);
    if (begin == std::string::npos || end == std::string::npos)
        return {};
    return {begin + begin_mark.size(), end - begin - begin_mark.size()};
}

struct arguments {
    std::string check;
    std::string render;
    std::string edge;
};

int run(const arguments& a) {
    const std::vector<known_scenario> known = learn();
    std::set<weakening> all;
    for (const known_scenario& k : known)
        all.insert(k.uses.begin(), k.uses.end());
    std::vector<result> results;
    for (const weakening& w : all) {
        if (w.edge.find(a.edge) != std::string::npos)
            results.push_back(try_out(w, known));
    }
    const std::string table = table_of(results);
    std::fputs(table.c_str(), stdout);
    const auto missed = std::ranges::count(results, nullptr, &result::caught_by);
    std::printf("%zu weakenings, %td not caught\n", results.size(), missed);
    int status = missed == 0 ? 0 : 1;

    const std::string& path = a.render.empty() ? a.check : a.render;
    if (path.empty())
        return status;
    std::string page = read(path);
    const part at = find_table(page);
    if (at.from == std::string::npos) {
        std::fprintf(stderr, "%s has no marks for the table\n", path.c_str());
        return 1;
    }
    if (!a.render.empty()) {
        page.replace(at.from, at.count, table);
        std::ofstream(path) << page;
    } else if (without_numbers(page.substr(at.from, at.count)) != without_numbers(table)) {
        std::fprintf(stderr, "%s is out of date; model_mutations --render writes it anew\n",
                     path.c_str());
        status = 1;
    }
    return status;
}

}  // namespace

int main(int count, char** values) {
    arguments a;
    for (int i = 1; i + 1 < count; i += 2) {
        const std::string_view option = values[i];
        if (option == "--check")
            a.check = values[i + 1];
        else if (option == "--render")
            a.render = values[i + 1];
        else if (option == "--edge")
            a.edge = values[i + 1];
        else
            count = -1;
    }
    if (count < 0 || count % 2 == 0) {
        std::fprintf(stderr, "model_mutations [--check page | --render page] [--edge name]\n");
        return 2;
    }
    return run(a);
}
