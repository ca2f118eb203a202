# SPDX-License-Identifier: BSD-3-Clause
"""Goodput before flows met, while they shared a path, and after the moves; what each move brought.

A page has one definition of goodput: acknowledged payload, of all flows together, averaged over a span. A move is
judged by the span between the meeting and the move, not by the time before: a flow that was alone had a whole link.
"""
import math

from .evidence import moves_of
from .measures import between, flows_of

SETTLED_S = 1.0  # from a move until congestion control has reacted, unless the scenario has another time
SHORTEST_S = 0.5  # a shorter span has no average
BETTER, WORSE = 1.1, 0.9  # goodput after a move, divided by goodput before it


def settled_s(scenario):
    return scenario["scenario"].get("settled_s", SETTLED_S)


def life(scenario, name):
    """When a load begins and ends, seconds."""
    flow = scenario.get("flow." + name, {"start_ms": 0, "stop_ms": 0})
    return flow["start_ms"] / 1000, flow["stop_ms"] / 1000 or scenario["scenario"]["seconds"]


def together(scenario, result, begin, end):
    """Goodput of the loads that run in a span, Mb/s. None: the span has no whole interval of one of them."""
    lives = {n: life(scenario, n) for n in flows_of(scenario, result)}
    rates = [between(scenario, result, n, max(begin, first), min(end, last)) for n, (first, last) in lives.items() if first < end and last > begin]
    return None if not rates or None in rates else sum(rates)


def chosen(results):
    """The last mode that may move flows, else the last one; and mode off, if it is another one."""
    result = next((r for r in reversed(results) if r["mode"] in ("on", "manual")), results[-1])
    off = next((r for r in results if r["mode"] == "off" and r is not result), None)
    return result, off


def meeting(scenario, results):
    """(second, what happened then): the last change before the first move, a load that began or a link that changed.
    (0, None): all began together."""
    result = chosen(results)[0]
    first = min((m["t"] for m in moves_of(result)), default=math.inf)
    changes = [(life(scenario, n)[0], f"flow {n} began") for n in flows_of(scenario, result) if life(scenario, n)[0] > 0]
    changes += [(e["t"], f"link {e['link']} changed ({e['action']})") for e in result["events"] if e.get("link")]
    return max([c for c in changes if c[0] < first], default=(0.0, None))


def spans(scenario, result, met_s):
    """{"before", "met", "after": (begin, end)} in seconds, also of spans that are too short for an average."""
    s, times = scenario["scenario"], [m["t"] for m in moves_of(result)]
    warm = s["warmup_ms"] / 1000
    found = {"met": (max(met_s, warm), min(times, default=s["seconds"]))}
    if met_s > warm:
        found = {"before": (warm, met_s), **found}
    if times:
        found["after"] = (max(times) + settled_s(scenario), s["seconds"])
    return found


def average(scenario, result, span):
    """Goodput of all loads in a span; None: there is none, or it is too short."""
    return together(scenario, result, *span) if span and span[1] - span[0] >= SHORTEST_S else None


def goodputs(scenario, result, met_s):
    """{"before", "met", "after": Mb/s or None}."""
    found = spans(scenario, result, met_s)
    return {n: average(scenario, result, found.get(n)) for n in ("before", "met", "after")}


def met_rate(scenario, results, result):
    """(Mb/s, whose): goodput from the meeting to the first move. If the move came too soon for an average: that of mode off."""
    met_s, off = meeting(scenario, results)[0], chosen(results)[1]
    for r, whose in ((result, ""), (off, "hp3 off")):
        rate = goodputs(scenario, r, met_s)["met"] if r else None
        if rate is not None:
            return rate, whose
    return None, ""


def judge_move(scenario, results, result, number):
    """What a move brought: (better, worse, same or None; text). `number`: of moves_of(result), which are in order of time."""
    moves, end = moves_of(result), scenario["scenario"]["seconds"]
    at = moves[number]["t"]
    until = moves[number + 1]["t"] if number + 1 < len(moves) else end
    if number == 0:
        was, whose = met_rate(scenario, results, result)
    else:
        was, whose = average(scenario, result, (moves[number - 1]["t"] + settled_s(scenario), at)), ""
    now = average(scenario, result, (at + settled_s(scenario), until))
    if now is None:
        return None, f"not judged: {'the next move' if until < end else 'the end'} came {until - at:.1f} s later"
    if was is None:
        return None, f"not judged: the move came too soon; {now:.1f} Mb/s afterwards"
    word = "better" if now >= BETTER * was else "worse" if now <= WORSE * was else "same"
    return word, f"{word}: {was:.1f}{f' ({whose})' if whose else ''} to {now:.1f} Mb/s"


def judged(scenario, results, result):
    """Numbers of moves that made goodput better, and worse."""
    words = [judge_move(scenario, results, result, i)[0] for i in range(len(moves_of(result)))]
    return words.count("better"), words.count("worse")
