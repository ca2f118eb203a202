#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/security.md and its tests: each line of a table names tests, all tests that the page names are
there, and each test of tests/hostile is named by a line of a table.

usage: check-security.py [ROOT]
"""
import ast
import glob
import os
import re
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = "docs/security.md"
PYTHON = {"hostile": "tests/hostile", "integration": "tests/integration", "pipeline": "tests/integration/pipeline",
          "watch": "tests/integration/watch", "fleet": "tests/fleet/live"}
EXAMPLES = {("test_x", "name")}
C = {"unit": "tests/unit", "core": "tests/fleet", "property": "tests/property"}


def text_of(path):
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


def python_tests(path):
    return {f.name for c in ast.walk(ast.parse(text_of(path))) if isinstance(c, ast.ClassDef)
            for f in c.body if isinstance(f, ast.FunctionDef) and f.name.startswith("test_")}


def is_there(room, module, name):
    if room in C:
        # unit/rules sees to it that all of tests/unit are registered; a static function that is not does not compile.
        return f"\nstatic void {name}(void **state)\n" in text_of(f"{C[room]}/{module}.c")
    return room in PYTHON and name in python_tests(f"{PYTHON[room]}/{module}.py")


def main():
    bad, named = [], set()
    lines = text_of(PAGE).splitlines()
    rows = [(n, lines[n - 1]) for n in range(3, len(lines) + 1)
            if lines[n - 1].startswith("|") and not lines[n - 1].startswith("|--") and lines[n - 2].startswith("|")]
    for n, line in rows:
        tests = re.findall(r"`(\w+)/(\w+)\.(\w+)`", line.rstrip(" |").rsplit("|", 1)[-1])
        if not tests:
            bad.append(f"{PAGE}:{n}: names no test")
        for test in tests:
            named.add(test)
    for n, line in enumerate(lines, 1):
        for test in re.findall(r"`(%s)/(\w+)\.(\w+)`" % "|".join([*PYTHON, *C]), line):
            if test[1:] not in EXAMPLES and not is_there(*test):
                bad.append(f"{PAGE}:{n}: there is no test {test[0]}/{test[1]}.{test[2]}")
    for path in sorted(glob.glob(os.path.join(ROOT, PYTHON["hostile"], "*.py"))):
        module = os.path.basename(path)[:-3]
        for name in sorted(python_tests(path)):
            if ("hostile", module, name) not in named:
                bad.append(f"{PAGE}: no line names hostile/{module}.{name}")
    if not rows:
        bad.append(f"{PAGE}: has no table")
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
