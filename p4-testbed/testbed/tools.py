# SPDX-License-Identifier: BSD-3-Clause
"""Shared by all parts: errors with their fix, programs, processes of this testbed."""
import json
import os
import signal
import socket
import subprocess
import time

HERE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
REPO = os.path.dirname(HERE)
IN_TREE = os.path.exists(os.path.join(REPO, "meson.build"))
# Where the programs are: the build directory of these sources, or, of an installation, its prefix.
PROGRAMS = os.path.join(REPO, "build") if IN_TREE else os.path.normpath(os.path.join(HERE, "../../.."))


# What a link can do to frames (p4-testbed/fabric/impair.h), and for none of it: numbers of the control socket, of
# scenarios' events and of hp3-testbed degrade.
IMPAIRMENTS = ("loss_ppm", "loss_burst", "duplicate_ppm", "reorder_ppm", "reorder_us", "corrupt_ppm", "mtu", "flap_ms",
               "flap_down_ms")
WELL = {**dict.fromkeys(IMPAIRMENTS, 0), "ecn": "keep"}


LINES = "\n\t"  # what text of several lines keeps


def plain(text, keep=""):
    """`text` with '?' for what is not printable: control characters, marks of direction, bytes that are no UTF-8."""
    return "".join(c if c.isprintable() or c in keep else "?" for c in str(text))


def say(text, **kw):
    """print() of a line in which names and texts of others may be."""
    print(plain(text), **kw)


class Problem(Exception):
    """Something the user can do something about: printed without a trace, exit code 1. What names or other programs
    contribute is plain, and no line of it but the first begins in the first column."""

    def __init__(self, text):
        super().__init__(plain(text, LINES).replace("\n", "\n  "))


FULL_MBPS = 10000


def slowness(rate_mbps):
    """The one factor of time. The testbed is a fabric of 10 Gb/s in slow motion: where its links have 50 Mb/s, all
    takes 200 times as long. This holds for hp3d's times (hp3d.py), DCQCN's periods and the RNICs' timer (load.py); a
    round trip of 3 ms stands for one of 15 us. Not 2,000, as against 100 Gb/s: what ships does not depend on the
    links' speed, ranges of hp3d's keys end before that, and a second of a run would show half a millisecond."""
    return FULL_MBPS / rate_mbps


def slow_words(plan):
    """How to read times and rates of a run."""
    n = f"{slowness(plan['hosts'][0]['rate_mbps']):,.0f}"
    return (f"This fabric runs in slow motion: a fabric of 10 Gb/s is {n} times faster. There, all times are {n} times shorter, "
            f"and all rates are {n} times higher.")


def run(words, **kw):
    """A short command; its failure is a Problem with the command's own words."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, **kw)
    if done.returncode != 0:
        raise Problem(f"{' '.join(words[:6])}: {done.stderr.strip() or done.stdout.strip() or done.returncode}")
    return done.stdout


def binary(build, name):
    places = {"hp3-fabric": "p4-testbed/fabric", "roce-gen": "p4-testbed/roce-gen",
              "hp3d": "app/hp3d", "hp3ctl": "app/hp3ctl"}
    paths = [os.path.join(build, folder, name) for folder in (places[name], "bin", "sbin")]
    for path in paths:
        if os.access(path, os.X_OK):
            return path
    if IN_TREE:
        raise Problem(f"{paths[0]} is missing: ninja -C {build}, or name the build directory with --build")
    raise Problem(f"{name} is missing in {build}/bin and {build}/sbin: install it there, or name a build directory with --build")


def ahead():
    """A process of ours runs before what else the machine does: also where each session has a share of its own
    (sched_autogroup), within which its niceness would be all that counts."""
    os.nice(-15)
    try:
        with open("/proc/self/autogroup", "w", encoding="ascii") as f:
            f.write("-15")
    except OSError:
        pass  # a kernel without


def listens(path):
    """Does somebody answer at this UNIX socket?"""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as s:
        try:
            s.connect(path)
        except OSError:
            return False
    return True


def born(pid):
    """Start time of a process in ticks: with it a pid names one process for good. None: gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            fields = f.read().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def alive(record):
    return record is not None and born(record["pid"]) == record["born"]


def stop(record, grace=3.0):
    """TERM, and KILL when that is not heard; only a process that is the recorded one."""
    for sig, wait in ((signal.SIGTERM, grace), (signal.SIGKILL, 2.0)):
        if not alive(record):
            return
        try:
            os.kill(record["pid"], sig)
        except ProcessLookupError:
            return
        end = time.monotonic() + wait
        while alive(record) and time.monotonic() < end:
            try:
                os.waitpid(record["pid"], os.WNOHANG)
            except ChildProcessError:
                pass
            time.sleep(0.02)


class Control:
    """JSON lines over a Unix socket, one connection."""

    def __init__(self, path, timeout=5.0):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(timeout)
        try:
            self.sock.connect(path)
        except OSError as e:
            self.sock.close()
            raise Problem(f"{path}: {e.strerror}: the process behind it does not run; hp3-testbed status tells") from e
        self.rest = b""

    def ask(self, cmd, **args):
        try:
            self.sock.sendall(json.dumps({"cmd": cmd, **args}).encode() + b"\n")
            while b"\n" not in self.rest:
                got = self.sock.recv(262144)
                if not got:
                    raise Problem("the process behind the control socket ended; its log tells why")
                self.rest += got
        except OSError as e:
            raise Problem(f"no answer from the control socket: {e}; is the process alive?") from e
        line, self.rest = self.rest.split(b"\n", 1)
        answer = json.loads(line)
        if not answer["ok"]:
            raise Problem(f"{answer['error']['text']}: {answer['error']['fix']}")
        return answer["data"]

    def close(self):
        self.sock.close()
