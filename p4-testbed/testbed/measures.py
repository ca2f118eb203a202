# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of a run, for reports and tests."""
import math
from collections import Counter

from .evidence import moves_of
from .load import INTERVAL_MS

TAILS = {"p50": 0.5, "p99": 0.99, "p999": 0.999}


def flows_of(scenario, result):
    """Names of the loads that request: flows, and ranks of rings."""
    return [n for n in result["reports"] if not n.endswith("-rx")]


def percentile(values, share):
    if not values:
        return None
    values = sorted(values)
    return values[min(len(values) - 1, int(share * len(values)))]


def mean(values):
    return sum(values) / len(values) if values else None


def intervals(scenario, result, name):
    """Whole intervals of the load's time: what drains at the end is no rate."""
    end = scenario["scenario"]["seconds"] + 0.02
    return [s for s in result["reports"][name]["series"] if s["to_s"] <= end and s["to_s"] - s["from_s"] > 0.05]


def between(scenario, result, name, begin, end):
    """Average goodput of a flow in a span of the scenario, Mb/s. A busy machine makes intervals of unequal length."""
    spans = [(s["tx_mbps"], s["to_s"] - s["from_s"]) for s in intervals(scenario, result, name)
             if begin <= s["from_s"] and s["to_s"] <= end]
    return sum(rate * width for rate, width in spans) / sum(width for _, width in spans) if spans else None


def times(result, name, begin=0.0):
    """Completion times in ms of the messages posted from a moment on."""
    return [f[1] / 1000 for f in result["reports"][name]["fct"] if f[0] / 1e6 >= begin]


def life(scenario, name):
    """Begin and end in seconds of what counts of a load: without the scenario's warm-up, nor that of its own."""
    s = scenario["scenario"]
    flow = scenario.get("flow." + name, {"start_ms": 0, "stop_ms": 0})
    return (flow["start_ms"] + s["warmup_ms"]) / 1000, flow["stop_ms"] / 1000 or s["seconds"]


def longest_wait(result, name, begin, end):
    """The longest time in ms in which no message of a load completed: (how long, since when), within a span of the
    scenario in seconds. What was under way at the end of the span counts up to its completion."""
    done = sorted((posted + took) / 1e6 for posted, took, _ in result["reports"][name]["fct"])
    done = [begin] + [t for t in done if t > begin]
    waits = [(1000 * (b - a), a) for a, b in zip(done, done[1:]) if a < end]
    return max(waits, default=(None, None))


def outages(scenario, result):
    """After a link was cut: for how long in ms each flow completed nothing, {link: {flow: ms}}."""
    cuts = [e for e in result["events"] if e["action"] in ("fail", "blackhole")]
    return {e["link"]: {n: longest_wait(result, n, e["t"] - 0.2, e["t"] + 0.5)[0] for n in flows_of(scenario, result)}
            for e in cuts}


def paused(scenario, result):
    """For how long in ms, on average over the loads, roce-gen was not let run: how much later than due its intervals
    ended. What the machine does beside."""
    names, end = flows_of(scenario, result), scenario["scenario"]["seconds"]
    late = [max(0.0, s["to_s"] - s["from_s"] - 1.05 * INTERVAL_MS / 1000) for n in names
            for s in result["reports"][n]["series"] if s["from_s"] < end]
    return 1000 * sum(late) / len(names)


def hp3d_dropped(result):
    """{reason: packets} that hp3d dropped, all hosts together."""
    counts = Counter()
    for stats in result["counters"].values():
        counts.update({k: n for k, n in stats.items() if k.startswith("drop_") and n})
    return dict(counts)


def row_of(scenario, result):
    """The numbers of a mode that the tables show."""
    names, seconds = flows_of(scenario, result), scenario["scenario"]["seconds"]
    first = min([m["t"] for m in moves_of(result)], default=None)
    last = max([m["t"] for m in moves_of(result)], default=None)
    settled = last + 1 if last is not None and last + 2 <= seconds else None
    fct = [t for n in names for t in times(result, n)]
    ce, ect = (sum(r["sum"][key] for r in result["reports"].values()) for key in ("ce", "ect"))  # of READs, the requester gets the data
    rtts = [result["reports"][n]["rtt_us"] for n in names]
    rtts = [r for r in rtts if r["p50"] > 0]
    return {
        "goodput": {n: between(scenario, result, n, *life(scenario, n)) for n in names},
        "before": {n: between(scenario, result, n, life(scenario, n)[0], first) for n in names} if first is not None else None,
        "after": {n: between(scenario, result, n, settled, seconds) for n in names} if settled is not None else None,
        "fct": {"n": len(fct), "mean": mean(fct), **{k: percentile(fct, p) for k, p in TAILS.items()}},
        "longest_wait_ms": {n: longest_wait(result, n, *life(scenario, n))[0] for n in names},
        "outage_ms": outages(scenario, result),
        "rtt_p50": mean([r["p50"] / 1000 for r in rtts]),
        "rtt_p99": max([r["p99"] / 1000 for r in rtts], default=None),
        "ce_share": ce / ect if ect else 0.0,
        "out_of_seq": sum(r["sum"]["out_of_seq_request"] for r in result["reports"].values()),
        "overtaken": sum(r["sum"]["overtaken"] for r in result["reports"].values()),
        "disordered": sum(r["sum"]["overtaken_across_ports"] + r["sum"]["late_duplicates"] for r in result["reports"].values()),
        "retransmissions": sum(r["sum"]["retransmissions"] for r in result["reports"].values()),
        "wrong_content": sum(r["content"]["wrong"] for r in result["reports"].values()),
        "open": sum(r["messages"]["open"] for r in result["reports"].values()),
        "fabric_drops": sum(sum(lane["drops"].values()) for lane in result["fabric"]["lanes"]),
        "pauses": sum(lane["pauses"] for lane in result["fabric"]["lanes"]),
        "kernel_lost": sum(r["port"]["kernel_lost"] for r in result["reports"].values()) + sum(result["kernel_lost"].values()),
        "hp3d_dropped": hp3d_dropped(result),
        "moves": len(moves_of(result)),
        "first_move_s": first,
        "paused_ms": paused(scenario, result),
        "would": sum(e["type"] == "would" for e in result["decisions"]),
        **{k: sum(c[k] for c in result["counters"].values()) for k in ("severe", "rounds", "probes", "paid_off", "wasted")},
    }


def may_overtake(result):
    """How many packets of a load may overtake others of their port: none, but a window's worth where routes changed under
    way. Then the switches hash all flows anew, and what was under way is overtaken by what follows, whatever hosts do.
    Where a link reorders, it says how many."""
    if any(e.get("reorder_ppm") for e in result["events"]):
        return math.inf
    changed = any(e["action"] in ("fail", "restore") and e.get("reroute_ms", -1) >= 0 for e in result["events"])
    return 128 if changed else 0


def failures(results):
    """What may never be, in any mode."""
    wrong = []
    for result in results:
        for name, r in result["reports"].items():
            if r["content"]["wrong"] or r["content"]["wrong_read_packets"]:
                wrong.append(f"mode {result['mode']}: {name}: content that was not sent")
            if r["sum"]["overtaken_across_ports"] or r["sum"]["late_duplicates"]:
                wrong.append(f"mode {result['mode']}: {name}: hp3d let {r['sum']['overtaken_across_ports']} packets and "
                             f"{r['sum']['late_duplicates']} repeated ones come behind later ones from another port")
            if r["sum"]["overtaken"] > may_overtake(result):
                wrong.append(f"mode {result['mode']}: {name}: {r['sum']['overtaken']} packets overtook others")
    return wrong
