#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cases that are run with another preset are listed in docs/deviations.md, whose rows are complete (DC-1).

usage: deviations.py ROOT
       deviations.py --self-test
"""
import os
import re
import sys
import tempfile

CASE = re.compile(r"\b(?:TC|C)-[A-Z]+-?[0-9]+\b")


def by_preset(root):
    """(file, line, cases) of tests whose comment says that they run with a preset."""
    for folder, _, names in sorted(os.walk(os.path.join(root, "tests"))):
        for name in sorted(names):
            if not name.endswith(".cpp"):
                continue
            path = os.path.join(folder, name)
            comment = []
            for number, line in enumerate(open(path, encoding="utf-8"), 1):
                if line.startswith("//"):
                    comment.append(line)
                    continue
                text = " ".join(comment)
                if line.startswith("TEST") and "preset" in text and CASE.search(text):
                    yield path, number, CASE.findall(text)
                comment = []


def rows(page):
    for number, line in enumerate(open(page, encoding="utf-8"), 1):
        if line.startswith("| ") and not line.startswith("| case") and not line.startswith("| ---"):
            yield number, [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]


def faults(root):
    page = os.path.join(root, "docs/deviations.md")
    listed = set()
    for number, cells in rows(page):
        cases = CASE.findall(cells[0])
        listed.update(cases)
        if not cases:
            yield f"{page}:{number}: no case"
        if len(cells) != 5:
            yield f"{page}:{number}: {len(cells)} columns instead of 5"
        elif not cells[1] or not cells[2]:
            yield f"{page}:{number}: says not what each of them does"
    for path, number, cases in by_preset(root):
        for case in cases:
            if case not in listed:
                yield f"{path}:{number}: {case} is run with a preset and not listed in docs/deviations.md"


def self_test():
    with tempfile.TemporaryDirectory() as root:
        os.makedirs(os.path.join(root, "docs"))
        os.makedirs(os.path.join(root, "tests/a"))
        with open(os.path.join(root, "docs/deviations.md"), "w", encoding="utf-8") as f:
            f.write("| case | Pekko | here | why | the other way |\n| --- | --- | --- | --- | --- |\n"
                    "| C-AB-1 | one | two | | |\n| C-AB-2 | | two | | |\n| C-AB-3 | one |\n| nothing | a | b | | |\n")
        with open(os.path.join(root, "tests/a/x_test.cpp"), "w", encoding="utf-8") as f:
            f.write("// C-AB-1, C-AB-9: with the preset the other way.\nTEST(a, b) {}\n"
                    "// C-AB-8: without.\nTEST(a, c) {}\n")
        found = list(faults(root))
        expected = ["says not what", "2 columns", "no case", "C-AB-9 is run"]
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
    print("\n".join(found) or "deviations: complete")
    return sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
