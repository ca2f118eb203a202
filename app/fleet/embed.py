#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A file as a text of C: usage: embed.py FILE OUT NAME HEADER."""
import json
import sys

source, out, name, header = sys.argv[1:]
with open(source, encoding="ascii") as f:
    lines = f.read().splitlines()
with open(out, "w", encoding="ascii") as f:
    f.write(f'#include "{header}"\nconst char {name}[] =\n')
    for line in lines:
        f.write("\t" + json.dumps(line + "\n").replace("?", "\\?") + "\n")
    f.write("\t;\n")
