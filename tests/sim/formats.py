#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3-sim trace reads the files of the ns-3 RDMA simulators, and refuses others by line and column.

usage: formats.py HP3-SIM
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

RATE = "100Gbps 1000ns 0"
REST = "\nFirst line: total node #, switch node #, link #\nswitch IDs: 4,5\n"


def fabric(head, switches, number=range(8), rate=RATE, more=""):
    """Two leaves with two hosts each, two spines. `number` has the number in the file of each node."""
    ends = [(0, 4), (1, 4), (2, 5), (3, 5), (4, 6), (4, 7), (5, 6), (5, 7)]
    links = [f"{number[a]} {number[b]} {rate}" for a, b in ends]
    return "\n".join([head, switches, *links]) + "\n" + more


HPCC = fabric("8 4 8", "4 5 6 7")
MIXED = [1, 3, 4, 7, 0, 2, 5, 6]  # hosts 1, 3, 4, 7
SERVER = "10 2 2 4 12 A100\n8 9 4 5 6 7 \n" + "".join(f"{h} {8 + h // 2} 2880Gbps 0.000025ms 0\n" for h in range(4))
FIVE = "2\n0 2 3 1000000 2.0\n1 3 3 5000 2.000000076\n"
SIX = "2\n0 2 3 100 1000000 2\n1 3 3 100 5000 2.000000076\n"
FLOWS = [[0, 2, 1000000, 2 * 10**12], [1, 3, 5000, 2000000076000]]
TOPOLOGIES = {
    "HPCC": HPCC,
    "HPCC, a description at the end": HPCC + REST,
    "HPCC, switches in another order": fabric("8 4 8", "7 4 6 5"),
    "PowerTCP": fabric("8 4 2 8", "4 5 6 7 ", rate="100000000000.0 1us 0"),
    "Reverie": fabric("8 4 2 8 100000000000 100000000000", "4 5 6 7 ", rate="100000000000 1us 0"),
    "SimAI without NVSwitches": fabric("8 2 0 4 8 H800", "4 5 6 7 "),
    "ns-3-alibabacloud": fabric("8 2 0 4 8 X000 8", "4 5 6 7 "),
    "SimAI": SERVER + HPCC.split("\n", 2)[2],
    "empty lines, other line ends": HPCC.replace("\n", "\r\n\r\n"),
    "other units": fabric("8 4 8", "4 5 6 7", rate="12.5GB/s 0.000001 0.000000"),
}


def addresses(path):
    """Source and destination of the IPv4 packets in a capture."""
    with open(path, "rb") as f:
        pcap = f.read()
    pairs, at = set(), 24
    while at + 16 < len(pcap):
        frame = pcap[at + 16:at + 16 + struct.unpack_from("=I", pcap, at + 8)[0]]
        pairs.add(tuple(".".join(map(str, frame[i:i + 4])) for i in (26, 30)))
        at += 16 + len(frame)
    return pairs


class Runner:
    def __init__(self, sim, tmp):
        self.sim, self.tmp, self.bad = sim, tmp, []

    def trace(self, topology, flows, *more):
        paths = []
        for name, text in ("topo", topology), ("flows", flows):
            paths.append(os.path.join(self.tmp, name))
            with open(paths[-1], "w", encoding="utf-8", newline="") as f:
                f.write(text)
        return subprocess.run([self.sim, "trace", "--topology", paths[0], "--flows", paths[1], "--lb", "ecmp", "--per-flow", "--json", "-", *more],
                              capture_output=True, check=False, encoding="utf-8", timeout=250)

    def result(self, what, topology, flows, *more):
        done = self.trace(topology, flows, *more)
        if done.returncode != 0:
            self.bad.append(f"{what}: exit code {done.returncode}, {done.stderr!r}")
            return None
        return json.loads(done.stdout)

    def same_flows(self):
        reference = self.result("reference", HPCC, FIVE)["flows"]
        if [f[:4] for f in reference] != FLOWS:
            self.bad.append(f"reference: {reference}")
        for name, topology in TOPOLOGIES.items():
            for columns, flows in ("five", FIVE), ("six", SIX), ("comments", SIX + "2 1 3 100 7 2\nFirst line: # of flows\n"):
                result = self.result(f"{name}, {columns}", topology, flows)
                if result is not None and result["flows"] != reference:
                    self.bad.append(f"{name}, {columns}: {result['flows']} instead of {reference}")

    def one_flow(self):
        for flows in "1\n0 2 3 100 1000 2.0\n", "1\n0 2 3 1000 2\n", "1\n0 2 3 1000 0.2e+01\n", "1\n0 2 3 1000 2000e-3\n":
            result = self.result(flows, HPCC, flows)
            if result is not None and [f[:4] for f in result["flows"]] != [[0, 2, 1000, 2 * 10**12]]:
                self.bad.append(f"{flows!r}: {result['flows']}")

    def numbers_of_the_file(self):
        """Switches have any numbers: flows, results and messages use the numbers of the file."""
        topology = fabric("8 4 8", "0 2 5 6", MIXED)
        result = self.result("switch 0", topology, "2\n1 4 3 1000 2\n3 7 3 1000 2\n", "--pcap", f"7:{os.path.join(self.tmp, 'pcap')}")
        if result is not None and ([f[:2] for f in result["flows"]] != [[1, 4], [3, 7]] or result["fabric"] != {"hosts": 4, "switches": 4, "links": 8}):
            self.bad.append(f"switch 0: {result['flows']}, {result['fabric']}")
        pairs = addresses(os.path.join(self.tmp, "pcap"))
        if pairs != {("11.0.3.1", "11.0.7.1"), ("11.0.7.1", "11.0.3.1")}:
            self.bad.append(f"switch 0: the capture of host 7 has the addresses {pairs}")
        for flows, words in ("1\n0 1 3 100 2\n", "flows:2: column 1: src: node 0 is a switch"), ("1\n1 6 3 100 2\n", "flows:2: column 2: dst: node 6 is a switch"):
            self.refused(topology, flows, words)
        self.refused(topology.replace("7 2 100Gbps", "4 2 100Gbps"), FIVE, "host 7 has no link")
        self.refused(topology, "1\n1 4 3 100 2\n", "--pcap 0:x: write HOST:FILE", "--pcap", "0:x")

    def nvswitches(self):
        """Flows within a server take NVLink, others the RNICs. hp3 treats the former as traffic within a rack."""
        for lb in "ecmp", "hp3":
            result = self.result("NVSwitches", SERVER + HPCC.split("\n", 2)[2], "2\n0 1 3 100 1000000 2\n0 2 3 100 1000000 2.1\n", "--lb", lb)
            if result is None:
                continue
            within, between = (f[5] for f in result["flows"])
            if within * 10 > between or result["fabric"]["switches"] != 6:
                self.bad.append(f"NVSwitches: base times {within} and {between} ps, {result['fabric']}")

    def refused(self, topology, flows, words, *more):
        done = self.trace(topology, flows, *more)
        if done.returncode != 1 or words not in done.stderr:
            self.bad.append(f"{words!r}: exit code {done.returncode}, {done.stderr!r}")

    def number_of_paths(self):
        """A balancer that needs another topology: the message has the cause and what to do."""
        one = "3 1 2\n2\n0 2 100Gbps 1us 0\n1 2 100Gbps 1us 0\n"
        spines = range(4, 74)
        many = "74 72 142\n" + " ".join(map(str, range(2, 74))) + f"\n0 2 {RATE}\n1 3 {RATE}\n" + "".join(f"{leaf} {s} {RATE}\n" for leaf in (2, 3) for s in spines)
        flow = "1\n0 1 3 1000 0\n"
        for topology, words in (one, "all hosts have one path: add links between switches, or set hp3-ideal.model=off"), (many, "at most 64 between two hosts. Set hp3-ideal.model=off"):
            self.refused(topology, flow, "hp3-ideal cannot run on this topology: it needs ", "--lb", "hp3-ideal")
            self.refused(topology, flow, words, "--lb", "hp3-ideal")
            self.refused(topology, flow, words, "--lb", "hp3", "--set", "peers.paths_known=on")
            self.result("hp3-ideal without a model", topology, flow, "--lb", "hp3-ideal", "--set", "hp3-ideal.model=off")
        self.refused(one.replace("100Gbps", "0.5Mbps"), flow, "do not fit the rate of the hosts' links: set cc.mode=native", "--lb", "hp3", "--set", "rnic.cc=none", "--set", "cc.mode=dcqcn")
        two_leaves = "4 2 4\n2 3\n" + "".join(f"{h} {leaf} {RATE}\n" for h in (0, 1) for leaf in (2, 3))
        self.refused(two_leaves, flow, "hosts have links to several of them: give each host one link, or take another balancer", "--lb", "conga")

    def others(self):
        for old, new, words in (
                ("8 4 8", "8 4", ":1: 2 columns: write `nodes"), ("8 4 8", "8 4 2 8 1", ":1: 5 columns"), ("8 4 8", "8 4 2 8 1 1 1 1", ":1: 8 columns: write `nodes"), ("8 4 8", "8 4 2 8 1 1 1", ":1: 7 columns: write `nodes"),
                ("8 4 8", "8 x 8", ":1: column 2: switches"), ("8 4 8", "8 8 8", ":1: column 1: nodes"), ("8 4 8", "65537 4 8", ":1: column 1: nodes"),
                ("8 4 8", "8 4 0", ":1: column 3: links"), ("8 4 8", "8 4 5 8", ":1: column 3: leaf switches"), ("8 4 8", "8 4 2 8 10 1", ":1: column 5: write a rate"),
                ("8 4 8", "8 4 9", "topo:11: 8 links, and 9 links in the first line"), ("8 4 8", "8 4 2 8 100000000000 A100", ":1: column"),
                ("4 5 6 7", "4 5 6", ":2: 3 numbers of switches, and 4"), ("4 5 6 7", "4 5 6 7 8", ":2: column 5: more numbers"),
                ("4 5 6 7", "4 5 6 8", ":2: column 4: write the number of a switch, below 8"), ("4 5 6 7", "4 5 6 5", ":2: column 4: switch 5 is in this line twice"),
                ("0 4 100Gbps", "0 4 100", ":3: column 3: rate"), ("0 4 100Gbps", "0 4 0x10Gbps", ":3: column 3: rate"), ("0 4 100Gbps", "0 4 1.2.3Gbps", ":3: column 3: rate"),
                ("0 4 100Gbps", "0 4 100Gps", ":3: column 3: rate"), ("0 4 100Gbps 1000ns", "0 4 100Gbps 1000", ":3: column 4: delay"),
                ("1 4 100Gbps 1000ns 0", "1 4 100Gbps 1000ns nan", ":4: column 5: loss"), ("1 4 100Gbps 1000ns 0", "1 4 100Gbps 1000ns 1", ":4: column 5: loss"),
                ("1 4 100Gbps 1000ns 0", "1 4 100Gbps 1000ns", ":4: 4 columns: write `a b rate delay loss`"), ("1 4 100Gbps", "1 9 100Gbps", ":4: column 2: ends of the link"),
                ("1 4 100Gbps", "1 1 100Gbps", ":4: column 2: ends of the link"), ("1 4 100Gbps", "x 4 100Gbps", ":4: column 1: ends of the link")):
            self.refused(HPCC.replace(old, new, 1), FIVE, words)
        self.refused("", FIVE, "topo:1: an empty file")
        self.refused(SERVER + "\n", FIVE, "topo:8: 4 links, and 12 links")
        for old, new, words in (
                ("2\n0", "0", "flows:1: column 2: write only the number"), ("2\n", "x\n", "flows:1: column 1: write the number of flows"),
                ("2\n", "3\n", "flows:4: 2 flows, and 3 in the first line"), ("0 2 3 1000000 2.0", "0 2 3 1000000", "flows:2: 4 columns: write `src"),
                ("0 2 3 1000000 2.0", "0 2 3 100 1000000 2.0 1", "flows:2: 7 columns: write `src"), ("1 3 3 5000", "1 3 3 100 5000", "flows:3: 6 columns, and the first flow has 5"),
                ("1 3 3", "1 4 3", "flows:3: column 2: dst: node 4 is a switch"), ("1 3 3", "1 8 3", "flows:3: column 2: dst: the topology has no node 8"), ("1 3 3", "x 3 3", "flows:3: column 1: src"), ("1 3 3", "1 1 3", "flows:3: column 2: dst"),
                ("0 2 3 1000000", "0 2 100 1000000", "flows:2: column 3: group"), ("1000000 2.0", "4294967296 2.0", "flows:2: column 4: bytes"),
                ("1000000 2.0", "1e6 2.0", "flows:2: column 4: bytes"), ("2.0\n", "soon\n", "flows:2: column 5: start_s"), ("2.0\n", "2.0.0\n", "flows:2: column 5: start_s"),
                ("2.0\n", "2000000000\n", "flows:2: column 5: start_s"), ("2.0\n", "-2\n", "flows:2: column 5: start_s"), ("2.0\n", "2e\n", "flows:2: column 5: start_s")):
            self.refused(HPCC, FIVE.replace(old, new, 1), words)
        self.refused(HPCC, SIX.replace("3 100 1000000", "3 x 1000000"), "flows:2: column 4: port")
        self.refused(HPCC, SIX.replace("3 100 1000000", "3 100 x"), "flows:2: column 5: bytes")
        self.refused(HPCC, "", "flows:1: column 1: write the number of flows")


def main():
    with tempfile.TemporaryDirectory(prefix="hp3-sim-") as tmp:
        r = Runner(sys.argv[1], tmp)
        r.same_flows()
        r.one_flow()
        r.numbers_of_the_file()
        r.nvswitches()
        r.number_of_paths()
        r.others()
    for line in r.bad:
        print("formats:", line)
    return 1 if r.bad else 0


sys.exit(main())
