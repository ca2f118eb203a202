#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cppcheck, clang-tidy and gcc -fanalyzer look at all C that is no test, a file on each processor.

usage: analyze.py [--build BUILD] [--only TOOL]... [FILE...]

With files: only at these. Each TOOL (cppcheck, clang-tidy, gcc) has to find what is planted in tests/analysis first. The
compiler's options are those of BUILD (build), where headers that are generated are made if need be. Prints what they find;
exit code 1 if there is anything.
"""
import argparse
import concurrent.futures
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PLANTED = "tests/analysis/planted.c"
# False positives of cppcheck.
NOT_CPPCHECK = {
    "unknownEvaluationOrder": "takes the name of a field for the variable of that name",
    "shiftTooManyBitsSigned": "the sign of a 64-bit number by >> 63: gcc and clang define it, and tests compare both",
    "legacyUninitvar": "follows no condition",
    "internalAstError": "compound literals inside of calls",
    "uninitvar:engine/pass/burst.c": "vectors, set element by element",
    "uninitvar:fleet/hosts.c": "an array, set element by element",
    "nullPointerArithmetic:fleet/hosts.c": "there is no pointer where tables are only counted, and nothing is added",
    "ctuuninitvar:app/hp3d/verbs/hello.c": "recvmsg() fills it",
    "returnDanglingLifetime:app/verbs/ctx.c": "what is made does not keep its attributes",
    "returnDanglingLifetime:app/hp3d/ud/traffic.c": "likewise",
    "objectIndex": "a pointer to a place in an array is one to the next places, too",
    "missingInclude": "on purpose: see cppcheck.cfg",
    "unmatchedSuppression": "not every file has one",
}
# False positives of clang-tidy, in these files; others: .clang-tidy, or NOLINT with the reason in the line.
NOT_TIDY = {
    # bpftool's skeletons, which give what they allocate to the object that they fill.
    "clang-analyzer-unix.Malloc": ("app/bypass/bypass.c", "app/bypass/pins.c", "app/bypass/tc.c", "app/bypass/xdp.c", "app/watch/kernel.c",
                                   "app/watch/library.c"),
    "clang-analyzer-core.DivideZero": ("ppp/monitor.c",),  # without_queue() returns at least 1
    "clang-analyzer-core.NullDereference": (
        "bench/passes.c",  # pass_hold() has a load
        "probes/responder.c"),  # the caller of hp3_responder_init() has counters
}
# The same of gcc.
NOT_GCC = {
    "null-dereference": (
        "app/verbs/cqs.c", "app/verbs/ctx.c", "app/verbs/post.c", "app/verbs/wr_ex.c",  # who gets there has been adopted: there is an entry
        "app/fleet/ask.c",  # commands that are not in the table do not get there
        "config/loader.c",  # every key's section is in the schema
        "config/scan.c",  # a section of a family has a dot, and no other: the condition above
        "engine/paths/trace.c",  # may_send() has found a free one
        "sim/work/faults.c"),  # a link that was drawn has two ends
    "malloc-leak": (
        "app/hp3ctl/keys.c", "app/watch/qps.c", "config/errors.c",  # kept in the caller's list or tree
        "p4-testbed/roce-gen/report.c"),  # fopen() does not return stdout
    "file-leak": ("p4-testbed/roce-gen/report.c",),
    "use-of-uninitialized-value": ("fleet/coding.c", "sim/host/rnic_tx.c"),  # a structure that is handed over whole
}
DROPPED = {"-MD", "-Winvalid-pch", "-Werror"}  # of the compiler's options; and these with what follows them
DROPPED_TWO = {"-MQ", "-MF", "-o"}


def options(build):
    """{file: options of the compiler} of what is built for others than tests."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        commands = json.load(f)
    found = {}
    for c in commands:
        words, kept = shlex.split(c["command"]), []
        words = words[2 if words[0].endswith("ccache") else 1:]
        while words:
            word = words.pop(0)
            if word in DROPPED_TWO:
                words.pop(0)
            elif word not in DROPPED and not word.endswith(".c"):
                kept.append(word)
        name = os.path.relpath(os.path.join(c["directory"], c["file"]), ROOT)
        if name not in found or not c["output"].startswith("tests/"):
            found.setdefault(name, kept)
    return found


def cppcheck(name, _, __):
    return ["cppcheck", "--quiet", "--std=c11", "--enable=warning,portability", "--inline-suppr", "--max-configs=1", "--force",
            "--error-exitcode=1", "-I.", "-Ip4-testbed/roce-gen", "--library=scripts/cppcheck.cfg",
            *(f"--suppress={what}" for what in NOT_CPPCHECK), name], ROOT


def clang_tidy(name, build, words):
    quiet = [f"--checks=-{what}" for what, files in NOT_TIDY.items() if name in files]
    return ["clang-tidy-14", "--quiet", "--config-file=" + os.path.join(ROOT, ".clang-tidy"), *quiet, os.path.join(ROOT, name), "--", *words], build


def gcc(name, build, words):
    quiet = [f"-Wno-analyzer-{what}" for what, files in NOT_GCC.items() if name in files]
    return ["gcc", *words, "-Werror", "-fanalyzer", *quiet, "-fdiagnostics-plain-output", "-S", "-o", os.devnull, os.path.join(ROOT, name)], build


TOOLS = {"cppcheck": cppcheck, "clang-tidy": clang_tidy, "gcc": gcc}


def look(job):
    """What a tool finds in a file; empty: nothing."""
    words, directory = job
    run = subprocess.run(words, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    return (run.stdout + run.stderr).replace(ROOT + "/", "") if run.returncode else ""


def analyze(pool, tool, names, build, known):
    """True: nothing was found, by a tool that finds something elsewhere."""
    began, cpu = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    if "planted.c:" not in look(TOOLS[tool](PLANTED, build, [])):
        print(f"analyze: {tool} does not find what is planted in {PLANTED}")
        return False
    good = True
    for said in pool.map(look, (TOOLS[tool](name, build, known[name]) for name in names)):
        if said:
            print(said, flush=True)
            good = False
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"analyze: {tool}, {len(names)} files, {time.monotonic() - began:.0f} s, "
          f"{now.ru_utime + now.ru_stime - cpu.ru_utime - cpu.ru_stime:.0f} s of CPU: {'nothing' if good else 'see above'}", flush=True)
    return good


def main():
    p = argparse.ArgumentParser(usage=__doc__.split("usage: ", maxsplit=1)[1].split("\n", maxsplit=1)[0])
    p.add_argument("--build", default=os.path.join(ROOT, "build"))
    p.add_argument("--only", action="append", choices=TOOLS)
    p.add_argument("files", nargs="*")
    a = p.parse_args()
    build = os.path.realpath(a.build)
    if not os.path.exists(os.path.join(build, "build.ninja")):
        sys.exit(f"analyze: {a.build} is no build directory: meson setup {a.build}")
    targets = subprocess.check_output(("ninja", "-C", build, "-t", "targets", "all"), text=True)
    made = re.findall(r"^(\S+\.h): CUSTOM_COMMAND$", targets, re.M)
    subprocess.run(("ninja", "-C", build, *made), stdout=subprocess.DEVNULL, check=True)
    known = options(build)
    listed = subprocess.check_output(("git", "ls-files", "*.c", ":!tests/*", ":!*.bpf.c"), cwd=ROOT, text=True).split()
    names = sorted(os.path.relpath(f, ROOT) for f in a.files) or listed
    for name in names:
        if name not in known:
            sys.exit(f"analyze: {name} is not built in {a.build}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        good = [analyze(pool, tool, names, build, known) for tool in a.only or TOOLS]
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
