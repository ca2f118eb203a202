#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""docs/guide/security.md, docs/internals/security-*.md and their tests: on the latter pages, each item of a list names
tests or is a limit; all tests that the pages name are there; and an item names each test of tests/hostile.

usage: check-security.py [ROOT]
"""
import ast
import glob
import os
import re
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GUIDE = "docs/guide/security.md"
PYTHON = {"hostile": "tests/hostile", "integration": "tests/integration", "pipeline": "tests/integration/pipeline",
          "watch": "tests/integration/watch", "fleet": "tests/fleet/live"}
EXAMPLES = {("test_x", "name")}
C = {"unit": "tests/unit", "core": "tests/fleet", "property": "tests/property"}
TEST = re.compile(r"`(%s)/(\w+)\.(\w+)`" % "|".join([*PYTHON, *C]))


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
        return re.search(rf"\nstatic void {name}\(void \*\*state_?\)\n", text_of(f"{C[room]}/{module}.c")) is not None
    return room in PYTHON and name in python_tests(f"{PYTHON[room]}/{module}.py")


def items(text):
    """Of lists: the number of the first line, and the text."""
    found = []
    for n, line in enumerate(text.splitlines(), 1):
        if line.startswith("- "):
            found.append((n, line[2:]))
        elif line.startswith("  ") and found:
            found[-1] = (found[-1][0], found[-1][1] + " " + line.strip())
    return found


def main():
    bad, named = [], set()
    pages = sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, "docs", "internals", "security-*.md")))
    for page in pages:
        promises = items(text_of(page))
        if not promises:
            bad.append(f"{page}: has no list")
        for n, text in promises:
            tests = TEST.findall(text)
            if not tests and not text.startswith("Limit: "):
                bad.append(f"{page}:{n}: names no test")
            named.update(tests)
    for page in [GUIDE, *pages]:
        for n, line in enumerate(text_of(page).splitlines(), 1):
            for test in TEST.findall(line):
                if test[1:] not in EXAMPLES and not is_there(*test):
                    bad.append(f"{page}:{n}: there is no test {test[0]}/{test[1]}.{test[2]}")
    for path in sorted(glob.glob(os.path.join(ROOT, PYTHON["hostile"], "*.py"))):
        module = os.path.basename(path)[:-3]
        for name in sorted(python_tests(path)):
            if ("hostile", module, name) not in named:
                bad.append(f"docs/internals/security-*.md: no item names hostile/{module}.{name}")
    if not pages:
        bad.append("docs/internals/security-*.md: there is no page")
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
