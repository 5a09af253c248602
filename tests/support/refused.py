# SPDX-License-Identifier: Apache-2.0
"""Runs a command that must fail, and for the reason that is expected.

usage: refused.py [--status N] [--first-error TEXT] [--early TEXT] --saying TEXT [--saying TEXT ...] command ...

Passes when the command fails, with the status if one is given, and its output has one of the texts (compilers differ
in their words). Line breaks and indents count as one blank, since CMake wraps its messages. With --first-error the
first line that says "error:" has that text: what a list of errors shows of it. With --early that text is in the first
twenty lines: the place in the user's file, which belongs to what is read first.
"""
import os
import subprocess
import sys

arguments = sys.argv[1:]
texts = []
status = None
first = None
if arguments and arguments[0] == "--status":
    status = int(arguments[1])
    arguments = arguments[2:]
if arguments and arguments[0] == "--first-error":
    first = arguments[1]
    arguments = arguments[2:]
early = None
if arguments and arguments[0] == "--early":
    early = arguments[1]
    arguments = arguments[2:]
while arguments and arguments[0] == "--saying":
    texts.append(arguments[1])
    arguments = arguments[2:]
if not texts or not arguments:
    sys.exit(__doc__)

plain = dict(os.environ, LC_ALL="C")  # else g++ quotes with other characters
done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=plain)
said = " ".join(done.stdout.split())
if done.returncode == 0:
    sys.exit("accepted, but should have been refused: " + " ".join(arguments))
if status is not None and done.returncode != status:
    sys.exit(f"refused with status {done.returncode}, expected was {status}:\n{done.stdout}")
if not any(text in said for text in texts):
    sys.exit(f"refused, but not for the expected reason {texts}:\n{done.stdout}")
errors = [line for line in done.stdout.splitlines() if "error:" in line]
if first is not None and (not errors or first not in errors[0]):
    sys.exit(f"refused, but the first error does not say {first!r}:\n{done.stdout}")
if early is not None and not any(early in line for line in done.stdout.splitlines()[:20]):
    sys.exit(f"refused, but the first lines do not say {early!r}:\n{done.stdout}")
print("refused as expected:", next(text for text in texts if text in said))
