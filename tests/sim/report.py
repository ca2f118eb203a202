#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a run leaves behind: distributions and series that agree with its totals, figures, one page.

usage: report.py HP3-SIM
"""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

T_ONE = 12.706  # of Student's t, 0.975, two values
PANELS = ("slowdown", "CDF of flow completion times", "p99 of slowdown by flow size",
          "longest queue to a switch", "longest queue to a host", "moves so far")


def results_agree(results, bad):
    for name, r in results.items():
        d, s, n = r["distribution"], r["series"], len(r["series"]["moves"])
        if d["fct_us"] != sorted(d["fct_us"]) or d["percent"][0] != 0 or d["percent"][-1] != 100:
            bad.append(f"{name}: distribution does not rise from 0 to 100 %")
        median = d["slowdown"][d["percent"].index(50)]
        if abs(median - r["slowdown"]["overall"]["p50"]) > 1e-4:
            bad.append(f"{name}: median {median} and {r['slowdown']['overall']['p50']}")
        if sum(size["n"] for size in r["by_size"]) != r["slowdown"]["overall"]["n"]:
            bad.append(f"{name}: flows by size are not all flows")
        # What was sent since the last look is in no point.
        if sum(s["moves"]) > r["moves"] or not 0.99 < sum(s["data_bytes"]) / r["data_bytes"] <= 1:
            bad.append(f"{name}: points do not add up to moves and bytes")
        if not 100 < n <= 512 or any(len(v) != n for k, v in s.items() if k != "point_us"):
            bad.append(f"{name}: {n} points")
        if not (n - 1) * s["point_us"] <= r["sim_ns"] / 1000 <= n * s["point_us"] + 20:
            bad.append(f"{name}: {n} points of {s['point_us']} us do not span the run")
        # 32 senders to one host: the queue is there, and not above the leaves.
        if not max(s["host_max_bytes"]) > 2 * max(s["core_max_bytes"]) > 0:
            bad.append(f"{name}: queues of an incast are at the host's port")
    if not all(r["moves"] == 0 for name, r in results.items() if "-ecmp-" in name):
        bad.append("ECMP moved")


def page_says(page, command, results, bad):
    avg = {lb: [results[f"incast-{lb}-50-{seed}"]["slowdown"]["overall"]["avg"] for seed in (1, 2)]
           for lb in ("ecmp", "hp3")}
    words = [f"commit {results['incast-ecmp-50-1']['commit']}", command, "<td>traffic.kind<td>incast",
             "<td>traffic.fan_in<td>32", "<svg"]
    words += [f">{sum(h / e for h, e in zip(avg['hp3'], avg['ecmp'])) / 2:.3f}<"]
    for a, b in avg.values():
        words.append(f"<td>2<td>{(a + b) / 2:.3f}<td>{T_ONE * abs(a - b) / 2:.3f}<td>")
    for word in (*words, *PANELS):
        if word not in page:
            bad.append(f"report.html: no {word}")
    if re.search(r"""\b(src|href)=["'](?!#)""", page) or re.search(r"url\((?!#)", page):
        bad.append("report.html: needs something beside it")
    ids = re.findall(r'\bid="([^"]+)"', page)
    if len(ids) != len(set(ids)):
        bad.append("report.html: an id is there twice")
    if set(re.findall(r"(?:url\(|href=\")#([^\")]+)", page)) - set(ids):
        bad.append("report.html: refers to what is not there")


def untrusted_text(sim, folder, result, bad):
    """Results that somebody sent: texts are text, names that are none are refused, nothing is written elsewhere."""
    def report(**changed):
        for path in glob.glob(os.path.join(glob.escape(folder), "*")):
            os.unlink(path)
        with open(os.path.join(folder, "x.json"), "w", encoding="utf-8") as f:
            json.dump(result | changed, f)
        return subprocess.run([sim, "report", folder], capture_output=True, check=False, timeout=250)

    os.mkdir(folder)
    script = "<script>alert(1)</script>\x1b[2J\x9b"
    done = report(command=script, settings=result["settings"] | {script: script},
                  inputs={script: {"name": script, "sha256": script}}, commit=script)
    if done.returncode != 0:
        bad.append(f"strange texts: {done.stderr}")
    with open(os.path.join(folder, "report.html"), encoding="utf-8") as f:
        page = f.read()
    if "<script" in page or page.count("&lt;script&gt;alert(1)&lt;/script&gt;?[2J?") != 7:
        bad.append(f"strange texts: {page.count('&lt;script&gt;')} times on the page")
    if not re.sub("[\n–−×]", "", page).isprintable():
        bad.append("strange texts: not plain on the page")
    end = f"-{result['lb']}-{result['load_percent']}-{result['seed']}"
    for changed in ({"name": f"../x{end}"}, {"name": f"=1+1{end}"}, {"name": f"\x1b[2J{end}"}, {"name": "x"}, {"name": f"a,b{end}"},
                    {"name": f"$x^${end}"}, {"seed": "=1+1"}, {"load_percent": "=1"}, {"lb": "=1+1", "name": "x-=1+1-50-1"},
                    {"lb": "../../x", "name": "x-../../x-50-1"}):
        done = report(**changed)
        if done.returncode != 1 or b"x.json: no result of `hp3-sim run`" not in done.stderr or len(os.listdir(folder)) != 1:
            bad.append(f"{changed}: exit code {done.returncode}, {done.stderr}")
    with open(os.path.join(folder, "x.json"), "wb") as f:
        f.write(b'{"name": "\xff"}')
    done = subprocess.run([sim, "report", folder], capture_output=True, check=False, timeout=250)
    if done.returncode != 1 or b"no JSON in UTF-8" not in done.stderr:
        bad.append(f"no UTF-8: {done.stderr}")


def main():
    sim, bad, results = sys.argv[1], [], {}
    with tempfile.TemporaryDirectory(prefix="hp3 sim-") as tmp:
        args = ["run", "incast", "micro-collision", "--quick", "--lbs", "ecmp,hp3", "--set",
                "sweep.quick_seeds=2", "--out", tmp]
        subprocess.run([sim, *args, "--no-report"], check=True, stderr=subprocess.DEVNULL, timeout=250)
        if os.path.exists(os.path.join(tmp, "report.html")):
            bad.append("--no-report makes one")
        subprocess.run([sim, "report", tmp], check=True, stderr=subprocess.DEVNULL, timeout=250)
        for path in glob.glob(os.path.join(tmp, "incast-*.json")):
            with open(path, encoding="utf-8") as f:
                results[os.path.basename(path)[:-len(".json")]] = json.load(f)
        results_agree(results, bad)
        with open(os.path.join(tmp, "report.html"), encoding="utf-8") as f:
            page = f.read()
        quoted = "hp3-sim " + " ".join(args[:-1]) + f" &#39;{tmp}&#39; --no-report"
        page_says(page, quoted, results, bad)
        untrusted_text(sim, os.path.join(tmp, "[x]"), results["incast-ecmp-50-1"], bad)
        for name in "incast-50", "micro-collision-50":
            for kind, start in ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml"):
                with open(os.path.join(tmp, f"{name}.{kind}"), "rb") as f:
                    if not f.read().startswith(start):
                        bad.append(f"{name}.{kind}: not one")
    for line in bad:
        print("report:", line)
    return 1 if bad else 0


sys.exit(main())
