# SPDX-License-Identifier: BSD-3-Clause
"""The command line of hp3-testbed."""
import argparse
import json
import os
import signal
import subprocess
import sys

from . import bed as beds
from . import bmv2, hp3d, tools
from .tools import Problem


DEGRADE = {
    "loss_ppm": "frames of a million that are lost", "loss_burst": "frames lost in a row (to 10000)",
    "duplicate_ppm": "frames of a million that arrive twice",
    "reorder_ppm": "frames of a million that take longer, so that later ones overtake them", "reorder_us": "how much longer (to 1000000)",
    "corrupt_ppm": "frames of a million of which a bit behind the IP header flips",
    "mtu": "longer IP datagrams are dropped; 0: no limit", "flap_ms": "interval of drops of all frames (to 3600000)",
    "flap_down_ms": "length of these drops",
}


def parser():
    p = argparse.ArgumentParser(prog="hp3-testbed", description="A leaf-spine fabric of P4 switches on one machine.",
                                epilog="Exit codes: 0 done, 1 failed, 2 usage.")
    p.add_argument("--name", default="default", help="which testbed (default: default); they do not touch each other")
    p.add_argument("--build", default=tools.PROGRAMS,
                   help=f"build directory, or prefix of an installation (default {tools.PROGRAMS})")
    sub = p.add_subparsers(dest="command", required=True, metavar="COMMAND")

    c = sub.add_parser("up", help="switches, links, hosts with hp3d")
    c.add_argument("topology", help="a file, or the name of one of topo/")
    c.add_argument("--bare", action="store_true", help="hosts without hp3d: eth0 is the kernel's")
    c.add_argument("--no-hp3d", action="store_true", help="hosts with rnic0, port0 and eth0, on which you start hp3d yourself")
    c.add_argument("--tap", action="append", default=[], metavar="HOST",
                   help="this host is a virtual machine, which takes the tap HOST in the fabric's namespace")
    c.add_argument("--policy", choices=("on", "observe", "off"), default="on", help="mode of hp3d (default on)")
    c.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="a setting of hp3d")
    c.add_argument("--target", choices=("swx", "bmv2"), default="swx",
                   help="swx: the embedded switch (default); bmv2: simple_switch, where it is installed")
    sub.add_parser("down", help="end it, whatever is left of it")
    c = sub.add_parser("status", help="what runs; exit code 1 if something is missing")
    c.add_argument("--json", action="store_true")
    sub.add_parser("list", help="testbeds of this machine")
    c = sub.add_parser("stats", help="queues, marks, drops, pauses")
    c.add_argument("--json", action="store_true")
    c = sub.add_parser("path", help="switches that a packet takes, with the routes of this moment")
    c.add_argument("src")
    c.add_argument("dst")
    c.add_argument("sport", type=int)
    c.add_argument("--qpn", type=int, default=0)
    c.add_argument("--ipv6", action="store_true")
    c = sub.add_parser("fail", help="take a link down")
    c.add_argument("link")
    c.add_argument("--reroute-ms", type=int, default=100, help="until routes follow (default 100)")
    c.add_argument("--silent", action="store_true", help="routes never follow")
    c = sub.add_parser("restore", help="bring a link up, with nothing degraded")
    c.add_argument("link")
    c = sub.add_parser("degrade", help="slow, long, lossy, or worse", description="What is not named stays as it is.")
    c.add_argument("link")
    c.add_argument("--from", metavar="END", help="that direction alone")
    c.add_argument("--rate-mbps", type=int, help="1 to 10000")
    c.add_argument("--delay-us", type=int, help="1 to 1000000")
    for key, text in DEGRADE.items():
        c.add_argument("--" + key.replace("_", "-"), type=int, metavar="N", help=text)
    c.add_argument("--ecn", choices=("keep", "clear", "set"), help="clear: CE becomes ECT(0); set: what is ECN-capable is CE")
    c = sub.add_parser("blackhole", help="swallow a share of flows, silently")
    c.add_argument("link")
    c.add_argument("--from", metavar="END", help="that direction alone")
    c.add_argument("--percent", type=int, default=100)
    c = sub.add_parser("hp3ctl", help="hp3ctl of a host")
    c.add_argument("host")
    c.add_argument("words", nargs=argparse.REMAINDER)
    c = sub.add_parser("exec", help="a command in a host's namespace")
    c.add_argument("host")
    c.add_argument("words", nargs=argparse.REMAINDER)
    c = sub.add_parser("run", help="a scenario in several modes, with a report")
    c.add_argument("scenario")
    c.add_argument("--modes", default="off,observe,on", help="of off, observe, on, move, manual, spray (default off,observe,on)")
    c.add_argument("--seed", type=int, help="of the hosts, instead of the scenario's")
    c.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE",
                   help="a setting of hp3d, instead of the testbed's (hp3d --dump-config=all explains all)")
    c.add_argument("--out", default="hp3-report", help="directory of the report")
    c.add_argument("--quiet", action="store_true", help="no live view")
    return p


def host_ns(bed, host):
    if host not in bed.status()["hosts"]:
        raise Problem(f"no host '{host}': {', '.join(bed.status()['hosts'])}")
    return bed.ns(host)


def show_status(bed, as_json):
    what = bed.status()
    missing = what["dead"] + [n for n, h in what["hosts"].items() if not h["namespace_there"]]
    if as_json:
        print(json.dumps(what))
    else:
        tools.say(f"testbed {what['name']}: {what['topology']}")
        for name, h in what["hosts"].items():
            tools.say(f"  {name:4} {h['ip4']:12} on {h['leaf']:4} namespace {h['namespace']}")
    if missing:
        tools.say(f"hp3-testbed: not there any more: {', '.join(missing)}; hp3-testbed --name {bed.name} down",
              file=sys.stderr)
    return 1 if missing else 0


def show_stats(data):
    print(f"{'lane':12}{'Mb/s':>6}{'packets':>11}{'queue':>9}{'peak':>9}{'pauses':>8}  drops")
    for lane in data["lanes"]:
        drops = " ".join(f"{k}:{v}" for k, v in lane["drops"].items() if v) + ("" if lane["up"] else " DOWN")
        tools.say(f"{lane['from'] + '>' + lane['to']:12}{lane['rate_mbps']:6}{lane['packets']:11}{lane['queue']:9}"
              f"{lane['peak']:9}{lane['pauses']:8}  {drops}")
    for sw in data["switches"]:
        drops = " ".join(f"{k}:{v}" for k, v in sw["drops"].items() if v)
        tools.say(f"{sw['name']:4} tx {sum(sw['port_tx_packets'])} marked {sum(sw['port_ce_packets'])} {drops}")


def ask(bed, command, **args):
    control = bed.fabric()
    try:
        return control.ask(command, **{k: v for k, v in args.items() if v is not None})
    finally:
        control.close()


def act(a, bed):
    if a.command == "up":
        from . import scenario
        chosen = hp3d.overrides([f"policy.mode={a.policy}", *a.set])
        plan = bed.up(scenario.find(a.topology, "topo"), a.bare, a.tap, chosen, target=a.target, idle=a.no_hp3d)
        print(f"testbed {bed.name}: {len(plan['switches'])} switches, {len(plan['hosts'])} hosts")
    elif a.command == "down":
        bed.down()
    elif a.command == "list":
        for name in beds.names():
            tools.say(name)
    elif a.command == "status":
        return show_status(bed, a.json)
    elif a.command == "stats":
        data = bmv2.stats(bed) if bed.settings().get("target") == "bmv2" else ask(bed, "stats")
        print(json.dumps(data)) if a.json else show_stats(data)
    elif a.command == "path":
        data = bmv2.path(bed, a) if bed.settings().get("target") == "bmv2" else ask(bed, "path", src=a.src, dst=a.dst, sport=a.sport, qpn=a.qpn, ipv6=a.ipv6)
        tools.say(" ".join([a.src, *data["path"], a.dst]))
    elif a.command == "fail":
        ask(bed, "fail", link=a.link, reroute_ms=-1 if a.silent else a.reroute_ms)
    elif a.command == "restore":
        plan = {link["name"]: link for link in bed.settings()["plan"]["links"]}
        ask(bed, "restore", link=a.link, reroute_ms=0)
        ask(bed, "degrade", link=a.link, **tools.WELL, percent=0,
            rate_mbps=plan[a.link]["rate_mbps"], delay_us=plan[a.link]["delay_us"])
    elif a.command == "degrade":
        ask(bed, "degrade", **{k: v for k, v in vars(a).items() if k in ("link", "from", "rate_mbps", "delay_us", *tools.WELL)})
    elif a.command == "blackhole":
        ask(bed, "blackhole", **{k: v for k, v in vars(a).items() if k in ("link", "from", "percent")})
    elif a.command in ("hp3ctl", "exec"):
        ns = host_ns(bed, a.host)
        words = a.words[1:] if a.words[:1] == ["--"] else a.words
        if not words:
            raise Problem(f"{a.command} {a.host}: no command")
        if a.command == "hp3ctl":
            words = [tools.binary(bed.build, "hp3ctl"), "--socket", bed.path(a.host + ".sock"), *words]
        return subprocess.run(["ip", "netns", "exec", ns, *words], check=False).returncode
    else:
        from . import scenario
        return scenario.run(bed, a.scenario, a.modes.split(","), a.out, a.quiet, a.seed, hp3d.overrides(a.set))
    return 0


def main():
    a = parser().parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return act(a, beds.Bed(a.name, os.path.realpath(a.build)))
    except Problem as e:
        print(f"hp3-testbed: {e}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 1
