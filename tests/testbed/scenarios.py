#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios keep what they promise.

usage: scenarios.py BUILD SCENARIO [MODES]

In every scenario and mode: all content right, no packet overtook another, every message completed.
Then what the scenario is about.
"""
import json
import os
import shutil
import sys
import tempfile

from bench_bed import Bed

GOODPUT = 1024 / (1024 + 58 + 16 + 24)  # payload of a frame: Ethernet, IP, UDP, BTH, ICRC; RETH on few; wire


def of_mode(report, mode):
    return report["summary"].get(mode)


def middle(report, mode, flow, begin, end):
    """Median goodput in a span: a pause of the machine is not the fabric's."""
    result = next(r for r in report["results"] if r["mode"] == mode)
    values = sorted(s["tx_mbps"] for s in result["reports"][flow]["series"] if begin < s["from_s"] and s["to_s"] < end)
    return values[len(values) // 2]


def micro_collision(report):
    link = 50 * GOODPUT
    off, manual = of_mode(report, "off"), of_mode(report, "manual")
    if off:
        assert all(0.35 * link < v < 0.65 * link for v in off["goodput"].values()), off["goodput"]
        assert off["ce_share"] > 0.01
    assert manual["moves"] == 1
    for flow in ("a", "b"):
        assert middle(report, "manual", flow, 0.5, 4) < 0.65 * link, manual["before"]
        assert middle(report, "manual", flow, 6, 12) > 0.85 * link, manual["after"]
    assert manual["out_of_seq"] == 0 and manual["retransmissions"] == 0 and manual["fabric_drops"] == 0


def incast(report):
    for mode, row in report["summary"].items():
        assert row["fabric_drops"] == 0, f"{mode}: lossless, and {row['fabric_drops']} frames lost"
        assert row["pauses"] > 10 and row["retransmissions"] == 0, f"{mode}: {row}"
        assert sum(row["goodput"].values()) > 0.85 * 40 * GOODPUT, f"{mode}: the receiver's link is not full"
    for result in report["results"]:
        told = sum(h["pfc_sent"] for h in result["fabric"]["hosts"])
        heard = sum(r["port"]["pauses"] for r in result["reports"].values())
        assert told > 0 and heard > 0, "hosts are paused by real PFC frames"


def all_congested(report):
    off, manual = of_mode(report, "off"), of_mode(report, "manual")
    total = [sum(row["goodput"].values()) for row in (off, manual)]
    assert total[1] > 0.9 * total[0], f"moves without gain cost {total}"
    assert manual["out_of_seq"] == 0 and manual["moves"] >= 1


def link_failure(report):
    off, manual = of_mode(report, "off"), of_mode(report, "manual")
    assert off["retransmissions"] > 0 and manual["moves"] == 1
    dead = {m: [s["tx_mbps"] for s in r["reports"]["a"]["series"] if 7.2 < s["from_s"] < 7.9]
            for m, r in ((r["mode"], r) for r in report["results"])}
    assert max(dead["off"]) < 5, dead["off"]
    assert sum(dead["manual"]) / len(dead["manual"]) > 0.7 * 50 * GOODPUT, dead["manual"]


def asymmetric(report):
    manual = of_mode(report, "manual")
    assert manual["before"]["a"] < 11 and manual["after"]["a"] > 0.8 * 50 * GOODPUT
    assert manual["moves"] == 1 and manual["out_of_seq"] == 0


def allreduce_4(report):
    manual = of_mode(report, "manual")
    assert manual["moves"] == 2 and manual["out_of_seq"] == 0
    assert sum(manual["after"].values()) > 1.2 * sum(manual["before"].values())


def storage_mix(report):
    manual = of_mode(report, "manual")
    assert manual["moves"] == 1 and manual["after"]["elephant"] > manual["before"]["elephant"]


def main():
    build, name, modes = (sys.argv[1:] + ["off,manual"])[:3]
    bed = Bed(build, f"s{os.getpid() % 100000}")
    out = tempfile.mkdtemp(prefix="hp3-scenario-")
    try:
        code, text, err = bed.run("run", name, "--modes", modes, "--out", out, "--quiet")
        print(text)
        assert code == 0, err
        with open(os.path.join(out, name + ".json"), encoding="utf-8") as f:
            report = json.load(f)
        with open(os.path.join(out, name + ".html"), encoding="utf-8") as f:
            page = f.read()
        assert page.count("<svg") == 6 and "http-equiv" not in page and "src=" not in page, "one self-contained page"
        for mode, row in report["summary"].items():
            assert row["overtaken"] == 0 and row["wrong_content"] == 0 and row["open"] == 0, f"{mode}: {row}"
            assert row["fct"]["n"] > 50
        globals()[name.replace("-", "_")](report)
        assert bed.left() == []
    finally:
        bed.run("down")
        shutil.rmtree(out)
    print(f"{name}: holds")


main()
