#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""
What is in each file: the first sentence of its head comment.

usage: files.py [DIRECTORY...]   (default: all directories of the product)

"-": a file without such a comment, which its header describes. Exits with 1 if a header has none.
"""
import os
import re
import signal
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PRODUCT = ["base", "roce", "probes", "ppp", "rfr", "cc", "engine", "fleet", "config", "app", "sim", "xfer"]
HEAD = re.compile(r"\A/\* SPDX[^\n]*\n(?:#pragma once\n|#ifndef \w+\n#define \w+\n)?\n*/\*(.*?)\*/", re.S)


def first_sentence(text):
    """Of the comment at the top, or behind #pragma once. None: there is no such comment."""
    head = HEAD.match(text)
    if head is None:
        return None
    words = re.sub(r"\n\s*\* ?", "\n", head.group(1)).strip().split("\n\n")[0]
    words = " ".join(words.split())
    end = re.search(r"\.(?= [A-Z\d])|\.$", words)
    return words[:end.start()] if end else words


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # files.py | head
    where = sys.argv[1:] or PRODUCT
    names = subprocess.check_output(["git", "ls-files", "--", *where], cwd=ROOT, text=True).split()
    directory, bad = None, 0
    for name in names:
        if not name.endswith((".c", ".h", ".def")):
            continue
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            sentence = first_sentence(f.read())
        if os.path.dirname(name) != directory:
            directory = os.path.dirname(name)
            print(f"\n{directory}/")
        print(f"  {os.path.basename(name):22} {sentence or '-'}")
        if sentence is None and name.endswith(".h"):
            print(f"{name}: no comment behind #pragma once", file=sys.stderr)
            bad = 1
    return bad


if __name__ == "__main__":
    sys.exit(main())
