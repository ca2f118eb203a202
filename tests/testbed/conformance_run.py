# SPDX-License-Identifier: BSD-3-Clause
"""Sends packets through single switches (hp3-fabric inject), and compares the result with a vector."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))


def inject(fabric, topology, requests):
    path = os.path.join(HERE, "topo", topology + ".ini")
    done = subprocess.run([fabric, "inject", path], input="".join(json.dumps(r) + "\n" for r in requests),
                          capture_output=True, text=True, check=False, timeout=120)
    if done.returncode != 0:
        sys.exit(f"hp3-fabric inject: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def judge(v, got):
    """What differs: [(key, expected, got)]. `got` is a list of answers where the packet was repeated."""
    if "routes" in v:
        return []
    want = v["expect"]
    if "repeat" not in v:
        return [(k, want.get(k), got.get(k)) for k in sorted(set(got) | set(want)) if got.get(k) != want.get(k)]
    left = [a for a in got if "frame" in a]
    wrong = [("frame", want["frame"], a["frame"]) for a in left if a["frame"] != want["frame"]]
    if not v["answered"][0] <= len(left) <= v["answered"][1]:
        wrong.append(("answered", v["answered"], len(left)))
    refused = sum(a["counters"].get("drops[5]", 0) for a in got)
    if refused != v["repeat"] - len(left):
        wrong.append(("drops[5]", v["repeat"] - len(left), refused))
    return wrong
