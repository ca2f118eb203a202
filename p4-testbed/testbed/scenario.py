# SPDX-License-Identifier: BSD-3-Clause
"""Runs a scenario in several modes and passes the measurements to the report.

off      hp3d forwards only
observe  hp3d probes and decides, but moves nothing
on       hp3d as shipped: it moves flows, and large messages take several paths while these are alike
move     as on, but a queue pair takes one path at a time (rfr.mode = move)
manual   hp3d does not probe, and moves flows by the scenario's script (hp3ctl move)
spray    as on, and large messages take several paths also while these differ (docs/guide/spray.md)
"""
import json
import os
import signal
import sys
import time

from . import decisions as decided
from . import load as loads
from . import lost, measures, report, tools, view
from .tools import Problem

# What each mode sets in hp3d's configuration.
MODES = {
    "off": {"policy": {"mode": "off"}, "ppp": {"probe": "off"}},
    "observe": {"policy": {"mode": "observe", "observe_probes": "on"}},
    "on": {"policy": {"mode": "on"}},
    "move": {"policy": {"mode": "on"}, "rfr": {"mode": "move"}},
    "manual": {"policy": {"mode": "on"}, "ppp": {"probe": "off"}},
    "spray": {"policy": {"mode": "on"}, "rfr": {"mode": "spray"}},
}
SAMPLE_S = 0.1
PEERS_AT = 0.75  # of the time: what hosts know of each other while the load runs


def keeper(bed):
    """A process that takes the testbed down when we end, however we end. Returns our end of its pipe."""
    read, write = os.pipe()
    pid = os.fork()
    if pid > 0:
        os.close(read)
        return write, pid
    os.setsid()
    for sig in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(sig, signal.SIG_IGN)
    os.close(write)
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2):
        os.dup2(null, fd)
    os.read(read, 1)
    try:
        bed.down()
    finally:
        os._exit(0)


def find(path, folder):
    for name in (path, os.path.join(tools.HERE, folder, path + ".ini")):
        if os.path.exists(name):
            return name
    known = sorted(f[:-4] for f in os.listdir(os.path.join(tools.HERE, folder)) if f.endswith(".ini"))
    raise Problem(f"no {folder[:-1] if folder.endswith('s') else folder} '{path}': there are {', '.join(known)}")


class Sampler:
    """What the fabric counted, every SAMPLE_S: differences for rates, values for queues; and what hp3d measured."""

    def __init__(self, bed, decisions, plan):
        self.control, self.decisions = bed.fabric(), decisions
        self.ports = {sw["name"]: sw["ports"] for sw in plan["switches"]}
        self.rows, self.last = [], None

    def round_trips(self):
        """Smoothed RTT in ms of every flow that hp3d has measured, by the flow's name."""
        found = {}
        for host in self.decisions.hosts:
            for name, f in self.decisions.flows(host):
                if name is not None and f["path"]["rtt_ns"]:
                    found[name] = f["path"]["rtt_ns"] / 1e6
        return found

    def take(self, now):
        data = self.control.ask("stats")
        lanes = {f"{lane['from']}>{lane['to']}": lane for lane in data["lanes"]}
        marks = {sw["name"]: sum(sw["port_ce_packets"]) for sw in data["switches"]}
        sent = {sw["name"]: sum(sw["port_tx_packets"]) for sw in data["switches"]}
        ce = {f"{sw['name']}>{peer}": n for sw in data["switches"] for peer, n in zip(self.ports[sw["name"]], sw["port_ce_packets"])}
        if self.last is not None:
            dt = (data["t_ns"] - self.last["t_ns"]) / 1e9
            row = {"t": now, "mbps": {}, "queue": {}, "marks": {}, "packets": {}, "ce": {lane: n - self.last["ce"][lane] for lane, n in ce.items()}}
            if len(self.rows) % 2 == 0:
                row["rtt_ms"] = self.round_trips()
            for name, lane in lanes.items():
                row["mbps"][name] = (lane["bytes"] - self.last["bytes"][name]) * 8 / dt / 1e6
                row["queue"][name] = lane["peak"]
            for name in marks:
                row["marks"][name] = marks[name] - self.last["marks"][name]
                row["packets"][name] = sent[name] - self.last["sent"][name]
            self.rows.append(row)
        self.last = {"t_ns": data["t_ns"], "bytes": {n: lane["bytes"] for n, lane in lanes.items()},
                     "marks": marks, "sent": sent, "ce": ce, "data": data}


def move(bed, load, paths, event):
    flow = event["flow"]
    src, dst = load.ends(flow)
    ids = load.flow_ids(flow)
    if not ids:
        raise Problem(f"hp3d of {src} knows no flow {flow}: is it running at {event['at_ms']} ms?")
    port = paths.port(src, dst, event["to"], load.ports[flow] % 1000)
    bed.hp3ctl(src, "move", ids[0], "--port", str(port), "--no-wait")
    return {"flow": flow, "id": ids[0], "from": load.ports[flow], "port": port, "to": event["to"]}


def perform(bed, load, paths, control, event):
    """One event; what is to be told of it."""
    if event["action"] == "move":
        return move(bed, load, paths, event)
    args = {"link": event["link"], **({"from": event["from"]} if event["from"] else {})}
    if event["action"] == "fail":
        args["reroute_ms"] = -1 if event["reroute_ms"] == 0xffffffff else event["reroute_ms"]
    elif event["action"] == "restore":
        args["reroute_ms"] = 0
    elif event["action"] == "blackhole":
        args["percent"] = event["percent"]
    else:
        args.update({k: event[k] for k in ("rate_mbps", "delay_us") if event[k]})
        args.update({k: event[k] for k in tools.WELL})
    control.ask(event["action"], **args)
    return {k: v for k, v in args.items() if v != tools.WELL.get(k)}


def play(bed, scenario, mode, load, decisions, screen):
    """The run itself, from the load's first packet to its end."""
    paths, control, sampler = loads.Paths(bed), bed.fabric(), Sampler(bed, decisions, screen.plan)
    events = sorted(loads.sections(scenario, "event").values(), key=lambda e: e["at_ms"])
    events = [e for e in events if mode == "manual" or e["action"] != "move"]
    done, seconds, peers = [], scenario["scenario"]["seconds"], None
    load.choose_ports(paths)
    load.start()
    begin = load.start_ms / 1000
    decisions.start(begin)
    time.sleep(max(begin - time.time(), 0))
    following = begin
    while time.time() < begin + seconds:
        now = time.time() - begin
        while events and now * 1000 >= events[0]["at_ms"]:
            event = events.pop(0)
            done.append({"t": now, "action": event["action"], **perform(bed, load, paths, control, event)})
            screen.note(done[-1])
        sampler.take(now)
        for event in decisions.take():
            screen.decided(event)
        screen.show(now, sampler)
        if peers is None and now > PEERS_AT * seconds:
            peers = {host: bed.peers(host) for host in decisions.hosts}
        following += SAMPLE_S
        time.sleep(max(following - time.time(), 0))
    reports = load.finish(15)
    decisions.take()
    rings = lost_by(bed, decisions)
    paths.close()
    control.close()
    ends = {name: load.ends(name) for name in load.ports}
    return {"mode": mode, "ports": load.ports, "ends": ends, "events": done, "samples": sampler.rows, "reports": reports,
            "decisions": decisions.events, "counters": decisions.counters(), "fabric": sampler.last["data"],
            "kernel_lost": rings,
            "peers": {host: found for host, (_, found) in peers.items()}, "peers_text": {host: text for host, (text, _) in peers.items()}}


def lost_by(bed, decisions):
    """{process: frames that the kernel dropped before it}, of the switches and of hp3d where some were."""
    programs = ["fabric"] + [f"hp3d-{host}" for host in decisions.hosts]
    counts = {who: lost.by_kernel(bed.recorded(who)["pid"]) for who in programs}
    return {who: n for who, n in counts.items() if n}


def merged(*parts):
    """Settings of hp3d by section; later ones win."""
    all_of = {}
    for part in parts:
        for section, keys in part.items():
            all_of.setdefault(section, {}).update(keys)
    return all_of


def run_mode(bed, scenario, topology, mode, chosen, quiet):
    plan = bed.up(topology, chosen=merged(chosen, MODES[mode]), seed=scenario["scenario"]["seed"])
    try:
        load = loads.Load(bed, scenario, plan)
        load.check()
        decisions = decided.Decisions(bed, load, plan)
        screen = view.View(scenario, mode, plan, load, quiet)
        try:
            return plan, play(bed, scenario, mode, load, decisions, screen)
        finally:
            screen.close()
            decisions.close()
    finally:
        bed.down()


def run(bed, name, modes, out, quiet, seed=None, chosen=None):
    """`seed`: instead of the scenario's; `chosen`: settings of hp3d instead of the testbed's."""
    path = find(name, "scenarios")
    scenario = json.loads(tools.run([tools.binary(bed.build, "hp3-fabric"), "scenario", path]))
    topology = find(scenario["scenario"]["topology"], "topo")
    scenario["scenario"]["seed"] = scenario["scenario"]["seed"] if seed is None else seed
    for mode in modes:
        if mode not in MODES:
            raise Problem(f"--modes: no mode '{mode}': {', '.join(MODES)}")
    plan = json.loads(tools.run([tools.binary(bed.build, "hp3-fabric"), "plan", topology]))
    tools.say(tools.slow_words(plan), flush=True)
    results = []
    for mode in modes:
        pipe, pid = keeper(bed)
        try:
            plan, result = run_mode(bed, scenario, topology, mode, chosen or {}, quiet)
            results.append(result)
        finally:
            os.close(pipe)
            os.waitpid(pid, 0)
    pages = report.write(out, os.path.basename(path)[:-4], scenario, plan, results)
    print(report.summary(scenario, plan, results))
    tools.say(f"report: {pages}")
    wrong = measures.failures(results)
    for line in wrong:
        tools.say(f"hp3-testbed: {line}", file=sys.stderr)
    return 1 if wrong else 0
