#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every row of docs/user_code.md names a test that exists, and every case of every_throw_test.cpp has a row (DF-44).

usage: user_code.py ROOT
       user_code.py --self-test
"""
import os
import re
import sys
import tempfile

PAGE = "docs/user_code.md"
CASES = "tests/hosted/actor/every_throw_test.cpp"
TEST = re.compile(r"\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\)")


def rows(page):
    for number, line in enumerate(open(page, encoding="utf-8"), 1):
        if line.startswith("| ") and not line.startswith("| your code") and not line.startswith("| ---"):
            yield number, [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def known_tests(root):
    known = set()
    for folder, _, names in os.walk(os.path.join(root, "tests")):
        for name in names:
            if name.endswith(".cpp"):
                text = open(os.path.join(folder, name), encoding="utf-8").read()
                known.update(f"{suite}.{test}" for suite, test in TEST.findall(text))
    cases = open(os.path.join(root, CASES), encoding="utf-8").read()
    table = re.search(r"constexpr place places\[\] = {\n(.*?)\n};", cases, re.S)
    listed = re.findall(r'{"(\w+)", &', table[1]) if table else []
    return known, {f"every_throw/{case}" for case in listed}


def faults(root):
    known, cases = known_tests(root)
    named = set()
    for number, cells in rows(os.path.join(root, PAGE)):
        if len(cells) != 3 or not cells[1]:
            yield f"{PAGE}:{number}: a row has a place, what happens, and a test"
            continue
        tests = re.findall(r"`([^`]+)`", cells[2])
        if not tests:
            yield f"{PAGE}:{number}: no test throws there"
        for test in tests:
            if test not in known and test not in cases:
                yield f"{PAGE}:{number}: there is no test {test}"
        named.update(tests)
    for case in sorted(cases - named):
        yield f"{CASES}: {case} has no row in {PAGE}"
    if not cases:
        yield f"{CASES}: the table of places was not found"


def self_test():
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "docs"))
        os.makedirs(os.path.join(root, os.path.dirname(CASES)))
        with open(os.path.join(root, PAGE), "w", encoding="utf-8") as f:
            f.write("| your code | when it throws | test |\n| --- | --- | --- |\n"
                    "| one | lost | `a.b`, `every_throw/tell` |\n| two | lost | |\n| three | lost | `a.c` |\n"
                    "| four | lost |\n")
        with open(os.path.join(root, CASES), "w", encoding="utf-8") as f:
            f.write('TEST(a, b) {}\nconstexpr place places[] = {\n    {"tell", &tell},\n    {"ask", &ask},\n};\n')
        found = list(faults(root))
        expected = ["4: no test throws there", "5: there is no test a.c", "6: a row has", "every_throw/ask has no row"]
        for text in expected:
            if not any(text in fault for fault in found):
                sys.exit(f"planted and not found: {text}")
        if len(found) != len(expected):
            sys.exit("found what is none:\n" + "\n".join(found))
    print("planted faults are found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    found = list(faults(sys.argv[1]))
    print("\n".join(found) or "user_code: complete")
    return sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
