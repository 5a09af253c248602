#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links of the documents lead somewhere, every page can be reached from the README, which names every example.

usage: links.py ROOT
       links.py --self-test
"""
import os
import re
import sys
import tempfile


def links(path):
    """(line, target) of the links to files of this tree; code is left out."""
    fenced = False
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        if line.startswith("```"):
            fenced = not fenced
        if fenced:
            continue
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            if "://" not in target and not target.startswith("#"):
                yield number, os.path.normpath(os.path.join(os.path.dirname(path), target.split("#")[0]))


def pages(root):
    for folder in (root, os.path.join(root, "docs"), os.path.join(root, "docs/adr"), os.path.join(root, "benchmarks")):
        if os.path.isdir(folder):
            yield from (os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".md"))


def faults(root):
    root = os.path.abspath(root)
    for page in pages(root):
        for number, target in links(page):
            if not os.path.exists(target):
                yield f"{page}:{number}: there is no {os.path.relpath(target, root)}"
    readme = os.path.join(root, "README.md")
    named = {target for _, target in links(readme)}
    reached, ahead = set(), [readme]
    while ahead:
        page = ahead.pop()
        if page not in reached and page.endswith(".md") and os.path.exists(page):
            reached.add(page)
            ahead += [target for _, target in links(page)]
    for page in pages(root):
        # A folder of decisions is linked as a whole.
        if page not in reached and os.path.dirname(page) not in named:
            yield f"{page}: no way leads here from the README"
    examples = os.path.join(root, "examples")
    for name in sorted(os.listdir(examples)):
        if name.endswith(".cpp") and os.path.join(examples, name) not in named:
            yield f"README.md: examples/{name} is not named"


def self_test():
    with tempfile.TemporaryDirectory() as root:
        def write(path, text):
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        write("README.md", "[a](docs/a.md) [adr](docs/adr/) [e](examples/e.cpp) [web](https://x.org) `[i](j)`\n")
        write("docs/a.md", "[b](b.md#part)\n```\n[i](j)\n```\n")
        write("docs/b.md", "[back](../README.md)\n")
        write("docs/adr/0001.md", "")
        write("examples/e.cpp", "")
        assert list(faults(root)) == [], list(faults(root))
        write("docs/b.md", "\n[gone](c.md)\n")
        write("docs/lonely.md", "")
        write("examples/f.cpp", "")
        found = [fault.replace(root + "/", "") for fault in faults(root)]
        assert found == ["docs/b.md:2: there is no docs/c.md", "docs/lonely.md: no way leads here from the README",
                         "README.md: examples/f.cpp is not named"], found
    print("each planted fault was reported")


if sys.argv[1:] == ["--self-test"]:
    self_test()
    sys.exit(0)
wrong = list(faults(sys.argv[1]))
print("\n".join(wrong) or "all links lead somewhere")
sys.exit(1 if wrong else 0)
