#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Holds hp3-sim against the reference results of ns-3 on the same trace.

usage: fidelity.py HP3-SIM DATA [SEED...]      DATA: tests/data/sim

For each balancer of reference.json: average and p99 of the slowdown, overall and for the two size
classes, within the tolerances there; so for those under IRN, and overall on the traces of heldout.json,
by which nothing was tuned; no drops; two runs of one of those give the same bytes. With several seeds
it is their mean that must be within wider ones: the reference itself is one seed, and the tail of
short flows under ECMP depends on one hot spot (docs/internals/simulator.md).
"""
import json
import lzma
import os
import subprocess
import sys
import tempfile

VARYING = ("cpu_s", "peak_bytes")
REPEATED = "solar_50"  # the shortest


def run(sim, data, ref, flows, lb, seed, settings=()):
    args = [sim, "trace", "--topology", os.path.join(data, ref["topology"]), "--flows", flows,
            "--lb", lb, "--seed", str(seed), "--json", "-"]
    for s in settings:
        args += ["--set", s]
    out = subprocess.run(args, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    result = json.loads(out.stdout)
    cost = {k: result.pop(k) for k in VARYING}
    return result, cost


def mean(results):
    """Of the slowdowns; all else as in the first."""
    out = json.loads(json.dumps(results[0]))
    for size, values in out["slowdown"].items():
        for key in values:
            values[key] = sum(r["slowdown"][size][key] for r in results) / len(results)
    return out


def compare(ref, lb, result, tolerance):
    bad = []
    for size, values in ref["slowdown"][lb].items():
        got = result["slowdown"][size]
        line = f"{lb:9} {size:8}"
        if got["n"] != ref["n"][size]:
            bad.append(f"{lb} {size}: {got['n']} flows, {ref['n'][size]} expected")
        for key, want in values.items():
            off = got[key] / want - 1
            line += f"  {key} {got[key]:7.3f} ({off * 100:+5.1f} %)"
            if abs(off) > tolerance.get(key, 1e9):
                bad.append(f"{lb} {size} {key}: {got[key]:.3f}, reference {want}")
        print(line)
    if any(result["dropped"][d] for d in result["dropped"] if d != "late"):
        bad.append(f"{lb}: packets were dropped: {result['dropped']}")
    return bad


def under_irn(sim, data, ref, text, seed):
    """The first milliseconds of the trace, by RNICs that have IRN, without PFC."""
    irn, bad = ref["irn"], []
    lines = [x for x in text.decode().splitlines()[1:] if x.strip()]
    end = float(lines[0].split()[4]) // 1 + irn["first_ms"] / 1000
    lines = [x for x in lines if float(x.split()[4]) < end]
    with tempfile.NamedTemporaryFile("w", prefix="hp3-sim-", suffix=".flows") as flows:
        flows.write("\n".join([str(len(lines))] + lines + [""]))
        flows.flush()
        for lb in irn["slowdown"]:
            result, _ = run(sim, data, ref, flows.name, lb, seed, irn["settings"])
            print("irn:")
            bad += compare(irn, lb, result, irn["tolerance"])
    return bad


def held_out(sim, data, topology, seeds):
    """Traces that no model here was fitted to: other loads, other sizes of flows."""
    with open(os.path.join(data, "heldout.json"), encoding="utf-8") as f:
        held = json.load(f)
    bad = []
    for name, ref in held["traces"].items():
        with tempfile.NamedTemporaryFile(prefix="hp3-sim-", suffix=".flows") as flows:
            with lzma.open(os.path.join(data, ref["flows"])) as f:
                flows.write(f.read())
            flows.flush()
            print(f"{name}:")
            for lb, sizes in ref["slowdown"].items():
                results = [run(sim, data, {"topology": topology}, flows.name, lb, s)[0] for s in seeds]
                if name == REPEATED and results[0] != run(sim, data, {"topology": topology}, flows.name, lb, seeds[0])[0]:
                    bad.append(f"{name}, {lb}: two runs with seed {seeds[0]} differ")
                overall = {"n": ref["n"], "slowdown": {lb: {"overall": sizes["overall"]}}}
                bad += compare(overall, lb, mean(results), held["tolerance"])
    return bad


def main():
    sim, data = sys.argv[1:3]
    seeds = [int(s) for s in sys.argv[3:]] or [1]
    with open(os.path.join(data, "reference.json"), encoding="utf-8") as f:
        ref = json.load(f)
    tolerance = ref["tolerance" if len(seeds) == 1 else "tolerance_of_means"]
    bad = []
    with tempfile.NamedTemporaryFile(prefix="hp3-sim-", suffix=".flows") as flows:
        with lzma.open(os.path.join(data, ref["flows"])) as f:
            text = f.read()
        flows.write(text)
        flows.flush()
        print("seeds", *seeds)
        for lb in ref["slowdown"]:
            results = []
            for seed in seeds:
                result, cost = run(sim, data, ref, flows.name, lb, seed)
                results.append(result)
            bad += compare(ref, lb, mean(results), tolerance)
            if cost["cpu_s"] > 0:
                print(f"{lb:9} {result['hops'] / cost['cpu_s'] / 1e6:.2f} million hops per CPU "
                      f"second, {cost['peak_bytes'] / 2**20:.0f} MiB")
    bad += under_irn(sim, data, ref, text, seeds[0])
    bad += held_out(sim, data, ref["topology"], seeds)
    for line in bad:
        print("fidelity:", line)
    return 1 if bad else 0


sys.exit(main())
