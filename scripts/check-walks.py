#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Names of functions in docs/internals/*.md, `path/file.c:name()`, that this file does not define. Pages of walks name functions."""
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NAMED = re.compile(r"`([\w.-]+/[\w/.-]+\.[ch]):(\w+)\(\)`")  # `file.c:name()` without a directory is for people
WALKS = {"walks.md", "bounded-work.md"}


def is_defined(path, name):
    try:
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read()
    except OSError:
        return False
    # A definition or the macro of one: at the start of a line, and not only declared.
    return re.search(rf"^(?:#define {name}\(|[\w*][^;=]*\b{name}\([^;{{}}]*\)\s*\{{)", text, re.M) is not None


def main():
    bad, naming = [], set()
    for page in sorted(glob.glob(os.path.join(ROOT, "docs", "internals", "*.md"))):
        with open(page, encoding="utf-8") as f:
            named = NAMED.findall(f.read())
        where = os.path.relpath(page, ROOT)
        bad += [f"{where}: {path}:{name}() is not there" for path, name in named if not is_defined(path, name)]
        if named:
            naming.add(os.path.basename(page))
    bad += [f"docs/internals/{page}: names no function" for page in sorted(WALKS - naming)]
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
