#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a C file with the texts of the files given, so that hp3-sim needs none of them at run time.

usage: embed.py OUT FILE...      the name is the file's, without folder and ending
"""
import os
import sys


def quoted(line):
    return '"' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def main():
    out, files = sys.argv[1], sorted(sys.argv[2:])
    with open(out, "w", encoding="utf-8") as o:
        o.write('#include "sim/work/builtin.h"\n\nconst struct sim_builtin sim_builtins[] = {\n')
        for path in files:
            stem, ending = os.path.splitext(os.path.basename(path))
            with open(path, encoding="utf-8") as f:
                lines = f.read().splitlines()
            if ending == ".ini" and not (lines[1].startswith("; ") and lines[2].startswith("[")):
                sys.exit(f"{path}:2: describe the scenario here, in one comment line")
            text = "\n\t".join(quoted(line) for line in lines)
            o.write(f'\t{{"{stem}", "{ending[1:]}",\n\t{text}}},\n')
        o.write("\t{0},\n};\n")


main()
