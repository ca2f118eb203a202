# SPDX-License-Identifier: BSD-3-Clause
"""What is run for the study of docs/results, and which table shows what of it."""
from collections import namedtuple

OURS = "hp3", "hp3-beside", "hp3-ideal", "hp3-paper"

# What a row of a headline table is: title, balancer, settings.
Row = namedtuple("Row", "title lb settings", defaults=[[]])
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
MOVE = ["rfr.mode=move"]


def one_path(row):
    """The row with one path per queue pair at a time; other balancers, and rows that say what mode they have, stay."""
    if row.lb != "hp3" or any(s.startswith("rfr.mode=") for s in row.settings):
        return row
    return row._replace(title=row.title.replace("hp3", "hp3, one path", 1), settings=MOVE + row.settings)


ROWS = [Row(lb, lb) for lb in ("ecmp", "letflow", "conga", "conweave", "flowbender", "plb", "hermes")]
ROWS += [Row("hopper, go back N", "hopper"), Row("hopper, IRN", "hopper", IRN),
         Row("ecmp, IRN", "ecmp", IRN)]
ROWS += [Row(f"{lb}, any order", lb, ANY_ORDER) for lb in ("rps", "ar", "drill")]
ROWS += [
    Row("hp3", "hp3"),
    Row("hp3, cc = dcqcn", "hp3", REACTION_POINT),
    Row("hp3, identity = trace", "hp3", ["ppp.identity=trace"]),
    Row("hp3-ideal (nobody can run it)", "hp3-ideal"),
]
ROWS += [Row(f"{lb}, {what}", lb, settings)
         for what, settings in (("no time to set up", NO_WINDOW), ("marks on ACKs", ON_ACKS))
         for lb in ("ecmp", "conweave", "hp3")]
ROWS = [one_path(row) for row in ROWS]

# Of a headline table: title, scenario, load, settings that make it smaller than the scenario is.
Column = namedtuple("Column", "title scenario load smaller", defaults=[[]])
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
                     at_80("solar", 2000), at_80("googlerpc", 1000)], ("hp3, one path", "solar")),
    "jobs": Table("JCT in ms; permutation: slowdown",
                  [Column("alltoall", "alltoall", 50, ONE_ROUND),
                   Column("allreduce", "allreduce", 50, ONE_ROUND),
                   Column("permutation", "permutation", 50)], ("hp3, one path", "alltoall")),
    "faults": Table("slowdown", [Column("incast", "incast", 50),
                                 Column("link-failure", "link-failure", 40, ["traffic.duration_us=6000"])],
                    ("hp3, one path", "incast")),
    "kept": Table("slowdown at 80 %", [at_80("storage", 3000)], ("hp3, one path", "storage")),
    # Scenarios as they are built in.
    "full": Table("slowdown at 80 %; jobs: JCT in ms",
                  [whole("alistorage", 80, "20 ms"), whole("storage", 80, "10 ms"), whole("alltoall", 50, "64 MB"),
                   whole("allreduce", 50, "64 MB"), whole("solar", 80, "20 ms"), whole("hadoop", 80, "20 ms")],
                  ("hp3, one path", "alistorage, 20 ms"),
                  [row for row in ROWS
                   if row.title in ("ecmp", "conweave", "hp3, one path")]),
    "presets": Table("DCQCN's preset", [at_80("alistorage"), Column("alltoall", "alltoall", 50)],
                     ("hp3, one path, connectx", "alltoall"),
                     [one_path(Row(f"{lb}, {preset}", lb, [f"rnic.preset={preset}"]))
                      for preset in PRESETS for lb in ("ecmp", "conga", "conweave", "hp3")], True),
}
# What ships, beside the two rows that it is held against.
HEADLINE["default"] = Table("slowdown; jobs: JCT in ms",
                            [column for name in ("traces", "jobs", "faults", "kept") for column in HEADLINE[name].columns],
                            ("hp3", "permutation"),
                            [*[row for row in ROWS if row.title in ("ecmp", "conweave")], Row("hp3", "hp3"),
                             one_path(Row("hp3", "hp3"))])
# Each workload of the headline once.
WORKLOADS_OF_ALL = [table for name, table in HEADLINE.items() if not table.quick and name != "default"]

# Hosts that tell each other of long flows (cc.share), beside the same without it, and rivals.
SHARING = ["cc.share=on"]
SHARE = Table("slowdown; jobs: JCT in ms",
              [Column("permutation", "permutation", 50), *HEADLINE["jobs"].columns[:2],
               Column("websearch, 80 %", "websearch", 80, ["traffic.duration_us=5000"]),
               Column("websearch, 60 %", "websearch", 60, ["traffic.duration_us=5000"]),
               Column("hadoop, 80 %", "hadoop", 80, ["traffic.duration_us=3000"]),
               Column("alistorage, 80 %", "alistorage", 80, ["traffic.duration_us=2000"]),
               Column("alistorage, 40 %", "alistorage", 40, ["traffic.duration_us=2000"]),
               Column("solar, 80 %", "solar", 80, ["traffic.duration_us=1000"]),
               Column("incast", "incast", 50)], None,
              [Row("ecmp", "ecmp"), Row("conweave", "conweave"), Row("rps, any order", "rps", ANY_ORDER),
               Row("hp3", "hp3"), Row("hp3, share", "hp3", SHARING),
               Row("hp3, cc = dcqcn", "hp3", REACTION_POINT),
               Row("hp3, cc = dcqcn, share", "hp3", REACTION_POINT + SHARING)])

# The same with scenarios as they are built in.
SHARE_FULL = Table("slowdown; jobs: JCT in ms",
                   [whole("allreduce", 50, "64 MB"), whole("alltoall", 50, "64 MB"), whole("alistorage", 80, "20 ms"),
                    whole("hadoop", 80, "20 ms"), whole("websearch", 80, "50 ms")], None,
                   [row for row in SHARE.rows if row.title in ("conweave", "hp3", "hp3, cc = dcqcn, share")])

# hp3-fleet, a report and a plan every so often; a flow that moved is left alone for three of these.
def fleet(interval_us):
    return [f"fleet.interval_us={interval_us}", f"fleet.hold_us={3 * interval_us}", "fleet.moves=64", "fleet.link_known=on"]


FLEET = Table("slowdown; jobs: JCT in ms",
              [Column("permutation", "permutation", 50),
               Column("permutation, 100 MB", "permutation", 50, ["traffic.bytes=100000000"]),
               whole("allreduce", 50, "64 MB"),
               Column("allreduce, queue pairs that stay", "allreduce", 50, ["rnic.qps=kept"]),
               Column("websearch, 60 %", "websearch", 60), Column("websearch, 80 %", "websearch", 80)], None,
              [Row("conweave", "conweave"), Row("hp3-ideal (nobody can run it)", "hp3-ideal"), Row("hp3", "hp3"),
               *[Row(f"hp3, fleet {us // 1000} ms", "hp3", fleet(us)) for us in (1000, 10000, 100000)]])

# One queue pair on several paths. What sprays has packets of 1,024 bytes, a path MTU that there is; so have the rows beside it.
MTU = ["rnic.payload_bytes=1024"]
SPRAYED = ["rfr.mode=spray", *MTU]
SPRAY = Table("slowdown; allreduce: JCT in ms",
              [Column("permutation", "permutation", 50), whole("allreduce", 50, "64 MB"),
               Column("websearch, 80 %", "websearch", 80, ["traffic.duration_us=5000"]),
               Column("solar, 80 %", "solar", 80, ["traffic.duration_us=1000"]),
               Column("asymmetric, 30 %", "asymmetric", 30),
               Column("link-failure, 40 %", "link-failure", 40, ["traffic.duration_us=6000"]),
               Column("incast", "incast", 50)], None,
              [Row("ecmp", "ecmp"), Row("conweave", "conweave"), Row("hp3", "hp3"), Row("hp3, 1,024 bytes", "hp3", MTU),
               Row("hp3, rfr.mode = spray", "hp3", SPRAYED),
               Row("hp3, rfr.mode = auto", "hp3", ["rfr.mode=auto", *MTU]),
               Row("hp3, spray, 4 KB and more", "hp3", SPRAYED + ["rfr.spray_bytes=4096", "rfr.spray_alike=600"]),
               Row("hp3, cc.share, rfr.mode = spray", "hp3", SPRAYED + SHARING),
               Row("hp3-spray", "hp3-spray"), Row("hp3-spray, random", "hp3-spray", ["spray.policy=random"]),
               Row("stellar-obs, any order", "stellar-obs")])

# Tables of hosts that tell each other something.
SHARE, SHARE_FULL, FLEET, SPRAY = (table._replace(rows=[one_path(row) for row in table.rows])
                                   for table in (SHARE, SHARE_FULL, FLEET, SPRAY))
TOGETHER = {"share": SHARE, "share-full": SHARE_FULL, "fleet": FLEET, "spray": SPRAY}

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
VARIANTS = {row.title: row for row in map(one_path, [
    Row("ecmp", "ecmp"), Row("hp3", "hp3"), *[Row(f"hp3, {title}", "hp3", [key]) for title, key in KEYS],
    Row("hp3, cc = dcqcn", "hp3", REACTION_POINT),
    Row("RNICs' rates follow moves (hp3-ideal)", "hp3-ideal"),
    Row("hp3-ideal, but for that", "hp3-ideal", ["hp3-ideal.rate_acts=off"])])}
# A table of them: rows, of which the last one is repeated, and columns.
Study = namedtuple("Study", "variants workloads", defaults=[WORKLOADS])
RATES = ["RNICs' rates follow moves (hp3-ideal)", "hp3-ideal, but for that", "hp3, one path, a CNP sets off no search",
         "hp3, one path", "hp3, one path, cc = dcqcn"]
PARAMETERS = {
    "parameters": Study([f"hp3, one path, {title}" for title, _ in KEYS] + ["hp3, one path"]),
    "rates": Study(RATES, ["allreduce", "alltoall", "incast", "permutation"]),
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
