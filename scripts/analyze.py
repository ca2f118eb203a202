#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cppcheck looks at all C that is no test, in two processes.

usage: analyze.py [FILE...]

With files: only at these. Prints what it finds; exit code 1 if there is anything.
"""
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# What it says and has not understood.
NOT = {
    "unknownEvaluationOrder": "takes the name of a field for the variable of that name",
    "shiftTooManyBitsSigned": "the sign of a 64-bit number by >> 63: gcc and clang define it, and tests compare both",
    "legacyUninitvar": "follows no condition",
    "internalAstError": "compound literals inside of calls",
    "uninitvar:engine/pass/burst.c": "vectors, set element by element",
    "objectIndex": "a pointer to a place in an array is one to the next places, too",
    "missingInclude": "on purpose: see cppcheck.cfg",
    "unmatchedSuppression": "not every file has one",
}


def main():
    listed = subprocess.check_output(("git", "ls-files", "*.c", ":!tests/*", ":!*.bpf.c"), cwd=ROOT, text=True).split()
    names = sorted(os.path.relpath(f, ROOT) for f in sys.argv[1:]) or listed
    sys.exit(subprocess.call(
        ["cppcheck", "--quiet", "--std=c11", "--enable=warning,portability", "--inline-suppr", "--max-configs=1", "--force",
         "--error-exitcode=1", "-j2", "-I.", "-Ip4-testbed/roce-gen", "--library=scripts/cppcheck.cfg",
         *(f"--suppress={what}" for what in NOT), *names], cwd=ROOT))


if __name__ == "__main__":
    main()
