#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DF-41: no test is ended because the machine is busy.

usage: time_limits.py BUILD_DIR SECONDS

Fails when a test of the build has a limit below SECONDS. Without a limit of its own CTest ends a test after 1,500.
"""
import json
import subprocess
import sys

build, least = sys.argv[1], float(sys.argv[2])
shown = subprocess.check_output(["ctest", "--test-dir", build, "--show-only=json-v1"], text=True)
tests = json.loads(shown)["tests"]
short = []
for test in tests:
    limits = [p["value"] for p in test.get("properties", []) if p["name"] == "TIMEOUT"]
    if limits and limits[0] < least:
        short.append(f"{test['name']}: {limits[0]:.0f} s")
print("\n".join(short))
print(f"{len(tests)} tests, {len(short)} with a limit below {least:.0f} s")
sys.exit(1 if short or not tests else 0)
