#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a copy of a source file with a bug.

usage: plant.py SOURCE OUT RIGHT WRONG [RIGHT WRONG]...

Replaces each RIGHT, which must occur exactly once in SOURCE, by the WRONG that follows it.
"""
import sys

source, out, *edits = sys.argv[1:]
with open(source, encoding="utf-8") as f:
    text = f.read()
for right, wrong in zip(edits[::2], edits[1::2]):
    if text.count(right) != 1:
        sys.exit(f"plant.py: this text occurs {text.count(right)} times in {source}, not once: {right}\n"
                 "correct it in the meson.build of tests/ that names it")
    text = text.replace(right, wrong)
with open(out, "w", encoding="utf-8") as f:
    f.write(f'#line 1 "{source}"\n' + text)
