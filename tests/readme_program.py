#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program that a document shows is the example that is built and run: compares the two from a line on.

usage: readme_program.py DOCUMENT EXAMPLE [FIRST LINE]     the first line is `int main` unless given
"""
import sys

document, example = (open(path).read() for path in sys.argv[1:3])
shown = document.split("```cpp\n")[1].split("```")[0]
start = sys.argv[3] if len(sys.argv) > 3 else "int main"
if shown[shown.index(start):] != example[example.index(start):]:
    sys.exit(f"{sys.argv[1]}: the first program differs from {sys.argv[2]}")
