#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names of functions in docs/internals/architecture.md, `path/file.c:name()`, that this file does not define."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMED = re.compile(r"`([\w/.-]+\.[ch]):(\w+)\(\)`")


def is_defined(path, name):
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read()
    except OSError:
        return False
    # A definition or the macro of one: at the start of a line, and not only declared.
    return re.search(rf"^(?:#define {name}\(|[\w*][^;=]*\b{name}\([^;{{}}]*\)\s*\{{)", text, re.M) is not None


def main():
    with open(os.path.join(ROOT, "docs", "internals", "architecture.md"), encoding="utf-8") as f:
        named = NAMED.findall(f.read())
    missing = [f"{path}:{name}()" for path, name in named if not is_defined(path, name)]
    for m in missing:
        print(f"docs/internals/architecture.md: {m} is not there")
    if not named:
        print("docs/internals/architecture.md: names no function")
    return 1 if missing or not named else 0


if __name__ == "__main__":
    sys.exit(main())
