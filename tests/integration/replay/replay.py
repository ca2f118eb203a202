#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""hp3d --replay over recorded and generated captures.

usage: replay.py HP3D COMPARE_REPLAY MAKE_CAPTURES PCAP_DIRECTORY [unittest arguments]

Every capture is replayed without moves, and with all requester streams moved to a port. This is
done with the default configuration (except for a small buffer pool; the tests of the summary use
the default pool), and with very small limits for held packets. Replaying a generated capture
twice gives the same bytes; check_replay checks this for recorded captures. compare_replay checks
the packets, this program the summary.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest

HP3D, COMPARE, MAKE, PCAPS = sys.argv[1:5]
# A pool of the default's size is most of what a run takes, and no capture fills it.
SMALL = "[eal]\nmemory_mb = 64\nmbufs = 4096\n[rfr]\nhold_packets = 3072\n"
TINY = SMALL + "hold_bytes = 16384\nmax_hold_us = 100\n"

# Least number of packets on the new port, and why there are none where 0 is right. Captures that
# are not named here are held to the rules of every capture only.
MOVED = {
    "rc_atomic": 25,
    "rc_read_ect": 8,
    "rc_read_lost": 15,
    "rc_write_bidir": 600,
    "rc_write_ipv6": 100,
    "rc_write_lat64": 90,
    "rc_write_mtu1024": 400,
    "rc_write_mtu4096_ect": 180,
    "rc_write_rdmacm": 140,
    "rc_write_vlan": 100,
    "uc_send": 0,
    "ud_send": 0,
    "gen_plain": 80,
    "gen_cnp": 80,
    "gen_bad_icrc": 60,
    "gen_vlan": 80,
    "gen_qinq": 80,
    "gen_csum": 80,
    "gen_flush": 100,
    "gen_csum6": 80,
    "gen_nano": 80,
    "gen_nak": 60,
    "gen_rnr": 60,
    "gen_fragments": 0,  # a pair with fragments is immovable
    "gen_empty": 0,
}
REASONS = ("ok not-ip too-many-tags not-udp not-roce fragment short-ethernet short-ip bad-ip-header short-udp "
           "bad-udp-length short-bth bad-bth-version short-extended-header bad-pad-count").split()


def name_of(path):
    return os.path.splitext(os.path.basename(path))[0]


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="hp3-replay-")
        cls.addClassCleanup(cls.scratch.cleanup)
        cls.generated = os.path.join(cls.scratch.name, "generated")
        os.mkdir(cls.generated)
        subprocess.run([MAKE, cls.generated], check=True)
        cls.tiny = os.path.join(cls.scratch.name, "tiny.ini")
        cls.small = os.path.join(cls.scratch.name, "small.ini")
        for path, text in (cls.tiny, TINY), (cls.small, SMALL):
            with open(path, "w") as f:
                f.write(text)

    def path(self, name):
        return os.path.join(self.scratch.name, name)

    def run_hp3d(self, *args, code=0):
        run = subprocess.run([HP3D, *args], capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, code, f"hp3d {' '.join(args)}:\n{run.stdout}{run.stderr}")
        return run

    def replay(self, capture, *args, twice=False):
        """The summary; what came out is in a.pcap. Two runs give equal bytes."""
        runs = []
        for out in ("a.pcap", "b.pcap")[:1 + twice]:
            run = self.run_hp3d("--replay", capture, "--out", self.path(out), "--json", *args)
            self.assertEqual(run.stderr, "")
            with open(self.path(out), "rb") as f:
                runs.append((run.stdout, f.read()))
        self.assertEqual(runs[0], runs[-1], f"{name_of(capture)}: two runs differ")
        return json.loads(runs[0][0])

    def check(self, capture, summary, port):
        """What compare_replay says, and that the summary agrees with it."""
        run = subprocess.run([COMPARE, capture, self.path("a.pcap"), str(port),
                              str(summary["discarded"] + summary["consumed"])],
                             capture_output=True, text=True, timeout=60)
        self.assertEqual(run.returncode, 0, f"{name_of(capture)} {port}:\n{run.stdout}{run.stderr}")
        facts = json.loads(run.stdout)
        self.assertEqual(summary["packets_in"], summary["packets_out"] + summary["discarded"] + summary["consumed"])
        self.assertEqual(summary["packets_out"], facts["packets"])
        if not summary["discarded"] + summary["consumed"]:
            for kind in ("classes", "reasons"):
                self.assertEqual(sum(summary[kind].values()), summary["packets_in"])
        self.assertEqual(summary["icrc"]["bad_in"], summary["icrc"]["bad_out"])
        self.assertGreaterEqual(summary["changed"], facts["changed"])
        if summary["moves"]["switch"] + summary["moves"]["idle_switch"] == 0:
            self.assertEqual(facts["moved"], 0)
        return facts

    def all_ways(self, capture, generated):
        name = name_of(capture)
        if name == "gen_snaplen":  # compare_replay needs whole packets
            return
        with self.subTest(capture=name):
            summary = self.replay(capture, "--config", self.small)
            facts = self.check(capture, summary, 0)
            # Without a move nothing is held, and nothing changes but AckReq of challenges.
            self.assertEqual((summary["held"], facts["moved"], facts["held_back"]), (0, 0, 0))
            self.assertEqual(facts["changed"], facts["ackreq"])
            self.assertEqual(sum(summary["moves"].values()), 0)
        for port, config in ((50000, self.small), (65535, self.tiny)):
            with self.subTest(capture=name, move=port, config=config):
                summary = self.replay(capture, "--move", str(port), "--config", config, twice=generated and config == self.small)
                if not generated:  # RNICs' ICRCs are good
                    icrc = summary["icrc"]
                    self.assertEqual((icrc["bad_in"], icrc["bad_out"], icrc["good_in"]), (0, 0, icrc["good_out"]))
                facts = self.check(capture, summary, port)
                self.verdict(name, summary, facts, config == self.tiny)

    def verdict(self, name, summary, facts, tiny):
        wanted = MOVED.get(name)
        if wanted == 0:
            self.assertEqual(facts["moved"], 0)
        elif wanted is not None and not tiny:
            self.assertGreaterEqual(facts["moved"], wanted)
        if wanted:  # tiny bounds: a move begins, and ends one way or the other
            moves = summary["moves"]
            self.assertGreater(moves["switch"] + moves["idle_switch"] + moves["recover"], 0)
        if name != "gen_fatal":
            self.assertEqual(summary["discarded"], 0)
        if facts["held_back"]:
            self.assertGreater(summary["held"], 0)

    def generated_summary(self, name, *args):
        return self.replay(os.path.join(self.generated, name + ".pcap"), *args)


class Recorded(Base):
    def test_recorded(self):
        captures = sorted(glob.glob(os.path.join(PCAPS, "*.pcap")))
        self.assertTrue(captures, f"no capture in {PCAPS}")
        missing = {n for n in MOVED if not n.startswith("gen_")} - {name_of(c) for c in captures}
        self.assertFalse(missing, "captures named in the table")
        for capture in captures:
            self.all_ways(capture, False)


class Generated(Base):
    def test_generated(self):
        captures = sorted(glob.glob(os.path.join(self.generated, "gen_*.pcap")))
        missing = {n for n in MOVED if n.startswith("gen_")} - {name_of(c) for c in captures}
        self.assertFalse(missing, "captures named in the table")
        for capture in captures:
            self.all_ways(capture, True)


class Summary(Base):
    def test_every_parse_reason(self):
        summary = self.generated_summary("gen_malformed", "--move", "50000")
        # Frames with three tags are read, and named.
        self.assertEqual(set(summary["reasons"]), set(REASONS) - {"too-many-tags"})
        self.assertEqual(summary["found"]["3 VLAN tags"], 1)
        self.assertEqual(summary["found"]["TCP"], 1)

    def test_every_opcode(self):
        classes = self.generated_summary("gen_opcodes")["classes"]
        self.assertEqual(set(classes),
                         {"rc-request", "rc-reply", "cnp", "ud", "uc", "roce-other"})

    def test_what_is_counted(self):
        self.assertEqual(self.generated_summary("gen_cnp")["classes"]["cnp"], 30)
        self.assertEqual(self.generated_summary("gen_nak", "--move", "50000")["seen"]["naks"], 4)
        self.assertEqual(self.generated_summary("gen_nak", "--move", "50000")["seen"]["retransmits"], 12)
        self.assertEqual(self.generated_summary("gen_rnr", "--move", "50000")["seen"]["rnr_naks"], 4)
        self.assertEqual(self.generated_summary("gen_bad_icrc")["icrc"]["bad_in"], 5)
        self.assertEqual(self.generated_summary("gen_empty")["packets_in"], 0)

    def test_cut_packets_are_paired_and_moved(self):
        """Headers suffice for that. What is cut stays cut, and its ICRC is neither right nor wrong."""
        capture = os.path.join(self.generated, "gen_snaplen.pcap")
        whole = self.generated_summary("gen_plain")
        for args, moved in ((), False), (("--move", "50000"), True):
            cut = self.replay(capture, *args)
            self.assertEqual((cut["truncated"], cut["flows"], cut["paired"]), (96, 1, 1))
            self.assertEqual(cut["classes"], whole["classes"])
            self.assertEqual((cut["icrc"]["not_recorded"], cut["icrc"]["bad_in"]), (96, 0))
            self.assertEqual(cut["moves"]["switch"] > 0, moved)
            self.assertEqual(os.path.getsize(self.path("a.pcap")), os.path.getsize(capture))

    def test_table_of_flows(self):
        """One row per stream of requests, in text and JSON; without a peer, a reason."""
        summary = self.generated_summary("gen_nak")
        (row,) = summary["streams"]
        self.assertEqual((row["src"], row["dst"], row["qpn"], row["peer_qpn"]),
                         ("10.9.0.1", "10.9.0.2", 0x22, 0x11))
        self.assertEqual((row["paired"], row["operations"], row["naks"]), (True, "WRITE", 4))
        text = self.run_hp3d("--replay", os.path.join(self.generated, "gen_nak.pcap")).stdout
        self.assertRegex(text, r"(?m)^FROM +TO +TO QPN .* PAIRED$")
        self.assertRegex(text, r"(?m)^10\.9\.0\.1 +10\.9\.0\.2 +0x000022 0x000011 .* yes$")
        (row,) = self.generated_summary("gen_flush")["streams"]
        self.assertEqual((row["paired"], row["operations"]), (True, "WRITE,FLUSH,ATOMIC-WRITE"))
        (row,) = self.replay(os.path.join(PCAPS, "uc_send.pcap"))["streams"]
        self.assertIn("unreliable", row["reason"])

    def test_packets_recorded_twice(self):
        """A mirror of two ports: copies are no retransmissions, and are left out."""
        twice = self.path("twice.pcap")
        with open(os.path.join(self.generated, "gen_plain.pcap"), "rb") as f, open(twice, "wb") as g:
            g.write(f.read(24))
            while head := f.read(16):
                packet = f.read(int.from_bytes(head[8:12], "little"))
                g.write((head + packet) * 2)
        summary = self.replay(twice, "--move", "50000")
        self.assertEqual((summary["packets_in"], summary["packets_out"], summary["copies"]), (240, 120, 120))
        self.assertEqual((summary["seen"]["retransmits"], summary["paired"]), (0, 1))

    def test_a_fatal_nak_discards_what_is_held(self):
        """Rule 16: its queue pair is lost, nobody may see the packets any more."""
        summary = self.generated_summary("gen_fatal", "--move", "50000")
        self.assertEqual(summary["moves"]["epoch"], summary["discarded"] > 0)

    def test_tiny_bounds_recover(self):
        """Each bound ends a hold in fast recovery; nothing is dropped (MOVED has the rest)."""
        capture = os.path.join(PCAPS, "rc_write_mtu1024.pcap")
        summary = self.replay(capture, "--move", "50000", "--config", self.tiny)
        self.assertGreater(summary["moves"]["recover"], 0)
        self.assertLessEqual(summary["held_peak"], 16384 // 1024)
        self.assertGreater(summary["held"], 0)

    def test_nanoseconds_stay(self):
        self.generated_summary("gen_nano", "--move", "50000")
        with open(self.path("a.pcap"), "rb") as f:
            self.assertEqual(f.read(4), bytes.fromhex("4d3cb2a1"))

    def test_text_summary(self):
        capture = os.path.join(self.generated, "gen_plain.pcap")
        text = self.run_hp3d("--replay", capture, "--move", "50000").stdout
        self.assertRegex(text, r"(?m)^packets +in 120 out 120 truncated 0 changed \d+ held [1-9]")
        self.assertRegex(text, r"(?m)^moves +switch 1 ")


class Errors(Base):
    def make_long(self, plain, path, proto):
        """One frame of 20000 bytes, as GRO makes them."""
        with open(plain, "rb") as f, open(path, "wb") as g:
            g.write(f.read(24))
            frame = bytearray(f.read(16 + 54)[16:]) + bytes(20000 - 54)
            frame[16:18], frame[38:40] = (19986).to_bytes(2, "big"), (19966).to_bytes(2, "big")
            frame[23] = proto
            g.write(bytes(8) + (20000).to_bytes(4, "little") * 2 + frame)

    def test_long_packets_of_other_protocols(self):
        """Offloads make them. They are no reason to refuse a capture."""
        long = self.path("long.pcap")
        self.make_long(os.path.join(self.generated, "gen_plain.pcap"), long, 6)
        summary = json.loads(self.run_hp3d("--replay", long, "--json").stdout)
        self.assertEqual((summary["packets_out"], summary["found"]), (1, {"TCP": 1}))

    def test_a_stamp_from_nowhere(self):
        """No hp3d waits a century for the next packet."""
        plain, far = os.path.join(self.generated, "gen_plain.pcap"), self.path("far.pcap")
        with open(plain, "rb") as f:
            data = bytearray(f.read())
        second = 24 + 16 + int.from_bytes(data[32:36], "little")
        for stamp, leaps in ((2**32 - 1, 2), (2**31 - 1, 2), (int.from_bytes(data[24:28], "little") + 86000, 0)):
            data[second:second + 8] = stamp.to_bytes(4, "little") + (999999).to_bytes(4, "little")
            with open(far, "wb") as f:
                f.write(data)
            said = self.run_hp3d("--replay", far, "--move", "50000").stderr
            if leaps:
                self.assertIn(f"far.pcap: {leaps} stamps are more than a day from the one before", said)
            else:
                self.assertNotIn("stamps", said)

    def test_errors_name_the_fix(self):
        plain = os.path.join(self.generated, "gen_plain.pcap")
        garbage, jumbo = self.path("garbage.pcap"), self.path("jumbo.pcap")
        with open(garbage, "w") as f:
            f.write("this is no capture\n" * 4)
        self.make_long(plain, jumbo, 17)
        with open(plain, "rb") as f, open(self.path("cut.pcap"), "wb") as g:
            g.write(f.read(30))
        link = os.path.join(self.generated, "bad_link_type.pcap")
        with open(self.path("plain.pcap.gz"), "wb") as f:
            f.write(bytes.fromhex("1f8b0800"))
        for args, code, message in (
                ((self.path("plain.pcap.gz"),), 1, r"compressed; .*gunzip -k .*plain"),
                ((self.path("none.pcap"),), 1, r"none\.pcap: .*check the path"),
                ((garbage,), 1, r"garbage\.pcap: .*give a pcap"),
                ((self.path("cut.pcap"),), 1, r"cut\.pcap: .*truncated.*record it again"),
                ((link,), 1, r"bad_link_type.*IEEE802_11.*[Ee]thernet"),
                ((jumbo,), 1, r"jumbo.*20000.*gro off"),
                ((plain, "--out", "/nonexistent/out.pcap"), 1, r"/nonexistent/out\.pcap: .*can be written"),
                ((plain, "--out", "/dev/full"), 1, r"/dev/full: .*space"),
                ((plain, "--out", plain), 1, r"gen_plain\.pcap: .*another file"),
                ((plain, "--move", "0"), 2, r"--move.*1\.\.65535"),
                ((plain, "--move", "x"), 2, r"--move.*1\.\.65535"),
                ((plain, "--move", "65536"), 2, r"--move.*1\.\.65535"),
                ((plain, "extra"), 2, r"--help"),
                ((plain, "--config", "/nonexistent.ini"), 2, r"/nonexistent\.ini")):
            with self.subTest(args=args):
                run = self.run_hp3d("--replay", *args, code=code)
                self.assertRegex(run.stderr, message)
                self.assertEqual(run.stdout, "")
        self.assertGreater(os.path.getsize(plain), 24)  # still there
        with open(plain, "rb") as f, open(self.path("growing.pcap"), "wb") as g:
            g.write(f.read(1000))
        run = self.run_hp3d("--replay", self.path("growing.pcap"), "--json")
        self.assertEqual(run.stderr.count("growing.pcap: the last packet is cut"), 1)
        self.assertEqual(json.loads(run.stdout)["packets_in"], 2)
        run = self.run_hp3d("--move", "50000", code=2)
        self.assertIn("--replay", run.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[5:]])
