# SPDX-License-Identifier: BSD-3-Clause
"""micro-collision with real RNIC stacks: two connections of perftest between Soft-RoCE guests of the lab.

../demo-rxe boots the guests, starts hp3d and perftest, and calls this:
    record  one mode: records counters of the fabric and events of hp3d
    page    the report of all modes: page, figures and numbers as of hp3-testbed run

The last leaf's flow counters give the bytes that arrive of a connection; the fabric and hp3d give the rest. perftest
has no completion times of single messages; their mean is bytes in flight / rate (Little's law).
"""
import argparse
import html
import json
import os
import sys
import threading
import time

from . import bed as beds
from . import evidence, measures, report, spans, tools, verdict
from .tools import Problem

SAMPLE_S = 0.2
SIZE, MTU, DEPTH = 8192, 1024, 2  # of a message; messages of a connection in flight
FRAMES = SIZE / (SIZE // MTU * (MTU + 58) + 16)  # payload's share of what switches count
NAMES = ("a", "b")
RTT_S = 1.0
SETTLED_S = 3  # after a move: emulated guests react late
CLOCK_ASKS = 4
COUNTERS = (("rcvd_pkts", "packets received"), ("out_of_seq_request", "out-of-sequence requests"),
            ("duplicate_request", "duplicate requests"), ("rcvd_seq_err", "NAKs for a PSN"),
            ("completer_retry_err", "retries of the timer"))


class Guest:
    """hp3ctl in guest 1."""

    def __init__(self, lab, build):
        self.words = [os.path.join(tools.REPO, "tests", "lab", "lab"), "--name", lab, "exec", "1", "--timeout", "60", "--",
                      os.path.join(build, "app", "hp3ctl", "hp3ctl"), "--json"]

    def ask(self, *words):
        out = tools.run(self.words + list(words))
        return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


class RoundTrips(threading.Thread):
    """hp3d's smoothed RTT of each flow, as often as a guest answers."""

    def __init__(self, guest, flows):
        super().__init__(daemon=True)
        self.guest, self.flows, self.latest, self.stop = guest, flows, {}, threading.Event()

    def run(self):
        while not self.stop.wait(RTT_S):
            try:
                for f in self.guest.ask("flows"):
                    name = next((n for n, w in self.flows.items() if w["flow"] == f["flow"]), None)
                    if name and f["path"]["rtt_ns"]:
                        self.latest[name] = f["path"]["rtt_ns"] / 1e6
            except Problem as e:
                print(f"demo: round trips: {e}", file=sys.stderr)


class Watch:
    """What the fabric counts: rows for the figures, and what arrived over each source port."""

    def __init__(self, bed):
        self.control, self.rows, self.last = bed.fabric(), [], None
        self.counted = []  # (seconds, fabric's clock, {index: bytes}) of the last leaf's flow counters

    def index_of(self, port):
        return self.control.ask("path", src="h1", dst="h2", sport=port)["flows"][-1]

    def take(self, now, rtt):
        data = self.control.ask("stats", flows="l2")
        self.counted.append((now, data["t_ns"], {f["index"]: f["bytes"] for f in data.pop("flows")}))
        lanes = {f"{x['from']}>{x['to']}": x for x in data["lanes"]}
        total = {s["name"]: (sum(s["port_ce_packets"]), sum(s["port_tx_packets"])) for s in data["switches"]}
        if self.last is not None:
            t0, lanes0, total0 = self.last
            dt = (data["t_ns"] - t0) / 1e9
            self.rows.append({
                "t": now, "mbps": {n: (x["bytes"] - lanes0[n]) * 8e-6 / dt for n, x in lanes.items()},
                "queue": {n: x["peak"] for n, x in lanes.items()}, "marks": {n: v[0] - total0[n][0] for n, v in total.items()},
                "packets": {n: v[1] - total0[n][1] for n, v in total.items()}, "rtt_ms": dict(rtt)})
        self.last = (data["t_ns"], {n: x["bytes"] for n, x in lanes.items()}, total)
        return data

    def series(self, ports):
        """Goodput of a flow that used these ports."""
        index, found = {self.index_of(p) for p in ports}, []
        for (t0, clock0, before), (t1, clock1, after) in zip(self.counted, self.counted[1:]):
            got = sum(after.get(i, 0) - before.get(i, 0) for i in index)
            found.append({"from_s": t0, "to_s": t1, "tx_mbps": got * 8e3 / (clock1 - clock0) * FRAMES})
        return found


def decisions_of(guest, begin, flows):
    """hp3d's events of flows since `begin` (Unix time), on the run's clock."""
    asked = []
    for _ in range(CLOCK_ASKS):
        before = time.time()
        clock = guest.ask("health")[0]["t_ns"] / 1e9
        asked.append((time.time() - before, clock + begin - (before + time.time()) / 2))
    zero = min(asked)[1]  # of the quickest answer
    names = {w["flow"]: n for n, w in flows.items()}
    return [{"host": "h1", "t": e["t_ns"] / 1e9 - zero, "name": names.get(e["flow"]), **e} for e in guest.ask("events")
            if "flow" in e and e["t_ns"] / 1e9 > zero]


def ports(a):
    """A source port over each of the spines named, one a line, no port twice."""
    control = beds.Bed(a.bed, os.path.realpath(a.build)).fabric()
    for i, spine in enumerate(a.spines):
        for port in range(50000 + 200 * i, 50200 + 200 * i):
            if control.ask("path", src="h1", dst="h2", sport=port)["path"][1] == spine:
                print(port)
                break
    return 0


def record(a):
    bed = beds.Bed(a.bed, os.path.realpath(a.build))
    flows = {n: {"flow": w.split("=")[0], "port": int(w.split("=")[1])} for n, w in zip(NAMES, a.flow)}
    guest, events = Guest(a.lab, bed.build), []
    watch, rtt = Watch(bed), RoundTrips(guest, flows)
    rtt.start()
    begin = following = time.time()
    first = watch.take(0.0, {})
    while time.time() < begin + a.seconds:
        now = time.time() - begin
        if not events and os.path.exists(a.watches):
            events.append({"t": now, "action": "hp3d watches"})
        last = watch.take(now, rtt.latest)
        following += SAMPLE_S
        time.sleep(max(following - time.time(), 0))
    rtt.stop.set()
    rtt.join()
    decisions = decisions_of(guest, begin, flows)
    moves = evidence.moves_of({"decisions": decisions})
    ports_of = {n: {w["port"], *(m["to"] for m in moves if m["name"] == n)} for n, w in flows.items()}
    with open(a.out, "w", encoding="utf-8") as f:
        json.dump({"mode": a.mode, "ports": {n: w["port"] for n, w in flows.items()}, "events": events, "samples": watch.rows,
                   "reports": {n: {"series": watch.series(p), "fct": []} for n, p in ports_of.items()},
                   "decisions": decisions, "fabric_before": first, "fabric": last}, f)


def drops(data):
    return sum(sum(lane["drops"].values()) for lane in data["lanes"])


def spans_of(scenario, result):
    """[(name, begin, end)]: before the first and after the last move, or all of it."""
    found = spans.spans(scenario, result, 0)
    return [(name, *found[name]) for name in ("met", "after") if name in found and found[name][1] - found[name][0] >= spans.SHORTEST_S]


def rate(scenario, result, name, begin, end):
    return measures.between(scenario, result, name, begin, end) or 0.0


def tables(scenario, results):
    columns = [(f"hp3 {r['mode']}: {what}", r, b, e) for r in results for what, b, e in spans_of(scenario, r)]

    def each(value):
        return [value(r, b, e) for _, r, b, e in columns]

    def completion(r, b, e):
        rates = [rate(scenario, r, n, b, e) for n in NAMES]
        return evidence.number(measures.mean([DEPTH * SIZE * 8e-3 / x for x in rates if x > 0]))

    def round_trip(r, b, e):
        return evidence.number(measures.mean([v for x in r["samples"] if b <= x["t"] <= e for v in x["rtt_ms"].values()]))

    def marked(r, b, e):
        rows = [x for x in r["samples"] if b <= x["t"] <= e]
        sent = sum(sum(x["packets"].values()) for x in rows)
        return f"{100 * sum(sum(x['marks'].values()) for x in rows) / sent if sent else 0:.2f} %"

    lines = [[f"Goodput of {n}, Mb/s", *each(lambda r, b, e, n=n: evidence.number(rate(scenario, r, n, b, e), digits=2))] for n in NAMES]
    lines += [["Mean completion of a message (8 KiB, two in flight), ms", *each(completion)],
              ["Round trip, as hp3d smooths it, ms", *each(round_trip)], ["Packets marked CE, over all hops", *each(marked)]]
    return evidence.table([""] + [c[0] for c in columns], lines)


def rnic_table(results):
    head = ["Counted by the RNIC (Linux rxe)"] + [f"hp3 {r['mode']}: guest {g}" for r in results for g in ("1", "2")]
    rows = [[text, *[f"{r['rnic'][g][key]:,}" for r in results for g in ("1", "2")]] for key, text in COUNTERS]
    return evidence.table(head, rows)


def page(a):
    results = []
    for mode in a.modes.split(","):
        with open(os.path.join(a.work, mode + ".json"), encoding="utf-8") as f:
            results.append(json.load(f))
        with open(os.path.join(a.work, mode + ".rnic.json"), encoding="utf-8") as f:
            results[-1]["rnic"] = json.load(f)
        with open(os.path.join(a.work, mode + ".perftest.json"), encoding="utf-8") as f:
            results[-1]["perftest"] = json.load(f)
    plan = json.loads(tools.run([tools.binary(os.path.realpath(a.build), "hp3-fabric"), "plan", a.topology]))
    fabric_only = {**plan, "links": [link for link in plan["links"] if not link["host"]]}
    scenario = {"scenario": {
        "title": "Two connections of real RNIC stacks on one spine", "seconds": a.seconds, "seed": plan["seed"], "warmup_ms": 500, "settled_s": SETTLED_S,
        "text": "Two virtual machines with Linux Soft-RoCE, hp3d between each RNIC and the P4 fabric, perftest (RDMA WRITE) on top. "
                "Both connections are on spine s1, so each gets half a link.",
        "text_on": "hp3d begins to watch after a third of the time, detects the congestion, and moves a connection."}}
    s, parts = scenario["scenario"], []
    parts.append(f"<h1>{html.escape(s['title'])}</h1><p class=lead>{html.escape(report.lead(scenario, results))}</p>"
                 f"<p class=verdict>{html.escape(sentence(scenario, results))}</p>" + tables(scenario, results))
    parts.append("<small>Met: both connections are on one spine, until the first move, or the end. After: from three seconds after the "
                 "last move. Payload only, as it arrives at the receiver's leaf; retransmissions count.</small><h2>The RNICs' own word</h2>" + rnic_table(results))
    parts.append("<h2>Figures</h2>")
    os.makedirs(a.out, exist_ok=True)
    for name, figure in report.figures(scenario, fabric_only, results):
        if name == "fct":
            continue
        parts.append(figure.write(os.path.join(a.out, f"{a.stem}-{name}"), name))
    for r in results:
        if evidence.moves_of(r):
            parts.append(f"<h2>Moves, as hp3d tells them (mode {r['mode']})</h2>" + evidence.move_table(r, [spans.judge_move(scenario, results, r, i)[1] for i in range(len(evidence.moves_of(r)))]))
    parts.append("<h2>How it was made</h2>" + verdict.origin(a.made_by) + report.setup(plan, s, (
        "Hosts: Debian's kernel with Soft-RoCE and perftest (8 KiB RDMA WRITE, MTU 1024, two in flight on each of two queue "
        "pairs) in emulated virtual machines, hp3d in each of them. ECMP's choice of one spine for both connections is "
        "imitated by two moves before the clock starts, in each mode alike.")))
    path = os.path.join(a.out, a.stem + ".html")
    with open(path, "w", encoding="utf-8") as f:
        f.write(tools.plain(f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(s['title'])}</title>"
                            f"<style>{report.STYLE}</style>" + "\n".join(parts) + "</html>\n", tools.LINES))
    with open(os.path.join(a.out, a.stem + ".json"), "w", encoding="utf-8") as f:
        json.dump({"v": 1, "commit": verdict.commit(), "command": a.made_by, "verdict": sentence(scenario, results),
                   "scenario": scenario, "plan": plan, "results": results}, f)
    return judge(scenario, results, path)


def disordered(result):
    return sum(result["rnic"][g]["out_of_seq_request"] + result["rnic"][g]["rcvd_seq_err"] for g in ("1", "2"))


def sentence(scenario, results):
    result, _ = spans.chosen(results)
    repeated = sum(result["rnic"][g]["duplicate_request"] for g in ("1", "2"))
    parts = [verdict.what_moved(result, spans.meeting(scenario, results)), verdict.goodput(scenario, results),
             f"the RNICs counted {repeated} packets again, {disordered(result)} out of sequence"]
    return "; ".join(p for p in parts if p) + "."


def judge(scenario, results, path):
    """Prints the short version; 1 if a packet was out of order, or hp3d did not leave."""
    code = 0
    tools.say(sentence(scenario, results))
    for r in results:
        for what, b, e in spans_of(scenario, r):
            print(f"hp3 {r['mode'] + ', ' + what:16} goodput of a and b, Mb/s: " + " ".join(f"{rate(scenario, r, n, b, e):.2f}" for n in NAMES))
        ooo = disordered(r)
        got = r["rnic"]["2"]["rcvd_pkts"]
        print(f"    the RNICs: {got:,} packets received, {ooo} out of sequence; the fabric lost {drops(r['fabric']) - drops(r['fabric_before'])} frames")
        if ooo or got < 200:
            print(f"demo: mode {r['mode']}: out of order, or hardly anything sent", file=sys.stderr)
            code = 1
        if r["mode"] == "on" and not evidence.moves_of(r):
            print("demo: hp3d did not leave; its events tell why", file=sys.stderr)
            code = 1
    tools.say(f"report: {path}")
    return code


def main():
    p = argparse.ArgumentParser(prog="guests", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    sub = p.add_subparsers(dest="command", required=True)
    c = sub.add_parser("record")
    for word in ("--bed", "--lab", "--mode", "--out"):
        c.add_argument(word, required=True)
    c.add_argument("--flow", action="append", required=True, metavar="ID=PORT")
    c.add_argument("--watches", required=True, metavar="FILE", help="is there once hp3d watches")
    e = sub.add_parser("ports")
    e.add_argument("--bed", required=True)
    e.add_argument("spines", nargs="+")
    d = sub.add_parser("page")
    for word in ("--work", "--modes", "--topology", "--stem", "--out", "--made-by"):
        d.add_argument(word, required=True)
    for q in (c, d, e):
        q.add_argument("--build", required=True)
    for q in (c, d):
        q.add_argument("--seconds", type=float, required=True)
    a = p.parse_args()
    try:
        return {"record": record, "ports": ports, "page": page}[a.command](a)
    except Problem as e:
        print(f"demo: {e}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
