#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A source file with a bug: usage: plant.py SOURCE OUT RIGHT WRONG. RIGHT has to be in it once."""
import sys

source, out, right, wrong = sys.argv[1:]
with open(source, encoding="utf-8") as f:
    text = f.read()
if text.count(right) != 1:
    sys.exit(f"plant.py: {source} has {text.count(right)} times: {right}\nname what it has once, in tests/fuzz/meson.build")
with open(out, "w", encoding="utf-8") as f:
    f.write(f'#line 1 "{source}"\n' + text.replace(right, wrong))
