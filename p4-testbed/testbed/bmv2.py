# SPDX-License-Identifier: BSD-3-Clause
"""The bmv2 target: one simple_switch for every switch, from the same .p4 and the same topology file.

Forwarding, ECMP, ECN by the depth of a queue (in packets), ICMP and counters are the program's. Links are
veths in the fabric's namespace, and a simple_switch limits a queue in packets per second: a link has its rate
for frames of the MTU. Delays, PFC and failures of links are features of the embedded target only.
"""
import json
import os
import re
import shutil
import subprocess
import time

from . import tools
from .tools import Problem

PROGRAMS = ("p4c-bm2-ss", "simple_switch", "simple_switch_CLI")
SOURCE = os.path.join(tools.HERE, "p4", "hp3.p4")
THRIFT = 9090  # of the first switch, in the fabric's namespace
ETHERNET = 14 + 24  # header; FCS, preamble, gap
START_S = 20


def missing():
    """Programs of bmv2 that are not on PATH."""
    return [p for p in PROGRAMS if shutil.which(p) is None]


def require():
    if missing():
        raise Problem(f"--target bmv2: {', '.join(missing())} not on PATH: they are no Debian packages; install p4c and "
                      "behavioral-model (p4.org), or leave --target away: the embedded switch needs neither")


def compile_program(out, source=SOURCE):
    require()
    done = subprocess.run(["p4c-bm2-ss", "-o", out, source], capture_output=True, text=True, check=False)
    if done.returncode != 0 or not os.path.exists(out):
        words = (done.stderr.strip() or done.stdout.strip()).splitlines()[:6]
        raise Problem(f"p4c-bm2-ss does not compile {source} (code {done.returncode}):\n" + "\n".join(words))


def interface(switch, peer):
    """Name of a switch's port in the fabric's namespace: a host's veth, or our end of a link."""
    return peer if peer[0] == "h" else f"{switch}-{peer}"


def link_lines(plan):
    """For `ip -batch`: a veth for every link between switches."""
    for link in plan["links"]:
        if not link["host"]:
            a, b = link["name"].split("-")
            yield f"link add {a}-{b} mtu {plan['mtu']} type veth peer name {b}-{a} mtu {plan['mtu']}"
            yield f"link set {a}-{b} arp off up"
            yield f"link set {b}-{a} arp off up"


def command(number, ports, program):
    """Words that start a switch: `ports` are the interfaces, in order."""
    words = ["simple_switch", "--device-id", str(number), "--thrift-port", str(THRIFT + number)]
    for i, name in enumerate(ports):
        words += ["-i", f"{i}@{name}"]
    return words + [program, "--", "--priority-queues", "8"]


def queue_lines(plan, switch):
    """Rate and buffer of each port's queues, in frames of the MTU."""
    links = {link["name"]: link for link in plan["links"]}
    for i, peer in enumerate(switch["ports"]):
        link = links.get(f"{switch['name']}-{peer}") or links[f"{peer}-{switch['name']}"]
        rate = link["rate_mbps"] * 1e6 / 8 / (plan["mtu"] + ETHERNET)
        yield f"set_queue_rate {max(int(rate), 1)} {i}"
        yield f"set_queue_depth {max(link['buffer_bytes'] // plan['mtu'], 1)} {i}"


def listening(pid, port):
    """Is there a listener on this TCP port in the namespace of the process?"""
    for table in ("tcp", "tcp6"):
        try:
            with open(f"/proc/{pid}/net/{table}", encoding="ascii") as f:
                if re.search(rf":{port:04X} 0+:0000 0A ", f.read()):
                    return True
        except OSError:
            pass
    return False


def await_switch(bed, what, process, number):
    end = time.monotonic() + START_S
    while not listening(process.pid, THRIFT + number):
        if process.poll() is not None or time.monotonic() > end:
            raise Problem(f"simple_switch ({what}) does not start: {bed.log(what) or 'it says nothing'}")
        time.sleep(0.05)


def cli(bed, number, lines):
    """What simple_switch_CLI prints for these commands."""
    words = ["ip", "netns", "exec", bed.ns("fabric"), "simple_switch_CLI", "--thrift-port", str(THRIFT + number)]
    return tools.run(words, input="\n".join(lines) + "\n")


def load(bed, number, lines):
    """Table entries and settings; all of them, or a Problem."""
    text = cli(bed, number, lines)
    want, got = sum(line.startswith("table_add ") for line in lines), text.count("Entry has been added")
    bad = [line for line in text.splitlines() if re.search(r"\b(Error|Invalid|Unknown)\b", line)]
    if bad or got != want:
        raise Problem(f"switch {number} took {got} of {want} table entries: {(bad or ['no word why'])[0]}")


def start(bed, topology, plan):
    """Links, switches, entries; bed's namespaces and the hosts' veths exist."""
    program = bed.path("hp3.json")
    compile_program(program)
    bed.batch(bed.ns("fabric"), link_lines(plan))
    started = []
    for i, switch in enumerate(plan["switches"]):
        ports = [interface(switch["name"], peer) for peer in switch["ports"]]
        started.append(bed.spawn(f"switch-{switch['name']}", "fabric", command(i, ports, program)))
    fabric = tools.binary(bed.build, "hp3-fabric")
    for i, (switch, process) in enumerate(zip(plan["switches"], started)):
        await_switch(bed, f"switch-{switch['name']}", process, i)
        entries = tools.run([fabric, "entries", topology, switch["name"], "--target", "bmv2"]).splitlines()
        load(bed, i, entries + list(queue_lines(plan, switch)))


COUNTER = re.compile(r"(?:\w+\.)?(\w+)\[(\d+)\]=\s*(?:\((\d+) bytes, (\d+) packets\)|BmCounterValue\(packets=(\d+), bytes=(\d+)\))")


def counters(bed, number, names):
    """{"port_rx[0]": packets} of the counters named like this."""
    lines = [f"counter_read {n.split('[')[0]} {n.split('[')[1][:-1]}" for n in names]
    return {f"{m[0]}[{m[1]}]": int(m[3] or m[4]) for m in COUNTER.findall(cli(bed, number, lines))}


def stats(bed):
    """As the fabric's answer to `stats`, without what bmv2 does not know (lanes)."""
    settings = bed.settings()
    program = json.loads(tools.run([tools.binary(bed.build, "hp3-fabric"), "program"]))
    reasons = {v: k[5:].lower().replace("_", "-") for k, v in program["constants"].items() if k.startswith("DROP_")}
    data = {"target": "bmv2", "lanes": [], "switches": []}
    for i, switch in enumerate(settings["plan"]["switches"]):
        what, n = f"switch-{switch['name']}", len(switch["ports"])
        if not tools.alive(bed.recorded(what)):
            raise Problem(f"the process of switch {switch['name']} is dead: {bed.log(what)}; "
                          f"hp3-testbed --name {bed.name} down")
        names = [f"{c}[{p}]" for c in ("port_rx", "port_tx", "port_ce") for p in range(n)]
        got = counters(bed, i, names + [f"drops[{r}]" for r in reasons])
        row = {"name": switch["name"], "drops": {reasons[r]: got.get(f"drops[{r}]", 0) for r in reasons}}
        for c in ("port_rx", "port_tx", "port_ce"):
            row[c + "_packets"] = [got.get(f"{c}[{p}]", 0) for p in range(n)]
        data["switches"].append(row)
    return data


def path(bed, a):
    """The predicted path: routes do not change here."""
    words = [tools.binary(bed.build, "hp3-fabric"), "path", bed.settings()["topology"], a.src, a.dst, str(a.sport),
             "--qpn", str(a.qpn)]
    return json.loads(tools.run(words + (["--ipv6"] if a.ipv6 else [])))
