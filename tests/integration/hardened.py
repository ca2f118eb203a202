#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the programs have the hardening that compiler and linker options request.

usage: hardened.py [--unfortified] [--cc COMPILER] PROGRAM...

Programs must be position independent, bind all symbols before main() and make them read-only,
have no executable stack, and have stack canaries and the checked functions of libc.
(--unfortified: without the latter; for builds without optimisation, or with sanitizers.) With
--cc, a program without any hardening is compiled first; the test must then report each item as
missing.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

BARE = ["-O2", "-U_FORTIFY_SOURCE", "-fno-stack-protector", "-fno-pie", "-no-pie", "-Wl,-z,norelro", "-Wl,-z,lazy", "-Wl,-z,execstack"]
PLAIN = '#include <stdio.h>\nint main(int n, char **v) { char b[64]; sprintf(b, "%s", v[0]); return n + puts(b); }\n'
ALL = {"not position independent", "symbols are bound late", "relocations stay writable", "the stack is executable",
       "no canary", "no checked function of libc"}


def readelf(option, path):
    return subprocess.run(["readelf", "-W", option, path], stdout=subprocess.PIPE, text=True, check=True).stdout


def missing(path, fortified):
    header, segments = readelf("-h", path), readelf("-l", path)
    dynamic, symbols = readelf("-d", path), readelf("--dyn-syms", path)
    has = {
        "not position independent": re.search(r"Type:\s+DYN", header) and "INTERP" in segments,
        "symbols are bound late": re.search(r"\((FLAGS|FLAGS_1)\).*\b(BIND_NOW|NOW)\b", dynamic),
        "relocations stay writable": "GNU_RELRO" in segments,
        "the stack is executable": re.search(r"GNU_STACK(\s+0x\w+){5}\s+RW\s", segments),
        "no canary": "__stack_chk_fail" in symbols,
        "no checked function of libc": not fortified or re.search(r"__(memcpy|printf|fprintf|snprintf|vsnprintf)_chk", symbols),
    }
    return {what for what, there in has.items() if not there}


def bare(cc):
    with tempfile.TemporaryDirectory(prefix="hp3-hardened-") as tmp:
        source, out = os.path.join(tmp, "plain.c"), os.path.join(tmp, "plain")
        with open(source, "w", encoding="ascii") as f:
            f.write(PLAIN)
        subprocess.run([*cc, *BARE, "-w", source, "-o", out], check=True)
        return missing(out, True)


def main():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--unfortified", action="store_true")
    p.add_argument("--cc", default="")
    p.add_argument("program", nargs="+")
    opts = p.parse_args()
    bad = 0
    if opts.cc:
        unseen = ALL - bare(opts.cc.split())
        for what in sorted(unseen):
            print(f"a program without any hardening passes for: {what}")
            bad = 1
    for path in opts.program:
        for what in sorted(missing(path, not opts.unfortified)):
            print(f"{path}: {what}")
            bad = 1
    sys.exit(bad)


if __name__ == "__main__":
    main()
