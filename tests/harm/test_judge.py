#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""judge.py detects harm, and reports none if only the machine is busy."""
import unittest

import judge


def run(**changes):
    found = {key: 0 for key in (*judge.HEALTH, *judge.DEEDS)}
    return {**found, "p99_us": 1000.0, "completed": 100, "late_ms": 5, **changes}


def sample(off=({}, {}), on=None, lossy=False):
    return {"seed": 1, "lossy": lossy, "off": [run(**o) for o in off], "on": run(**(on or {}))}


def colour(*samples):
    return judge.verdict(list(samples))[0]


class Judge(unittest.TestCase):
    def test_nothing_happened(self):
        self.assertEqual(colour(sample()), "green")

    def test_each_counter_and_each_deed_condemns(self):
        for key in (*judge.HEALTH, *judge.DEEDS):
            self.assertEqual(colour(sample(), sample(on={key: 1})), "red", key)

    def test_what_off_has_on_may_have(self):
        again = ({"retransmissions": 40}, {"retransmissions": 30})
        self.assertEqual(colour(sample(again, {"retransmissions": 60})), "green")
        self.assertEqual(colour(sample(again, {"retransmissions": 100})), "red")

    def test_times_alone_need_more_samples(self):
        slow, fine = sample(on={"p99_us": 1080.0}), sample()
        self.assertTrue(judge.wants_more([slow]))
        self.assertFalse(judge.wants_more([fine]))
        self.assertEqual(colour(slow, fine, slow, slow, fine), "green")
        self.assertEqual(colour(slow, fine, slow, slow, slow), "red")

    def test_what_differs_from_itself_says_nothing_finer(self):
        swings = sample(({"p99_us": 1000.0}, {"p99_us": 1200.0}), {"p99_us": 1400.0})
        self.assertFalse(judge.wants_more([swings]))
        self.assertEqual(colour(swings, swings, swings, swings, swings), "green")
        self.assertTrue(judge.wants_more([sample(({"p99_us": 1000.0}, {"p99_us": 1200.0}), {"p99_us": 1500.0})]))

    def test_the_worse_run_without_hp3d_is_the_measure(self):
        self.assertEqual(colour(sample(({"p99_us": 1000.0}, {"p99_us": 1400.0}), {"p99_us": 1400.0})), "green")

    def test_much_slower_is_final_if_the_control_agrees(self):
        much = {"p99_us": 1600.0}
        self.assertFalse(judge.wants_more([sample(on=much)]))
        self.assertEqual(colour(sample(on=much)), "red")
        self.assertTrue(judge.wants_more([sample(({"p99_us": 900.0}, {}), much)]))

    def test_a_machine_that_stood_still_says_nothing(self):
        late = sample(({}, {"late_ms": 500}), {"ack_solicitations": 1, "p99_us": 9000.0})
        self.assertEqual(colour(late), "void")
        self.assertEqual(colour(late, sample()), "green")

    def test_a_sick_network_says_nothing(self):
        self.assertEqual(colour(sample(({"timeouts": 1}, {}))), "void")
        self.assertEqual(colour(sample(({"completed": 0}, {}))), "void")

    def test_of_a_lossy_row_only_moves_and_losses_count(self):
        lost = ({"timeouts": 4}, {"timeouts": 4})
        self.assertEqual(colour(sample(lost, {"timeouts": 6, "ack_solicitations": 3, "p99_us": 9000.0}, lossy=True)), "green")
        self.assertEqual(colour(sample(lost, {"timeouts": 30}, lossy=True)), "red")
        self.assertEqual(colour(sample(lost, {"moves": 1}, lossy=True)), "red")

    def test_what_is_clean_beside_one_run_is_clean_beside_two(self):
        values = ({}, {"p99_us": 900.0}, {"p99_us": 1040.0}, {"p99_us": 1060.0}, {"p99_us": 1600.0}, {"timeouts": 1}, {"moves": 1},
                  {"retransmissions": 40}, {"completed": 0}, {"late_ms": 500})
        seen = set()
        for lossy in (False, True):
            for off in values:
                for on in values:
                    short = judge.clean(sample((off,), on, lossy))
                    seen.add(short)
                    for third in ({}, {"p99_us": 1300.0}, {"p99_us": 700.0}, {"retransmissions": 10}):
                        self.assertTrue(not short or colour(sample((off, third), on, lossy)) == "green", (off, on, third))
        self.assertEqual(seen, {True, False})

    def test_too_many_void_rows_fail(self):
        self.assertTrue(judge.too_many_void(["green", "green", "void"]))
        self.assertFalse(judge.too_many_void(["green"] * 3 + ["void"]))


unittest.main()
