// SPDX-License-Identifier: Apache-2.0
//
// Prints a part of the table of lives as Markdown, from the rows in the code, for
// docs/lifecycle.md: diagram, states, events, actions or rows.
#include <cstdio>
#include <string>
#include <string_view>

#include <tactus/actor/lifecycle.hpp>

namespace {

namespace lifecycle = tactus::lifecycle;

template <class List>
void print_meanings(const char* what, const List& list) {
    std::printf("| %s | means |\n| --- | --- |\n", what);
    for (const auto& e : list) {
        if (*e.meaning != '\0')
            std::printf("| %s | %s |\n", e.name, e.meaning);
    }
}

void print_diagram() {
    std::printf("```mermaid\nstateDiagram-v2\n    [*] --> starting\n");
    for (const auto& from : lifecycle::states) {
        for (const auto& to : lifecycle::states) {
            std::string events;
            for (const lifecycle::row& r : lifecycle::rows) {
                // By force: from nearly everywhere, and the reader learns nothing from it.
                if (r.from == r.to || r.from != from.value || r.to != to.value ||
                    r.on == lifecycle::event::discard || r.on == lifecycle::event::closed)
                    continue;
                events += (events.empty() ? "" : ", ") + std::string(name_of(r.on));
            }
            if (!events.empty())
                std::printf("    %s --> %s: %s\n", from.name, to.name, events.c_str());
        }
    }
    std::printf(
        "    stopping --> ended: discard\n    stopping_failed --> stopping_empty: discard\n"
        "    stopping_empty --> ended: closed\n    ended --> [*]\n```\n");
}

void print_rows() {
    std::printf(
        "| state | event | next state | the actor's turn owes |\n"
        "| --- | --- | --- | --- |\n");
    for (const lifecycle::row& r : lifecycle::rows) {
        const bool changes = r.from != r.to || r.owed != lifecycle::action::nothing;
        if (changes && r.owed != lifecycle::action::impossible)
            std::printf("| %s | %s | %s | %s |\n", name_of(r.from), name_of(r.on), name_of(r.to),
                        name_of(r.owed));
    }
    std::printf("\nImpossible are:\n\n| state | events |\n| --- | --- |\n");
    for (const auto& from : lifecycle::states) {
        std::string events;
        for (const lifecycle::row& r : lifecycle::rows) {
            if (r.from == from.value && r.owed == lifecycle::action::impossible)
                events += (events.empty() ? "" : ", ") + std::string(name_of(r.on));
        }
        if (!events.empty())
            std::printf("| %s | %s |\n", from.name, events.c_str());
    }
}

void print_states() {
    std::printf("| state | failed | has an instance | means |\n| --- | --- | --- | --- |\n");
    for (const auto& s : lifecycle::states)
        std::printf("| %s | %s | %s | %s |\n", s.name, lifecycle::is_failed(s.value) ? "yes" : "no",
                    lifecycle::has_instance(s.value) ? "yes" : "no", s.meaning);
}

}  // namespace

int main(int count, char** arguments) {
    const std::string_view part = count == 2 ? arguments[1] : "";
    if (part == "diagram")
        print_diagram();
    else if (part == "states")
        print_states();
    else if (part == "events")
        print_meanings("event", lifecycle::events);
    else if (part == "actions")
        print_meanings("action", lifecycle::actions);
    else if (part == "rows")
        print_rows();
    else
        return 2;
    return 0;
}
