#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MC-5: the model suite runs in under five minutes. Reads CTest's own count of the time from a log.

usage: test_time.py LOG SECONDS
"""
import re
import sys

log, limit = sys.argv[1], float(sys.argv[2])
found = re.findall(r"^Total Test time \(real\) = +([0-9.]+) sec", open(log, errors="replace").read(), re.M)
if not found:
    sys.exit(f"{log}: CTest has not said how long the tests took")
if float(found[-1]) > limit:
    sys.exit(f"the tests took {found[-1]} s, at most {limit:g} are allowed")
