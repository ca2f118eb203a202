#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Errors have clear messages, everything is torn down, and the exit code is not 0.

usage: bad_input.py BUILD

Scenarios with errors, no privileges, namespaces that cannot be made or are gone, hosts that do not come up or never
do, a switch process that dies in the middle of a run. (Topologies with errors, taken names: live.py cleanup.)
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from bench_bed import HERE, SCRIPT, Bed
from testbed import bed as beds
from testbed import tools

TOPO = os.path.join(HERE, "topo", "live.ini")
FLOW = "[flow.a]\nsrc = h1\ndst = h3\n"
HEAD = "[scenario]\ntitle = t\ntopology = micro\nseconds = 2\n"


def clean(bed):
    """Nothing but logs."""
    left = [x for x in bed.left() if x.startswith("hp3tb-")]
    assert left == [], left
    folder = f"/run/hp3-testbed/{bed.name}"
    assert not os.path.isdir(folder) or all(f.endswith(".log") for f in os.listdir(folder)), os.listdir(folder)
    bed.must("down")
    assert bed.left() == [], bed.left()


def refused(bed, words, said, **kw):
    done = subprocess.run([*kw.pop("before", []), SCRIPT, "--build", kw.pop("build", bed.build), "--name", bed.name, *words],
                          capture_output=True, text=True, check=False, timeout=60, **kw)
    assert done.returncode == 1, f"{words}: {done.returncode}: {done.stderr}"
    assert all(w in done.stderr for w in said) and "Traceback" not in done.stderr, f"{said}: {done.stderr}"
    clean(bed)


def scenarios(bed):
    for text, said in ((HEAD + FLOW + "colour = red\n", ("[flow.a]", "colour")),
                       (HEAD.replace("2", "0") + FLOW, ("[scenario]", "seconds")),
                       (HEAD + FLOW + "[event.e]\nat_ms = 1\naction = explode\n", ("[event.e]", "action", "explode")),
                       (HEAD + FLOW + "[event.e]\nat_ms = 100\naction = move\nflow = b\nto = s1\n", ("[event.e]", "flow")),
                       (HEAD + FLOW + "[event.e]\nat_ms = 100\naction = fail\n", ("[event.e]", "link")),
                       (HEAD.replace("micro", "nosuch") + FLOW, ("nosuch", "micro")),
                       (HEAD, ("flow",))):
        with tempfile.NamedTemporaryFile("w", suffix=".ini") as f:
            f.write(text)
            f.flush()
            refused(bed, ("run", f.name, "--quiet", "--out", f.name + ".d"), said)
    refused(bed, ("run", "nosuch", "--quiet"), ("no scenario 'nosuch'", "micro-collision"))
    refused(bed, ("up", "/nosuch.ini"), ("/nosuch.ini",))


def hosts_of_scenarios(bed):
    """Known only once the topology is up: all of it goes down again."""
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as f:
        f.write(HEAD + FLOW.replace("h3", "h9"))
        f.flush()
        refused(bed, ("run", f.name, "--modes", "off", "--quiet", "--out", f.name + ".d"), ("h9", "h4"))


def as_nobody(bed):
    pid = os.fork()
    if pid == 0:
        os.setgroups([])
        os.setuid(65534)
        try:
            beds.Bed(bed.name, bed.build).up(TOPO)
        except tools.Problem as e:
            os._exit(0 if "run as root" in str(e) else 1)
        os._exit(2)
    assert os.waitpid(pid, 0)[1] == 0, "an ordinary user is told to run as root"


def no_capabilities(bed):
    refused(bed, ("up", "--bare", TOPO), ("ip netns add", "not permitted"),
            before=["setpriv", "--bounding-set=-sys_admin,-net_admin", "--inh-caps=-sys_admin,-net_admin"])


def with_hp3d(bed, folder, script, said, limit):
    """All hosts' hp3d is a script, but for what ships; how long a start may take is shortened."""
    real = os.path.join(bed.build, "app/hp3d/hp3d")
    for path, target in (("p4-testbed/fabric/hp3-fabric", None), ("app/hp3d/hp3d", script)):
        there = os.path.join(folder, path)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if target is None:
            if not os.path.exists(there):
                os.symlink(os.path.join(bed.build, path), there)
        else:
            with open(there, "w", encoding="ascii") as f:
                f.write(f'#!/bin/sh\n[ "$1" != --dump-config=all ] || exec {real} --dump-config=all\n{target}\n')
            os.chmod(there, 0o755)
    beds.START_S, before = limit, beds.START_S
    mine = beds.Bed(bed.name, folder)
    try:
        mine.up(TOPO)
        sys.exit("hosts came up without hp3d")
    except tools.Problem as e:
        assert all(w in str(e) for w in said), e
    finally:
        beds.START_S = before
    clean(bed)


def hosts(bed):
    folder = tempfile.mkdtemp(prefix="hp3-bad-")
    try:
        with_hp3d(bed, folder, "echo 'rail0: no such interface' >&2; exit 1", ("hp3d of h1 does not start", "no such interface"), 20)
        with_hp3d(bed, folder, "echo 'still waiting' >&2; exec sleep 1000", ("hp3d of h1 does not start", "still waiting"), 4)
        refused(bed, ("up", TOPO), ("hp3-fabric is missing", "--build"), build="/nosuch")
    finally:
        shutil.rmtree(folder)


def gone(bed):
    """A namespace that somebody removed, a host that is not there."""
    bed.must("up", "--bare", TOPO)
    subprocess.run(["ip", "netns", "del", f"hp3tb-{bed.name}-h2"], check=True)
    code, _, err = bed.run("status")
    assert code == 1 and "h2" in err and "down" in err, err
    code, _, err = bed.run("exec", "h9", "--", "true")
    assert code == 1 and "no host 'h9'" in err and "h1, h2" in err, err
    bed.must("down")
    assert bed.left() == [], bed.left()


def dies(bed):
    """kill -9 of the switch process in the middle of a run."""
    out = tempfile.mkdtemp(prefix="hp3-bad-")
    run = bed.start("run", "micro-collision", "--modes", "off", "--quiet", "--out", out)
    try:
        end = time.monotonic() + 40
        while not os.path.exists(f"/run/hp3-testbed/{bed.name}/gen-a.pid"):
            assert run.poll() is None and time.monotonic() < end, "the run does not begin"
            time.sleep(0.05)
        time.sleep(2)
        os.kill(bed.pid("fabric"), signal.SIGKILL)
        _, err = run.communicate(timeout=40)
    finally:
        run.kill()
        run.wait()
        shutil.rmtree(out)
    assert run.returncode == 1 and "Traceback" not in err and ("socket" in err or "dead" in err), f"{run.returncode}: {err}"
    assert [x for x in bed.left() if x.startswith("hp3tb-")] == [], bed.left()


def main():
    bed = Bed(os.path.realpath(sys.argv[1]), f"e{os.getpid() % 100000}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        for case in (scenarios, hosts_of_scenarios, as_nobody, no_capabilities, hosts, gone, dies):
            begin = time.monotonic()
            case(bed)
            print(f"{case.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    finally:
        bed.run("down")
    assert bed.left() == [], bed.left()
    print("bad_input: holds")


main()
