#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests of a cross build that start its programs themselves, in the emulator.

usage: emulated.py CROSS_BUILD EMULATOR SUITE-OR-TEST...

meson starts the test's own program in the emulator, but not what that starts in turn. So each
program of CROSS_BUILD among the arguments of a test is replaced by a script of the same name that
starts it in the emulator. The tests stay the same. HP3_PART: as for scripts/run-tests.py.
"""
import contextlib
import json
import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time

SLOWER = 20  # emulated programs, for time-outs


def is_foreign(path):
    """An executable for aarch64: ELF's magic, then e_machine 183 at byte 18."""
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as f:
        head = f.read(20)
    return head[:4] == b"\x7fELF" and head[18:20] == b"\xb7\x00"


class Scripts:
    def __init__(self, build, directory, emulator):
        self.build, self.directory, self.emulator = build, directory, emulator

    def stand_in(self, arg):
        """The script that starts `arg`, or `arg` itself if it is no program of aarch64."""
        program = os.path.join(self.build, arg)  # meson's are relative
        if not is_foreign(program):
            return arg
        path = os.path.join(self.directory, os.path.basename(arg))
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8") as f:
                f.write(f'#!/bin/sh\nexec {self.emulator} {shlex.quote(program)} "$@"\n')
            os.chmod(path, 0o755)
        return path


def run(test, scripts):
    cmd = [scripts.stand_in(arg) for arg in test["cmd"]]
    begin = time.monotonic()
    with tempfile.TemporaryFile(mode="w+") as log:
        child = subprocess.Popen(cmd, stdin=subprocess.DEVNULL, cwd=scripts.build, stdout=log, stderr=log,
                                 env={**os.environ, **test["env"]}, start_new_session=True)
        try:
            code = child.wait(test["timeout"] * SLOWER)
        except subprocess.TimeoutExpired:
            code = "time-out"
        finally:  # also what the test left behind, and when we are told to end
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
        print(f"{test['name']}: {'ok' if code == 0 else f'failed ({code})'}, "
              f"{time.monotonic() - begin:.1f} s", flush=True)
        if code:
            log.seek(0)
            print(shlex.join(cmd), log.read()[-10000:], sep="\n", flush=True)
    return code == 0


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    known = json.loads(subprocess.check_output(["meson", "introspect", "--tests", build]))
    tests = []
    for wanted in sys.argv[3:]:
        found = [t for t in known if wanted == t["name"] or wanted in [s.split(":")[-1] for s in t["suite"]]]
        if not found:
            sys.exit(f"emulated: {build} has no test and no suite {wanted}")
        tests += found
    part, parts = map(int, os.environ.get("HP3_PART", "1/1").split("/"))
    tests = tests[part - 1::parts]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="hp3-aarch64-") as directory:
        scripts = Scripts(build, directory, sys.argv[2])
        passed = sum(run(t, scripts) for t in tests)
    print(f"emulated: {passed} of {len(tests)} passed")
    sys.exit(0 if passed == len(tests) else 1)


main()
