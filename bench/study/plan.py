# SPDX-License-Identifier: BSD-3-Clause
"""What is run for the study of docs/results, and which table shows what of it."""
from collections import namedtuple

OURS = "hp3", "hp3-ideal", "hp3-paper"

# What a row of a headline table is: title, balancer, profile (a file that hp3d loads) or None, settings.
Row = namedtuple("Row", "title lb profile settings", defaults=[None, []])
# Of rivals: what their papers assume of RNICs. IRN is for fabrics without PFC.
IRN = ["rnic.recovery=irn", "fabric.pfc=off"]
ANY_ORDER = ["rnic.recovery=unordered"]
NO_WINDOW = ["rnic.setup_us=0"]
ON_ACKS = ["rnic.feedback=ack"]
# Marks come back by CNPs, as RNICs tell of them. Where hp3d reacts (dcqcn) the RNIC does not; it has 250 kB in
# flight, and DCQCN is that of the simulator's RNICs (preset conweave).
CNPS = ["rnic.feedback=cnp"]
REACTION_POINT = ["rnic.cc=none", "rnic.window_bytes=250000", "rnic.rto_us=67109", "cc.mode=dcqcn",
                  "cc.rpg_byte_reset=0", "cc.rpg_ai_rate=40", "cc.rpg_hai_rate=100", "cc.rpg_min_rate=100",
                  "cc.dce_tcp_g=1020", "cc.initial_alpha_value=1024"]
TRAINING, STORAGE = "config/training.ini", "config/storage.ini"
ROWS = [Row(lb, lb) for lb in ("ecmp", "letflow", "conga", "conweave", "flowbender", "plb", "hermes")]
ROWS += [Row("hopper, go back N", "hopper"), Row("hopper, IRN", "hopper", None, IRN),
         Row("ecmp, IRN", "ecmp", None, IRN)]
ROWS += [Row(f"{lb}, any order", lb, None, ANY_ORDER) for lb in ("rps", "ar", "drill")]
ROWS += [
    Row("hp3", "hp3"),
    Row("hp3, training", "hp3", TRAINING),
    Row("hp3, storage", "hp3", STORAGE),
    Row("hp3, training, cc = dcqcn", "hp3", TRAINING, REACTION_POINT),
    Row("hp3, identity = none", "hp3", None, ["ppp.identity=none"]),
    Row("hp3-ideal (nobody can run it)", "hp3-ideal"),
]
ROWS += [Row(f"{lb}, {what}", lb, None, settings)
         for what, settings in (("no time to set up", NO_WINDOW), ("marks on ACKs", ON_ACKS))
         for lb in ("ecmp", "conweave", "hp3")]

# Of a headline table: title, scenario, load, settings that make it smaller than the scenario is.
Column = namedtuple("Column", "title scenario load smaller", defaults=[[]])
# Head, columns, what `make test` repeats at --quick size (row, column), rows, whether all is of that
# size.
Table = namedtuple("Table", "head columns spot rows quick", defaults=[ROWS, False])


def at_80(scenario, duration_us=None):
    return Column(scenario, scenario, 80, [f"traffic.duration_us={duration_us}"] if duration_us else [])


ONE_ROUND = ["traffic.bytes=8000000", "traffic.repeat=1"]
PRESETS = "conweave", "connectx"
HEADLINE = {
    "traces": Table("slowdown at 80 %",
                    [at_80("alistorage", 3000), at_80("hadoop", 3000), at_80("websearch", 5000),
                     at_80("solar", 2000), at_80("googlerpc", 1000)], ("hp3", "solar")),
    "jobs": Table("JCT in ms; permutation: slowdown",
                  [Column("alltoall", "alltoall", 50, ONE_ROUND),
                   Column("allreduce", "allreduce", 50, ONE_ROUND),
                   Column("permutation", "permutation", 50)], ("hp3, training", "alltoall")),
    "faults": Table("slowdown", [Column("incast", "incast", 50),
                                 Column("link-failure", "link-failure", 40, ["traffic.duration_us=6000"])],
                    ("hp3", "incast")),
    "kept": Table("slowdown at 80 %", [at_80("storage", 3000)], ("hp3, storage", "storage")),
    "presets": Table("DCQCN's preset", [at_80("alistorage"), Column("alltoall", "alltoall", 50)],
                     ("hp3, connectx", "alltoall"),
                     [Row(f"{lb}, {preset}", lb, None, [f"rnic.preset={preset}"])
                      for preset in PRESETS for lb in ("ecmp", "conga", "conweave", "hp3")], True),
}

# Of the study of hp3's own parameters: at --quick sizes, ratios to ECMP.
WORKLOADS = ["alistorage", "allreduce", "alltoall", "hadoop", "permutation", "websearch"]
PARAMETER_SPOT = "permutation"
# Of what hp3d ships: when to act, and whom to ask.
COARSE = ["ppp.cycle_us", "ppp.congestion_tolerance", "ppp.ecn_fraction", "ppp.candidates",
          "ppp.rtt_factor", "rfr.max_hold_us"]
NATIVE = CNPS + ["hp3-ideal.rate_acts=off"]
DCQCN = NATIVE + REACTION_POINT
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
