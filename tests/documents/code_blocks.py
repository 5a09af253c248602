#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every piece of C++ that a page shows stands in a file that is compiled, line by line; only its indentation differs.

usage: code_blocks.py PAGE SOURCE ...
       code_blocks.py --self-test
"""
import sys
import textwrap


def blocks(page):
    """The pieces of a page, each with the line it begins on."""
    lines, begin = page.splitlines(), None
    for number, line in enumerate(lines, 1):
        if begin is None and line == "```cpp":
            begin = number
        elif begin is not None and line == "```":
            yield begin + 1, lines[begin:number - 1]
            begin = None


def has(source, block):
    """`block` is a run of lines of `source`, all of them moved to the left by the same."""
    size = len(block)
    return any(textwrap.dedent("\n".join(source[at:at + size])).split("\n") == block
               for at in range(len(source) - size + 1))


def missing(page, sources):
    return [line for line, block in blocks(page) if not any(has(source, block) for source in sources)]


def self_test():
    source = ["void f() {", "    if (a) {", "        b();", "    }", "", "    c();", "}"]
    shown = "text\n```cpp\nif (a) {\n    b();\n}\n\nc();\n```\n"
    assert missing(shown, [["x"], source]) == []
    for wrong in (shown.replace("b()", "d()"), shown.replace("    b", "  b"), shown.replace("}\n\nc", "}\nc")):
        assert missing(wrong, [source]) == [3], wrong
    assert missing(shown + shown.replace("c()", "d()"), [source]) == [11]
    print("each planted difference was reported")


if sys.argv[1:] == ["--self-test"]:
    self_test()
    sys.exit(0)
texts = [open(path).read() for path in sys.argv[1:]]
wrong = missing(texts[0], [text.splitlines() for text in texts[1:]])
for where in wrong:
    print(f"{sys.argv[1]}:{where}: this code is in none of {', '.join(sys.argv[2:])}")
if not any(blocks(texts[0])):
    sys.exit(f"{sys.argv[1]}: no C++ was found")
sys.exit(1 if wrong else 0)
