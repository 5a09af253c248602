#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The portable layers and the host's port compile for aarch64 Linux (UP-8).

usage: aarch64.py CLANG ROOT

Compiles, to code that nobody runs, the umbrella header without what is hosted, and the sources of the host's port. The
headers of the C++ library are those of this machine, of which two files depend on its processor: they are given here.
"""
import glob
import os
import subprocess
import sys
import tempfile

clang, root = sys.argv[1:]
SHIMS = {"gnu/stubs-32.h": "", "bits/wordsize.h": "#define __WORDSIZE 64\n#define __WORDSIZE_TIME64_COMPAT32 0\n"
                                                  "#define __SYSCALL_WORDSIZE 64\n"}
searched = subprocess.run([clang, "-xc++", "-E", "-v", os.devnull], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          text=True, check=True).stderr
folders = searched.split("search starts here:\n")[-1].split("End of search list.")[0].split("\n")
folders = [folder.strip() for folder in folders if folder.strip() and "/lib/clang/" not in folder]
own = glob.glob(f"{root}/portable/*/include") + [f"{root}/portable/port/{part}/include"
                                                 for part in ("host", "real", "threaded")]
with tempfile.TemporaryDirectory() as place:
    for name, text in SHIMS.items():
        os.makedirs(os.path.dirname(f"{place}/{name}"), exist_ok=True)
        open(f"{place}/{name}", "w").write(text)
    everything = f"{place}/everything.cpp"
    open(everything, "w").write("#include <tactus/tactus.hpp>\n")
    for source in [everything, *sorted(glob.glob(f"{root}/portable/port/host/src/*.cpp"))]:
        done = subprocess.run(
            [clang, "--target=aarch64-linux-gnu", "-std=c++23", "-O1", "-c", source, "-o", f"{place}/made.o",
             "-isystem", place, *(f"-isystem{folder}" for folder in folders), *(f"-I{folder}" for folder in own),
             f"-I{root}/umbrella/include", f"-I{root}/portable/port/src"])
        if done.returncode != 0:
            sys.exit(f"aarch64: {source} does not compile")
        machine = open(f"{place}/made.o", "rb").read(20)[18]
        if machine != 183:
            sys.exit(f"aarch64: made for machine {machine}, not for 183")
print("the portable layers compile for aarch64")
