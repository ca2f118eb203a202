# SPDX-License-Identifier: BSD-3-Clause
"""Moves and their reasons, from hp3d's events, as tables of the report."""
import html

from .decisions import MOVES


def number(value, unit="", digits=1):
    return "–" if value is None else f"{value:,.{digits}f}{unit}"


def table(head, rows):
    cells = "".join(f"<th>{html.escape(h)}</th>" for h in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(str(c))}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><tr>{cells}</tr>{body}</table>"


def moves_of(result):
    """Moves that were done, whoever asked for them."""
    return [e for e in result["decisions"] if e["type"] in MOVES]


def probe_words(event, port):
    """What a round of probes said about a port."""
    for probe in event["evidence"]["probes"] if event else ():
        if probe["port"] == port:
            if probe["state"] == "answered":
                return f"{probe['rtt_ns'] / 1e6:.1f} ms" + (", marked" if probe["ce"] else "")
            return {"open": "no answer yet", "late": "too late"}.get(probe["state"], probe["state"])
    return "–"


def latest(events, kinds, event):
    """The latest event of these kinds about the same flow before this one."""
    for e in reversed(events[:events.index(event)]):
        if e["flow"] == event["flow"] and e["host"] == event["host"]:
            if e["type"] in kinds:
                return e
            if e["type"] in MOVES:
                break
    return None


def why(event):
    """The signs on which a decision rests."""
    cycles = [c for c in event["evidence"].get("cycles", ()) if c != "silent"]
    if event["cause"] == "dead":
        return f"nothing came back for {event['evidence']['stalled_ns'] / 1e6:.0f} ms"
    return "cycles: " + " ".join(cycles) if cycles else event["cause"]


def move_table(result, brought):
    """`brought`: a text for each move, what it brought."""
    rows, events = [], result["decisions"]
    for m, text in zip(moves_of(result)[:40], brought):
        e, asked = m["evidence"], latest(events, ("round",), m)
        drain = e.get("drain_ns")
        rows.append([f"{m['t']:.2f} s", m["name"] or m["flow"], m["host"], f"{m['cause']}: {why(m)}", f"{m['from']} to {m['to']}",
                     probe_words(asked, m["from"]), probe_words(asked, m["to"]),
                     number(drain / 1e6, " ms", 1) if drain is not None else "–", e.get("held_pkts", 0), text])
    return table(["When", "Flow", "Host", "Why", "Ports", "Probe, old", "Probe, new", "Drain", "Held", "Goodput of all flows"], rows)


def held_back(result):
    """Mode observe: what would have been done."""
    rows = [[f"{e['t']:.2f} s", e["name"] or e["flow"], e["host"], e["cause"], f"{e['from']} to {e['to']}",
             number(e["evidence"]["path"]["rtt_ns"] / 1e6, " ms", 1)] for e in result["decisions"] if e["type"] == "would"][:20]
    return table(["When", "Flow", "Host", "Cause", "Ports", "Round trip"], rows)
