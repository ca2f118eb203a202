#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A source file with a bug: usage: plant.py SOURCE OUT RIGHT WRONG [RIGHT WRONG]... Each RIGHT has to be in it once."""
import sys

source, out, *edits = sys.argv[1:]
with open(source, encoding="utf-8") as f:
    text = f.read()
for right, wrong in zip(edits[::2], edits[1::2]):
    if text.count(right) != 1:
        sys.exit(f"plant.py: {source} has {text.count(right)} times: {right}\nname what it has once, in a meson.build of tests/")
    text = text.replace(right, wrong)
with open(out, "w", encoding="utf-8") as f:
    f.write(f'#line 1 "{source}"\n' + text)
