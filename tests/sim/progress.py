#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How far a run is: on a terminal, or where asked for; and looking on changes no result.

usage: progress.py HP3-SIM
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

from terminal import on_terminal, report

SLOW = ["websearch", "--quick", "--lbs", "ecmp", "--set", "sweep.quick_percent=5", "--no-report"]
MAY_DIFFER = ("cpu_s", "peak_bytes", "command")


def on_pipe(args):
    done = subprocess.run(args, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False,
                          encoding="utf-8", timeout=250)
    return done.returncode, done.stderr


def result(out):
    with open(os.path.join(out, "websearch-ecmp-60-1.json"), encoding="utf-8") as f:
        r = json.load(f)
    return {k: v for k, v in r.items() if k not in MAY_DIFFER}


def main():
    sim, bad = sys.argv[1], []
    with tempfile.TemporaryDirectory(prefix="hp3-sim-") as tmp:
        outs = [os.path.join(tmp, n) for n in "abc"]
        run = [sim, "run", *SLOW, "--out"]
        code, text = on_terminal([*run, outs[0]], "stderr")
        shares = [float(s) for s in re.findall(r"\] ([0-9.]+) %, ETA [0-9]+:[0-9]{2}:", text)]
        if code or shares != sorted(shares) or not any(1 < s < 99 for s in shares):
            bad.append(f"terminal: exit code {code}, shares {shares}, {text!r}")
        code, text = on_pipe([*run, outs[1]])
        if code or "ETA" in text:
            bad.append(f"no terminal, not asked for: exit code {code}, {text!r}")
        # Twenty times the work, but the first line comes after two seconds.
        with subprocess.Popen([*run, outs[2], "--set", "sweep.quick_percent=100", "--progress"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              start_new_session=True) as p:
            line = p.stderr.readline().decode()
            os.killpg(p.pid, signal.SIGKILL)
        if not re.match(r"hp3-sim: [0-9.]+ %, ETA .* of websearch-ecmp-60-1$", line.strip()):
            bad.append(f"--progress: {line!r}")
        if result(outs[0]) != result(outs[1]):
            bad.append("a run that is watched has another result")
    return report("progress", bad)


sys.exit(main())
