# SPDX-License-Identifier: BSD-3-Clause
"""One testbed: its state directory, namespaces and processes.

Everything has the testbed's name: namespaces hp3tb-NAME-fabric, hp3tb-NAME-h1 and so on,
/run/hp3-testbed/NAME with arguments, logs and sockets. A process belongs to the testbed if it was
recorded with its start time, or runs in one of these namespaces. So `down` finds all of it, and
nothing else, after any abort.

A host:     rnic0 --veth-- port0 [hp3d] eth0 --veth-- hN of the fabric's namespace
or (bare):  eth0 --veth-- hN
"""
import fcntl
import json
import os
import re
import shutil
import subprocess
import time
import zlib

from . import bmv2, hp3d, ports, tools
from .tools import Problem

RUN = "/run/hp3-testbed"
START_S = 20  # a process that has not opened its socket by then does not start


def names():
    """Testbeds that left anything."""
    found = set(os.listdir(RUN)) if os.path.isdir(RUN) else set()
    found |= {m.group(1) for m in (re.match(r"hp3tb-(.+)-[a-z0-9]+$", n) for n in namespaces()) if m}
    return sorted(n for n in found if not n.endswith(".lock"))


def namespaces():
    try:
        return os.listdir("/run/netns")
    except FileNotFoundError:
        return []


class Bed:
    def __init__(self, name, build):
        if not re.fullmatch(r"[a-z0-9]{1,12}", name):
            raise Problem(f"--name {name}: 1 to 12 letters a-z and digits")
        self.name, self.build = name, build
        self.dir = os.path.join(RUN, name)
        self.lock = None

    # -- state ------------------------------------------------------------------------------

    def path(self, *parts):
        return os.path.join(self.dir, *parts)

    def take_lock(self):
        os.makedirs(RUN, exist_ok=True)
        path = os.path.join(RUN, self.name + ".lock")
        self.lock = open(path, "w", encoding="ascii")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            gone = not os.path.exists(path) or os.stat(path).st_ino != os.fstat(self.lock.fileno()).st_ino
        except BlockingIOError:
            gone = True  # held, or just being removed
        if gone:
            raise Problem(f"testbed '{self.name}' is being changed by another hp3-testbed: wait, or use --name")

    def drop_lock(self):
        if self.lock is not None:
            self.lock.close()
            self.lock = None

    def settings(self):
        try:
            with open(self.path("settings.json"), encoding="utf-8") as f:
                return json.load(f)
        except FileNotFoundError as e:
            raise Problem(f"testbed '{self.name}' is not up: hp3-testbed --name {self.name} up TOPOLOGY") from e

    def record(self, what, process):
        entry = {"pid": process.pid, "born": tools.born(process.pid)}
        with open(self.path(what + ".pid"), "w", encoding="ascii") as f:
            json.dump(entry, f)
        return entry

    def recorded(self, what):
        try:
            with open(self.path(what + ".pid"), encoding="ascii") as f:
                return json.load(f)
        except (FileNotFoundError, ValueError):
            return None

    def ns(self, who):
        return f"hp3tb-{self.name}-{who}"

    def our_namespaces(self):
        return [n for n in namespaces() if re.fullmatch(rf"hp3tb-{self.name}-[a-z0-9]+", n)]

    def log(self, what, lines=5):
        try:
            with open(self.path(what + ".log"), encoding="utf-8", errors="replace") as f:
                return "".join(f.readlines()[-lines:]).strip()
        except FileNotFoundError:
            return ""

    # -- up and down ------------------------------------------------------------------------

    def up(self, topology, bare=False, taps=(), chosen=None, target="swx", seed=1, idle=False):
        """`chosen`: settings of hp3d, {section: {key: value}}, instead of the testbed's. `idle`: somebody else starts hp3d."""
        if os.geteuid() != 0:
            raise Problem("namespaces and packet sockets need root: run as root")
        for tool in ("ip", "ethtool"):
            if shutil.which(tool) is None:
                raise Problem(f"'{tool}' is missing: apt-get install iproute2 ethtool")
        fabric = tools.binary(self.build, "hp3-fabric")
        topology = os.path.realpath(topology)
        plan = json.loads(tools.run([fabric, "plan", topology]))
        self.take_lock()
        try:
            if self.switches_run():
                raise Problem(f"testbed '{self.name}' is up: hp3-testbed --name {self.name} down, or another --name")
            self.sweep()
            os.makedirs(self.dir, mode=0o700)
            unknown = set(taps) - {h["name"] for h in plan["hosts"]}
            if unknown:
                raise Problem(f"--tap {sorted(unknown)[0]}: no such host: {', '.join(h['name'] for h in plan['hosts'])}")
            taps = ports.outside(plan, taps, target)
            settings = {"topology": topology, "target": target, "bare": bare, "taps": list(taps), "hp3d": chosen or {}, "build": self.build, "plan": plan}
            with open(self.path("settings.json"), "w", encoding="utf-8") as f:
                json.dump(settings, f)
            try:
                self.make_network(plan, bare, taps)
                if target == "bmv2":
                    bmv2.start(self, topology, plan)
                else:
                    self.start_fabric(fabric, topology)
                    ports.adopt_taps(self, plan, bare)
                if not bare and not idle:
                    for host in plan["hosts"]:
                        if host["name"] not in taps:
                            self.start_hp3d(host, plan, chosen or {}, seed)
                    for host in plan["hosts"]:
                        if host["name"] not in taps:
                            self.await_hp3d(host)
            except BaseException:
                self.sweep(keep_logs=True)
                raise
        finally:
            self.drop_lock()
        return plan

    def down(self):
        self.take_lock()
        try:
            self.sweep()
            os.unlink(os.path.join(RUN, self.name + ".lock"))
        finally:
            self.drop_lock()

    def sweep(self, keep_logs=False):
        """Ends and removes all that carries our name."""
        records = [f[:-4] for f in os.listdir(self.dir) if f.endswith(".pid")] if os.path.isdir(self.dir) else []
        for what in sorted(records, key=lambda w: w == "fabric"):
            if what != "keeper":
                tools.stop(self.recorded(what))
        for ns in self.our_namespaces():
            for pid in subprocess.run(["ip", "netns", "pids", ns], capture_output=True, text=True,
                                      check=False).stdout.split():
                tools.stop({"pid": int(pid), "born": tools.born(int(pid))}, grace=1.0)
            subprocess.run(["ip", "netns", "del", ns], capture_output=True, check=False)
        if keep_logs:
            for f in os.listdir(self.dir):
                if not f.endswith(".log"):
                    os.unlink(self.path(f))
        else:
            shutil.rmtree(self.dir, ignore_errors=True)
        for rest in os.listdir("/run/dpdk") if os.path.isdir("/run/dpdk") else []:
            if rest.startswith(f"hp3tb-{self.name}-") or rest.startswith(f"hp3fab-{self.name}-"):
                shutil.rmtree(os.path.join("/run/dpdk", rest), ignore_errors=True)

    # -- network ----------------------------------------------------------------------------

    def batch(self, ns, lines):
        words = ["ip"] + (["-n", ns] if ns else []) + ["-batch", "-"]
        tools.run(words, input="\n".join(lines) + "\n")

    def make_network(self, plan, bare, taps):
        """Hosts in `taps` are virtual machines: a tap in the fabric's namespace is all that is theirs."""
        fab, mtu = self.ns("fabric"), plan["mtu"]
        tools.run(["ip", "netns", "add", fab])
        self.quiet(fab)
        for h in plan["hosts"]:
            if h["port"] in ports.SOCKETS:
                continue
            if h["name"] in taps:
                self.batch(fab, [f"tuntap add {h['name']} mode tap", f"link set {h['name']} mtu {mtu} arp off up"])
                continue
            tools.run(["ip", "netns", "add", self.ns(h["name"])])
            self.quiet(self.ns(h["name"]))
            if not ports.has_veth(h):
                continue
            self.batch(fab, [
                f"link add {h['name']} mtu {mtu} numtxqueues 1 numrxqueues 1 type veth "
                f"peer name eth0 mtu {mtu} numtxqueues 1 numrxqueues 1 netns {self.ns(h['name'])}",
                f"link set {h['name']} arp off up"])
            self.make_host(h, mtu, bare)

    def quiet(self, ns):
        """No IPv6 of the kernel's own on interfaces that carry other hosts' frames."""
        tools.run(["ip", "netns", "exec", ns, "sh", "-c",
                   "echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6; ip link set lo up"])

    def make_host(self, h, mtu, bare):
        ns, dev = self.ns(h["name"]), "eth0" if bare else "rnic0"
        lines = ["link set eth0 up"]
        if not bare:
            lines = [f"link add rnic0 mtu {mtu} type veth peer name port0 mtu {mtu}",
                     "link set eth0 arp off", "link set port0 arp off", "link set port0 up", "link set eth0 up"]
        gateway = h["ip4"].rsplit(".", 1)[0] + ".254"
        gateway6 = h["ip6"].rsplit("::", 1)[0] + "::fe"
        tools.run(["ip", "netns", "exec", ns, "sh", "-c", "; ".join(
            [f"ip {line}" for line in lines] + [f"echo 0 >/proc/sys/net/ipv6/conf/{dev}/disable_ipv6"]
            + [f"ethtool -K {d} tx off rx off gro off gso off tso off >/dev/null 2>&1"
               for d in (["eth0"] if bare else ["eth0", "port0", "rnic0"])])])
        self.batch(ns, [
            f"link set {dev} address {h['mac']} up",
            f"addr add {h['ip4']}/32 dev {dev}", f"addr add {h['ip6']}/128 dev {dev} nodad",
            f"route add {gateway}/32 dev {dev}", f"route add 10.0.0.0/8 via {gateway} dev {dev}",
            f"neigh add {gateway} lladdr {h['leaf_mac']} dev {dev} nud permanent",
            f"route add {gateway6}/128 dev {dev}", f"route add fd00::/8 via {gateway6} dev {dev}",
            f"neigh add {gateway6} lladdr {h['leaf_mac']} dev {dev} nud permanent"])

    # -- processes --------------------------------------------------------------------------

    def spawn(self, what, who, words, **kw):
        """A process in a namespace of ours, with a log, that outlives us; ahead of what else runs here, since
        all of it keeps step with the clock."""
        log = open(self.path(what + ".log"), "ab")
        process = subprocess.Popen(["ip", "netns", "exec", self.ns(who), *words], stdin=subprocess.DEVNULL,
                                   stdout=kw.pop("stdout", log), stderr=log, start_new_session=True, preexec_fn=tools.ahead, **kw)
        log.close()
        self.record(what, process)
        return process

    def start_fabric(self, fabric, topology):
        socket = self.path("fabric.sock")
        process = self.spawn("fabric", "fabric", [fabric, "run", topology, "--socket", socket,
                                                  "--name", self.name])
        end = time.monotonic() + START_S
        while not os.path.exists(socket):
            if process.poll() is not None or time.monotonic() > end:
                raise Problem(f"the switches do not start: {self.log('fabric')}")
            time.sleep(0.05)

    def switches_run(self):
        found = os.listdir(self.dir) if os.path.isdir(self.dir) else []
        return any(tools.alive(self.recorded(f[:-4])) for f in found
                   if f == "fabric.pid" or (f.startswith("switch-") and f.endswith(".pid")))

    def fabric(self):
        if self.settings().get("target") == "bmv2":
            raise Problem("not on bmv2: its switches have no queues, delays or failures that hp3-testbed could set; "
                          "up without --target bmv2")
        if not tools.alive(self.recorded("fabric")):
            raise Problem(f"the switch process of testbed '{self.name}' is dead: {self.log('fabric')}; "
                          f"hp3-testbed --name {self.name} down")
        return tools.Control(self.path("fabric.sock"))

    def start_hp3d(self, host, plan, chosen, seed):
        """Idle, all of them together wake up a few ten thousand times a second, whatever their number."""
        name, mtu, idle_us = host["name"], plan["mtu"], max(100, 25 * len(plan["hosts"]))
        frame = (mtu + 14 + 4 + 66 + 255) // 256 * 256
        port = f"qpairs=1,qdisc_bypass=0,framesz={frame},blocksz={16 * frame},framecnt=2048"
        fixed = {
            "eal": {"file_prefix": f"hp3tb-{self.name}-{name}", "memory_mb": 64, "mbufs": 8192,
                    "mbuf_bytes": max(frame + 128, 2176), "idle_sleep_us": idle_us},
            "policy": {"seed": zlib.crc32(f"{seed}/{name}".encode())},
            "rfr": {"hold_packets": 4096},
            "flows": {"max_flows": 1024, "max_pairs": 256},
            "rail.rail0": {"rnic": f"\"net_af_packet0,iface=port0,{port}\"",
                           "net": f"\"net_af_packet1,iface=eth0,{port}\""},
            "control": {"socket": self.path(name + ".sock")},
        }
        with open(self.path(name + ".ini"), "w", encoding="ascii") as f:
            f.write(hp3d.ini(self.build, fixed, host["rate_mbps"], chosen))
        self.spawn(f"hp3d-{name}", name, [tools.binary(self.build, "hp3d"), "--config", self.path(name + ".ini")])

    def await_hp3d(self, host):
        what, end = f"hp3d-{host['name']}", time.monotonic() + START_S
        while not tools.listens(self.path(host["name"] + ".sock")):
            if not tools.alive(self.recorded(what)) or time.monotonic() > end:
                raise Problem(f"hp3d of {host['name']} does not start: {self.log(what)}")
            time.sleep(0.05)

    def hp3ctl_text(self, host, *words):
        return tools.run([tools.binary(self.build, "hp3ctl"), "--socket", self.path(host + ".sock"), *words])

    def hp3ctl(self, host, *words):
        """JSON objects that hp3ctl prints, one a line."""
        return [json.loads(line) for line in self.hp3ctl_text(host, "--json", *words).splitlines() if line.startswith("{")]

    def peers(self, host):
        """What its hp3d knows of other hosts: (hp3ctl's table, JSON objects)."""
        return self.hp3ctl_text(host, "peers"), self.hp3ctl(host, "peers")

    def status(self):
        s = self.settings()
        what = {"name": self.name, "topology": s["topology"], "hosts": {}, "dead": []}
        for f in sorted(os.listdir(self.dir)):
            if f.endswith(".pid") and f != "keeper.pid" and not f.startswith("gen-"):
                if not tools.alive(self.recorded(f[:-4])):
                    what["dead"].append(f[:-4])
        for h in s["plan"]["hosts"]:
            ns = self.ns("fabric" if h["name"] in s["taps"] else h["name"])
            what["hosts"][h["name"]] = {"leaf": h["leaf"], "ip4": h["ip4"], "namespace": ns,
                                        "namespace_there": ns in namespaces()}
        return what
