# SPDX-License-Identifier: BSD-3-Clause
"""Results of runs that never took place, for tests of reports: two flows, a from the beginning on, b from 3 s on."""
SCENARIO = {"scenario": {"seconds": 12, "warmup_ms": 500, "seed": 7}, "flow.a": {"start_ms": 0, "stop_ms": 0},
            "flow.b": {"start_ms": 3000, "stop_ms": 0}}
COUNTED = dict.fromkeys(("ce", "ect", "out_of_seq_request", "overtaken", "overtaken_across_ports", "late_duplicates", "retransmissions"), 0)


def flow(begin, rate_at):
    series = [{"from_s": t / 10, "to_s": (t + 1) / 10, "tx_mbps": rate_at(t / 10)} for t in range(begin * 10, 120)]
    return {"series": series, "fct": [[t * 100000, 50000, 65536] for t in range(begin * 10, 120)], "rtt_us": {"p50": 3000, "p99": 9000},
            "sum": dict(COUNTED), "content": {"wrong": 0, "wrong_read_packets": 0}, "messages": {"open": 0}, "port": {"kernel_lost": 0}}


def result(mode, moves, rate_at):
    kinds = ("severe", "rounds", "probes", "paid_off", "wasted")
    return {"mode": mode, "reports": {"a": flow(0, rate_at), "b": flow(3, rate_at)}, "events": [], "fabric": {"lanes": []}, "kernel_lost": {},
            "decisions": [{"type": "switch", "t": t, "name": name, "flow": name, "cause": "cnp"} for t, name in moves],
            "counters": {"h1": dict.fromkeys(kinds, 0)}}


def alone(t):
    """Two flows meet at 3 s on a link of 45.4 Mb/s: what each of them gets."""
    return 45.4 if t < 3 else 22.7


def parted(moved_s, rate=45.25):
    """They meet, and one of them leaves at `moved_s`: both have `rate` half a second later."""
    return lambda t: alone(t) if t < moved_s + 0.5 else rate
