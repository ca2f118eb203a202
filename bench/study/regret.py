# SPDX-License-Identifier: BSD-3-Clause
"""hp3 compared with ECMP on small fabrics: is any flow slower with hp3d? A matrix of cells, each a
ratio of completion times (jobs) or slowdowns on the same traffic and seeds.

RNICs draw random source ports with ECMP, too (rnic.ports = roce): if hp3 changes no port, the ratio
of a seed is exactly 1.
"""
import concurrent.futures
import glob
import itertools
import os
from collections import namedtuple

from stats import interval
from study import runs, tables

SEEDS = 16
MEAN, UPPER = 1.01, 1.03  # most that a cell may have: of the mean, of the upper end of its 95 % interval
GAIN = 0.5  # most of the mean of rings of eight on 16 hosts, all hosts with hp3d
ABOUT = ("A cell is the ratio of hp3 as shipped to ECMP: of completion times for rings and AllToAlls, of average slowdowns for all "
         f"other traffic. It is the mean over {SEEDS} seeds ± half width of its 95 % interval. If a cell has more seeds, it ends "
         f"with their number in parentheses. Bold: the mean is above {MEAN}, or the upper end of the interval above {UPPER}. For "
         f"rings on 4 x 4 with hp3d at all hosts, a mean above {GAIN} is also bold. *Fabric* is leaves x spines. *Queue pairs* is "
         "`rnic.qps`: fresh (a queue pair for each message) or kept (one for each pair of hosts). *Set-up* is `rnic.setup_us`, the "
         "time between queue-pair set-up and first data. *Marks* return on ACKs (`rnic.feedback=ack`) or by CNPs (`cnp`). Rings, "
         "AllToAlls and the permutation have three rounds")

# leaves, spines, hosts of a leaf; ranks and number of jobs; KB: per rank of rings and AllToAlls, per flow of
# the permutation; senders of an incast; us of WebSearch
Fabric = namedtuple("Fabric", "title leaves spines hosts ranks jobs ring alltoall permutation fan_in websearch_us")
FABRICS = [
    Fabric("2 x 2, 8 hosts", 2, 2, 4, 4, 2, 3000, 1500, 2500, 6, 4000),
    Fabric("4 x 4, 16 hosts", 4, 4, 4, 8, 2, 4000, 2000, 2500, 12, 2000),
    Fabric("8 x 8, 64 hosts", 8, 8, 8, 8, 8, 1000, 500, 1000, 32, 500),
]
TRAFFIC = {
    "rings": ("allreduce", lambda f: [f"traffic.bytes={f.ring}000"]),
    "AllToAll": ("alltoall", lambda f: [f"traffic.bytes={f.alltoall}000"]),
    "permutation": ("permutation", lambda f: [f"traffic.bytes={f.permutation}000"]),
    "incast": ("incast", lambda f: [f"traffic.fan_in={f.fan_in}", "traffic.bytes=100000", "traffic.duration_us=3000"]),
    "WebSearch": ("websearch", lambda f: [f"traffic.duration_us={f.websearch_us}"]),
}
LOADS = {"WebSearch": 60}
MARKS = {"on ACKs": "ack", "by CNPs": "cnp"}
PEERS = {"all": 100, "half": 50}
BASE = ["fabric.grain_ps=1", "fabric.pause_renew=on", "rnic.ports=roce", "rnic.payload_bytes=1024", "traffic.repeat=3"]

# What ECMP has, too; and what it has not.
World = namedtuple("World", "fabric traffic qps setup_us marks")
Cell = namedtuple("Cell", "world peers")


def worlds():
    return [World(*parts) for parts in itertools.product(
        FABRICS, TRAFFIC, ("fresh", "kept"), (0, 20), MARKS)]


def cells():
    return [Cell(*parts) for parts in itertools.product(worlds(), PEERS)]


def part_of(all_cells, part, of):
    """Cells of one world stay together, for they share what ECMP does."""
    mine = set(worlds()[part - 1::of])
    return [c for c in all_cells if c.world in mine]


def settings_of(world):
    f, scale = world.fabric, TRAFFIC[world.traffic][1](world.fabric)
    return BASE + scale + [
        f"fabric.leaves={f.leaves}", f"fabric.spines={f.spines}", f"fabric.hosts_per_leaf={f.hosts}", f"traffic.ranks={f.ranks}",
        f"traffic.jobs={f.jobs}", f"rnic.qps={world.qps}", f"rnic.setup_us={world.setup_us}", f"rnic.feedback={MARKS[world.marks]}",
        f"sweep.loads={LOADS.get(world.traffic, 50)}"]


def title_of(cell):
    w = cell.world
    return (f"{w.fabric.title}; {w.traffic}; {w.qps}; set-up {w.setup_us} us; marks {w.marks}; "
            f"hp3d at {cell.peers} hosts")


def folder_of(how, *names):
    return os.path.join(how.out, "regret", *("".join(c if c.isalnum() else "-" for c in str(n)) for n in names))


def simulate(how, out, world, lb, more):
    """Seed: average."""
    runs.simulate(how, TRAFFIC[world.traffic][0], out, lb, settings_of(world) + more + [f"sweep.seeds={how.seeds}"])
    found = {}
    for path in glob.glob(os.path.join(out, f"*-{lb}-*.json")):
        r = runs.load_one(path)
        if r["seed"] <= how.seeds:
            found[r["seed"]] = tables.average(r)
    return found


def names_of(world):
    return world.fabric.title, world.traffic, world.qps, world.setup_us, world.marks


def of_world(how, world, of, more):
    """Ratios over ECMP by seed, of those cells of one world."""
    ecmp = simulate(how, folder_of(how, *names_of(world), "ecmp"), world, "ecmp", [])
    found = {}
    for c in of:
        extra = [f"peers.hp3_percent={PEERS[c.peers]}", *more]
        ours = simulate(how, folder_of(how, *names_of(world), c.peers), world, "hp3", extra)
        found[c] = [ours[s] / ecmp[s] for s in sorted(ecmp)]
    return found


def is_rings_of_eight(cell):
    w = cell.world
    return (cell.peers, w.traffic, w.fabric) == ("all", "rings", FABRICS[1])


def is_within(cell, ratios):
    middle, half = interval(ratios)
    return middle <= MEAN and middle + half <= UPPER and (middle <= GAIN or not is_rings_of_eight(cell))


def measure(how, wanted, most_seeds=0, more=()):
    """Ratios of each cell. Where a cell is beyond its bounds, so many seeds at most show whether that is
    chance."""
    found = {}
    with concurrent.futures.ThreadPoolExecutor(how.jobs) as pool:
        alone = how._replace(jobs=1)
        while wanted:
            by_world = {}
            for c in wanted:
                by_world.setdefault(c.world, []).append(c)
            for one in pool.map(lambda item, h=alone: of_world(h, item[0], item[1], more), by_world.items()):
                found.update(one)
            alone = alone._replace(seeds=2 * alone.seeds)
            wanted = [c for c in wanted if alone.seeds <= most_seeds and not is_within(c, found[c])]
    return found


def line_of(cell, ratios):
    middle, half = interval(ratios)
    beyond = "" if is_within(cell, ratios) else "  BEYOND"
    return f"{middle:.3f} +- {half:.3f} ({len(ratios)} seeds)  {title_of(cell)}{beyond}"


def cell_text(cell, ratios):
    middle, half = interval(ratios)
    text = f"{middle:.3f} ± {half:.3f}" + f" ({len(ratios)})" * (len(ratios) != SEEDS)
    return text if is_within(cell, ratios) else f"**{text}**"


def table(found):
    """A line per world, a column per peers."""
    lines = []
    for w in worlds():
        texts = [cell_text(Cell(w, p), found[Cell(w, p)]) if Cell(w, p) in found else "-" for p in PEERS]
        if any(t != "-" for t in texts):
            lines.append(f"| {w.fabric.title} | {w.traffic} | {w.qps} | {w.setup_us} | {w.marks} | " + " | ".join(texts) + " |")
    head = "| fabric | traffic | queue pairs | set-up, us | marks | " + " | ".join(f"hp3d at {p} hosts" for p in PEERS) + " |"
    return [head, "|" + "---|" * (5 + len(PEERS)), *lines]
