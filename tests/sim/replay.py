#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What one simulated host sees is RoCE to hp3d: hp3d --replay has nothing to complain about.

usage: replay.py HP3-SIM HP3D

READs, queue pairs that stay, and both, with hp3 in every host. Every ICRC is good, every packet is
understood and leaves again; no retransmission, NAK or reset is seen where there was none. Then the
same with every requester stream moved to another port: all that was held leaves again.

As shipped, hosts spray. The capture shows packets before the host resequences them, so a replay
counts those that arrive late as retransmissions.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

HOSTS, LEAVES, SPINES, FLOWS, SEED = 8, (8, 9), (10, 11), 60, 3
READS = ["traffic.read_percent=100", "rnic.payload_bytes=1024"]
ONE_PATH = ["rfr.mode=move"]
KEPT = ["rnic.qps=kept"]
KINDS = {
    "kept": KEPT + ONE_PATH,
    "reads": READS + ONE_PATH,
    "both, kept": [*KEPT, "traffic.read_percent=50", "rnic.payload_bytes=1024", *ONE_PATH],
    "sprayed": KEPT,
}


def topology():
    links = [(h, LEAVES[h // 4]) for h in range(HOSTS)]
    links += [(leaf, spine) for leaf in LEAVES for spine in SPINES]
    head = f"{HOSTS + 4} 4 {len(links)}\n{' '.join(map(str, LEAVES + SPINES))}\n"
    return head + "".join(f"{a} {b} 100Gbps 1000ns 0\n" for a, b in links)


def flows():
    rng, lines = random.Random(SEED), []
    for i in range(FLOWS):
        ends = [rng.randrange(4), 4 + rng.randrange(4)]
        rng.shuffle(ends)
        size = rng.choice([500, 3000, 40000, 150000])
        lines.append(f"{ends[0]} {ends[1]} 3 {size} {1e-6 + i * 2e-6:.9f}\n")
    return f"{FLOWS}\n" + "".join(lines)


def output(args):
    done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                          encoding="utf-8", timeout=60)
    if done.returncode != 0:
        sys.exit(f"{' '.join(args)}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def complaints(r, least):
    """What a replay says that is not as it should be."""
    bad = {k: r[k] for k in ("truncated", "discarded", "consumed") if r[k]}
    bad.update({k: v for k, v in r["icrc"].items() if k.startswith("bad") and v})
    bad.update({k: v for k, v in r["seen"].items() if v})
    bad.update({k: v for k, v in r["moves"].items() if k in ("recover", "epoch") and v})
    if r["packets_in"] < least or r["packets_out"] != r["packets_in"]:
        bad["packets"] = (r["packets_in"], r["packets_out"])
    if r["reasons"] != {"ok": r["packets_in"]}:
        bad["reasons"] = r["reasons"]
    return bad


def main():
    sim, hp3d = sys.argv[1:3]
    failed = False
    print("seed", SEED)
    with tempfile.TemporaryDirectory(prefix="hp3-sim-") as tmp:
        topo, flow, pcap = (os.path.join(tmp, n) for n in ("topo", "flows", "pcap"))
        for path, text in ((topo, topology()), (flow, flows())):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
        for name, settings in KINDS.items():
            args = [sim, "trace", "--topology", topo, "--flows", flow, "--lb", "hp3", "--json",
                    os.path.join(tmp, "json"), "--pcap", f"1:{pcap}"]
            for s in settings + ["rnic.setup_us=20"]:
                args += ["--set", s]
            output(args)
            for more in ([], ["--move", "50001"]):
                r = json.loads(output([hp3d, "--replay", pcap, "--json"] + more))
                if name == "sprayed" and r["seen"].pop("reordered") == 0:
                    print("replay: nothing was sprayed")
                    failed = True
                bad = complaints(r, 500)
                if more and r["moves"]["switch"] == 0:
                    bad["moves"] = r["moves"]
                if bad:
                    print(f"replay: {name} {more}: {bad}")
                    failed = True
    return 1 if failed else 0


sys.exit(main())
