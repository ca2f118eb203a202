#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a C header with the SHA-256 of the sources that make the simulator.

usage: source.py OUT ROOT DIR...

HP3_SIM_SOURCE: all *.c, *.h, *.def and *.txt below ROOT/DIR. HP3_SIM_SOURCE_MODEL, of runs without
an engine: those below ROOT/sim but sim/lb/hp3*, and what they include of other folders, with X.c
for X.h; but for engine and config, of which such runs know settings, and these are in their key.

Results are kept by it: a change of the model or the engine makes new runs, one of a document or a
test does not.
"""
import hashlib
import os
import re
import sys

INCLUDE = re.compile(r'^#\s*include "([^"]+)"', re.M)
OURS = "sim/lb/hp3"
BY_SETTINGS = "engine/", "config/"


def below(root, tops):
    return {os.path.relpath(os.path.join(folder, name), root) for top in tops
            for folder, _, files in os.walk(os.path.join(root, top)) for name in files
            if name.endswith((".c", ".h", ".def", ".txt"))}


def with_included(root, names):
    """Those names, and what they include, directly or not."""
    found, todo = set(), set(names)
    while todo:
        name = todo.pop()
        if name in found or name.startswith((OURS, *BY_SETTINGS)) or \
                not os.path.isfile(os.path.join(root, name)):
            continue
        found.add(name)
        if name.endswith(".h"):
            todo.add(name[:-len(".h")] + ".c")
        if not name.endswith(".txt"):
            with open(os.path.join(root, name), encoding="utf-8") as f:
                todo.update(INCLUDE.findall(f.read()))
    return found


def digest(root, names):
    of_all = hashlib.sha256()
    for name in sorted(names):
        with open(os.path.join(root, name), "rb") as f:
            of_all.update(f"\n{name} {hashlib.sha256(f.read()).hexdigest()}".encode())
    return of_all.hexdigest()


def main():
    out, root = sys.argv[1:3]
    model = with_included(root, below(root, ["sim"]))
    text = "".join(f'#define {macro} "{digest(root, names)}"\n' for macro, names in
                   (("HP3_SIM_SOURCE", below(root, sys.argv[3:])), ("HP3_SIM_SOURCE_MODEL", model)))
    if os.path.exists(out):
        with open(out, encoding="utf-8") as f:
            if f.read() == text:
                return
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)


main()
