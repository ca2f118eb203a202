#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Each rule, broken on purpose (mutants.c), must be seen by the test that is there for it.

usage: mutants.py FABRIC BALANCERS HP3 STREAMS VERBS HP3X RAILS      the tests, linked with mutants.c

Every test passes first with nothing broken.
"""
import os
import subprocess
import sys

FABRIC, BALANCERS, HP3, STREAMS, VERBS, HP3X, RAILS = range(7)
MUTANTS = [  # what is broken, test program, test
    ("no-pause", FABRIC, "pfc_loses_nothing"),
    ("no-mark", FABRIC, "congestion_is_marked_and_answered"),
    ("stuck-hash", FABRIC, "hash_spreads"),
    ("not-fifo", FABRIC, "paths_are_first_in_first_out"),
    ("leak", FABRIC, "without_pfc_drops_have_a_name"),
    ("no-sort", BALANCERS, "conweave_hides_its_moves"),
    ("no-drain", HP3, "nothing_is_overtaken"),
    ("no-wait", VERBS, "nothing_is_overtaken"),
    ("idle:hp3-verbs", VERBS, "elephants_are_parted"),
    ("deaf-peer", HP3, "acks_leave_a_dead_path"),
    ("deaf-responder", STREAMS, "lost_reads_are_asked_for_again"),
    ("idle:hp3x", HP3X, "each_slice_arrives_once"),
    ("one-path", HP3X, "each_slice_arrives_once"),
    ("any-path", HP3X, "the_earliest_finish_is_chosen"),
    ("no-measure", HP3X, "the_earliest_finish_is_chosen"),
    ("no-window", HP3X, "windows_bound_the_flight"),
    ("no-window", HP3X, "slow_paths_get_few_slices"),
    ("one-rail", RAILS, "two_rails_are_almost_twice_as_fast"),
    ("one-rail", RAILS, "reads_use_all_rails"),
    ("one-rail", RAILS, "unequal_rails_get_their_share"),
    ("idle:letflow", BALANCERS, "letflow_moves_at_gaps_only"),
    ("idle:conga", BALANCERS, "conga_avoids_the_busy_uplink"),
    ("idle:rps", BALANCERS, "rps_and_drill_use_every_path"),
    ("idle:drill", BALANCERS, "rps_and_drill_use_every_path"),
    ("idle:ar", BALANCERS, "ar_takes_the_shortest_queue"),
    ("idle:flowbender", BALANCERS, "collisions_are_resolved"),
    ("idle:hopper", BALANCERS, "collisions_are_resolved"),
    ("idle:hermes", BALANCERS, "hermes_leaves_congested_paths"),
    ("idle:plb", BALANCERS, "plb_is_slower_to_move"),
    ("idle:conweave", BALANCERS, "conweave_hides_its_moves"),
    ("idle:hp3-ideal", HP3, "elephants_are_parted"),
    ("idle:hp3-paper", HP3, "nothing_is_overtaken"),
] + [(f"idle:stellar-{k}", BALANCERS, "stellar_sprays")
     for k in ("obs", "rr", "dwrr", "bestrtt", "mprdma")]


def passes(program, test, mutant):
    env = dict(os.environ, SIM_TEST=test, SIM_MUTANT=mutant)
    out = subprocess.run([program], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         check=False, timeout=100, encoding="utf-8")
    if "1 test(s) run" not in out.stdout and "Running 1 test" not in out.stdout:
        sys.exit(f"{program}: no test {test}:\n{out.stdout}")
    return out.returncode == 0


def main():
    bad = []
    for test in sorted({m[1:] for m in MUTANTS}):
        if not passes(sys.argv[1 + test[0]], test[1], "none"):
            bad.append(f"{test[1]} fails with nothing broken")
    for mutant, program, test in MUTANTS:
        if passes(sys.argv[1 + program], test, mutant):
            bad.append(f"{mutant}: {test} does not see it")
    for line in bad:
        print("mutants:", line)
    return 1 if bad else 0


sys.exit(main())
