#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Results are kept by what went into them: contents of files, settings, sources; and say what that was.

usage: inputs.py HP3-SIM SOURCE.PY
"""
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile

TOPO = "5 1 4\n4\n" + "".join(f"{h} 4 100Gbps 1000ns 0\n" for h in range(4))
CDF = "1000 0\n2000 100\n"
FLOWS = "2\n0 1 3 5000 0.000001\n1 0 3 5000 0.000002\n"
SCENARIO = """[fabric]
kind = file
topology = "{tmp}/topo"
[traffic]
cdf = "{tmp}/sizes"
duration_us = 5
[sweep]
lbs = "ecmp"
"""


def write(tmp, name, text):
    path = os.path.join(tmp, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def run(args):
    return subprocess.run(args, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          encoding="utf-8", timeout=250).stdout


def same_results(sim, tmp, bad):
    scenario = write(tmp, "own.ini", SCENARIO.format(tmp=tmp))
    write(tmp, "topo", TOPO)
    write(tmp, "sizes", CDF)
    path = os.path.join(tmp, "out", "own-ecmp-50-1.json")
    before = [None]

    def again(what, new, *more):
        run([sim, "run", scenario, "--no-report", "--out", os.path.join(tmp, "out"), *more])
        with open(path, encoding="utf-8") as f:
            result = json.load(f)
        now = os.stat(path).st_mtime_ns
        if (now != before[0]) != new:
            bad.append(f"{what}: {'the old result is kept' if new else 'run again'}")
        before[0] = now
        return result

    again("first run", True)
    first = again("nothing changed", False)
    write(tmp, "topo", TOPO.replace("1000ns", "2000ns"))
    slower = again("topology edited in place", True)
    if slower["key"] == first["key"]:
        bad.append("another topology, the same key")
    write(tmp, "topo", TOPO)
    write(tmp, "sizes", CDF.replace("2000", "3000"))
    again("flow sizes edited in place", True)
    write(tmp, "sizes", CDF)
    if again("all as in the beginning", True)["key"] != first["key"]:
        bad.append("the same contents, another key")
    shutil.move(os.path.join(tmp, "topo"), os.path.join(tmp, "moved"))
    again("topology by another name", False, "--set", f"fabric.topology={tmp}/moved")
    write(tmp, "own.ini", SCENARIO.format(tmp=tmp).replace('"ecmp"', '"ecmp,plb"'))
    again("a longer sweep", False, "--set", f"fabric.topology={tmp}/moved")
    if first["inputs"] != {"topology": {"name": f"{tmp}/topo", "sha256": sha256(TOPO)},
                           "sizes": {"name": f"{tmp}/sizes", "sha256": sha256(CDF)}}:
        bad.append(f"inputs of a scenario: {first['inputs']}")


def sizes_of_nothing(sim, tmp, bad):
    """They would make flows until memory ends."""
    scenario = write(tmp, "own.ini", SCENARIO.format(tmp=tmp).replace("= 5\n", "= 1000000\n"))
    write(tmp, "topo", TOPO)
    for sizes, words in ("0 0\n0 100\n", "sizes:2: all sizes are 0"), ("0 0\n1 100\n", "more than 16777216 flows: lower"):
        write(tmp, "sizes", sizes)
        done = subprocess.run([sim, "run", scenario, "--no-report", "--out", os.path.join(tmp, "none")], check=False,
                              capture_output=True, encoding="utf-8", timeout=250)
        if done.returncode != 1 or words not in done.stderr:
            bad.append(f"sizes {sizes!r}: exit code {done.returncode}, {done.stderr!r}")


def policy_file(sim, tmp, bad):
    made = {"ecmp": [], "hp3": []}
    for improve in 70, 70, 90:
        policy = write(tmp, "hp3.ini", f"[ppp]\nimprove = {improve}\n")
        run([sim, "run", "micro-collision", "--quick", "--lbs", "ecmp,hp3", "--hp3", policy, "--set",
             "rfr.cooldown_us=7000", "--no-report", "--out", os.path.join(tmp, "policy")])
        for lb, results in made.items():
            with open(os.path.join(tmp, "policy", f"micro-collision-{lb}-50-1.json"),
                      encoding="utf-8") as f:
                results.append(json.load(f))
    keys = [r["key"] for r in made["hp3"]]
    if keys[0] != keys[1] or keys[1] == keys[2]:
        bad.append(f"hp3.ini edited in place: {keys}")
    if len({r["key"] for r in made["ecmp"]}) != 1:
        bad.append("what only hp3 reads is in the key of ecmp's results")
    ours = made["hp3"][0]["settings"].keys() - made["ecmp"][0]["settings"].keys()
    sections = {"policy", "flows", "pairing", "ppp", "rfr", "cc", "hp3-ideal", "peers"}
    if {k.split(".")[0] for k in ours} != sections:
        bad.append(f"settings that only hp3 has: {sorted(ours)}")
    if any(k.startswith("hp3-verbs.") for k in made["hp3"][0]["settings"]):
        bad.append("what only hp3-verbs reads is in the key of hp3's results")
    if made["hp3"][0]["source"] == made["ecmp"][0]["source"]:
        bad.append("ecmp's results depend on the engine's sources")


def what_was_read(sim, tmp, bad):
    topo, flows = write(tmp, "t", TOPO), write(tmp, "f", FLOWS)
    r = json.loads(run([sim, "trace", "--topology", topo, "--flows", flows, "--lb", "ecmp",
                        "--json", "-"]))
    if r["inputs"] != {"topology": {"name": topo, "sha256": sha256(TOPO)},
                       "flows": {"name": flows, "sha256": sha256(FLOWS)}}:
        bad.append(f"inputs of a trace: {r['inputs']}")
    if r["fabric"] != {"hosts": 4, "switches": 1, "links": 4} or r["n_flows"] != 2:
        bad.append(f"trace: fabric {r['fabric']}, {r['n_flows']} flows")
    said = {k: v for k, v in r["settings"].items()
            if k.split(".")[0] in ("traffic", "background", "fault", "sweep")}
    if said != {"traffic.read_percent": 0}:
        bad.append(f"trace: settings of a workload that was not used: {said}")
    if r["settings"]["fabric.kind"] != "file" or r["settings"]["fabric.topology"] != topo or \
            "fabric.leaves" in r["settings"]:
        bad.append("trace: settings of a fabric that was not used")


def sources(script, tmp, bad):
    root = os.path.join(tmp, "root")
    for folder in "sim/core", "sim/lb", "cc", "engine":
        os.makedirs(os.path.join(root, folder))
    header = os.path.join(tmp, "source.h")
    before = [None, None]
    # What is written, whether the results of all change, and those of balancers without an engine.
    for name, text, ours, others in (
            ("sim/core/x.c", '#include "cc/y.h"\n#include "engine/e.h"\n', True, True),
            ("sim/core/x.c", '#include "cc/y.h"\n#include "engine/e.h"\n\n', True, True),
            ("sim/readme", "1", False, False), ("sim/lb/hp3.c", "1", True, False),
            ("engine/e.h", "1", True, False), ("cc/other.c", "1", True, False),
            ("cc/y.h", '#include "cc/z.h"\n', True, True), ("cc/z.c", "1", True, True)):
        write(root, name, text)
        if name == "cc/y.h":
            write(root, "cc/z.h", "1")
        run([script, header, root, "sim", "cc", "engine"])
        with open(header, encoding="utf-8") as f:
            now = [line.split()[2] for line in f]
        changed = [old != new for old, new in zip(before, now)]
        if changed != [ours, others]:
            bad.append(f"source.py: {name}: of all, of those without an engine: {changed}")
        before = now


def main():
    bad = []
    with tempfile.TemporaryDirectory(prefix="hp3-sim-") as tmp:
        same_results(sys.argv[1], tmp, bad)
        policy_file(sys.argv[1], tmp, bad)
        sizes_of_nothing(sys.argv[1], tmp, bad)
        what_was_read(sys.argv[1], tmp, bad)
        sources(sys.argv[2], tmp, bad)
    for line in bad:
        print("inputs:", line)
    return 1 if bad else 0


sys.exit(main())
