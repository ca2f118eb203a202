#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds what meson test suites of a build need, runs them and sums up.

usage: run-tests.py BUILD SUITE... [^SUITE...]

Tests of a ^SUITE are left out.

A test that is skipped must be listed in tests/skips.txt (name, reason); any other skip fails the
run, so that nothing goes missing silently. The last line is "tests: N passed, N failed, N skipped",
before it stands what failed, with the end of what it said; with HP3_TEST_SUM=FILE both are added to
FILE instead of being printed, for several runs.

The worlds of suites property and whole draw half of their seeds from the commit: a new commit sees new worlds,
the same commit fails the same way. HP3_SEED_BASE=N in the environment sets them, empty: none.
"""
import contextlib
import json
import os
import subprocess
import sys

LAST = 25  # lines of a failed test's output that are repeated at the end


def allowed_skips(root):
    names = set()
    with open(os.path.join(root, "tests", "skips.txt"), encoding="utf-8") as f:
        for line in f:
            line = line.split("#")[0].strip()
            if line:
                names.add(line.split()[0])
    return names


def seed_base(root):
    """The commit's id as a number, as far as seeds are wide; a fixed one where there is no git."""
    try:
        head = subprocess.check_output(("git", "-C", root, "rev-parse", "HEAD"), stderr=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        return 20260101
    return int(head[:12], 16)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, suites = sys.argv[1], sys.argv[2:]
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    args = ["meson", "test", "-C", build, "--print-errorlogs", "--num-processes", "2"]
    for s in suites:
        args += ["--no-suite", s[1:]] if s.startswith("^") else ["--suite", s]
    if "property" in suites or "whole" in suites:
        base = os.environ.setdefault("HP3_SEED_BASE", str(seed_base(root)))
        if base:
            print(f"run-tests: half of the worlds' seeds are counted from HP3_SEED_BASE={base}", flush=True)
    log = os.path.join(build, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.unlink(log)
    code = subprocess.call(args)
    if not os.path.exists(log):
        sys.exit(f"run-tests: suites {' '.join(suites)} cannot be built or run")
    passed = failed = skipped = 0
    strange = []
    failures = []
    allowed = allowed_skips(root)
    with open(log, encoding="utf-8") as f:
        for line in f:
            t = json.loads(line)
            name = t["name"].split(" / ")[-1]
            if t["result"] in ("OK", "EXPECTEDFAIL"):
                passed += 1
            elif t["result"] == "SKIP":
                skipped += 1
                if name not in allowed:
                    strange.append(name)
            else:
                failed += 1
                said = "".join(t.get(stream) or "" for stream in ("stdout", "stderr")).splitlines()
                failures += [f"{t['name']} in {build}: {t['result']}, {t['duration']:.0f} s", *said[-LAST:]]
    for name in strange:
        print(f"run-tests: {name} was skipped and is not listed in tests/skips.txt")
    failed += len(strange)
    skipped -= len(strange)
    if passed + failed == 0:
        sys.exit(f"run-tests: no test ran in suites {' '.join(suites)}")
    total = os.environ.get("HP3_TEST_SUM")
    with open(total, "a", encoding="utf-8") if total else contextlib.nullcontext(sys.stdout) as out:
        for line in failures:
            print(f"failed> {line}", file=out)
        print(f"tests: {passed} passed, {failed} failed, {skipped} skipped", file=out)
    sys.exit(1 if failed or code else 0)


if __name__ == "__main__":
    main()
