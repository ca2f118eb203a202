# SPDX-License-Identifier: BSD-3-Clause
"""The summary of a run in one sentence with figures; commit and command of the page."""
import html
import shlex
import subprocess
import sys

from . import measures, spray
from .evidence import moves_of
from .tools import IN_TREE, PROGRAMS, REPO, binary, run

SETTLED_S = 1.0  # after a move: what DCQCN takes


def often(n):
    return "once" if n == 1 else f"{n} times"


def counted(n, word):
    return f"{n} {word}" + ("" if n == 1 else "s")


def together(scenario, result, begin, end):
    """Goodput of all loads in a span, Mb/s; None if an interval of none is in it."""
    rates = [measures.between(scenario, result, n, begin, end) for n in measures.flows_of(scenario, result)]
    return None if not rates or None in rates else sum(rates)


def all_run(scenario, result):
    """From when on all loads run, seconds."""
    return max([scenario.get("flow." + n, {"start_ms": 0})["start_ms"] / 1000 for n in measures.flows_of(scenario, result)])


def when(moves, since):
    """Moments of the moves; after the last flow began, where that is what they answer."""
    first, last = min(m["t"] for m in moves), max(m["t"] for m in moves)
    text = f"at {first:.2f} s" if len(moves) == 1 else f"from {first:.2f} to {last:.2f} s"
    return text + (f", {first - since:.2f} s after the last flow began" if since and first > since else "")


def beside(scenario, off, begin, end):
    rate = together(scenario, off, begin, end) if off else None
    return "" if rate is None else f" (hp3 off in the same time: {rate:.1f})"


def what_moved(scenario, result):
    moves = moves_of(result)
    if not moves:
        return f"mode {result['mode']}: nothing was moved"
    flows = sorted({m["name"] or m["flow"] for m in moves})
    names = f" ({', '.join(flows)})" if len(flows) <= 4 else ""
    who = "hp3ctl" if result["mode"] == "manual" else "hp3d"
    return f"{who} moved {counted(len(flows), 'flow')}{names} {often(len(moves))}, {when(moves, all_run(scenario, result))}"


def goodput(scenario, result, off, wait_s=SETTLED_S):
    """Before the first move and `wait_s` after the last one; without moves, all the time."""
    since, seconds, moves = all_run(scenario, result), scenario["scenario"]["seconds"], moves_of(result)
    if moves:
        before = together(scenario, result, since, min(m["t"] for m in moves))
        settled = max(m["t"] for m in moves) + wait_s
        after = together(scenario, result, settled, seconds)
        if after is not None:
            change = f"went from {before:.1f} to {after:.1f} Mb/s" if before is not None else f"was {after:.1f} Mb/s afterwards"
            return f"goodput of all flows {change}" + beside(scenario, off, settled, seconds)
    begin = since + scenario["scenario"]["warmup_ms"] / 1000
    rate = together(scenario, result, begin, seconds)
    return "" if rate is None else f"goodput of all flows was {rate:.1f} Mb/s" + beside(scenario, off, begin, seconds)


def chosen(results):
    """The last mode that may move flows, else the last one; and mode off beside it, if there is one."""
    result = next((r for r in reversed(results) if r["mode"] in ("on", "manual")), results[-1])
    off = next((r for r in results if r["mode"] == "off" and r is not result), None)
    return result, off


def waits(row, link):
    """The longest waits of the flows after a link was cut; of many only the longest."""
    known = {n: w / 1000 for n, w in row["outage_ms"][link].items() if w is not None}
    if len(known) > 4:
        known = {"any flow": max(known.values())}
    return ", ".join(f"{n} {w:.1f} s" for n, w in known.items())


def outages(row, off):
    for link in row["outage_ms"]:
        yield f"after {link} was cut nothing completed for: {waits(row, link)}" + (f" (hp3 off: {waits(off, link)})" if off else "")


def sentence(scenario, results):
    sprayed = next((r for r in reversed(results) if spray.was([r])), None)
    if sprayed is not None:
        return spray.sentence(scenario, results, sprayed)
    result, off = chosen(results)
    row, was = measures.row_of(scenario, result), measures.row_of(scenario, off) if off else None
    parts = [what_moved(scenario, result), goodput(scenario, result, off), *outages(row, was),
             f"{counted(row['retransmissions'], 'retransmission')}, {row['out_of_seq']} out of sequence"]
    return "; ".join(p for p in parts if p) + "."


def commit():
    """The revision of this tree, and whether it is exactly that; the version of an installation."""
    if not IN_TREE:
        return run([binary(PROGRAMS, "hp3d"), "--version"]).strip()

    def git(*words):
        done = subprocess.run(["git", "-c", f"safe.directory={REPO}", "-C", REPO, *words], capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    try:
        revision, changed = git("rev-parse", "--short=12", "HEAD"), git("status", "--porcelain", "--untracked-files=no")
    except FileNotFoundError:
        revision = changed = None
    if revision is None:
        return "unknown: no git repository"
    return revision + (", with changes" if changed else "")


def command():
    """The command line that runs, as one would type it, in the tree where this is one."""
    return shlex.join(["p4-testbed/hp3-testbed" if IN_TREE else "hp3-testbed", *sys.argv[1:]])


def origin(words=None):
    return (f"<p>Made by <code>{html.escape(words or command())}</code> at commit <code>{html.escape(commit())}</code>.</p>")
