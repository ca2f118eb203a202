#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The bmv2 target of hp3-testbed: command lines, set-up, errors, tear-down.

usage: bmv2.py BUILD

simple_switch, p4c-bm2-ss and simple_switch_CLI are replaced by programs (fake_bmv2/) that accept the same command lines and forward by the table
entries that they get; conformance_bmv2.py uses the real programs.
"""
import os
import re
import shutil
import signal
import sys
import tempfile
import time

import reference as ref
from bench_bed import HERE, Bed, Port, is_roce
from testbed import bmv2, tools

TOPO = os.path.join(HERE, "topo", "live.ini")
FAKES = os.path.join(HERE, "fake_bmv2")
SYSTEM = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def without_real_ones(path):
    return ":".join(d for d in path.split(":") if not any(os.path.exists(os.path.join(d, p)) for p in bmv2.PROGRAMS))


def refused(bed, *words):
    """`up` fails, says these words, and leaves nothing."""
    code, _, err = bed.run("up", "--bare", "--target", "bmv2", TOPO)
    assert code == 1 and all(w in err for w in words), f"{code}: {err}"
    assert "Traceback" not in err, err
    assert not [x for x in bed.left() if x.startswith("hp3tb-")], bed.left()
    bed.must("down")
    assert bed.left() == [], bed.left()


def broken(bed, folder, program, script, *words):
    """The same with one program replaced by a script."""
    path = os.path.join(folder, program)
    with open(path, "w", encoding="ascii") as f:
        f.write("#!/bin/sh\n" + script + "\n")
    os.chmod(path, 0o755)
    refused(bed, *words)
    os.unlink(path)


def errors(bed):
    os.environ["PATH"] = without_real_ones(SYSTEM)
    refused(bed, "p4c-bm2-ss, simple_switch, simple_switch_CLI not on PATH")
    folder = tempfile.mkdtemp(prefix="hp3-bmv2-")
    try:
        os.environ["PATH"] = f"{folder}:{FAKES}:{without_real_ones(SYSTEM)}"
        broken(bed, folder, "p4c-bm2-ss", "echo 'hp3.p4(7): error: no such type' >&2; exit 1", "does not compile", "hp3.p4(7): error: no such type")
        broken(bed, folder, "simple_switch", "echo 'Cannot add port' >&2; exit 3", "does not start", "Cannot add port")
        broken(bed, folder, "simple_switch_CLI", "cat >/dev/null; echo 'Invalid table name (ipv4_route)'", "Invalid table name", "took 0 of")
        source = os.path.join(folder, "bad.p4")
        with open(source, "w", encoding="ascii") as f:
            f.write("control c() {\n    does_not_compile();\n}\n")
        try:
            bmv2.compile_program(os.path.join(folder, "bad.json"), source)
            sys.exit("a program that does not compile was taken")
        except tools.Problem as e:
            assert "bad.p4(2)" in str(e), e
    finally:
        shutil.rmtree(folder)


def roce(sport):
    return ref.ethernet("02:08:00:00:01:01", "02:09:00:00:01:01", 0x0800, ref.ipv4(
        "10.9.1.1", "10.9.2.1", 17, ref.udp(sport, 4791, ref.bth(17, bytes(64)))))


def carries(bed):
    """Packets take the predicted path, with the MACs and the TTL of three hops; counters tell."""
    a, b = Port(bed, "h1"), Port(bed, "h3")
    ports, over = list(range(50000, 50032)), {}
    before = {s["name"]: sum(s["port_tx_packets"]) for s in bed.stats()["switches"]}
    for sport in ports:
        a.send(roce(sport))
    got = b.receive(1.0, is_roce)
    assert len(got) == len(ports), f"{len(got)} of {len(ports)} arrived"
    for _, frame in got:
        assert frame[:12] == ref.mac("02:09:00:00:02:01") + ref.mac("02:08:00:00:01:02") and frame[22] == 61, frame.hex()
        over.setdefault(f"s{frame[46] & 0x3f}", []).append(int.from_bytes(frame[34:36], "big"))
    assert len(over) == 4 and sorted(sum(over.values(), [])) == ports, over
    for spine, sports in over.items():
        assert bed.must("path", "h1", "h3", str(sports[0])).split() == ["h1", "l1", spine, "l2", "h3"]
    after = {s["name"]: sum(s["port_tx_packets"]) for s in bed.stats()["switches"]}
    assert all(after[s] - before[s] >= len(p) for s, p in over.items()), (before, after)


def command_lines(bed):
    with open(f"/proc/{bed.pid('switch-l2')}/cmdline", encoding="ascii") as f:
        words = f.read().rstrip("\0").split("\0")
    begin = next(i for i, w in enumerate(words) if w.endswith("simple_switch"))
    want = ["--device-id", "1", "--thrift-port", "9091", "-i", "0@h3", "-i", "1@h4", "-i", "2@l2-s1", "-i", "3@l2-s2", "-i", "4@l2-s3",
            "-i", "5@l2-s4", f"/run/hp3-testbed/{bed.name}/hp3.json", "--", "--priority-queues", "8"]
    assert words[begin + 1:] == want, words


def killed(bed):
    """kill -9 of hp3-testbed while switches come up: `down` ends all of it."""
    up = bed.start("up", "--bare", "--target", "bmv2", TOPO)
    end, pids = time.monotonic() + 20, []
    while not pids and time.monotonic() < end:
        folder = f"/run/hp3-testbed/{bed.name}"
        names = os.listdir(folder) if os.path.isdir(folder) else []
        pids = [n for n in names if re.fullmatch(r"switch-.*\.pid", n)]
        time.sleep(0.01)
    up.kill()
    up.wait()
    up.stdout.close()
    up.stderr.close()
    pid = bed.pid(pids[0][:-4])
    bed.must("down")
    assert bed.left() == [] and tools.born(pid) is None, bed.left()


def all_of(bed, other):
    errors(bed)
    os.environ["PATH"] = f"{FAKES}:{without_real_ones(SYSTEM)}"
    killed(bed)
    bed.must("up", "--bare", "--target", "bmv2", TOPO)
    other.must("up", "--bare", "--target", "bmv2", TOPO)
    bed.must("status")
    command_lines(bed)
    carries(bed)
    for words in (("fail", "l1-s1"), ("degrade", "l1-s1", "--loss-ppm", "5000")):
        code, _, err = bed.run(*words)
        assert code == 1 and "not on bmv2" in err, err
    code, _, err = bed.run("up", "--bare", "--target", "bmv2", TOPO)
    assert code == 1 and "is up" in err, err
    os.kill(bed.pid("switch-s2"), signal.SIGKILL)
    time.sleep(0.2)
    code, _, err = bed.run("status")
    assert code == 1 and "switch-s2" in err, err
    code, _, err = bed.run("stats")
    assert code == 1 and "switch s2 is dead" in err, err
    bed.must("down")
    assert bed.left() == [], bed.left()
    other.must("status")  # untouched by all that


def main():
    bed, other = Bed(sys.argv[1], f"v{os.getpid() % 100000}"), Bed(sys.argv[1], f"w{os.getpid() % 100000}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        all_of(bed, other)
    finally:
        bed.run("down")
        other.run("down")
    assert other.left() == [], other.left()
    print("bmv2: holds")


main()
