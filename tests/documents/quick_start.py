#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs of the quick start are those that are built and run, and they are short (DC-3).

usage: quick_start.py PAGE HOST_PROGRAM DEVICE_PROGRAM
       quick_start.py --self-test

Lines with nothing on them do not count.
"""
import re
import sys

LIMITS = (("host", 20), ("device", 40))  # less than that


def program(source):
    """All behind the comment at its beginning."""
    return re.sub(r"\A(//[^\n]*\n)+", "", source)


def faults(page, sources):
    shown = re.findall(r"^```cpp\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    if len(shown) != len(sources):
        yield f"the page shows {len(shown)} programs, not {len(sources)}"
        return
    for text, source, (world, limit) in zip(shown, sources, LIMITS):
        if text != program(source):
            yield f"the program for a {world} differs from the one that is run"
        count = sum(1 for line in text.splitlines() if line.strip())
        if count >= limit:
            yield f"the program for a {world} has {count} lines, not less than {limit}"


def self_test():
    def page(*programs):
        return "text\n" + "".join(f"```cpp\n{p}```\n" for p in programs)
    short, long = "int a;\n\nint b;\n", "int a;\n" * 20
    assert list(faults(page(short, long), ["// x\n//\n" + short, long])) == []
    assert list(faults(page(short), [short, long])) == ["the page shows 1 programs, not 2"]
    assert list(faults(page(short, long), [short + "\n", long])) == [
        "the program for a host differs from the one that is run"]
    assert list(faults(page(long, 2 * long), [long, 2 * long])) == [
        "the program for a host has 20 lines, not less than 20",
        "the program for a device has 40 lines, not less than 40"]
    print("each planted fault was reported")


if sys.argv[1:] == ["--self-test"]:
    self_test()
    sys.exit(0)
found = list(faults(*(lambda texts: (texts[0], texts[1:]))([open(path).read() for path in sys.argv[1:]])))
for fault in found:
    print(f"{sys.argv[1]}: {fault}")
sys.exit(1 if found else 0)
