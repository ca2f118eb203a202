# SPDX-License-Identifier: BSD-3-Clause
"""The live view: a bar for every spine and every sending host, queues, marks, events."""
import shutil
import sys
from collections import Counter

from . import tools
from .decisions import MOVES

WIDTH = 30


def bar(value, full):
    n = max(0, min(WIDTH, round(value / full * WIDTH))) if full else 0
    return "█" * n + "·" * (WIDTH - n)


class View:
    def __init__(self, scenario, mode, plan, load, quiet):
        self.scenario, self.mode, self.plan, self.load = scenario["scenario"], mode, plan, load
        self.on = not quiet and sys.stdout.isatty() and shutil.get_terminal_size().lines > 16
        self.notes, self.lines, self.turn, self.moved, self.ce = [], 0, 0, {}, Counter()
        self.rate = {link["name"]: link["rate_mbps"] for link in plan["links"]}
        self.leaves = [s["name"] for s in plan["switches"] if s["name"][0] == "l"]
        self.spines = [s["name"] for s in plan["switches"] if s["name"][0] == "s"]
        if not quiet and not self.on:
            tools.say(f"{self.scenario['title']}: mode {mode}, {self.scenario['seconds']} s", flush=True)

    def note(self, event):
        words = [f"{event['t']:6.2f} s", event["action"]]
        if event["action"] == "move":
            words += [f"flow {event['flow']} to port {event['port']} over {event['to']}"]
            self.moved[event["flow"]] = event["port"]
        else:
            words += [f"{k}={v}" for k, v in event.items() if k not in ("t", "action")]
        self.notes.append(" ".join(words))

    def decided(self, event):
        """An event of hp3d: congestion, and moves."""
        name = event["name"] or event["flow"]
        when = f"{event['t']:6.2f} s"
        if event["type"] in MOVES:
            held = event["evidence"].get("held_pkts", 0)
            self.notes.append(f"{when} hp3d of {event['host']} moves flow {name}: port {event['from']} to {event['to']}, "
                              f"because of {event['cause']}, {held} packets held")
            self.moved[name] = event["to"]
        elif event["type"] == "severe":
            cycles = " ".join(event["evidence"]["cycles"])
            self.notes.append(f"{when} hp3d of {event['host']}: path of flow {name} is congested ({cycles})")

    def show(self, now, sampler):
        self.turn += 1
        if sampler.rows:
            self.ce.update(sampler.rows[-1]["ce"])
        if not self.on or not sampler.rows or self.turn % 2:
            return
        row = sampler.rows[-1]
        text = [f"{self.scenario['title']}   mode {self.mode}   {now:5.1f} of {self.scenario['seconds']} s", ""]
        text.append("spines    Mb/s towards the leaves, deepest queue, packets marked CE so far, to and from the spine")
        for spine in self.spines:
            lanes = [f"{spine}>{leaf}" for leaf in self.leaves]
            both = [f"{leaf}>{spine}" for leaf in self.leaves] + lanes
            rate = max(row["mbps"][lane] for lane in lanes)
            queue = max(row["queue"][lane] for lane in both)
            marks = sum(self.ce[lane] for lane in both)
            text.append(f"  {spine:4} {bar(rate, self.rate[f'{self.leaves[0]}-{spine}'])} {rate:6.1f}"
                        f"  {queue / 1000:6.1f} kB  {marks:6} CE")
        text += ["", "hosts     Mb/s sent, by port"]
        for host in self.plan["hosts"]:
            ports = [f"{n}:{self.moved.get(n, p)}" for n, p in self.load.ports.items() if self.load.ends(n)[0] == host["name"]]
            if ports:
                rate = row["mbps"][f"{host['name']}>{host['leaf']}"]
                text.append(f"  {host['name']:4} {bar(rate, host['rate_mbps'])} {rate:6.1f}  {' '.join(ports[:4])}")
        text += [""] + self.notes[-4:]
        sys.stdout.write(f"\x1b[{self.lines}A\x1b[J" if self.lines else "")
        width = shutil.get_terminal_size().columns
        sys.stdout.write("\n".join(tools.plain(line)[:width] for line in text) + "\n")
        sys.stdout.flush()
        self.lines = len(text)

    def close(self):
        if self.on:
            print()
