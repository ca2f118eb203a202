#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the RNICs' counters before and after a run.

usage: rnic.py delta BEFORE AFTER             prints the difference, as JSON
       rnic.py judge BEFORE AFTER MIN_PACKETS ... and fails unless every RNIC received at
                                              least so many packets, all of them in order
"""
import json
import sys

ZERO = (
    "out_of_seq_request",
    "duplicate_request",
    "rcvd_seq_err",
    "completer_retry_err",
    "retry_exceeded_err",
    "retry_rnr_exceeded_err",
    "send_rnr_err",
    "rcvd_rnr_err",
    "send_err",
)


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("delta", "judge"):
        sys.exit(__doc__)
    before, after = json.loads(sys.argv[2]), json.loads(sys.argv[3])
    delta = {g: {k: after[g][k] - before[g][k] for k in after[g] if k != "lifespan"} for g in after}
    print(json.dumps(delta))
    if sys.argv[1] == "delta":
        return
    bad = [f"guest {g}: {k} rose by {delta[g][k]}" for g in delta for k in ZERO if delta[g][k]]
    bad += [
        f"guest {g}: received {delta[g]['rcvd_pkts']} packets, expected {sys.argv[4]} or more"
        for g in delta
        if delta[g]["rcvd_pkts"] < int(sys.argv[4])
    ]
    if bad:
        sys.exit("rnic: " + "; ".join(bad))


if __name__ == "__main__":
    main()
