#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs bench/switch briefly: every row is there, in the table and the JSON; bmv2 is measured, or the reason given.

usage: check_switch.py BUILD FAKE_BMV2

It checks no times. Once without bmv2's programs on PATH, once with stand-ins for them (tests/testbed/fake_bmv2).
"""
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = ("simple_switch", "p4c-bm2-ss", "simple_switch_CLI")
ROWS = [(t, p, path) for t, p in (("embedded", "none"), ("embedded", "net_af_packet"), ("bmv2", "veth"))
        for path in ("one hop", "leaf-spine-leaf")]


def run(build, path):
    with tempfile.TemporaryDirectory() as tmp:
        out = os.path.join(tmp, "switch.json")
        done = subprocess.run([os.path.join(HERE, "switch"), "--build", build, "--quick", "--seconds", "0.5", "--json", out],
                              stdout=subprocess.PIPE, check=False, encoding="utf-8", env={**os.environ, "PATH": path})
        print(done.stdout)
        if done.returncode != 0:
            sys.exit(f"bench/switch ended with {done.returncode}")
        with open(out, encoding="utf-8") as f:
            rows = json.load(f)["rows"]
    if [(r["target"], r["ports"], r["path"]) for r in rows] != ROWS:
        sys.exit(f"rows differ: {rows}")
    for r in rows:
        if (r["why"] if "why" in r else f"{r['pps']:,.0f}") not in done.stdout:
            sys.exit(f"not in the table: {r}")
        if "why" not in r and not (r["pps"] > 0 and r["cpu_us"] >= 0):
            sys.exit(f"not a measurement: {r}")
    return {r["target"]: r.get("why") for r in rows}


def main():
    build, fakes = sys.argv[1:]
    plain = ":".join(d for d in os.environ["PATH"].split(":") if not any(os.path.exists(os.path.join(d, p)) for p in PROGRAMS))
    without, beside = run(build, plain), run(build, f"{fakes}:{plain}")
    if without["embedded"] or "not on PATH" not in without["bmv2"] or beside["bmv2"]:
        sys.exit(f"{without}, {beside}")


main()
