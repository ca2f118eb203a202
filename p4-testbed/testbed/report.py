# SPDX-License-Identifier: BSD-3-Clause
"""The report of a run: one self-contained HTML page, figures, the raw numbers as JSON."""
import html
import json
import os

from . import spans, spray, tools, verdict
from .evidence import held_back, move_table, moves_of, number, table
from .figures import Figure
from .measures import TAILS, between, flows_of, intervals, life, longest_wait, mean, percentile, row_of, times

STEP = 0.5  # seconds that a point of a time series is the average of


def smooth(points):
    """Averages over STEP."""
    buckets = {}
    for t, v in points:
        buckets.setdefault(int(t / STEP), []).append(v)
    return [((k + 0.5) * STEP, mean(v)) for k, v in sorted(buckets.items())]


def columns(scenario, results):
    """Of before, met and after, those that some mode has."""
    met_s = spans.meeting(scenario, results)[0]
    return [n for n in ("before", "met", "after") if any(n in spans.spans(scenario, r, met_s) for r in results)]


def heads(shown):
    """The names of these columns."""
    return shown if len(shown) > 1 else ["goodput"]


def legend(scenario, results):
    """What the columns are."""
    met_s, what = spans.meeting(scenario, results)
    warm, shown = scenario["scenario"]["warmup_ms"] / 1000, columns(scenario, results)
    if shown == ["met"]:
        return f"from {max(met_s, warm):g} s until the end."
    texts = {"before": f"before is from {warm:g} s until {what} ({met_s:.2f} s)",
             "met": f"met is from {'then' if met_s > warm else f'{warm:g} s'} until the first move or the end",
             "after": f"after is from {spans.settled_s(scenario):g} s after the last move until the end"}
    return ", ".join(texts[n] for n in shown) + "."


def summary(scenario, plan, results):
    met_s, shown = spans.meeting(scenario, results)[0], columns(scenario, results)
    lines = [f"{scenario['scenario']['title']} (seed {scenario['scenario']['seed']})", verdict.sentence(scenario, results), ""]
    lines.append(f"Goodput of all flows, Mb/s: {legend(scenario, results)}")
    lines.append(f"{'mode':8}" + "".join(f"{name:>9}" for name in heads(shown)) + f"{'FCT mean':>11}{'p99':>9}{'p99.9':>9}{'RTT p50':>9}{'CE':>8}{'probes':>8}{'moves':>7}"
                 f"{'out of seq':>12}{'retrans':>9}{'drops':>7}")
    for result in results:
        r, rates = row_of(scenario, result), spans.goodputs(scenario, result, met_s)
        lines.append(f"{result['mode']:8}" + "".join(f"{number(rates[name]):>9}" for name in shown)
                     + f"{number(r['fct']['mean'], ' ms'):>11}{number(r['fct']['p99']):>9}"
                     f"{number(r['fct']['p999']):>9}{number(r['rtt_p50']):>9}{100 * r['ce_share']:7.2f}%{r['probes']:8}{r['moves']:7}"
                     f"{r['out_of_seq']:12}{r['retransmissions']:9}{r['fabric_drops']:7}")
    if spray.was(results):
        lines += ["", *spray.spine_text(scenario, plan, results).split("\n"), "", *spray.peers_text(results).split("\n")]
    return "\n".join(map(tools.plain, lines))


def marks_of(result):
    """What happened, for the time axis; of many moves only the lines."""
    out = [(round(e["t"], 3), f"{e['action']} {e.get('link', '')}".strip()) for e in result["events"] if e["action"] != "move"]
    moves = moves_of(result)
    out += [(round(m["t"], 3), f"{m['name'] or '?'} moves ({m['cause']})" if len(moves) <= 4 else "") for m in moves]
    return sorted(out)


def time_figure(title, ylabel, scenario, results, series, ymax=None):
    fig = Figure(title, "seconds", ylabel)
    fig.xrange, fig.ymax = (0, scenario["scenario"]["seconds"]), ymax
    for result in results:
        curves = [(label, points) for label, points in series(result) if points]
        if curves:
            fig.panel(f"hp3 {result['mode']}", curves, marks_of(result))
    return fig


def figures(scenario, plan, results):
    """(name, figure): those that have a curve."""
    return ((name, figure) for name, figure in all_figures(scenario, plan, results) if figure.panels)


def all_figures(scenario, plan, results):
    spines = [s["name"] for s in plan["switches"] if s["name"][0] == "s"]
    leaves = [s["name"] for s in plan["switches"] if s["name"][0] == "l"]
    rate = max(link["rate_mbps"] for link in plan["links"])
    names = flows_of(scenario, results[0])

    def goodput(result):
        return [(n, smooth([(s["to_s"], s["tx_mbps"]) for s in intervals(scenario, result, n)])) for n in names[:8]]

    def per_spine(result):
        return [(s, smooth([(r["t"], sum(r["mbps"][f"{s}>{leaf}"] for leaf in leaves)) for r in result["samples"]]))
                for s in spines]

    def together(result):
        """Goodput of all flows: the sums of their averages."""
        sums = {}
        for n in names:
            for x, mbps in smooth([(s["to_s"], s["tx_mbps"]) for s in intervals(scenario, result, n)]):
                sums[x] = sums.get(x, 0) + mbps
        return sorted(sums.items())

    def queues(result):
        def deepest(row, s):
            return max(row["queue"][lane] for leaf in leaves for lane in (f"{s}>{leaf}", f"{leaf}>{s}"))
        return [(s, [(r["t"], deepest(r, s) / 1000) for r in result["samples"]]) for s in spines]

    def marked(result):
        pts = []
        for r in result["samples"]:
            sent = sum(r["packets"].values())
            pts.append((r["t"], 100 * sum(r["marks"].values()) / sent if sent else 0))
        return [("packets marked", smooth(pts))]

    def rtt(result):
        return [(n, [(r["t"], r["rtt_ms"][n]) for r in result["samples"] if n in r.get("rtt_ms", {})]) for n in names[:8]]

    if spray.was(results):
        yield "spray", time_figure("Load of each spine, and goodput of all flows", "Mb/s", scenario, results,
                                   lambda result: per_spine(result) + [("goodput", together(result))])
    shown = "each flow" if len(names) <= 8 else f"8 of {len(names)} flows"
    yield "goodput", time_figure(f"Goodput of {shown}", "Mb/s", scenario, results, goodput,
                                 rate * 1.1 if len(names) <= 8 else None)
    yield "spines", time_figure("Load of each spine", "Mb/s", scenario, results, per_spine)
    yield "queues", time_figure("Deepest queue to and from each spine", "kB", scenario, results, queues)
    yield "ecn", time_figure("Share of packets marked CE, over all hops", "%", scenario, results, marked)
    yield "rtt", time_figure(f"Round trip of {shown}, as hp3d smooths it", "ms", scenario, results, rtt)
    yield "fct", tail_figure(names, results)


def tail_figure(names, results):
    """Share of messages that took longer, both axes logarithmic: the tail is what an application waits for."""
    fig = Figure("Completion times of messages", "ms", "share of messages that took longer", 320)
    fig.log_x = fig.log_y = True
    fig.ymin, fig.ymax = 1e-3, 1
    curves = []
    for result in results:
        done = sorted(t for n in names for t in times(result, n))
        if not done:
            continue
        points = [(t, 1 - (i + 0.5) / len(done)) for i, t in enumerate(done)]
        step = max(1, len(points) // 400)
        curves.append((f"hp3 {result['mode']}", points[:-50:step] + points[-50:]))
    if curves:
        fig.panel("", curves)
    return fig


STYLE = """body{font:15px/1.5 -apple-system,"Segoe UI",Helvetica,Arial,sans-serif;color:#222;max-width:1080px;margin:2em auto;
padding:0 1em}h1{font-size:1.7em;margin-bottom:.2em}h2{font-size:1.2em;margin-top:2em;border-bottom:1px solid #ddd}
table{border-collapse:collapse;margin:1em 0}th,td{padding:.35em .8em;text-align:right;border-bottom:1px solid #e4e4e4}
th:first-child,td:first-child{text-align:left}th{font-weight:600;background:#f6f6f6}svg{width:100%;height:auto}
.lead{font-size:1.1em;color:#444}.verdict{font-size:1.15em;border-left:4px solid #0b6e99;padding:.3em .8em;background:#f2f7fa}code,pre{font:13px/1.45 ui-monospace,Menlo,Consolas,monospace}pre{background:#f6f6f6;
padding:.8em;overflow-x:auto}small{color:#666}"""


def mode_table(scenario, results):
    rows = [row_of(scenario, r) for r in results]
    judged = [spans.judged(scenario, results, r) for r in results]
    lines = [
        ("Messages completed", [f"{r['fct']['n']:,}" for r in rows]),
        ("FCT mean, ms", [number(r["fct"]["mean"]) for r in rows]),
        ("FCT p50 / p99 / p99.9, ms", [" / ".join(number(r["fct"][k]) for k in TAILS) for r in rows]),
        ("Longest time without a completion, any flow, ms", [number(max((w or 0 for w in r["longest_wait_ms"].values()), default=None), "", 0) for r in rows]),
        *[(f"After {link} was cut: without a completion, ms", [", ".join(f"{n} {number(ms, '', 0)}" for n, ms in r["outage_ms"][link].items()) for r in rows])
          for link in rows[0]["outage_ms"]],
        ("RTT p50 (mean of flows) / p99 (worst), ms", [f"{number(r['rtt_p50'])} / {number(r['rtt_p99'])}" for r in rows]),
        ("Packets that arrived marked CE", [f"{100 * r['ce_share']:.2f} %" for r in rows]),
        ("Paths found severely congested / rounds / probes", [f"{r['severe']} / {r['rounds']} / {r['probes']:,}" for r in rows]),
        ("Moves done, the first at", [f"{r['moves']}, {r['first_move_s']:.2f} s" if r["moves"] else f"0 (would: {r['would']})" if r["would"] else "0" for r in rows]),
        ("Moves after which goodput was better / worse", [f"{better} / {worse}" for better, worse in judged]),
        ("Out-of-sequence requests at receivers", [r["out_of_seq"] for r in rows]),
        ("Packets that overtook others / across ports, by hp3d", [f"{r['overtaken']} / {r['disordered']}" for r in rows]),
        ("Retransmissions", [r["retransmissions"] for r in rows]),
        ("Frames lost in the fabric", [r["fabric_drops"] for r in rows]),
        ("PFC pauses", [r["pauses"] for r in rows]),
        ("Time for which this machine stood still, ms", [number(r["paused_ms"], "", 0) for r in rows]),
    ]
    return table([""] + [f"hp3 {r['mode']}" for r in results], [[name, *cells] for name, cells in lines])


def goodput_table(scenario, results):
    """A row for all flows of a mode, and one for each flow; the columns are spans of time."""
    met_s, shown, rows = spans.meeting(scenario, results)[0], columns(scenario, results), []
    for result in results:
        at = spans.spans(scenario, result, met_s)

        def cells(rate):
            return [cell(at.get(name), rate) for name in shown]

        names, first = flows_of(scenario, result), f"hp3 {result['mode']}: "
        if len(names) > 1:
            rows.append([first + "all flows", "", "", *cells(lambda span: spans.average(scenario, result, span))])
            first = ""
        for name in names[:32]:
            rows.append([first + f"flow {name}", result["ports"].get(name, ""), " to ".join(result["ends"].get(name, [])),
                         *cells(lambda span, n=name: between(scenario, result, n, *span))])
    return table(["Mb/s", "Port", "From, to", *heads(shown)], rows)


def cell(span, rate):
    """The rate in a span, or why there is none."""
    if span is None:
        return "no move"
    if span[1] - span[0] < spans.SHORTEST_S:
        return f"only {max(span[1] - span[0], 0):.2f} s"
    return number(rate(span))


def fct_table(scenario, results):
    """Completion times by flow, and the longest time without any."""
    head, rows = ["Flow"], []
    for result in results:
        head += [f"{result['mode']}: messages", "mean", "p50", "p99", "p99.9", "longest wait"]
    for name in flows_of(scenario, results[0])[:32]:
        row = [name]
        for result in results:
            t = times(result, name)
            row += [len(t), number(mean(t)), *(number(percentile(t, p)) for p in TAILS.values()),
                    number(longest_wait(result, name, *life(scenario, name))[0], "", 0)]
        rows.append(row)
    return table(head, rows)


BEDS_HOSTS = "Hosts: roce-gen behind hp3d, in network namespaces. hp3d has the thresholds that ship."


def setup(plan, s, hosts):
    rates = sorted({(link["rate_mbps"], link["delay_us"]) for link in plan["links"]})
    leaves = sum(sw["name"][0] == "l" for sw in plan["switches"])
    return (f"<p>{leaves} leaves, {len(plan['switches']) - leaves} spines, {len(plan['hosts'])} hosts; links of "
            + ", ".join(f"{r} Mb/s and {d} us" for r, d in rates)
            + f"; ECN from {plan['kmin_bytes']:,} to {plan['kmax_bytes']:,} bytes of queue, {plan['pmax_percent']} %; "
            + ("lossless (PFC)" if plan["lossless"] else "lossy")
            + f"; seeds: fabric {plan['seed']}, hosts {s['seed']}. Switches: hp3's P4 program on DPDK SWX, "
            f"real-time, on this machine. {hosts}</p>")


def lead(scenario, results):
    """What the scenario shows, and what to expect of the modes that ran."""
    s = scenario["scenario"]
    return " ".join([s["text"]] + [f"hp3 {r['mode']}: {s['text_' + r['mode']]}" for r in results if s.get("text_" + r["mode"])])


def write(out, stem, scenario, plan, results):
    os.makedirs(out, exist_ok=True)
    parts = []
    s = scenario["scenario"]
    parts.append(f"<h1>{html.escape(s['title'])}</h1><p class=lead>{html.escape(tools.slow_words(plan))}</p><p>{html.escape(lead(scenario, results))}</p>"
                 f"<p class=verdict>{html.escape(verdict.sentence(scenario, results))}</p>")
    parts.append("<h2>Goodput</h2>" + goodput_table(scenario, results))
    parts.append(f"<small>Goodput is acknowledged payload, averaged over a span: {html.escape(legend(scenario, results))} "
                 "Headers, gaps and preambles take another 8 % of a link.</small>")
    parts.append("<h2>Completion times, probes, losses</h2>" + mode_table(scenario, results))
    if spray.was(results):
        parts.append("<h2>Packets to each spine</h2>" + spray.spine_table(scenario, plan, results))
        parts.append("<small>Sent by the leaf of the host that sends data, by the fabric's counters.</small>")
        parts.append("<h2>Packets on several paths, and their order</h2>" + spray.order_table(results))
        parts.append("<h2>What the hosts know of each other</h2><pre>" + html.escape(spray.peers_text(results)) + "</pre>")
    parts.append("<h2>Completion times of each flow, ms</h2>" + fct_table(scenario, results))
    parts.append("<h2>Figures</h2>")
    for name, figure in figures(scenario, plan, results):
        parts.append(figure.write(os.path.join(out, f"{stem}-{name}"), name))
    for result in results:
        if moves_of(result):
            brought = [spans.judge_move(scenario, results, result, i)[1] for i in range(len(moves_of(result)))]
            parts.append(f"<h2>Moves and their evidence (mode {result['mode']})</h2>" + move_table(result, brought))
        elif any(e["type"] == "would" for e in result["decisions"]):
            parts.append(f"<h2>What hp3d would have done (mode {result['mode']})</h2>" + held_back(result))
    parts.append("<h2>How it was made</h2>" + verdict.origin() + setup(plan, s, BEDS_HOSTS))
    page = (f"<!doctype html><html lang=en><meta charset=utf-8><title>{html.escape(s['title'])}</title>"
            f"<style>{STYLE}</style>" + "\n".join(parts) + "</html>\n")
    path = os.path.join(out, stem + ".html")
    with open(path, "w", encoding="utf-8") as f:
        f.write(tools.plain(page, tools.LINES))
    with open(os.path.join(out, stem + ".json"), "w", encoding="utf-8") as f:
        json.dump({"v": 1, "commit": verdict.commit(), "command": verdict.command(), "verdict": verdict.sentence(scenario, results),
                   "scenario": scenario, "plan": plan, "results": results,
                   "summary": {r["mode"]: row_of(scenario, r) for r in results}}, f)
    return path
