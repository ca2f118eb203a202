#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reports judge moves by goodput from the meeting of the flows to the move, and afterwards. Needs no fabric.

usage: judgement.py
"""
import sys

import bench_bed  # noqa: F401 (its path to the testbed's modules)
from synthetic import SCENARIO, alone, flow, parted, result
from testbed import guests, measures, report, spans, verdict


def sentences():
    off, on = result("off", [], alone), result("on", [(4.0, "b")], parted(4.0))
    text = verdict.sentence(SCENARIO, [off, on])
    print(text)
    assert text == ("hp3d moved 1 flow (b) once, at 4.00 s, 1.00 s after flow b began; goodput of all flows: 45.4 Mb/s before flow b began, 45.4 Mb/s "
                    "from then on (hp3 off: 45.4), 90.5 Mb/s after the move; 0 retransmissions, 0 out of sequence."), text
    text = verdict.sentence(SCENARIO, [off, result("on", [(3.05, "b")], parted(3.05))])
    assert "0.05 s after flow b began; goodput of all flows: 45.4 Mb/s before flow b began, 45.4 Mb/s from then on with hp3 off, 90.5 Mb/s after" in text, text
    on["reports"]["a"]["sum"]["retransmissions"] = 1
    text = verdict.sentence(SCENARIO, [off, on])
    assert "; 1 retransmission, 0 out" in text, text
    text = verdict.sentence(SCENARIO, [off])
    assert text.startswith("mode off: nothing was moved; goodput of all flows: 45.4 Mb/s before flow b began, 45.4 Mb/s from then on; 0 retr"), text
    text = verdict.sentence({**SCENARIO, "flow.b": SCENARIO["flow.a"]}, [off, on])
    assert "goodput of all flows: 61.6 Mb/s before the first move (hp3 off: 50.3), 90.5 Mb/s after the move" in text, text
    off["events"] = on["events"] = [{"action": "fail", "link": "l1-s1", "t": 5.0}]
    off["reports"]["a"]["fct"] = [m for m in off["reports"]["a"]["fct"] if not 5e6 <= m[0] < 9e6]
    text = verdict.sentence(SCENARIO, [off, on])
    print(text)
    assert "after l1-s1 was cut nothing completed for: a 0.1 s, b 0.1 s (hp3 off: a 4.1 s, b 0.1 s)" in text, text


def judgements():
    """A move is judged by goodput from the meeting to the move, and afterwards: never by the time before the meeting."""
    off = result("off", [], alone)
    for moved_s, after, others, words in (
            (4.0, 45.25, [off], ("better", "better: 45.4 to 90.5 Mb/s")),
            (4.0, 45.25, [], ("better", "better: 45.4 to 90.5 Mb/s")),
            (4.0, 23.5, [off], ("same", "same: 45.4 to 47.0 Mb/s")),
            (4.0, 18.0, [off], ("worse", "worse: 45.4 to 36.0 Mb/s")),
            # Too soon for an average: what the flows had with hp3 off from the meeting on.
            (3.05, 45.25, [off], ("better", "better: 45.4 (hp3 off) to 90.5 Mb/s")),
            (3.3, 45.25, [off], ("better", "better: 45.4 (hp3 off) to 90.5 Mb/s")),
            (3.05, 45.25, [], (None, "not judged: the move came too soon; 90.5 Mb/s afterwards")),
            (11.2, 45.25, [off], (None, "not judged: the end came 0.8 s later"))):
        on = result("on", [(moved_s, "b")], parted(moved_s, after))
        found = spans.judge_move(SCENARIO, [*others, on], on, 0)
        assert found == words, (moved_s, after, found)
    # The same link is shared from the beginning on, or gets worse at 3 s: there is no time before, or a change of a link ends it.
    both = {**SCENARIO, "flow.b": SCENARIO["flow.a"]}
    slow = result("on", [(6.0, "b")], parted(6.0))
    assert spans.meeting(both, [slow]) == (0.0, None)
    slow["events"] = [{"action": "degrade", "link": "l1-s1", "t": 3.0}, {"action": "restore", "link": "l1-s1", "t": 9.0}]
    assert spans.meeting(both, [slow]) == (3.0, "link l1-s1 changed (degrade)")
    assert spans.judge_move(both, [slow], slow, 0) == ("better", "better: 45.4 to 90.5 Mb/s")
    # Of several moves, each is judged by the time since the one before it.
    two = result("on", [(4.0, "b"), (8.0, "a")], lambda t: alone(t) if t < 4.5 else 30.0 if t < 8.5 else 45.0)
    assert [spans.judge_move(SCENARIO, [two], two, i)[1] for i in (0, 1)] == ["better: 45.4 to 60.0 Mb/s", "better: 60.0 to 90.0 Mb/s"]
    assert spans.judged(SCENARIO, [two], two) == (2, 0)
    soon = result("on", [(4.0, "b"), (4.3, "a")], parted(4.3))
    assert spans.judge_move(SCENARIO, [soon], soon, 0)[1] == "not judged: the next move came 0.3 s later"


def goodput():
    """One definition: before, met and after are in a table and in the terminal's summary, for all flows and for each."""
    plan = {"hosts": [{"rate_mbps": 50}]}
    off, on = result("off", [], alone), result("on", [(3.05, "b")], parted(3.05))
    for r in (off, on):
        r |= {"ports": {"a": 50000, "b": 50001}, "ends": {"a": ["h1", "h3"], "b": ["h2", "h4"]}}
    shown = report.goodput_table(SCENARIO, [off, on])
    for cells in (("Mb/s", "Port", "From, to", "before", "met", "after"), ("hp3 off: all flows", "", "", "45.4", "45.4", "no move"), ("flow b", "50001", "h2 to h4", "–", "22.7", "no move"),
                  ("hp3 on: all flows", "", "", "45.4", "only 0.05 s", "90.5"), ("flow a", "50000", "h1 to h3", "45.4", "only 0.05 s", "45.2")):
        kind = "th" if cells[0] == "Mb/s" else "td"
        assert "".join(f"<{kind}>{c}</{kind}>" for c in cells) in shown, (cells, shown)
    text = [" ".join(line.split()) for line in report.summary({**SCENARIO, "scenario": SCENARIO["scenario"] | {"title": "t"}}, plan, [off, on]).splitlines()]
    assert "Goodput of all flows, Mb/s: before is from 0.5 s until flow b began (3.00 s), met is from then until the first move or the end, after is from 1 s after the last move until the end." in text, text
    assert any(line.startswith("off 45.4 45.4 – ") for line in text) and any(line.startswith("on 45.4 – 90.5 ") for line in text), text
    # Nothing is moved, and all flows begin together: one column. One flow: one row.
    alike = {**SCENARIO, "flow.b": SCENARIO["flow.a"]}
    assert report.legend(alike, [off]) == "from 0.5 s until the end."
    shown = report.goodput_table(alike, [off])
    assert "<th>goodput</th>" in shown and "before" not in shown and shown.count("<tr>") == 4, shown
    del off["reports"]["b"]
    shown = report.goodput_table(alike, [off])
    assert "<td>hp3 off: flow a</td><td>50000</td>" in shown and shown.count("<tr>") == 2, shown


def marked():
    """Packets marked CE count at the end that gets the data, of READs at the requester. A round trip that nobody measured is none."""
    read = result("off", [], alone)
    read["reports"]["a"]["sum"].update(ce=3, ect=100)
    read["reports"]["a-rx"] = flow(0, alone)
    read["reports"]["a-rx"]["sum"].update(ce=1, ect=300)
    for name in "ab":
        read["reports"][name]["rtt_us"] = {"p50": 0.0, "p99": 0.0}
    row = measures.row_of(SCENARIO, read)
    assert (row["ce_share"], row["rtt_p50"], row["rtt_p99"]) == (0.01, None, None), row


def real_rnics():
    """The page of demo-rxe: met until the move, and after it from three seconds on; the sentence has the same numbers."""
    scenario = {"scenario": {"seconds": 60, "warmup_ms": 500, "settled_s": guests.SETTLED_S}}
    off, on = result("off", [], lambda t: 0), result("on", [(20.0, "b")], lambda t: 0)
    for r, rate_at in ((off, lambda t: 0.6), (on, lambda t: 0.6 if t < 22 else 0.9)):
        series = [{"from_s": t / 10, "to_s": (t + 1) / 10, "tx_mbps": rate_at(t / 10)} for t in range(600)]
        r["reports"] = {n: {"series": series, "fct": []} for n in guests.NAMES}
        r["samples"], r["rnic"] = [], {g: dict.fromkeys([key for key, _ in guests.COUNTERS], 0) for g in ("1", "2")}
    table = guests.tables(scenario, [off, on])
    assert "<tr><th></th><th>hp3 off: met</th><th>hp3 on: met</th><th>hp3 on: after</th></tr><tr><td>Goodput of a, Mb/s</td><td>0.60</td><td>0.60</td><td>0.90</td></tr>" in table, table
    text = guests.sentence(scenario, [off, on])
    assert text == ("hp3d moved 1 flow (b) once, at 20.00 s; goodput of all flows: 1.2 Mb/s before the first move (hp3 off: 1.2), 1.8 Mb/s after the move; "
                    "the RNICs counted 0 packets again, 0 out of sequence."), text
    assert spans.judge_move(scenario, [off, on], on, 0) == ("better", "better: 1.2 to 1.8 Mb/s")


def main():
    sentences()
    judgements()
    goodput()
    marked()
    real_rnics()
    print("judgement: holds")


sys.exit(main())
