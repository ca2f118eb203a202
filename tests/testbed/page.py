#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The page of reports, its figures, and the live view. Needs no fabric.

usage: page.py
"""
import io
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest.mock

import bench_bed  # noqa: F401 (its path to the testbed's modules)
from synthetic import SCENARIO, alone, result
from testbed import cli, figures, report, spray, tools, verdict, view

SEED = 20261122


def curves():
    """No empty plot: not of a mode that measured nothing, and none where no mode did."""
    off, on = result("off", [], alone), result("on", [], alone)
    both = {"off": [("a", [])], "on": [("a", [(0, 1), (12, 1)]), ("b", [])]}
    fig = report.time_figure("t", "y", SCENARIO, [off, on], lambda r: both[r["mode"]])
    assert [(title, [label for label, _ in series]) for title, series, _ in fig.panels] == [("hp3 on", ["a"])], fig.panels
    assert not report.time_figure("t", "y", SCENARIO, [off], lambda r: both["off"]).panels


def marks():
    """The live view counts packets marked CE on links to and from a spine, from the run's begin on."""
    plan = {"switches": [{"name": n} for n in ("l1", "l2", "s1", "s2")], "hosts": [], "links": [{"name": f"{a}-{b}", "rate_mbps": 50} for a in ("l1", "l2") for b in ("s1", "s2")]}
    lanes = {f"{a}>{b}": 0 for a, b in (("l1", "s1"), ("l1", "s2"), ("l2", "s1"), ("l2", "s2"))}
    lanes |= {f"{b}>{a}": 0 for a, b in (lane.split(">") for lane in lanes)}
    screen = io.StringIO()
    screen.isatty = lambda: True
    with unittest.mock.patch("sys.stdout", screen), unittest.mock.patch("shutil.get_terminal_size", return_value=os.terminal_size((200, 50))):
        shown = view.View({"scenario": {"title": "t", "seconds": 12}}, "off", plan, unittest.mock.Mock(ports={}), False)
        for ce in ({"l1>s1": 5}, {"l1>s1": 4, "s1>l2": 2}, {"s2>l1": 1}, {}):
            shown.show(1, unittest.mock.Mock(rows=[{"mbps": lanes, "queue": lanes, "ce": lanes | ce}]))
    said = [" ".join(line.split()[-2:]) for line in screen.getvalue().splitlines() if line.endswith(" CE")]
    assert said == ["11 CE", "0 CE", "11 CE", "1 CE"], said


def leads():
    """The page says what to expect of the modes that ran, and of no other one."""
    scenario = {"scenario": {"text": "All.", "text_off": "no move.", "text_on": "a move.", "text_manual": "by a script."}}
    assert report.lead(scenario, [{"mode": "off"}, {"mode": "on"}, {"mode": "spray"}]) == "All. hp3 off: no move. hp3 on: a move."


def sprayed():
    """A mode that sprayed is what the sentence speaks of, the others beside it; what was held and for how long is in a table."""
    off, spray_on = result("off", [], lambda t: 22.5), result("spray", [], lambda t: 45.25)
    assert not spray.was([off])
    spray_on["counters"]["h1"].update(sprayed=9000)
    spray_on["counters"]["h2"] = {**off["counters"]["h1"], "reseq_held": 1234, "reseq_gaps": 500, "reseq_waited": 1500 * 10**6, "reseq_gaps_1ms": 40}
    spray_on["reports"]["a"]["sum"]["naks_received"] = 2
    spray_on["fabric"]["lanes"] = [{"from": a, "to": b, "bytes": n * 10**6} for a, b, n in (
        ("l1", "s1", 3), ("l2", "s1", 4), ("l1", "s2", 5), ("s1", "l1", 100), ("h1", "l1", 100))]
    text = verdict.sentence(SCENARIO, [off, spray_on])
    print(text)
    assert text == ("hp3d sent 9,000 packets by several paths at once; goodput of all flows was 90.5 Mb/s (hp3 off: 45.0); 1,234 arrived out of order "
                    "and were held until it was their turn; at the RNICs 0 retransmissions, 0 out of sequence, 2 NAKs."), text
    shown = spray.order_table([off, spray_on])
    for cells in (("Bytes to each spine, MB", "", "7.0 / 5.0"), ("Packets that others waited for", "0", "500"),
                  ("... for 1 / 10 ms or longer; on average, ms", "0 / 0; 0.0", "40 / 0; 3.0")):
        assert "".join(f"<td>{c}</td>" for c in cells) in shown, (cells, shown)


def spines():
    """The table counts the leaf of who sends data: of a READ, the leaf of the host that is read from."""
    plan = {"hosts": [{"name": "h1", "leaf": "l1"}, {"name": "h2", "leaf": "l2"}]}
    off, on = result("off", [], lambda t: 17), result("on", [], lambda t: 66)
    for r, split in ((off, (400, 0)), (on, (100, 300))):
        r["fabric"]["lanes"] = [{"from": leaf, "to": spine, "packets": n * times} for leaf, times in (("l1", 1), ("l2", 10))
                                for spine, n in zip(("s1", "s2"), split)] + [{"from": "s1", "to": "l1", "packets": 7}]
    for op, words in (("write", ["l1 to s1 400 100.0 % 100 25.0 %", "l1 to s2 0 0.0 % 300 75.0 %"]),
                      ("read", ["l2 to s1 4,000 100.0 % 1,000 25.0 %", "l2 to s2 0 0.0 % 3,000 75.0 %"])):
        scenario = SCENARIO | {"flow.a": SCENARIO["flow.a"] | {"src": "h1", "dst": "h2", "op": op}}
        del scenario["flow.b"]
        text = [" ".join(line.split()) for line in spray.spine_text(scenario, plan, [off, on]).splitlines()]
        assert text[2:] == words, text
        assert spray.spine_table(scenario, plan, [off, on]).count("<tr>") == 3


def origin():
    page = verdict.origin("p4-testbed/hp3-testbed run 'a b'")
    assert "<code>p4-testbed/hp3-testbed run &#x27;a b&#x27;</code>" in page and "commit <code>" in page, page


def labels():
    """None prints over another, over a curve, or outside."""
    rng, width = random.Random(SEED), figures.PANEL - figures.MARGINS
    for _ in range(500):
        marks = sorted((rng.uniform(0, 12), "x" * rng.randint(1, 24)) for _ in range(rng.randint(1, 6)))
        rows = {}
        for x, label, row, left in figures.rows_of(marks, (0, 12), width):
            at, long = x / 12 * width, figures.CHAR_PX * len(label)
            begin, end = (at - long, at) if left else (at, at + long)
            assert begin >= 0 and end <= width + 1, (marks, label)
            assert all(end <= b or e <= begin for b, e in rows.get(row, [])), (marks, label)
            rows.setdefault(row, []).append((begin, end))
    fig = report.time_figure("t", "y", SCENARIO, [result("on", [(4.0, "b")], lambda t: 1)], lambda r: [("a", [(0, 1), (12, 1)])])
    script = fig.script()
    said = [line for line in script.splitlines() if line.startswith("set label")]
    assert len(said) == 1 and ",graph 1 offset 0," in said[0] and "b moves (cnp)" in said[0], said
    assert "set tmargin 3" in script, "there is room above the frame"


EVIL = "`touch {0}`$(touch {0})<script>'\"\\\x1b[2J\x9b2J\u202e\nhp3-testbed: done\udcff"  # also: C1, right to left, no UTF-8


def full(mode, evil):
    """A result with all that a page shows, and texts that are none of ours wherever a run has any."""
    lanes = {f"{a}>{b}": 1 for a in ("l1", "l2") for b in ("s1", "s2")} | {f"{b}>{a}": 1 for a in ("l1", "l2") for b in ("s1", "s2")}
    r = result(mode, [], lambda t: 22.5)
    name = "gpu" + evil
    r["reports"] = {"a": r["reports"]["a"], name: r["reports"]["b"]}
    r["samples"] = [{"t": t, "mbps": lanes, "queue": lanes, "marks": {"s1": 0}, "packets": {"s1": 1}, "rtt_ms": {name: 3}} for t in range(12)]
    r["events"] = [{"action": "fail", "link": evil, "t": 5.0}]
    r["decisions"] = [{"type": "switch", "t": 4.0, "name": name, "flow": evil, "cause": evil, "host": evil, "from": 1, "to": 2, "seq": 1, "evidence": {}}]
    return r | {"ports": {"a": 1, name: 2}, "ends": {"a": ["h1", "h3"], name: [evil, evil]}}


def lanes_of(r):
    return dict.fromkeys(r["samples"][0]["queue"], 0)


def untrusted_text():
    """Names and texts that others chose: text on the page, in figures and on the terminal, and no command to gnuplot or a shell."""
    def plain(text):
        return text.replace("\x1b[J", "").replace("\x1b[12A", "").replace("\n", "").isprintable() and "\nhp3-testbed: done" not in "\n" + text

    plan = {"switches": [{"name": n} for n in ("l1", "l2", "s1", "s2")], "hosts": [{"rate_mbps": 50}], "kmin_bytes": 1, "kmax_bytes": 2,
            "links": [{"name": f"{a}-{b}", "rate_mbps": 50, "delay_us": 1} for a in ("l1", "l2") for b in ("s1", "s2")], "pmax_percent": 1,
            "lossless": True, "seed": 1}
    with tempfile.TemporaryDirectory(prefix="hp3-page-") as tmp:
        done = os.path.join(tmp, "done")
        evil = EVIL.format("$PWD/done")
        stem = evil.replace("/", "")
        scenario = {"scenario": SCENARIO["scenario"] | {"title": evil, "text": evil}}
        results = [full(mode, evil) for mode in ("off", "on")]
        before = os.getcwd()
        os.chdir(tmp)
        try:
            with unittest.mock.patch("sys.argv", ["x", "--out", evil]):
                path = report.write("out" + stem, stem, scenario, plan, results)
            figures.Figure(evil, evil, evil).write("alone", "x")
            # shells that check themselves: the same text in double quotes is executed
            subprocess.run(["gnuplot"], input=f'set terminal svg\nset title "{EVIL[:EVIL.index("$")].format(done)}"\nplot x\n', text=True, check=True,
                           capture_output=True)
            assert os.path.exists(done), "gnuplot executes nothing any more: this test shows nothing"
            os.unlink(done)
            report.write("again", stem, scenario, plan, results)
            assert not os.path.exists(done), "gnuplot executed a name"
            with open(path, encoding="utf-8") as f:
                page = f.read()
        finally:
            os.chdir(before)
    assert "<script" not in page and page.count("&lt;script") > 10 and all(c.isprintable() for c in page if c not in tools.LINES), "the page has a text as something else"
    assert page.count("slow motion") == 1 and page.index("slow motion") < page.index("<table"), "how to read times and rates: once, on top"
    assert "gpu`touch" in page and "goodputgpu" not in page, "names of flows are as they were in figures"
    ids = re.findall(r"""\bid=["']([^"']+)""", page)
    assert len(ids) == len(set(ids)) > 50, "an id is there twice"
    screen = io.StringIO()
    screen.isatty = lambda: True
    with unittest.mock.patch("sys.stdout", screen), unittest.mock.patch("shutil.get_terminal_size", return_value=os.terminal_size((10000, 50))):
        print(report.summary(scenario, plan, results))
        load = unittest.mock.Mock(ports=results[0]["ports"], ends=lambda n: ("h1", ""))
        plan["hosts"] = [{"name": "h1", "leaf": "l1", "rate_mbps": 50}]
        shown = view.View(scenario, "on", plan, load, False)
        shown.decided(results[0]["decisions"][0] | {"evidence": {"held_pkts": 1}})
        shown.note(results[0]["events"][0])
        sampler = unittest.mock.Mock(rows=[results[0]["samples"][0] | {"ce": lanes_of(results[0]), "marks": {"s1": 0, "s2": 0}, "mbps": results[0]["samples"][0]["mbps"] | {"h1>l1": 1}}])
        shown.show(1, sampler)
        shown.show(1, sampler)
    assert "hp3d of " in screen.getvalue() and plain(screen.getvalue()), repr(screen.getvalue())
    with unittest.mock.patch("sys.argv", ["x", "run", evil]), unittest.mock.patch("sys.stderr", io.StringIO()) as told:
        assert cli.main() == 1
    assert "no scenario" in told.getvalue() and plain(told.getvalue()), repr(told.getvalue())


def main():
    curves()
    marks()
    leads()
    untrusted_text()
    sprayed()
    spines()
    origin()
    labels()
    print("page: holds")


sys.exit(main())
