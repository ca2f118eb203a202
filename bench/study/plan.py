# SPDX-License-Identifier: BSD-3-Clause
"""What is run for the study of docs/results, and which table shows what of it."""
from collections import namedtuple

CLOS = ["ecmp", "letflow", "conga", "conweave", "flowbender", "plb", "hopper"]
OURS = ["hp3-paper", "hp3-ideal", "hp3"]
SPRAYS = ["stellar-obs", "stellar-rr", "stellar-dwrr", "stellar-bestrtt", "stellar-mprdma"]
PER_PACKET = ["rps", "ar", "drill"]
ANY_ORDER = ["rnic.recovery=unordered"]
JOB = ["traffic.bytes=8000000", "traffic.repeat=1"]
FIVE_MS = ["traffic.duration_us=5000"]
THREE = "40,60,80"

# A scenario, what makes it smaller, settings, loads, balancers.
Run = namedtuple("Run", "scenario smaller settings loads lbs")
RUNS = {
    "alistorage": Run("alistorage", FIVE_MS, [], THREE, CLOS + OURS),
    "allreduce": Run("allreduce", JOB, [], "", CLOS + PER_PACKET + ["stellar-obs"] + OURS),
    "alltoall": Run("alltoall", JOB, [], "", CLOS + PER_PACKET + ["stellar-obs"] + OURS),
    "hadoop": Run("hadoop", FIVE_MS, [], THREE, CLOS + OURS),
    "websearch": Run("websearch", FIVE_MS, [], THREE, CLOS + OURS),
    "solar": Run("solar", ["traffic.duration_us=3000"], [], THREE, CLOS + OURS),
    "incast": Run("incast", [], [], "", CLOS + ["stellar-obs"] + OURS),
    "micro-collision": Run("micro-collision", [], [], "", CLOS + ["stellar-obs"] + OURS),
    "link-failure": Run("link-failure", ["traffic.duration_us=6000"], [], "",
                        CLOS + ["stellar-obs"] + OURS),
    "asymmetric": Run("asymmetric", FIVE_MS, [], "", CLOS + ["stellar-obs"] + OURS),
    "permutation": Run("permutation", [], [], "", CLOS + ["stellar-obs"] + OURS),
    "stellar-paths": Run("stellar-paths", ["traffic.bytes=10000000"], [], "",
                         ["ecmp"] + SPRAYS + OURS),
    "kept": Run("alistorage", FIVE_MS, ["rnic.qps=kept"], "60", CLOS + OURS),
    "storage": Run("storage", FIVE_MS, [], "60", CLOS + OURS),
    "alistorage-packet": Run("alistorage", FIVE_MS, [], "60", PER_PACKET),
    "allreduce-any-order": Run("allreduce", JOB, ANY_ORDER, "", PER_PACKET),
    "alltoall-any-order": Run("alltoall", JOB, ANY_ORDER, "", PER_PACKET),
    "alistorage-any-order": Run("alistorage", FIVE_MS, ANY_ORDER, "60", PER_PACKET),
    "googlerpc": Run("googlerpc", ["traffic.duration_us=1000"], [], THREE, CLOS + OURS),
    "rail": Run("rail", ["traffic.bytes=4000000", "traffic.repeat=1"], [], "",
                ["ecmp", "flowbender", "plb", "hopper", "stellar-obs", "stellar-rr"] + OURS),
    "bursty": Run("bursty", ["traffic.bytes=4000000", "traffic.repeat=1",
                             "background.bytes=2000000"], [], "", CLOS + ["stellar-obs"] + OURS),
    "datamining": Run("datamining", ["traffic.duration_us=20000"], [], "60",
                      ["ecmp", "conga", "conweave", "hp3-ideal", "hp3"]),
}

ROWS = [(lb, lb, "") for lb in CLOS + OURS + SPRAYS + PER_PACKET]
ROWS += [(lb, lb, "-packet") for lb in PER_PACKET]
ROWS += [(f"{lb}, any order", lb, "-any-order") for lb in PER_PACKET]

# Head, columns (title, run, load), and what `make test` repeats: row, column.
Table = namedtuple("Table", "head columns spot")


def by_load(head, name, loads=(40, 60, 80), spot=("hp3", 0)):
    return Table(head, [(f"{load} %", name, load) for load in loads], spot)


TABLES = {
    "alistorage": by_load("AliStorage2019", "alistorage"),
    "hadoop": by_load("Hadoop", "hadoop"),
    "websearch": by_load("WebSearch", "websearch"),
    "solar": by_load("Solar2022", "solar"),
    "googlerpc": by_load("GoogleRPC2008", "googlerpc"),
    "datamining": by_load("DataMining", "datamining", [60]),
    "jobs": Table("JCT, ms", [(n, n, 50) for n in ("allreduce", "alltoall", "rail", "bursty")],
                  ("hp3", 1)),
    "faults": Table("slowdown", [("link-failure", "link-failure", 40),
                                 ("asymmetric", "asymmetric", 30), ("incast", "incast", 50)],
                    ("hp3", 2)),
    "permutations": Table("slowdown", [("two elephants", "micro-collision", 50),
                                       ("permutation", "permutation", 50),
                                       ("permutation, three tiers", "stellar-paths", 50)],
                          ("hp3", 1)),
    "kept": Table("slowdown", [("kept, WRITE", "kept", 60), ("kept, half READ", "storage", 60)],
                  ("hp3", 0)),
}

# Of the study of hp3's own parameters: at --quick sizes, ratios to ECMP.
WORKLOADS = ["alistorage", "allreduce", "alltoall", "hadoop", "permutation", "websearch"]
PARAMETER_SPOT = "permutation"
# Of what hp3d ships: when to act, and whom to ask.
COARSE = ["ppp.cycle_us", "ppp.congestion_tolerance", "ppp.ecn_fraction", "ppp.candidates",
          "ppp.rtt_factor", "rfr.max_hold_us"]
# Rates after a move: marks come back by CNPs, as RNICs tell of them. Where hp3d reacts (dcqcn) the RNIC does not; it has
# 250 kB in flight, and DCQCN is that of the simulator's RNICs (preset conweave).
CNPS = ["rnic.feedback=cnp"]
NATIVE = CNPS + ["hp3-ideal.rate_acts=off"]
DCQCN = NATIVE + ["rnic.cc=none", "rnic.window_bytes=250000", "rnic.rto_us=67109", "cc.mode=dcqcn", "cc.rpg_byte_reset=0",
                  "cc.rpg_ai_rate=40", "cc.rpg_hai_rate=100", "cc.rpg_min_rate=100", "cc.dce_tcp_g=1020",
                  "cc.initial_alpha_value=1024"]
# Scheme, settings; a setting without a value takes the one that ships.
VARIANTS = {
    "ecmp": ("ecmp", []),
    "default": ("hp3-ideal", []),
    "tolerance 2": ("hp3-ideal", ["ppp.congestion_tolerance=2"]),
    "tolerance 3": ("hp3-ideal", ["ppp.congestion_tolerance=3"]),
    "cycle 50 us": ("hp3-ideal", ["ppp.cycle_us=50"]),
    "25 % marks": ("hp3-ideal", ["ppp.ecn_fraction=25"]),
    "rtt_factor 200": ("hp3-ideal", ["ppp.rtt_factor=200"]),
    "1 candidate": ("hp3-ideal", ["ppp.candidates=1"]),
    "3 candidates": ("hp3-ideal", ["ppp.candidates=3"]),
    "6 candidates": ("hp3-ideal", ["ppp.candidates=6"]),
    "improve 60": ("hp3-ideal", ["ppp.improve=60"]),
    "improve 95": ("hp3-ideal", ["ppp.improve=95"]),
    "cool-down 1,000 us": ("hp3-ideal", ["rfr.cooldown_us=1000"]),
    "hold bound 50 us": ("hp3-ideal", ["rfr.max_hold_us=50"]),
    "hold bound 200 us": ("hp3-ideal", ["rfr.max_hold_us=200"]),
    "rate_acts off": ("hp3-ideal", ["hp3-ideal.rate_acts=off"]),
    "placement by counts": ("hp3-ideal", ["ppp.placement=on"]),
    "1 round at set-up": ("hp3-ideal", ["ppp.setup_rounds=1"]),
    "coarse": ("hp3-ideal", COARSE),
    "coarse, tolerance 1": ("hp3-ideal", COARSE + ["ppp.congestion_tolerance=1"]),
    "coarse, tolerance 3": ("hp3-ideal", COARSE + ["ppp.congestion_tolerance=3"]),
    "coarse, 5 % marks": ("hp3-ideal", COARSE + ["ppp.ecn_fraction=5"]),
    "coarse, 2 candidates": ("hp3-ideal", COARSE + ["ppp.candidates=2"]),
    "shipped": ("hp3", []),
    "shipped, tolerance 1": ("hp3", ["ppp.congestion_tolerance=1"]),
    "shipped, tolerance 3": ("hp3", ["ppp.congestion_tolerance=3"]),
    "ecmp, CNPs": ("ecmp", CNPS),
    "RNICs' rates follow moves": ("hp3-ideal", CNPS),
    "native, no CNP waits": ("hp3-ideal", NATIVE + ["cc.withhold=0"]),
    "native": ("hp3-ideal", NATIVE),
    "dcqcn": ("hp3-ideal", DCQCN),
    "as it ships, native, no CNP waits": ("hp3", CNPS + ["cc.withhold=0"]),
    "as it ships, native": ("hp3", CNPS),
    "as it ships, dcqcn": ("hp3", DCQCN),
}
# A table of ratios: its variants, of which the last one is repeated, workloads, and what they are ratios to.
Study = namedtuple("Study", "variants workloads base", defaults=[WORKLOADS, "ecmp"])
RATES = list(VARIANTS)[list(VARIANTS).index("ecmp, CNPs") + 1:]
PARAMETERS = {
    "parameters": Study([v for v in VARIANTS if v not in ["ecmp", "ecmp, CNPs", "default"] + RATES] + ["default"]),
    "shipped": Study(["default", "shipped"]),
    "rates": Study([v for v in RATES if v != "native"] + ["native"],
                   ["allreduce", "alltoall", "incast", "permutation"], "ecmp, CNPs"),
}

# On the trace of tests/data/sim: title, balancer, settings.
KEPT_TRACE = ["rnic.qps=kept", "rnic.setup_us=20", "rnic.setup_counts=off"]
TRACES = {
    "wake": [("conweave", "conweave", KEPT_TRACE),
             ("hp3-ideal, no message waits (`ppp.wake=0`)", "hp3-ideal", KEPT_TRACE + ["ppp.wake=0"]),
             ("**hp3-ideal**, messages of half a round trip or longer wait (`ppp.wake=50`)", "hp3-ideal",
              KEPT_TRACE),
             ("of a quarter (25)", "hp3-ideal", KEPT_TRACE + ["ppp.wake=25"]),
             ("of one (100)", "hp3-ideal", KEPT_TRACE + ["ppp.wake=100"])],
    "ns3": [("ECMP", "ecmp", []), ("LetFlow", "letflow", []), ("CONGA", "conga", []),
            ("ConWeave", "conweave", [])],
}
