#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds what meson test suites of a build need, runs them and sums up.

usage: run-tests.py BUILD SUITE... [^SUITE...]

Tests of a ^SUITE are left out.

A test that is skipped must be listed in tests/skips.txt (name, reason); any other skip fails the
run, so that nothing goes missing silently. The last line is "tests: N passed, N failed, N skipped",
before it stands what failed, with the end of what it said; with HP3_TEST_SUM=FILE both are added to
FILE instead of being printed, for several runs.

Whole switches and machines that are emulated against the clock fail where this machine stands still; hp3d and its peers, live, seldom
do. If not more than SHAKY tests of a run failed, those of them (TIMES) are run again, alone: the former once, the latter three times, so
that what fails often is not taken for chance. One that passes each time is counted as passed, and told of in lines that begin with
"shaky> ". Never excused are disorder, a process that ended by itself or by a sanitizer, and a mutation that nobody noticed. Nothing
else is repeated.

The worlds of suites property and whole draw half of their seeds from the commit: a new commit sees new worlds,
the same commit fails the same way. HP3_SEED_BASE=N in the environment sets them, empty: none.
"""
import contextlib
import json
import os
import re
import subprocess
import sys

LAST = 25  # lines of a failed test's output that are repeated at the end
TIMES = {"testbed": 1, "harm": 1, "lab": 1, "pipeline": 3, "hostile": 3, "fleet": 3, "faults": 3}  # by suite
NEVER = re.compile(r"(overtaken\w*|out_of_seq\w*|late_duplicates|disorder)\D{0,4}[1-9]|\b[1-9]\d* out of (sequence|order)|"
                   r"Sanitizer|runtime error:|hp3d ended|Segmentation fault|Aborted")
SHAKY = 2
PATIENCE = 3  # times the limits of a quiet machine


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


def results(build):
    """What the last run of meson test says, a dict per test; None if it came to none."""
    log = os.path.join(build, "meson-logs", "testlog.json")
    try:
        with open(log, encoding="utf-8") as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return None


def run(build, *args):
    """meson test: its exit code, and results()."""
    log = os.path.join(build, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.unlink(log)
    return subprocess.call(["meson", "test", "-C", build, "--print-errorlogs", *args]), results(build)


def said(t, build):
    """What is repeated of a failed test."""
    lines = "".join(t.get(stream) or "" for stream in ("stdout", "stderr")).splitlines()
    return [f"{t['name']} in {build}: {t['result']}, {t['duration']:.0f} s", *lines[-LAST:]]


def again(build, failed):
    """Those of the failed tests that pass alone, as often as they have to."""
    if len(failed) > SHAKY:
        return []
    def times(t):
        suites = t["name"].split(" / ")[0].split(":")[-1].split("+")
        return max((TIMES.get(suite, 0) for suite in suites), default=0)
    def excused(t):
        text = (t.get("stdout") or "") + (t.get("stderr") or "")
        return times(t) and "mutation" not in t["name"] and t["result"] != "UNEXPECTEDPASS" and not NEVER.search(text)
    def passes(t):
        return all(run(build, "--no-rebuild", "--num-processes", "1", t["name"].split(" / ")[-1])[0] == 0 for _ in range(times(t)))
    return [t for t in failed if excused(t) and passes(t)]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, suites = sys.argv[1], sys.argv[2:]
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    args = ["--num-processes", "2", "--timeout-multiplier", str(PATIENCE)]
    for s in suites:
        args += ["--no-suite", s[1:]] if s.startswith("^") else ["--suite", s]
    if "property" in suites or "whole" in suites:
        base = os.environ.setdefault("HP3_SEED_BASE", str(seed_base(root)))
        if base:
            print(f"run-tests: half of the worlds' seeds are counted from HP3_SEED_BASE={base}", flush=True)
    code, tests = run(build, *args)
    if not tests:
        sys.exit(f"run-tests: suites {' '.join(suites)} cannot be built or run")
    bad = [t for t in tests if t["result"] not in ("OK", "EXPECTEDFAIL", "SKIP")]
    shaky = again(build, bad)
    bad = [t for t in bad if t not in shaky]
    skips = [t["name"].split(" / ")[-1] for t in tests if t["result"] == "SKIP"]
    strange = [name for name in skips if name not in allowed_skips(root)]
    for name in strange:
        print(f"run-tests: {name} was skipped and is not listed in tests/skips.txt")
    failed, skipped = len(bad) + len(strange), len(skips) - len(strange)
    passed = len(tests) - failed - skipped
    if passed + failed == 0:
        sys.exit(f"run-tests: no test ran in suites {' '.join(suites)}")
    total = os.environ.get("HP3_TEST_SUM")
    with open(total, "a", encoding="utf-8") if total else contextlib.nullcontext(sys.stdout) as out:
        for word, those in (("shaky", shaky), ("failed", bad)):
            for line in (line for t in those for line in said(t, build)):
                print(f"{word}> {line}", file=out)
        print(f"tests: {passed} passed, {failed} failed, {skipped} skipped", file=out)
    sys.exit(1 if failed or (code and not shaky) else 0)


if __name__ == "__main__":
    main()
