# SPDX-License-Identifier: BSD-3-Clause
"""Decisions of the hosts' hp3d, live and afterwards: events with the scenario's clock and names of flows; and
the cost of probing, by counters."""
import time

from . import tools

MOVES = ("switch", "idle_switch", "failover")
SPRAY = ("sprays", "sprays_broken", "sprays_full", "sprays_given_up", "sprayed", "sprayed_reads", "resequenced", "reseq_held", "reseq_late", "reseq_beyond", "reseq_full", "reseq_share",
         "reseq_given_up", "reseq_wait_restarts", "reseq_gaps", "reseq_gaps_1ms", "reseq_gaps_10ms", "reseq_waited", "reseq_ahead_8", "reseq_ahead_64")
COUNTERS = ("severe", "lossy", "rounds", "rounds_won", "rounds_fruitless", "probes", "probe_replies", "moves_switched", "moves_idle",
            "moves_recovered", "searches_fruitless", "failovers", "naks_made", "paid_off", "wasted", "held_packets", "cnps",
            "cnps_stale", "paced", "unpaced",
            "messages_bad_form", "drop_discarded", "drop_engine", "drop_handover", "drop_tx_full", "drop_too_long", "drop_bypassed", *SPRAY)
PAGE = 500


class Decisions:
    def __init__(self, bed, load, plan):
        self.hosts = {h["name"]: tools.Control(bed.path(h["name"] + ".sock")) for h in plan["hosts"]}
        self.load, self.zero, self.names = load, {}, {}
        self.since = {host: 0 for host in self.hosts}
        self.events = []

    def start(self, begin):
        """`begin`: the scenario's second 0, Unix time. Each hp3d has a clock of its own."""
        for host, control in self.hosts.items():
            asked = time.time()
            clock = control.ask("health")["t_ns"] / 1e9
            self.zero[host] = clock + begin - (asked + time.time()) / 2

    def flows(self, host):
        """hp3d's flows of a host, those of the scenario with its name for them."""
        found = self.hosts[host].ask("flows", limit=100)
        for f in found:
            name = self.load.name_of(host, f)
            if name is not None:
                self.names[f["flow"]] = name
        return [(self.names.get(f["flow"]), f) for f in found]

    def take(self):
        """Events of flows since the last call, in the order of time."""
        new = []
        for host, control in self.hosts.items():
            while True:
                page = control.ask("events", since=self.since[host], limit=PAGE, all=True)
                new += [{"host": host, "t": e["t_ns"] / 1e9 - self.zero[host], **e} for e in page if "flow" in e]
                if page:
                    self.since[host] = page[-1]["seq"]
                if len(page) < PAGE:
                    break
        for e in new:
            e["name"] = self.names.get(e["flow"])
        new.sort(key=lambda e: e["t"])
        self.events += new
        return new

    def counters(self):
        """By host."""
        found = {}
        for host, control in self.hosts.items():
            stats = control.ask("stats")["rail"]["rail0"]
            found[host] = {name: stats[name] for name in COUNTERS}
        return found

    def close(self):
        for control in self.hosts.values():
            control.close()

