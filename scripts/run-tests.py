#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds what meson test suites of a build need, runs them and sums up.

usage: run-tests.py [--build | --idle] BUILD SUITE... [^SUITE...]

Tests of a ^SUITE are left out. --build builds only; the suite `all` is every suite then. With --idle, tests get processors only while
no other process wants them: for runs beside tests with time limits.

No test is repeated. A test that is skipped must be listed in tests/skips.txt (name, reason); any other skip fails the
run, so that nothing goes missing silently. The last line is "tests: N passed, N failed, N skipped",
before it stands what failed, with the end of what it said; with HP3_TEST_SUM=FILE both are added to
FILE instead of being printed, for several runs.

HP3_PART=K/N runs each N-th of the tests only, from the K-th one on.
HP3_SLOWER=N multiplies the tests' time limits, for machines that are emulated.

HP3_TIMES=FILE appends rows of a table to FILE (scripts/times.py): what the build took, and the tests, in all and by suite. A mutation counts
as such, any other test in the first of its suites that was named. GNU time counts the CPU of a test; without it, there is none by suite.

The worlds of suites property and whole draw some of their seeds from the commit: a new commit sees new worlds,
the same commit fails the same way. HP3_SEED_BASE=N in the environment sets them, empty: none.
"""
import collections
import contextlib
import fcntl
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile

import times

LAST = 25  # lines of a failed test's output that are repeated at the end
PER_TWO_CPUS = 4  # tests at a time: live ones wait most of it
MOST = 6  # of them: each may have two hp3ds
PATIENCE = 3  # times the limits of a quiet machine
IDLE_PATIENCE = 10  # with --idle
IDLE = """echo 19 2>/dev/null >/proc/self/autogroup; exec chrt -i 0 "$0" "$@" """  # a group of its own, for meson makes it a session


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


def selected(build, suites):
    """The tests of these suites, from meson."""
    def has(t, names):
        return any(suite.split(":")[-1] in names for suite in t["suite"])
    with open(os.path.join(build, "meson-info", "intro-tests.json"), encoding="utf-8") as f:
        tests = json.load(f)
    out = [s[1:] for s in suites if s.startswith("^")]
    found = [t for t in tests if ("all" in suites or has(t, [s for s in suites if not s.startswith("^")])) and not has(t, out)]
    part, parts = map(int, os.environ.get("HP3_PART", "1/1").split("/"))
    return found[part - 1::parts]


def make(build, suites):
    """Builds what the tests need: exit code, wall, CPU. One at a time in a build."""
    here = os.open(build, os.O_RDONLY)
    fcntl.flock(here, fcntl.LOCK_EX)
    try:
        took = times.timed("ninja", "-C", build, "build.ninja", stdout=subprocess.DEVNULL)  # tests of a description that has changed
        if took.code != 0:
            return took
        with open(os.path.join(build, "meson-info", "intro-targets.json"), encoding="utf-8") as f:
            files = {t["id"]: t["filename"] for t in json.load(f)}
        needed = {f for t in selected(build, suites) for d in t["depends"] for f in files[d]}
        if not needed:
            return took
        more = times.timed("ninja", "-C", build, *sorted(os.path.relpath(f, os.path.realpath(build)) for f in needed))
        return times.Took(more.code, took.wall + more.wall, took.cpu + more.cpu)
    finally:
        os.close(here)


def results(log):
    """Results of the last run of meson test, a dict per test; None if it ran none."""
    try:
        with open(log, encoding="utf-8") as f:
            return [json.loads(line) for line in f]
    except FileNotFoundError:
        return None


def run(build, *args, wrapper=(), log="testlog"):
    """meson test, with a log of that name: exit code, wall, CPU, and results()."""
    extra = ("--wrapper", shlex.join(wrapper)) if wrapper else ()
    # meson adds the wrapper's name.
    file = os.path.join(build, "meson-logs", f"{log}{'-' + os.path.basename(wrapper[0]) if wrapper else ''}.json")
    if os.path.exists(file):
        os.unlink(file)
    took = times.timed("meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--logbase", log, *extra, *args)
    return took, results(file)


def by_suite(tests, known, suites, used):
    """Rows of the table: suite, number of tests, seconds of wall one after the other, seconds of CPU or None."""
    cpu = collections.Counter()
    for line in used:
        seconds, _, command = line.rstrip("\n").partition("\t")
        cpu[command] += sum(float(s) for s in seconds.split())
    command = {t["name"]: " ".join(t["cmd"]) for t in known}
    rows = collections.defaultdict(lambda: [0, 0.0, 0.0])
    for t in tests:
        first, _, name = t["name"].partition(" / ")
        own = first.split(":")[-1].split("+")
        row = rows["mutation" if "mutation" in own else next((s for s in suites if s in own), own[0])]
        row[0] += 1
        row[1] += t["duration"]
        row[2] += cpu[command.get(name, "")]
    return [(suite, *row[:2], row[2] if used else None) for suite, row in sorted(rows.items())]


def said(t, build):
    """What is repeated of a failed test."""
    lines = "".join(t.get(stream) or "" for stream in ("stdout", "stderr")).splitlines()
    return [f"{t['name']} in {build}: {t['result']}, {t['duration']:.0f} s", *lines[-LAST:]]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    if sys.argv[1] == "--build":
        sys.exit(make(sys.argv[2], sys.argv[3:]).code)
    idle = sys.argv[1] == "--idle"
    build, suites = sys.argv[1 + idle], sys.argv[2 + idle:]
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    cpus = len(os.sched_getaffinity(0))
    args = ["--num-processes", str(cpus if idle else max(1, min(MOST, PER_TWO_CPUS * cpus // 2))),
            "--timeout-multiplier", str((IDLE_PATIENCE if idle else PATIENCE) * int(os.environ.get("HP3_SLOWER", "1")))]
    for s in suites:
        args += ["--no-suite", s[1:]] if s.startswith("^") else ["--suite", s]
    if "HP3_PART" in os.environ:
        names = [t["name"] for t in selected(build, suites)]
        if not names:
            sys.exit(f"run-tests: HP3_PART={os.environ['HP3_PART']} has none of the tests of {' '.join(suites)}")
        args += names
    if "property" in suites or "whole" in suites:
        base = os.environ.setdefault("HP3_SEED_BASE", str(seed_base(root)))
        if base:
            print(f"run-tests: some of the worlds' seeds are counted from HP3_SEED_BASE={base}", flush=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # mutants abort
    made = make(build, suites)
    table, counts = os.environ.get("HP3_TIMES"), shutil.which("time")
    with tempfile.NamedTemporaryFile("r", encoding="utf-8", errors="replace") as used:
        wrapper = (counts, "-q", "-a", "-o", used.name, "-f", "%U %S\\t%C") if table and counts else ()
        if idle:
            wrapper = ("sh", "-c", IDLE, *wrapper)
        took, tests = run(build, *args, wrapper=wrapper, log="idle" if idle else "testlog") if made.code == 0 else (made, None)
        if table and made.wall > 2:
            times.append(table, f"build of {os.path.basename(os.path.normpath(build))}", None, *made[1:])
        if table and tests:
            times.append(table, f"tests of {os.path.basename(os.path.normpath(build))}{', idle' if idle else ''}", len(tests), *took[1:])
            for suite, *numbers in by_suite(tests, selected(build, suites), suites, used.readlines()):
                times.append(table, "- " + suite, *numbers)
    if not tests:
        sys.exit(f"run-tests: suites {' '.join(suites)} cannot be built or run")
    bad = [t for t in tests if t["result"] not in ("OK", "EXPECTEDFAIL", "SKIP")]
    skips = [t["name"].split(" / ")[-1] for t in tests if t["result"] == "SKIP"]
    strange = [name for name in skips if name not in allowed_skips(root)]
    for name in strange:
        print(f"run-tests: {name} was skipped and is not listed in tests/skips.txt")
    failed, skipped = len(bad) + len(strange), len(skips) - len(strange)
    passed = len(tests) - failed - skipped
    if passed + failed + skipped == 0:
        sys.exit(f"run-tests: no test ran in suites {' '.join(suites)}")
    total = os.environ.get("HP3_TEST_SUM")
    with open(total, "a", encoding="utf-8") if total else contextlib.nullcontext(sys.stdout) as out:
        for line in (line for t in bad for line in said(t, build)):
            print(f"failed> {line}", file=out)
        print(f"tests: {passed} passed, {failed} failed, {skipped} skipped", file=out)
    sys.exit(1 if failed or took.code else 0)


if __name__ == "__main__":
    main()
