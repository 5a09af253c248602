#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/troubleshooting.md has every error, warning and check by its name, and no others (DC-6).

A section of the page names in its heading what it is about: `sent`, `kernel_events`, `check`. The first column of its
tables has the names. They are compared with the sources: enumerators, functions of event classes, TACTUS_CHECK ids,
texts of failures and of static assertions. Names of enumerators are also compared with what the program prints that
asks the code for them.

usage: troubleshooting.py ROOT ERROR_NAMES      the tree, and the program
       troubleshooting.py --self-test
"""
import os
import re
import subprocess
import sys

ENUMERATIONS = [
    "sent", "dead_letter_cause", "spawn_error::kind", "name_fault", "ask_fault", "device_error::kind", "suspend_error",
    "failure_kind", "cancel_kind", "prepended", "event_error", "user_code", "resolve_error::kind",
    "dispatcher_error::kind", "shutdown_error::kind", "shutdown_task_state", "timer_errc", "tick_state",
    "tick_driver_error", "scheduler_errc", "scheduler_warning_kind", "scheduler_config_errc", "backpressure_cause",
    "log_errc", "log_file_error::kind", "next_error",
]
EVENTS = ["kernel_events", "world_events", "dispatcher_events"]
# Names that C++ keeps for itself: the enumerator has another than the code says.
SAID_OTHERWISE = {"explicit_request": "explicit"}
# Where a class has its checks' name in another file than its functions, and the files are not of one name.
MODULE_ELSEWHERE = {"task.hpp": "task"}
# Checks of the Cortex-M port, which print numbers alone.
DEVICE_MODULES = {"heap", "systick", "systick_clock"}
# What a failure is called between two functions of the world; nobody sees it.
INTERNAL_TEXTS = {"failure"}


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def enumerators(text, name):
    """Of `name`, or of `scope::name`; none: it is not declared here."""
    text = without_comments(text)
    if "::" in name:
        scope, name = name.split("::")
        begin = re.search(rf"\b(?:struct|class) {scope}\b[^;{{]*{{", text)
        text = text[begin.end():] if begin else ""
    found = re.search(rf"\benum class {name}\b[^{{;]*{{(.*?)}}", text, re.S)
    if not found:
        return set()
    body = found[1]
    names = {part.split("=")[0].strip() for part in body.split(",") if part.strip()}
    return {SAID_OTHERWISE.get(name, name) for name in names}


def event_names(text, name):
    text = without_comments(text)
    found = re.search(rf"\bclass {name}\b[^;{{]*{{", text)
    body = text[found.end():text.index("\n};", found.end())] if found else ""
    return set(re.findall(r"virtual void (\w+)\(", body))


def sources(root, *folders):
    """(path, text) of the C++ below the folders; the model port checks itself otherwise."""
    for folder in folders:
        for where, _, names in sorted(os.walk(os.path.join(root, folder))):
            if "/port/model" in where:
                continue
            for name in sorted(names):
                if name.endswith((".hpp", ".cpp")) and name != "check.hpp":
                    path = os.path.join(where, name)
                    yield path, without_comments(open(path, encoding="utf-8").read())


def check_ids(files):
    """`module:id` of every check; `files` are (path, text)."""
    files = list(files)
    declared = {}
    for path, text in files:
        module = re.search(r'TACTUS_CHECK_MODULE\("(\w+)"\)', text)
        if module:
            declared[os.path.basename(path)] = module[1]
    found = set()
    for path, text in files:
        name = os.path.basename(path)
        for check in re.finditer(r"TACTUS_(?:DEBUG_)?CHECK\(\s*(\d+)", text):
            # A function may have a name of its own, which stands just before.
            local = re.findall(r'tactus_check_module = "(\w+)";\s*$', text[:check.start()])
            module = (local[-1] if local else declared.get(name) or MODULE_ELSEWHERE.get(name) or
                      declared.get(name.replace(".cpp", ".hpp")))
            if module is None:
                raise SystemExit(f"{path}: whose checks are these? TACTUS_CHECK_MODULE is not in {name} or its header")
            found.add(f"{module}:{check[1]}")
    return found


def checks_without_text(ids, table):
    """Those of a host that tactus::fatal cannot put into words, and words that no check has."""
    texts = {f"{m}:{i}" for m, i in re.findall(r'\{"(\w+)", (\d+),\s+"', table)}
    wanted = {name for name in ids if name.split(":")[0] not in DEVICE_MODULES}
    for name in sorted(wanted - texts):
        yield f"check_texts.cpp: '{name}' is missing"
    for name in sorted(texts - wanted):
        yield f"check_texts.cpp: there is no '{name}' any more"


def failure_texts(files):
    found = set()
    for _, text in files:
        found.update(re.findall(r'\bfailure\(\s*"([^"]+)"', text))
        found.update(re.findall(r'\breturn \{"([^"]+)"\};', text))
        # Texts with a name, which others compare with: no_frame_memory, unknown_exception.
        found.update(re.findall(r'constexpr (?:const char\*|char) \w+(?:\[\])? =\s*"([a-z][^"%]* [^"%]*)";', text))
    return found - INTERNAL_TEXTS


def assertion_texts(files):
    """What the compiler says about code of users: the texts of static_assert."""
    found = set()
    for _, text in files:
        for begin in re.finditer(r"\bstatic_assert\(", text):
            depth, at = 1, begin.end()
            while depth > 0:
                depth += {"(": 1, ")": -1}.get(text[at], 0) if not in_text(text, begin.end(), at) else 0
                at += 1
            pieces = re.findall(r'"((?:[^"\\]|\\.)*)"', text[begin.end():at])
            if pieces:
                found.add("".join(pieces))
    return found


def in_text(text, begin, at):
    return text[begin:at].count('"') % 2 == 1


def of_sources(root):
    """What the page has to have: {group: names}."""
    headers = [text for path, text in sources(root, "portable", "hosted") if "/include/" in path]
    def declared(how, name):
        """Which header has it is its own affair, as long as it is one."""
        found = [names for names in (how(text, name) for text in headers if name.split("::")[0] in text) if names]
        if len(found) != 1:
            raise SystemExit(f"{name} is declared in {len(found)} headers")
        return found[0]
    wanted = {name: declared(enumerators, name) for name in ENUMERATIONS}
    wanted |= {name: declared(event_names, name) for name in EVENTS}
    wanted["check"] = check_ids(sources(root, "portable", "hosted"))
    wanted["failure"] = failure_texts(sources(root, "portable/actor", "portable/dispatch", "hosted/runtime"))
    wanted["static_assert"] = assertion_texts(sources(root, "portable/actor/include", "portable/dispatch/include"))
    # A page cannot quote a quotation mark of its own.
    wanted["static_assert"] = {text.replace("`", "'") for text in wanted["static_assert"]}
    return wanted


def unknown_enumerations(files):
    """Enumerations of errors, by their names, that nobody put into the list above."""
    for path, text in files:
        scopes = [(m.start(), m[1]) for m in re.finditer(r"\b(?:struct|class) (\w+)[^;{]*{", text)]
        for found in re.finditer(r"\benum class (\w+)\b[^{;]*{", text):
            name = found[1]
            if name == "kind":
                scope = [scope for at, scope in scopes if at < found.start()][-1:]
                name = f"{scope[0]}::kind" if scope and scope[0].endswith("_error") else ""
            if name.endswith(("_error", "_errc", "_fault", "_cause", "_error::kind")) and name not in ENUMERATIONS:
                yield f"{path}: {name} is not compared with the page"


def of_page(text):
    """[(groups, names)] of the sections that have groups in their headings."""
    found = []
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        heading, _, body = section.partition("\n")
        groups = re.findall(r"`([^`]+)`", heading)
        names = [name for row in re.findall(r"^\|([^|]*)\|", body, re.M) for name in re.findall(r"`([^`]+)`", row)]
        if groups:
            found.append((groups, names))
    return found


def faults(wanted, page):
    shown = of_page(page)
    for groups, names in shown:
        for group in groups:
            if group not in wanted:
                yield f"there is nothing called {group}"
        known = set().union(*(wanted.get(group, set()) for group in groups))
        for name in names:
            if name not in known:
                yield f"{', '.join(groups)}: there is no '{name}' any more"
            if names.count(name) > 1:
                yield f"{', '.join(groups)}: '{name}' is there twice"
        for name in sorted(known - set(names)):
            yield f"{', '.join(groups)}: '{name}' is missing"
    for group in sorted(set(wanted) - {group for groups, _ in shown for group in groups}):
        yield f"no section is about {group}"


def printed_faults(wanted, printed):
    said = {}
    for line in printed.splitlines():
        group, name = line.split(" ", 1)
        said.setdefault(group, set()).add(name)
    for group in ENUMERATIONS:
        if said.get(group, set()) != wanted[group]:
            yield (f"{group}: name_of says {sorted(said.get(group, set()) - wanted[group])} too much, "
                   f"and not {sorted(wanted[group] - said.get(group, set()))}")


def self_test():
    code = 'struct e {\n    enum class kind : int {\n        one,  // 1\n        two = 5,\n    };\n};\n'
    assert enumerators(code, "e::kind") == {"one", "two"}
    assert event_names("class k {\npublic:\n    virtual void a(int) = 0;\n    /// x\n    virtual void b() {}\n};\n",
                       "k") == {"a", "b"}
    files = [("x.cpp", "TACTUS_CHECK(1, a); TACTUS_DEBUG_CHECK(\n    2, b);"),
             ("x.hpp", 'TACTUS_CHECK_MODULE("x")'),
             ("y.cpp", 'TACTUS_CHECK_MODULE("y"); TACTUS_CHECK(1, a); '
                       'auto tactus_check_module = "z";\n TACTUS_CHECK(3, a)')]
    assert check_ids(files) == {"x:1", "x:2", "y:1", "z:3"}, check_ids(files)
    assert failure_texts([("", 'failure("no ink") failure(7, x) return {"no pen"}; '
                              'constexpr char m[] = "no memory";')]) == {"no ink", "no pen", "no memory"}
    assert assertion_texts([("", 'static_assert(f(a), "one (or "\n "two)"); static_assert(b);')]) == {"one (or two)"}
    planted = [("p", "struct x_error {\n    enum class kind { a };\n};\nenum class y_fault { b };\n"
                     "enum class sent { c };")]
    assert [fault.split()[1] for fault in unknown_enumerations(planted)] == ["x_error::kind", "y_fault"]
    assert list(checks_without_text({"x:1", "x:2", "heap:1"}, '{"x", 1, "t"}, {"y", 3, "u"}')) == [
        "check_texts.cpp: 'x:2' is missing", "check_texts.cpp: there is no 'y:3' any more"]
    wanted = {"sent": {"a", "b"}, "check": {"x:1"}}
    page = ("## Sending: `sent`\n\n| name | means |\n| --- | --- |\n| `a`, `b` | `c` |\n\n"
            "## Checks: `check`\n\n| `x:1` | y |\n")
    assert list(faults(wanted, page)) == [], list(faults(wanted, page))
    assert list(faults(wanted, page.replace(", `b`", ""))) == ["sent: 'b' is missing"]
    assert list(faults(wanted, page.replace("x:1", "x:2"))) == ["check: there is no 'x:2' any more",
                                                                "check: 'x:1' is missing"]
    assert list(faults(wanted, page.split("## Checks")[0])) == ["no section is about check"]
    assert list(faults(wanted, page.replace("`b`", "`b`, `b`")))[:1] == ["sent: 'b' is there twice"]
    print("each planted difference was reported")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        sys.exit(0)
    all_names = of_sources(sys.argv[1])
    if len(sys.argv) < 3:  # for who writes the page
        for a_group, some in all_names.items():
            print(a_group, *sorted(some), sep="\n    ")
        sys.exit(0)
    output = subprocess.run(sys.argv[2:], stdout=subprocess.PIPE, text=True, check=True).stdout
    wrong = list(printed_faults(all_names, output))
    wrong += unknown_enumerations(sources(sys.argv[1], "portable", "hosted"))
    with open(os.path.join(sys.argv[1], "docs/troubleshooting.md"), encoding="utf-8") as file:
        wrong += [f"docs/troubleshooting.md: {fault}" for fault in faults(all_names, file.read())]
    with open(os.path.join(sys.argv[1], "portable/port/host/src/check_texts.cpp"), encoding="utf-8") as file:
        wrong += checks_without_text(all_names["check"], file.read())
    print("\n".join(wrong) or f"{sum(map(len, all_names.values()))} names, all of them in docs/troubleshooting.md")
    sys.exit(1 if wrong else 0)
