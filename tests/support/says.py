# SPDX-License-Identifier: Apache-2.0
"""Runs a command that must succeed and say something.

usage: says.py TEXT command ...

CTest's PASS_REGULAR_EXPRESSION forgets the exit status; this asks for both.
"""
import subprocess
import sys

text, *command = sys.argv[1:]
done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
sys.stdout.write(done.stdout)
if done.returncode != 0:
    sys.exit(f"ended with {done.returncode}")
if text not in done.stdout:
    sys.exit(f"did not say: {text}")
