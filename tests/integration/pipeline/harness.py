# SPDX-License-Identifier: BSD-3-Clause
"""hp3d between two endpoints, in a network namespace of the test's own.

The namespace has no name, so the kernel removes it when its last process ends. Every process
started here is killed when the test ends, in whatever way. The test has its own BPF file system,
so objects that hp3d pins are removed, too.
"""
import ctypes
import glob
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

LIBC = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWNET = 0x20000, 0x40000000
MS_REC, MS_PRIVATE = 0x4000, 1 << 18
PR_SET_PDEATHSIG = 1
SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 8, 23
SO_ATTACH_FILTER = 26
SO_RCVBUFFORCE, ROOM = 33, 64 << 20  # of sockets that see all traffic: for as long as who reads waits for a processor
TP_STATUS_VLAN_VALID = 0x10
STALL_US = 1000000  # else hp3d solicits another ACK from the peer's RNIC when it only waited for a processor
SETTLE = 20  # seconds: longest wait for anything, far beyond what is needed on a busy machine


def keys_of_studies():
    """Names of the keys that hp3d takes only with [policy] study = on."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "..", "..", "engine", "policy.def"), encoding="utf-8") as f:
        rows = f.read().split("\nHP3_POLICY_")
    return {row.split(",")[1].strip() for row in rows if ", HP3_STUDY," in row}


STUDY = keys_of_studies()


def die_with_parent():
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def sweep():
    """What tests that were killed outright left in the file system."""
    for pattern in ("/tmp/hp3-pipeline-*-*", "/var/run/dpdk/hp3-pipeline-*-*"):
        for path in glob.glob(pattern):
            pid = os.path.basename(path).split("-")[2]
            if pid.isdigit() and not os.path.exists("/proc/" + pid):
                shutil.rmtree(path, ignore_errors=True)


def interrupted(sig, frame):
    raise KeyboardInterrupt


def own_namespace():
    sweep()
    signal.signal(signal.SIGTERM, interrupted)
    if LIBC.unshare(CLONE_NEWNET | CLONE_NEWNS) != 0 or \
            LIBC.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None) != 0 or \
            LIBC.mount(b"bpf", b"/sys/fs/bpf", b"bpf", 0, None) != 0:
        raise SystemExit("pipeline tests need root: " + os.strerror(ctypes.get_errno()))
    with open("/proc/sys/net/ipv6/conf/default/disable_ipv6", "w") as f:
        f.write("1")


def wait_for(what, check, seconds=SETTLE):
    """The first true value of check()."""
    end = time.monotonic() + seconds
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.02)


def listens(process, path):
    """It takes connections there, in whatever network it runs; the file is there a moment before. Nobody notices the question."""
    try:
        with open(f"/proc/{process.pid}/net/unix") as f:
            return any(line.endswith(f" {path}\n") and line.split()[3] == "00010000" for line in f)
    except OSError:
        return False  # it has ended


# The ports of these tests have one queue: packets are handed over.
TWO_LCORES = {"lcores": 2, "spread": "software"}


class Link:
    """A veth pair: `far` is the endpoint's, `near` is hp3d's."""

    def __init__(self, name, mtu=1500):
        self.far, self.near = f"{name}f{os.getpid()}", f"{name}n{os.getpid()}"
        subprocess.run(["ip", "link", "add", self.far, "mtu", str(mtu), "type", "veth",
                        "peer", "name", self.near, "mtu", str(mtu)], check=True)
        for end in (self.far, self.near):
            subprocess.run(["ethtool", "-K", end, "tx", "off", "rx", "off", "gro", "off"], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            subprocess.run(["ip", "link", "set", end, "up", "arp", "off"], check=True)

    def devargs(self, number, **more):
        args = {"iface": self.near, "framesz": 2048, "blocksz": 65536, "framecnt": 2048, **more}
        return f"net_af_packet{number}," + ",".join(f"{k}={v}" for k, v in args.items())

    def xdp_devargs(self, number, **more):
        return f"net_af_xdp{number}," + ",".join(f"{k}={v}" for k, v in {"iface": self.near, **more}.items())

    def remove(self):
        subprocess.run(["ip", "link", "del", self.far], check=False, stderr=subprocess.DEVNULL)


class Daemon:
    """hp3d with a configuration and a directory of its own."""
    count = 0

    def __init__(self, hp3d, hp3ctl, rails, sections=None, defaults=False, begin=True):
        """defaults: nothing is set but what keeps it apart from others, small, and patient: a busy machine drains no flow in 20 ms."""
        Daemon.count += 1
        self.hp3ctl = hp3ctl
        self.directory = tempfile.mkdtemp(prefix=f"hp3-pipeline-{os.getpid()}-", dir="/tmp")
        self.socket = os.path.join(self.directory, "hp3.sock")
        self.prefix = f"hp3-pipeline-{os.getpid()}-{Daemon.count}"
        config = {
            "eal": {"file_prefix": self.prefix, "memory_mb": 128, "mbufs": 16384, "mbuf_bytes": 2304},
            "flows": {"max_flows": 1024, "max_pairs": 64},
            "rfr": {"hold_packets": 4096, "max_hold_us": 500000, "stall_us": STALL_US},
            "watch": {"verbs": "off"},  # no queue pairs here; 0.4 s less at each stop
            "ppp": {"probe": "off"},  # moves are asked for; the endpoints know no probes
            "control": {"socket": self.socket},
        }
        if defaults:
            config = {"eal": config["eal"], "control": config["control"], "rfr": {"max_hold_us": 1000000}}
        for name, (rnic, net) in rails.items():
            config["rail." + name] = {"rnic": rnic, "net": net}
        for section, keys in (sections or {}).items():
            config.setdefault(section, {}).update(keys)
        probes = config.setdefault("probes", {})
        if not defaults and not probes.get("probe_key"):
            probes.setdefault("keys", "off")  # the endpoints have no hp3d: nobody answers
        log = config.setdefault("log", {})
        log["audit"] = log.get("audit", "off").replace("DIRECTORY", self.directory)  # not the host's own
        config.setdefault("service", {}).setdefault("state", os.path.join(self.directory, "state"))
        if any(key in STUDY for section in config.values() for key in section):
            config.setdefault("policy", {})["study"] = "on"
        path = os.path.join(self.directory, "hp3.ini")
        with open(path, "w") as f:
            for section, keys in config.items():
                f.write(f"[{section}]\n")
                for key, value in keys.items():
                    f.write(f'{key} = "{value}"\n' if isinstance(value, str) else f"{key} = {value}\n")
        self.log = open(os.path.join(self.directory, "log"), "w+")
        self.config, self.command = path, [hp3d, "--config", path]
        self.process = None
        if begin:
            self.begin()

    def begin(self, prepare=die_with_parent):
        """`prepare` runs in the new process before hp3d does."""
        self.process = subprocess.Popen(self.command, stdout=self.log, stderr=self.log, preexec_fn=prepare)

    def up(self):
        def listening():
            if self.process.poll() is not None:
                raise AssertionError("hp3d ended:\n" + self.output())
            return listens(self.process, self.socket)
        wait_for("hp3d's socket", listening, 40)
        return self

    def output(self):
        with open(self.log.name) as f:
            return f.read()

    def ctl(self, *args, code=0):
        run = subprocess.run([self.hp3ctl, "--socket", self.socket, *args], capture_output=True,
                             text=True, timeout=60)
        if code is not None and run.returncode != code:
            raise AssertionError(f"hp3ctl {args}: {run.returncode}, not {code}: {run.stdout}{run.stderr}")
        return run

    def json(self, *args, code=0):
        """The lines that hp3ctl prints."""
        out = self.ctl("--json", *args, code=code).stdout
        return [json.loads(line) for line in out.splitlines()]

    def move(self, flow, *where):
        """The event of a move that is taken: asked for again while one before is under way, or what that held still leaves."""
        def taken():
            answer = self.json("move", flow, *where, code=None)[0]
            return None if answer.get("error", {}).get("code") == "busy" else answer
        answer = wait_for(f"{flow} to be free for a move", taken)
        if "error" in answer:
            raise AssertionError(f"move {flow} {where}: {answer}\n{self.output()}")
        return answer

    def ask(self, cmd):
        """The same as hp3ctl --json prints, without a process for each time that a test looks."""
        try:
            client = Client(self.socket)
        except OSError as e:
            raise AssertionError(f"{self.socket}: {e}\n{self.output()}") from None
        answer = client.ask(cmd=cmd)
        client.close()
        return answer["data"]

    def flows(self):
        return self.ask("flows")

    def stats(self):
        return self.ask("stats")

    def counters(self, rail="rail0"):
        return self.stats()["rail"][rail]

    def free_buffers(self):
        return {name: pool["free"] for name, pool in self.stats()["pool"].items()}

    def paired(self, n):
        """Waits until n flows are paired; their ids."""
        return wait_for(f"{n} paired flows", lambda: (lambda ids: ids if len(ids) >= n else None)(
            [f["flow"] for f in self.flows() if f["paired"]]))

    def stop(self, sig=signal.SIGTERM):
        """Exit code; what it said is in output(). Events are told before the summary, not behind it."""
        if self.process.poll() is None:
            self.process.send_signal(sig)
        code = self.process.wait(timeout=SETTLE)
        _, stopped, behind = self.output().rpartition("hp3d: stopped: ")
        if stopped and re.search(r"^hp3d: \d{4}-", behind, re.M):
            raise AssertionError("hp3d told of events after its summary:\n" + self.output())
        return code

    def account(self):
        """For who reads of a failure: what it said, its newest events, and what it counts, but for zeros."""
        if not self.process or self.process.poll() is not None:
            return f"{self.directory}:\n{self.output()}"
        try:
            counted = {rail: {name: n for name, n in counters.items() if n} for rail, counters in self.stats()["rail"].items()}
            events = self.ctl("events", code=None).stdout.splitlines()[-40:]
            return "\n".join([self.directory + ":", self.output(), *events, json.dumps(counted)])
        except (AssertionError, OSError, subprocess.TimeoutExpired, ValueError) as e:
            return f"{self.directory}: it does not answer: {e}\n{self.output()}"

    def clean_up(self):
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()
        shutil.rmtree(self.directory, ignore_errors=True)
        shutil.rmtree(os.path.join("/var/run/dpdk", self.prefix), ignore_errors=True)


class Client:
    """A control connection."""

    def __init__(self, path):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(path)
        self.sock.settimeout(SETTLE)
        self.lines = self.sock.makefile("rb")

    def send(self, **request):
        self.sock.sendall(json.dumps(request).encode() + b"\n")

    def answer(self):
        return json.loads(self.lines.readline())

    def ask(self, **request):
        self.send(**request)
        return self.answer()

    def close(self):
        self.lines.close()
        self.sock.close()


class Endpoint:
    """rc_endpoint on an interface."""

    def __init__(self, program, interface, side, **options):
        args = [f"{k}={v}" for k, v in options.items()]
        self.process = subprocess.Popen([program, interface, side, *args], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, preexec_fn=die_with_parent)
        if self.line() != "ready\n":
            raise AssertionError("rc_endpoint did not start")

    def line(self):
        if not select.select([self.process.stdout], [], [], SETTLE)[0]:
            raise AssertionError("rc_endpoint is silent")
        return self.process.stdout.readline()

    def tell(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def report(self):
        self.tell("report")
        return json.loads(self.line())

    def all_acked(self):
        r = self.report()
        return r if r["sent"] - r["faults"]["again"] == r["acked"] else None

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


class RawPort:
    """Whole frames in and out of an interface, tags included."""

    def __init__(self, interface):
        self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
        self.sock.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.sock.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        self.sock.bind((interface, 3))

    def only(self, offset, value):
        """Frames from now on with these 16 bits at this offset, and no others."""
        code = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *i) for i in (
            (0x28, 0, 0, offset), (0x15, 0, 1, value), (0x06, 0, 0, 0xFFFF), (0x06, 0, 0, 0))))  # ldh, jeq, ret, ret (linux/bpf_common.h)
        self.sock.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", 4, ctypes.addressof(code)))

    def send(self, frame):
        self.sock.send(frame)

    def receive(self, seconds=SETTLE):
        """None if nothing comes."""
        if not select.select([self.sock], [], [], seconds)[0]:
            return None
        data, ancillary, _, _ = self.sock.recvmsg(65536, 256)
        for level, kind, aux in ancillary:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, _, _, _, _, tci, tpid = struct.unpack("=IIIHHHH", aux[:20])
                if status & TP_STATUS_VLAN_VALID:
                    data = data[:12] + struct.pack(">HH", tpid, tci) + data[12:]
        return data

    def arrived(self):
        """What has come since, without waiting."""
        self.sock.setblocking(False)
        try:
            while True:
                yield self.sock.recv(65536)
        except BlockingIOError:
            return

    def close(self):
        self.sock.close()


def read_pcap(path):
    """The frames of a little-endian pcap file."""
    with open(path, "rb") as f:
        data = f.read()
    at, frames = 24, []
    while at < len(data):
        caplen, = struct.unpack_from("<I", data, at + 8)
        frames.append(data[at + 16:at + 16 + caplen])
        at += 16 + caplen
    return frames
