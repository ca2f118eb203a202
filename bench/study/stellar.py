# SPDX-License-Identifier: BSD-3-Clause
"""STELLAR's path selection (SIGCOMM 2025, section 7.2) on its cluster (scenario stellar-cluster): by policy and number of
paths how long a permutation takes and what waits above the leaves, how even the uplinks are used by 16 connections of two
RNICs, and what a link costs that loses packets. Beside it: hp3 and ECMP, whose RNICs go back N."""
import glob
import os
from collections import namedtuple

from stats import mean
from study import plan, runs
from study.tables import average, frame, tail

SCENARIO = "stellar-cluster"
PATHS = [4, 8, 16, 32, 64, 128, 256]
# key: the setting that says how many paths; None: one path
Policy = namedtuple("Policy", "title lb key")
POLICIES = [*[Policy(text, f"stellar-{name}", "stellar.paths") for text, name in
              (("OBS", "obs"), ("RR", "rr"), ("DWRR", "dwrr"), ("BestRTT", "bestrtt"), ("MP-RDMA", "mprdma"))],
            Policy("hp3", "hp3", None), Policy("ECMP, one path", "ecmp", None)]
PERMUTATION = ["traffic.bytes=10000000"]
CONNECTIONS = ["traffic.kind=connections", "traffic.bytes=10000000"]
# One rail of the cluster, so that there is traffic on each link that may be drawn; chunks of 2 MB.
RING = ["fabric.rails=1", "traffic.kind=allreduce", "traffic.ranks=30", "traffic.bytes=60000000"]
ONE_RAIL = ["fabric.rails=1", *PERMUTATION]
LOSSES = [0, 1, 3]  # percent, of one link


def about():
    said = [("permutation", PERMUTATION), ("connections", CONNECTIONS), ("permutation with a link that loses packets", ONE_RAIL),
            ("AllReduce with a link that loses packets", RING)]
    return (f"The runs have the scenario {SCENARIO} with `{' '.join(plan.CNPS)}`, and these settings: "
            + "; ".join(f"{what}: `{' '.join(settings)}`" for what, settings in said)
            + ". Columns 4 to 256 are numbers of paths. A slowdown is average / p99. The table of 16 connections compares the "
            "uplinks of a leaf: bytes of the uplink that sent most, minus bytes of the uplink that sent least. The first figure is "
            "in % of what an uplink can send during the run. The second figure is a multiple of the mean of the uplinks. A cell of "
            "AllReduce has the average and the slowest round.")


def results(how, name, policy, paths, settings):
    """Of all seeds; what is there already is not run again."""
    out = os.path.join(how.out, "stellar", name, f"{policy.lb}-{paths}")
    more = [f"{policy.key}={paths}"] if policy.key else []
    runs.simulate(how, SCENARIO, out, policy.lb, [f"sweep.seeds={how.seeds}", *plan.CNPS, *settings, *more])
    found = [runs.load_one(path) for path in sorted(glob.glob(os.path.join(out, "*.json")))]
    return [r for r in found if r["seed"] <= how.seeds]


def by_paths(how, name, settings, tables):
    """Tables of the same runs, a row per policy and a column per number of paths; of one path all say the same."""
    lines = [[] for _ in tables]
    for policy in POLICIES:
        columns = PATHS if policy.key else PATHS[:1]
        found = [results(how, name, policy, n, settings) for n in columns]
        for (_, cell), out in zip(tables, lines):
            cells = [cell(rs) for rs in found]
            out.append(f"| {policy.title} | " + " | ".join(cells + ["-"] * (len(PATHS) - len(cells))) + " |")
        print(f"{name}: {policy.title}", flush=True)
    return [line for (head, _), out in zip(tables, lines) for line in [*frame(head, [str(n) for n in PATHS], out), ""]]


def with_losses(how):
    """Where one link loses packets: with 128 paths."""
    lines = []
    for policy in POLICIES:
        paths, cells = 128 if policy.key else 1, []
        for name, settings, what in ("permutation-loss", ONE_RAIL, times), ("ring-loss", RING, jct):
            for loss in LOSSES:
                more = [f"fault.kind={'loss' if loss else 'none'}", f"fault.share_permyriad={100 * loss}"]
                cells.append(what(results(how, os.path.join(name, str(loss)), policy, paths, settings + more)))
        lines.append(f"| {policy.title}{f', {paths} paths' if policy.key else ''} | " + " | ".join(cells) + " |")
        print(f"losses: {policy.title}", flush=True)
    titles = [f"{what}, {loss} %" for what in ("permutation", "AllReduce, ms; slowest") for loss in LOSSES]
    return frame("one link loses packets", titles, lines)


def times(found):
    return f"{mean([average(r) for r in found]):.3f} / {mean([tail(r) for r in found]):.3f}"


def jct(found):
    return f"{mean([average(r) for r in found]):.2f}; {max(r['jobs']['jct_max_us'] for r in found) / 1000:.2f}"


def queues(found):
    return (f"{mean([r['uplinks']['queue_mean_bytes'] for r in found]):.0f} / "
            f"{max(r['uplinks']['queue_max_bytes'] for r in found) / 1000:.0f}")


def spread(found):
    return (f"{mean([r['uplinks']['spread_percent'] for r in found]):.1f} / "
            f"{mean([r['uplinks']['spread'] for r in found]):.2f}")


def table(how):
    lines = by_paths(how, "permutation", PERMUTATION, [
        ("permutation: slowdown, by number of paths", times), ("permutation: queues of uplinks, mean in bytes / longest in KB", queues)])
    lines += by_paths(how, "connections", CONNECTIONS, [
        ("16 connections: most - least, in % of what an uplink can send / divided by the mean", spread)])
    return lines + with_losses(how)
