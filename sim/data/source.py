#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a C header with the SHA-256 of the sources that make the simulator.

usage: source.py OUT ROOT OPTIONS DIR...     all *.c, *.h, *.def and *.txt below ROOT/DIR

Results are kept by it: a change of the model or the engine makes new runs, one of a document or a
test does not. OPTIONS are those of the build that change what it computes.
"""
import hashlib
import os
import sys


def main():
    out, root, options = sys.argv[1:4]
    names = [os.path.relpath(os.path.join(folder, name), root) for top in sys.argv[4:]
             for folder, _, files in os.walk(os.path.join(root, top)) for name in files
             if name.endswith((".c", ".h", ".def", ".txt"))]
    digest = hashlib.sha256(options.encode())
    for name in sorted(names):
        with open(os.path.join(root, name), "rb") as f:
            digest.update(f"\n{name} {hashlib.sha256(f.read()).hexdigest()}".encode())
    text = f'#define HP3_SIM_SOURCE "{digest.hexdigest()}"\n'
    if os.path.exists(out):
        with open(out, encoding="utf-8") as f:
            if f.read() == text:
                return
    with open(out, "w", encoding="utf-8") as f:
        f.write(text)


main()
