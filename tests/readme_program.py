#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program that the README shows is the example that is built and run: compares the two from `int main` on.

usage: readme_program.py README.md examples/first_timer.cpp
"""
import sys

readme, example = (open(path).read() for path in sys.argv[1:])
shown = readme.split("```cpp\n")[1].split("```")[0]
start = "int main"
if shown[shown.index(start):] != example[example.index(start):]:
    sys.exit("README.md: the first program differs from examples/first_timer.cpp")
