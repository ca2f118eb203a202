# SPDX-License-Identifier: BSD-3-Clause
"""The runs for the study of docs/results, and their tables."""
from collections import namedtuple

OURS = "hp3", "hp3-verbs", "hp3-ideal", "hp3-paper"

# What a row of a headline table is: title, balancer, settings; titles of its columns (None: all).
Row = namedtuple("Row", "title lb settings only", defaults=[[], None])
# Of rivals: what their papers assume of RNICs. IRN is for fabrics without PFC.
IRN = ["rnic.recovery=irn", "fabric.pfc=off"]
ANY_ORDER = ["rnic.recovery=unordered"]
NO_WINDOW = ["rnic.setup_us=0"]
ON_ACKS = ["rnic.feedback=ack"]
# Marks come back by CNPs, as RNICs tell of them.
CNPS = ["rnic.feedback=cnp"]
MOVE = ["rfr.mode=move"]


HP3 = Row("hp3", "hp3")
ONE_PATH = Row("hp3, one path", "hp3", MOVE)
# First in each table: what ships is held against these two, and against one path per queue pair.
FIRST = [Row("ecmp", "ecmp"), Row("conweave", "conweave"), HP3, ONE_PATH]

RIVALS = [Row(lb, lb) for lb in ("letflow", "conga", "flowbender", "plb", "hermes")]
RIVALS += [Row("hopper, go back N", "hopper"), Row("hopper, IRN", "hopper", IRN), Row("ecmp, IRN", "ecmp", IRN)]
RIVALS += [Row(f"{lb}, any order", lb, ANY_ORDER) for lb in ("rps", "ar", "drill")]
OTHER_RNICS = [Row(f"{lb}, {what}", lb, settings)
               for what, settings in (("no time to set up", NO_WINDOW), ("marks on ACKs", ON_ACKS))
               for lb in ("ecmp", "conweave", "hp3")]
ROWS = FIRST + RIVALS + OTHER_RNICS

# Of a headline table: title, scenario, load, settings that make it smaller than the scenario is.
Column = namedtuple("Column", "title scenario load smaller", defaults=[[]])

def can(row, column):
    """False: the row has no cell in this column. ConWeave decides in leaf switches, and hosts of rails have links to several."""
    rails = column.scenario == "rail" or "fabric.kind=rail" in column.smaller
    return not (rails and row.lb == "conweave") and (row.only is None or column.title in row.only)


# Head, columns, what `make test` repeats at --quick size (row, column), rows, whether all is of that
# size.
Table = namedtuple("Table", "head columns spot rows quick", defaults=[ROWS, False])


def at_80(scenario, duration_us=None):
    return Column(scenario, scenario, 80, [f"traffic.duration_us={duration_us}"] if duration_us else [])


def whole(scenario, load, size):
    return Column(f"{scenario}, {size}", scenario, load)


ONE_ROUND = ["traffic.bytes=8000000", "traffic.repeat=1"]
PRESETS = "conweave", "connectx"
HEADLINE = {
    "traces": Table("slowdown at 80 %",
                    [at_80("alistorage", 3000), at_80("hadoop", 3000), at_80("websearch", 5000),
                     at_80("solar", 2000), at_80("googlerpc", 1000)], ("hp3", "solar")),
    "jobs": Table("completion time in ms; permutation: slowdown",
                  [Column("alltoall", "alltoall", 50, ONE_ROUND),
                   Column("allreduce", "allreduce", 50, ONE_ROUND),
                   Column("permutation", "permutation", 50)], ("hp3", "alltoall")),
    "faults": Table("slowdown", [Column("incast", "incast", 50),
                                 Column("link-failure", "link-failure", 40, ["traffic.duration_us=6000"])],
                    ("hp3", "incast")),
    "kept": Table("slowdown at 80 %", [at_80("storage", 3000)], ("hp3", "storage")),
    # Scenarios as they are built in.
    "full": Table("slowdown at 80 %; jobs: completion time in ms",
                  [whole("alistorage", 80, "20 ms"), whole("storage", 80, "10 ms"), whole("alltoall", 50, "64 MB"),
                   whole("allreduce", 50, "64 MB"), Column("rail", "rail", 50), Column("bursty", "bursty", 50),
                   whole("solar", 80, "20 ms"), whole("hadoop", 80, "20 ms"), whole("websearch", 80, "50 ms")],
                  ("hp3", "alistorage, 20 ms"), FIRST),
    "presets": Table("DCQCN's preset", [at_80("alistorage"), Column("alltoall", "alltoall", 50)],
                     ("hp3, connectx", "alltoall"),
                     [Row(f"{row.title}, {preset}", row.lb, [f"rnic.preset={preset}", *row.settings])
                      for preset in PRESETS for row in FIRST], True),
}
# All columns, and the first rows.
HEADLINE["default"] = Table("slowdown; jobs: completion time in ms",
                            [column for name in ("traces", "jobs", "faults", "kept") for column in HEADLINE[name].columns],
                            ("hp3", "permutation"), FIRST)
# Each workload of the headline once.
WORKLOADS_OF_ALL = [table for name, table in HEADLINE.items() if not table.quick and name != "default"]

# hp3-fleet, a report and a plan every so often; a flow that moved is left alone for three of these.
def fleet(interval_us):
    return [f"fleet.interval_us={interval_us}", f"fleet.hold_us={3 * interval_us}", "fleet.moves=64", "fleet.link_known=on"]


FLEET = Table("slowdown; jobs: completion time in ms",
              [Column("permutation", "permutation", 50),
               Column("permutation, 100 MB", "permutation", 50, ["traffic.bytes=100000000"]),
               whole("allreduce", 50, "64 MB"),
               Column("allreduce, queue pairs that stay", "allreduce", 50, ["rnic.qps=kept"]),
               Column("websearch, 60 %", "websearch", 60)], None,
              [*FIRST, Row("hp3-ideal (nobody can run it)", "hp3-ideal"),
               *[Row(f"hp3, one path, fleet {us // 1000} ms", "hp3", MOVE + fleet(us)) for us in (1000, 10000)]])

# One queue pair on several paths.
SPRAY = Table("slowdown; jobs: completion time in ms",
              [Column("permutation", "permutation", 50), whole("allreduce", 50, "64 MB"),
               at_80("websearch", 5000), at_80("solar", 2000),
               Column("asymmetric, 30 %", "asymmetric", 30),
               Column("link-failure", "link-failure", 40, ["traffic.duration_us=6000"]),
               Column("incast", "incast", 50)], None,
              [*FIRST, Row("hp3, rfr.mode = spray", "hp3", ["rfr.mode=spray"]),
               Row("hp3, spray, 4 KB and more", "hp3", ["rfr.mode=spray", "rfr.spray_bytes=4096", "rfr.spray_alike=600"]),
               Row("stellar-obs, any order", "stellar-obs")])

# Verbs mode; the application keeps 64 work requests outstanding.
POSTED = ["hp3-verbs.wr_depth=64"]
VERBS = Table("slowdown; jobs: completion time in ms",
               [at_80("alistorage", 3000), at_80("websearch", 5000), Column("allreduce", "allreduce", 50, ONE_ROUND),
                Column("permutation", "permutation", 50)], None,
               [*FIRST, Row("hp3-verbs", "hp3-verbs", POSTED),
                Row("hp3-verbs, mode = off", "hp3-verbs", ["policy.mode=off", *POSTED]),
                Row("hp3-verbs, wait_us = 0", "hp3-verbs", ["hp3-verbs.wait_us=0", *POSTED])])

# Messages that a library splits over several queue pairs.
HP3X = Table("slowdown; jobs: completion time in ms",
             [Column("permutation", "permutation", 50), whole("allreduce", 50, "64 MB"),
              Column("alltoall", "alltoall", 50, ONE_ROUND), at_80("alistorage", 3000), at_80("storage", 3000),
              at_80("solar", 2000), Column("incast", "incast", 50),
              Column("link-failure", "link-failure", 40, ["traffic.duration_us=6000"]),
              Column("asymmetric, 30 %", "asymmetric", 30)], None,
             [Row("ecmp", "ecmp"), Row("conweave", "conweave"), HP3, Row("stellar-obs, any order", "stellar-obs"),
              Row("hp3x", "hp3x"), Row("hp3x, slices of 16 KiB", "hp3x", ["xfer.slice_bytes=16384"]),
              Row("hp3x, slices of 64 KiB", "hp3x", ["xfer.slice_bytes=65536"]),
              Row("hp3x, 4 paths", "hp3x", ["xfer.paths=4"]), Row("hp3x, 1 path", "hp3x", ["xfer.paths=1"]),
              Row("hp3x, windows of paths only", "hp3x", ["xfer.pair_window=off"])])

# Hosts with two RNICs, each with a fabric of its own; the second one may be slower than the first one.
TWO_RAILS = ["fabric.kind=rail", "fabric.rails=1", "fabric.planes=2", "fabric.segments=8", "fabric.servers=16"]
RAILS = [Column("alltoall, two rails", "alltoall", 50, ONE_ROUND + TWO_RAILS),
         Column("allreduce, two rails", "allreduce", 50, ONE_ROUND + TWO_RAILS),
         Column("kvcache, two rails", "kvcache", 50, TWO_RAILS + ["traffic.layer_us=200"]),
         Column("kvcache, unequal rails", "kvcache", 50, TWO_RAILS + ["fabric.last_plane_percent=50", "traffic.layer_us=267"])]
KVCACHE = [Column("kvcache", "kvcache", 50), Column("kvcache, random pairs", "kvcache", 50, ["traffic.pairing=random", "traffic.repeat=2"])]
ALL_KVCACHE = [column.title for column in KVCACHE + RAILS if column.scenario == "kvcache"]
PER_MESSAGE = ["rnic.qps=fresh"]
HP3X_RAILS = Table("completion time in ms", KVCACHE + RAILS, None,
                   [Row("ecmp", "ecmp"), Row("ecmp, a queue pair per message", "ecmp", PER_MESSAGE, ALL_KVCACHE),
                    Row("conweave", "conweave"), HP3, Row("hp3, a queue pair per message", "hp3", PER_MESSAGE, ALL_KVCACHE),
                    Row("stellar-obs, any order", "stellar-obs"), Row("hp3x", "hp3x"),
                    Row("hp3x, slices of 64 KiB", "hp3x", ["xfer.slice_bytes=65536"]),
                    Row("hp3x, 4 paths", "hp3x", ["xfer.paths=4"]), Row("hp3x, 1 path", "hp3x", ["xfer.paths=1"]),
                    Row("hp3x, one rail", "hp3x", ["xfer.rails=1"], [column.title for column in RAILS])])

# Tables of a page.
TOGETHER = {"fleet": [FLEET], "hp3x": [HP3X, HP3X_RAILS], "spray": [SPRAY], "verbs": [VERBS]}

# Of the studies of what ships: at --quick sizes, ratios to ECMP, one key at a time.
WORKLOADS = ["alistorage", "allreduce", "alltoall", "hadoop", "permutation", "websearch"]
PARAMETER_SPOT = "permutation"
KEYS = [("tolerance 1", "ppp.congestion_tolerance=1"), ("tolerance 3", "ppp.congestion_tolerance=3"),
        ("cycle 20 us", "ppp.cycle_us=20"), ("5 % marks", "ppp.ecn_fraction=5"), ("2 candidates", "ppp.candidates=2"),
        ("4 candidates", "ppp.candidates=4"), ("6 candidates", "ppp.candidates=6"), ("improve 95", "ppp.improve=95"),
        ("1 round at set-up", "ppp.setup_rounds=1"), ("known for 1 ms", "ppp.path_fresh_us=1000"),
        ("known for 200 ms", "ppp.path_fresh_us=200000"), ("no wait", "rfr.move_wait_us=0"),
        ("wait up to 2 ms", "rfr.move_wait_us=2000"), ("cool-down 100 us", "rfr.cooldown_us=100"),
        ("cool-down 10 ms", "rfr.cooldown_us=10000"), ("hold bound 200 us", "rfr.max_hold_us=200"),
        ("a CNP sets off no search", "cc.withhold=0"), ("no CNP waits", "cc.withhold=1"),
        ("CNPs wait for one round trip", "cc.withhold=100"), ("CNPs wait for three", "cc.withhold=300")]
VARIANTS = {row.title: row for row in [
    *FIRST, *[Row(f"hp3, {title}", "hp3", [key]) for title, key in KEYS]]}
# A table of them: rows, of which the last one is repeated, and columns.
Study = namedtuple("Study", "variants workloads", defaults=[WORKLOADS])
PARAMETERS = {"parameters": Study([*[f"hp3, {title}" for title, _ in KEYS], "hp3, one path", "hp3"])}

# On the trace of tests/data/sim: title, balancer, settings.
TRACES = {
    "ns3": [("ECMP", "ecmp", []), ("LetFlow", "letflow", []), ("CONGA", "conga", []),
            ("ConWeave", "conweave", [])],
}
