#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The fabric with real interfaces: paths, rates, marks, failures, ICMP, clean-up.

usage: live.py BUILD CASE
"""
import os
import random
import shutil
import signal
import struct
import sys
import tempfile
import time

import reference as ref
from bench_bed import HERE, Bed, Control, Port, is_icmp, is_roce

TOPO = os.path.join(HERE, "topo", "live.ini")
SEED = 20261121
H = {f"h{i}": (f"10.9.{(i + 1) // 2}.{(i - 1) % 2 + 1}", f"02:09:00:00:{(i + 1) // 2:02x}:{(i - 1) % 2 + 1:02x}",
               f"02:08:00:00:01:{(i + 1) // 2:02x}") for i in range(1, 5)}


def roce(src, dst, sport, n=64, ttl=64, tos=26 << 2 | 2, number=0):
    return ref.ethernet(H[src][2], H[src][1], 0x0800, ref.ipv4(
        H[src][0], H[dst][0], 17, ref.udp(sport, 4791, ref.bth(number, bytes(n))), ttl=ttl, tos=tos))


def sport_of(frame):
    return struct.unpack("!H", frame[34:36])[0]


def spine_of(frame):
    return f"s{frame[46] & 0x3f}"


def flow_counters(bed, ports):
    """The counter that `path` names for a flow is the one that its packet was counted in."""
    control = Control(f"/run/hp3-testbed/{bed.name}/fabric.sock")
    counted = {f["index"]: f["packets"] for f in control.ask("stats", flows="l1")["flows"]}
    named = [control.ask("path", src="h1", dst="h3", sport=p)["flows"][0] for p in ports]
    control.close()
    assert all(counted.get(i, 0) >= named.count(i) for i in named), "a flow without its counter"


def case_paths(bed):
    """The predicted path is the one taken, every time; a failed link is left, in time. Who asks nothing is in nobody's way."""
    bed.must("up", "--bare", TOPO)
    idle = [Control(f"/run/hp3-testbed/{bed.name}/fabric.sock") for _ in range(40)]
    a, b, rng = Port(bed, "h1"), Port(bed, "h3"), random.Random(SEED)
    ports = rng.sample(range(49152, 65536), 200)

    def check(avoid=None):
        for p in ports:
            a.send(roce("h1", "h3", p))
        got = b.receive(1.0, is_roce)
        assert len(got) == len(ports), f"{len(got)} of {len(ports)} arrived"
        seen = {sport_of(f): spine_of(f) for _, f in got}
        assert bed.must("path", "h1", "h3", str(ports[0])).split() == ["h1", "l1", seen[ports[0]], "l2", "h3"]
        for p in ports:
            assert bed.spine("h1", "h3", p) == seen[p], f"port {p} went by {seen[p]}"
        assert avoid not in seen.values()
        return seen

    before = check()
    assert set(before.values()) == {"s1", "s2", "s3", "s4"}
    flow_counters(bed, ports)
    bed.must("fail", "l2-s2", "--reroute-ms", "50")
    time.sleep(0.2)
    check(avoid="s2")
    bed.must("restore", "l2-s2")
    time.sleep(0.1)
    assert check() == before
    bed.must("blackhole", "l1-s3")
    for p in ports:
        a.send(roce("h1", "h3", p))
    got = b.receive(1.0, is_roce)
    lost = [p for p in ports if p not in {sport_of(f) for _, f in got}]
    assert sorted(lost) == sorted(p for p in ports if before[p] == "s3"), "a black hole swallows its spine's flows alone"
    for control in idle:
        control.close()


def measured_rate(got):
    """Mb/s on the wire between first and last arrival."""
    span = got[-1][0] - got[0][0]
    return (len(got) - 1) * (len(got[0][1]) + 24) * 8 / span / 1e6


def flood(a, b, sport, n, pace):
    """n frames: a queue that outlasts our own pauses, then `pace` frames a second, so that no buffer overflows."""
    begin, burst = time.monotonic(), 80
    for i in range(n):
        while time.monotonic() < begin + max(i - burst, 0) / pace:
            time.sleep(0.001)
        a.send(roce("h1", "h3", sport, n=1400, number=i))
    got = b.receive(0.5, is_roce)
    numbers = [struct.unpack("!I", f[46:50])[0] & 0xffffff for _, f in got]
    assert numbers == sorted(numbers), "order"
    return got


def case_rate(bed):
    """A link has its rate within 3 %, also a slower one, also after degrade; order holds; marks begin at Kmin."""
    bed.must("up", "--bare", TOPO)
    a, b = Port(bed, "h1"), Port(bed, "h3")
    ports = {}
    for p in range(49152, 49216):
        ports.setdefault(bed.spine("h1", "h3", p), p)
    for spine, due in (("s1", 50), ("s4", 20)):
        got = flood(a, b, ports[spine], 1200, due * 1e6 / 8 / 1482 * 1.1)
        rate = measured_rate(got)
        print(f"{spine}: {rate:.2f} Mb/s of {due}, {len(got)} frames")
        assert abs(rate - due) <= 0.03 * due
    bed.must("degrade", "l1-s1", "--rate-mbps", "30")
    rate = measured_rate(flood(a, b, ports["s1"], 1000, 30e6 / 8 / 1482 * 1.1))
    print(f"s1 degraded: {rate:.2f} Mb/s of 30")
    assert abs(rate - 30) <= 0.9
    bed.stats()  # resets the peaks
    # 20 Mb/s behind 50: a burst of n frames leaves a queue of 0.6 n frames. 10 stay below Kmin, 80 pass Kmax.
    for n, marked in ((10, False), (80, True)):
        for i in range(n):
            a.send(roce("h1", "h3", ports["s4"], n=1400, number=i))
        got = b.receive(0.5, is_roce)
        ce = [f[15] & 3 == 3 for _, f in got]
        peak = next(lane["peak"] for lane in bed.stats()["lanes"] if lane["from"] == "l1" and lane["to"] == "s4")
        print(f"burst of {n}: {sum(ce)} marked, queue up to {peak}")
        assert len(got) == n and any(ce) == marked and (peak > 15000) == marked
    # Frames enter in order, the queue grows steadily: who finds more than Kmax is marked, all of them.
    depth = [max(0, (i * 1458 - i * 1458 * 0.4)) for i in range(80)]
    assert all(c for c, d in zip(ce, depth) if d > 60000 + 3000) and not any(c for c, d in zip(ce, depth) if d < 15000 - 3000)


def case_impaired(bed):
    """What a link does to packets, one direction alone: marks, copies, bits, lengths; values out of range change nothing."""
    bed.must("up", "--bare", TOPO)
    a, b = Port(bed, "h1"), Port(bed, "h3")
    there = next(p for p in range(49152, 49216) if bed.spine("h1", "h3", p) == "s1")
    back = next(p for p in range(49152, 49216) if bed.spine("h3", "h1", p) == "s1")
    control = Control(f"/run/hp3-testbed/{bed.name}/fabric.sock")

    def differ(f, x):
        """Bits behind the IP header, but for the byte in which spines tell their number."""
        f, x = (int.from_bytes(y[34:46] + y[47:], "big") for y in (f, x))
        return bin(f ^ x).count("1")

    def passes(n=64, tos=26 << 2 | 3, **does):
        """10 packets to h3 over a link that is so; as many come back from there, unharmed."""
        control.ask("degrade", link="l1-s1", **{"from": "l1", "ecn": "keep", "duplicate_ppm": 0, "corrupt_ppm": 0, "mtu": 0, **does})
        for number in range(10):
            a.send(roce("h1", "h3", there, n=n, tos=tos, number=number))
            b.send(roce("h3", "h1", back, n=n, tos=tos, number=number))
        got = [f for _, f in b.receive(0.2, is_roce)]
        came = [f for _, f in a.receive(0.2, is_roce)]
        assert [(f[15], differ(f, roce("h3", "h1", back, n=n, number=i))) for i, f in enumerate(came)] == [(tos, 0)] * 10, came
        assert all(ref.ones_sum(f[14:34]) == 0xffff for f in got), "the IP header's checksum"
        return got

    assert [f[15] & 3 for f in passes()] == [3] * 10
    assert [f[15] for f in passes(ecn="clear")] == [26 << 2 | 2] * 10
    assert [f[15] for f in passes(ecn="set", tos=26 << 2 | 2)] == [26 << 2 | 3] * 10
    assert [f[15] for f in passes(ecn="set", tos=26 << 2)] == [26 << 2] * 10, "what is not ECN-capable is not marked"
    twice = passes(duplicate_ppm=1000000)
    assert len(twice) == 20 and twice[::2] == twice[1::2]
    sent = [roce("h1", "h3", there, number=i) for i in range(10)]
    flipped = [min(differ(f, x) for x in sent) for f in passes(corrupt_ppm=1000000)]
    assert max(flipped) == 1 and sum(flipped) > 4, flipped
    assert len(passes(mtu=300, n=300)) == 0 and len(passes(mtu=300)) == 10
    lane = next(x for x in control.ask("stats")["lanes"] if x["from"] == "l1" and x["to"] == "s1")  # other packets pass, too
    assert lane["drops"]["too-big"] >= 10 and min(lane[k] for k in ("duplicated", "damaged", "remarked")) >= 10, lane
    code, _, err = bed.run("degrade", "l1-s1", "--loss-ppm", "1000001", "--duplicate-ppm", "1000000")
    assert code == 1 and "loss_ppm" in err, err
    code, _, err = bed.run("degrade", "l1-s1", "--from", "l2", "--loss-ppm", "1")
    assert code == 1 and "l1-s1" in err, err
    assert len(passes()) == 10
    control.close()


def case_icmp(bed):
    """TTL expiry names the hop; the rate is limited; non-RoCE hosts' traffic passes."""
    bed.must("up", "--bare", TOPO)
    a = Port(bed, "h1")
    for p in range(50000, 50003):
        for ttl, hop in ((1, "l1"), (2, bed.spine("h1", "h3", p)), (3, "l2")):
            a.send(roce("h1", "h3", p, ttl=ttl))
            got = a.receive(0.2, is_icmp)
            assert len(got) == 1, f"ttl {ttl}: {len(got)} answers"
            frame = got[0][1]
            number = int(hop[1:])
            assert frame[26:30] == bytes([10, 8, 1 if hop[0] == "l" else 2, number]), f"ttl {ttl}: not from {hop}"
            assert frame[34] == 11 and ref.ones_sum(frame[34:]) == 0xffff
            assert struct.unpack("!H", frame[62:64])[0] == p, "the quotation names the port"
    time.sleep(0.3)
    for _ in range(200):
        a.send(roce("h1", "h3", 50000, ttl=1))
    n = len(a.receive(0.5, is_icmp))
    print(f"{n} answers to 200 packets at once, 100 a second allowed")
    assert 5 <= n <= 60


def case_cleanup(bed):
    """Nothing is left, whoever dies; names are taken; errors name what is wrong."""
    bed.must("up", "--bare", TOPO)
    other = Bed(bed.build, bed.name + "b")
    try:
        other.must("up", "--bare", TOPO)
        code, _, err = bed.run("up", "--bare", TOPO)
        assert code == 1 and "is up" in err, err
        assert bed.must("path", "h1", "h3", "50000") == other.must("path", "h1", "h3", "50000")
        os.kill(bed.pid("fabric"), signal.SIGKILL)
        time.sleep(0.2)
        code, _, err = bed.run("status")
        assert code == 1 and "fabric" in err, err
        code, _, err = bed.run("stats")
        assert code == 1 and "dead" in err, err
        bed.must("up", "--bare", TOPO)  # sweeps what is left, then comes up
        bed.must("stats")
        bed.must("down")
        assert bed.left() == [], bed.left()
        other.must("stats")  # untouched by all that
    finally:
        other.must("down")
    assert other.left() == []
    bed.must("down")  # again: nothing to do

    for text, words in (("[shape]\nleaves = 0\n", ("shape", "leaves")), ("[link.l9-s1]\nrate_mbps = 5\n", ("link.l9-s1",)),
                        ("[pfc]\nxoff_bytes = 390000\n", ("fabric_link", "buffer_bytes")), ("[shapes]\n", ("shape",))):
        with tempfile.NamedTemporaryFile("w", prefix="hp3-live-", suffix=".ini", encoding="ascii") as f:
            f.write(text)
            f.flush()
            path = f.name
            code, _, err = bed.run("up", "--bare", path)
        assert code == 1 and path in err and all(w in err for w in words), err
    assert bed.left() == []


def case_killed_run(bed):
    """kill -9 of a running scenario: its keeper takes everything down."""
    out = tempfile.mkdtemp(prefix="hp3-live-")
    run = bed.start("run", "micro-collision", "--modes", "off", "--quiet", "--out", out)
    end = time.monotonic() + 30
    while time.monotonic() < end and not any(p.startswith("gen-") for p in (
            os.listdir(f"/run/hp3-testbed/{bed.name}") if os.path.isdir(f"/run/hp3-testbed/{bed.name}") else [])):
        time.sleep(0.1)
    assert bed.left(), "it never came up"
    run.kill()
    run.wait()
    run.stdout.close()
    run.stderr.close()
    end = time.monotonic() + 15
    while bed.left() and time.monotonic() < end:
        time.sleep(0.1)
    shutil.rmtree(out)
    assert bed.left() == [], bed.left()


def main():
    build, case = sys.argv[1:]
    bed = Bed(build, f"t{os.getpid() % 100000}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"seed {SEED}")
    try:
        globals()["case_" + case](bed)
    finally:
        bed.run("down")
    print(f"{case}: holds")


main()
