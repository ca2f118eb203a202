#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What gcov counted in a build, as a table: lines that ran of lines that could, per directory.

usage: coverage.py [--missing DIRECTORY] BUILD

A line counts as run if it ran in any program or library of the build. --missing lists the files of a directory, with the
numbers of the lines that did not.
"""
import argparse
import collections
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CODE = ("base", "roce", "probes", "ppp", "rfr", "cc", "engine", "config")


def counted(build):
    """{file: {line: times}} of the project's own code."""
    lines = collections.defaultdict(collections.Counter)
    notes = []
    for path, _, names in os.walk(build):
        if os.sep + "tests" + os.sep not in path + os.sep:
            notes += [os.path.join(path, n) for n in names if n.endswith(".gcda")]
    if not notes:
        sys.exit(f"coverage: nothing has run in {build}: meson setup -Db_coverage=true, then its tests")
    for at in range(0, len(notes), 50):
        out = subprocess.run(["gcov", "--json-format", "--stdout", *(os.path.relpath(n, build) for n in notes[at:at + 50])],
                             cwd=build, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        for text in out.splitlines():
            for f in json.loads(text)["files"]:
                name = os.path.relpath(os.path.join(build, f["file"]), ROOT)
                if name.split(os.sep)[0] in CODE and name.endswith((".c", ".h")):
                    for line in f["lines"]:
                        lines[name][line["line_number"]] += line["count"]
    return lines


def main():
    p = argparse.ArgumentParser(description=__doc__, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--missing")
    p.add_argument("build")
    opts = p.parse_args()
    lines = counted(os.path.abspath(opts.build))
    if opts.missing:
        for name, of in sorted(lines.items()):
            out = sorted(n for n, times in of.items() if times == 0)
            if os.path.dirname(name) == os.path.normpath(opts.missing) and out:
                print(f"{name}: {len(of) - len(out)} of {len(of)}; not:", *out)
        return
    table = collections.defaultdict(lambda: [0, 0])
    for name, of in lines.items():
        row = table[os.path.dirname(name)]
        row[0] += sum(1 for times in of.values() if times > 0)
        row[1] += len(of)
    table["all"] = [sum(row[0] for row in table.values()), sum(row[1] for row in table.values())]
    print("| directory | lines | run | % |\n|---|---:|---:|---:|")
    for name, (run, of) in sorted(table.items()):
        print(f"| {name} | {of} | {run} | {100 * run / of:.1f} |")


if __name__ == "__main__":
    main()
