#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3-sim as a command: what is wrong is named with its place and its fix; runs resume.

usage: cli.py HP3-SIM MANUAL
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

TOPO = "3 1 2\n2\n0 2 100Gbps 1000ns 0\n1 2 100Gbps 1000ns 0\n"
FLOWS = "2\n0 1 3 5000 0.000001\n1 0 3 5000 0.000002\n"
BAD = [  # topology, flows, more arguments, exit code, words of the message
    (TOPO, FLOWS, ["--set", "rnic.rto=1"], 1, "rnic.rto=1"),
    (TOPO, FLOWS, ["--set", "rnic.rto_us=fast"], 1, "only digits are allowed"),
    (TOPO, FLOWS, ["--lb", "magic"], 1, "no load balancer 'magic'"),
    (TOPO, FLOWS, ["--pcap", "2:/tmp/x"], 1, "number of a host"),
    (TOPO, FLOWS, ["--frob"], 2, "usage"),
]


def write(tmp, name, text):
    path = os.path.join(tmp, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def frames(pcap):
    """Lengths of the frames in a capture."""
    lengths, at = [], 24
    while at + 16 <= len(pcap):
        lengths.append(struct.unpack_from("=I", pcap, at + 8)[0])
        at += 16 + lengths[-1]
    return lengths


def run(args):
    return subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          encoding="utf-8", timeout=250)


def trace(sim, tmp, topo, flows, more):
    return run([sim, "trace", "--topology", write(tmp, "t", topo), "--flows",
                write(tmp, "f", flows), "--lb", "ecmp", "--json", "-"] + more)


def manual_lacks(sim, path):
    """Options and commands of --help that the manual page does not have."""
    commands = re.findall(r"(?m)^  ([a-z]+) ", run([sim, "--help"]).stdout)
    usage = "".join(run([sim, c, "--help"]).stdout for c in commands)
    with open(path, encoding="utf-8") as f:
        manual = f.read().replace("\\-", "-")
    options = set(re.findall(r"--([a-z0-9-]+)", usage)) - {"replay"}
    lacks = [o for o in options if not re.search(rf"(?m)^\.BI? --{o}( |$)", manual)]
    lacks += [c for c in commands
              if not re.search(rf"(?m)^\.BI? {c}( |$)", manual)]
    lacks += [f"own help of {c}" for c in commands if f"usage: hp3-sim {c}" not in usage]
    if len(options) < 12 or len(commands) < 6:
        lacks.append("--help has lost options")
    return [f"manual: no {lack}" for lack in lacks]


EVIL = b"x\x1b]0;x\x07\nhp3-sim: done \xff\xc2\x9b2J"  # a title, a line of its own, no UTF-8, a C1 control sequence


def is_plain(raw):
    return all(0x20 <= c <= 0x7e or c == 0x0a for c in raw) and b"\nhp3-sim: done" not in b"\n" + raw


def names(sim, tmp):
    """Whatever files and values are called, messages are plain lines, and a result says what it can of them."""
    def raw(*words):
        return subprocess.run([sim, *words], capture_output=True, check=False, timeout=250)

    folder, bad = os.fsencode(tmp), []
    evil = os.path.join(folder, EVIL)
    for suffix, text in (b".t", TOPO), (b".f", FLOWS), (b".wrong", "x"):
        with open(evil + suffix, "w", encoding="utf-8") as f:
            f.write(text)
    trace_of = ["trace", "--lb", "ecmp", "--json", "-", "--topology", evil + b".t", "--flows", evil + b".f"]
    done = raw(*trace_of)
    if done.returncode != 0 or not is_plain(done.stdout + done.stderr):
        bad.append(f"trace: files of any name: exit code {done.returncode}, {done.stderr}")
    named = json.loads(done.stdout)["inputs"].get("topology", {}).get("name", "")
    if named != f"{tmp}/x?]0;x??hp3-sim: done ???2J.t":
        bad.append(f"trace: topology is called {named!r} in the result")
    for words in ([*trace_of, "--topology", evil + b".wrong"], [*trace_of, "--flows", evil + b".wrong"], [*trace_of, "--flows", evil],
                  [*trace_of, "--set", EVIL], [*trace_of, "--set", b"run.lb=" + EVIL], [*trace_of, "--set", EVIL + b".x=1"],
                  [*trace_of, "--lb", EVIL], [*trace_of, "--pcap", EVIL], [*trace_of, "--json", os.path.join(evil, b"x")],
                  [*trace_of, "--hp3", evil], ["run", evil, "--out", tmp], ["run", "incast", "--quick", "--lbs", EVIL, "--out", tmp],
                  ["run", "incast", "--out", evil + b".t"], ["report", evil]):
        done = raw(*words)
        if done.returncode != 1 or not is_plain(done.stdout + done.stderr):
            bad.append(f"{words[-2:]}: exit code {done.returncode}, {done.stdout[:200]} {done.stderr}")
    for name in b"=cmd()", b"-x", b"a b", b"<script>", b"$x^$", EVIL:
        path = os.path.join(folder, name + b".ini")
        with open(path, "w", encoding="ascii") as f:
            f.write("[traffic]\nkind = incast\n")
        done = raw("run", path, "--out", os.path.join(tmp, "named"), "--lbs", "ecmp", "--quick")
        if done.returncode != 1 or b"rename it" not in done.stderr or not is_plain(done.stderr):
            bad.append(f"scenario {name}: exit code {done.returncode}, {done.stderr}")
    return bad


def main():
    sim, bad = sys.argv[1], []
    bad += manual_lacks(sim, sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="hp3-sim-") as tmp:
        bad += names(sim, tmp)
        done = trace(sim, tmp, TOPO, FLOWS, ["--per-flow", "--seed", "9"])
        result = json.loads(done.stdout)
        if result["seed"] != 9 or result["finished"] != 2 or len(result["flows"]) != 2:
            bad.append("trace: not the result of two flows with seed 9")
        pcap = os.path.join(tmp, "host0.pcap")
        trace(sim, tmp, TOPO, FLOWS, ["--pcap", f"0:{pcap}"])
        with open(pcap, "rb") as f:
            lengths = frames(f.read())
        if len(lengths) != 20 or lengths.count(62) != 10 or min(lengths) != 62:
            bad.append(f"pcap: 5 packets and ACKs each way expected, lengths are {lengths}")
        lines = run([sim, "list"]).stdout.splitlines()
        if not any(line.startswith("  micro-collision  Two elephants ") for line in lines):
            bad.append("list: does not describe scenarios")
        for topo, flows, more, code, words in BAD:
            done = trace(sim, tmp, topo, flows, more)
            if done.returncode != code or words not in done.stderr:
                bad.append(f"{more} {words!r}: exit code {done.returncode}, {done.stderr!r}")
        for args in [["--help"], ["run", "--help"], ["trace", "--lb", "ecmp", "--help"], ["--version"], ["help"]]:
            done = run([sim] + args)
            if done.returncode != 0 or done.stderr or "hp3-sim" not in done.stdout:
                bad.append(f"{args}: exit code {done.returncode}, {done.stdout!r} {done.stderr!r}")
        out = os.path.join(tmp, "not", "there", "out")
        args = [sim, "run", "micro-collision", "--quick", "--lbs", "ecmp,hp3", "--out", out]
        if run(args).returncode != 0:
            bad.append("run micro-collision failed")
        files = {f: os.stat(os.path.join(out, f)).st_mtime_ns for f in os.listdir(out)
                 if f.endswith(".json")}
        run(args + ["--no-report"])
        if any(os.stat(os.path.join(out, f)).st_mtime_ns != t for f, t in files.items()):
            bad.append("a second run repeats what is there")
        run(args + ["--set", "rnic.rto_us=5000", "--no-report"])
        if any(os.stat(os.path.join(out, f)).st_mtime_ns != t for f, t in files.items()) or \
                len([f for f in os.listdir(out) if f.endswith(".json")]) != 2 * len(files):
            bad.append("a run with other settings replaces a result")
        with open(os.path.join(out, "results.csv"), encoding="utf-8") as f:
            if len(f.readlines()) != 3:
                bad.append("results.csv: not two runs")
    for line in bad:
        print("cli:", line)
    return 1 if bad else 0


sys.exit(main())
