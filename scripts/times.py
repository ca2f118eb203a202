#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Where the time of a run goes: rows of a Markdown table.

usage: times.py run FILE WHAT COMMAND...   runs COMMAND, appends a row to FILE; exit code: COMMAND's
       times.py docs FILE                  replaces the table of docs/internals/testing.md by FILE's, with today's date

CPU is that of the command and of all descendants that were waited for, user and system. A process that ends without a parent that
waits (a daemon, a virtual machine in the background) is not in it.
"""
import collections
import datetime
import os
import re
import subprocess
import sys
import time

HEAD = "| what | tests | wall, s | CPU, s |\n|---|---:|---:|---:|\n"
Took = collections.namedtuple("Took", "code wall cpu")


def timed(*command, **options):
    """Runs a command: its exit code, seconds of wall and of CPU."""
    began = time.monotonic()
    child = subprocess.Popen(command, **options)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return Took(child.returncode, time.monotonic() - began, used.ru_utime + used.ru_stime)


def append(file, what, tests, wall, cpu):
    """A row; a number that is None is not known."""
    def cell(n):
        return "-" if n is None else f"{n:,.0f}"
    new = not os.path.exists(file)
    with open(file, "a", encoding="utf-8") as f:
        f.write((HEAD if new else "") + f"| {what} | {cell(tests) if tests else ''} | {cell(wall)} | {cell(cpu)} |\n")


def docs(file):
    """Writes the table to docs/internals/testing.md, between the two lines that mark it."""
    page = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs/internals/testing.md")
    with open(file, encoding="utf-8") as f:
        table = f.read()
    with open(page, encoding="utf-8") as f:
        text = f.read()
    new, n = re.subn(r"(<!-- times -->\n).*(<!-- /times -->\n)",
                     lambda m: f"{m[1]}{datetime.date.today()}, {os.cpu_count()} cores:\n\n{table}\n{m[2]}", text, flags=re.S)
    if n != 1:
        sys.exit(f"times: {page}: no place for the table")
    with open(page, "w", encoding="utf-8") as f:
        f.write(new)


def main():
    if len(sys.argv) > 4 and sys.argv[1] == "run":
        took = timed(*sys.argv[4:])
        append(sys.argv[2], sys.argv[3], None, took.wall, took.cpu)
        sys.exit(took.code if took.code >= 0 else 128 - took.code)
    if len(sys.argv) == 3 and sys.argv[1] == "docs":
        return docs(sys.argv[2])
    sys.exit(__doc__)


if __name__ == "__main__":
    main()
