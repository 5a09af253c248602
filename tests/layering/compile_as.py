# SPDX-License-Identifier: Apache-2.0
"""Compiles a file (syntax only) as if it were a source of a layer: with the very flags and include roots the build
uses for that layer's own sources, taken from compile_commands.json.

usage: compile_as.py compile_commands.json FOLDER FILE [option ...]     FOLDER: the layer's, as portable/base
"""
import json
import os
import shlex
import subprocess
import sys

commands, folder, file, *options = sys.argv[1:]
with open(commands) as f:
    entries = json.load(f)
marks = (f"/{folder}/src/", f"/{folder}/host/src/")
found = [e for e in entries if any(mark in e["file"] for mark in marks)]
if not found:
    sys.exit(f"compile_as: {commands} has no source of {folder}")
line = shlex.split(found[0]["command"])
if os.path.basename(line[0]) == "ccache":
    line = line[1:]
# Without the object to write, the source that was there, and what is precompiled for it.
left_out = ("-o", "-c", "-include")
kept = []
skip = False
for word in line:
    if not skip and word not in left_out:
        kept.append(word)
    skip = word in left_out
sys.exit(subprocess.run([*kept, "-fsyntax-only", *options, file], cwd=found[0]["directory"]).returncode)
