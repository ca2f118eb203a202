# SPDX-License-Identifier: BSD-3-Clause
"""What counts as harm, and how the judgement is made independent of the machine's other load.

A sample is three runs with the same seed: off, on, off. The outer runs are before and after the
middle run, so a load that rises or falls slowly affects both sides. `on` is compared with the
worse of the two outer runs. If hp3d did nothing, `on` would be the worst of the three runs once
in three samples, and by 5 % far less often. So the times of a single sample never decide:

- The third run can only be in favour of hp3d: it can only raise the limits for `on`. If `on` shows
  no harm compared with the first run alone, the third run is left out.
- Counters are exact. Time-outs, retransmissions, requests out of sequence, overtaken packets and duplicates that are 0
  in both outer runs must be 0 in the middle one; where they are not (RNR), it may have twice as many, and 16.
  hp3d's own actions (moves, failovers, ACK solicitations, probe rounds for a dead path, NAKs)
  must be 0.
- The 99th percentile of completion times may be 5 % above that of the worse outer run; if the two
  outer runs differ by more, by as much as they differ. If `on` exceeds this, four further samples
  with other seeds are taken. It is harm if at least four of the five samples exceed the limit.
  Without harm, and with times that vary by 5 to 30 %, one sample exceeds it at most once in six
  times, and four of five once in three hundred times (simulated). A ratio above 1.5 decides at
  once, but only if the outer runs agree within 5 %.
- In a lossy row, in which a path is really dead for some time, completion times and hp3d's ACK
  solicitations do not count.
- A sample is invalid if a roce-gen was descheduled for LATE_MS, or if an outer run itself shows
  faults. It is then repeated, up to TRIES times. A row without a valid sample is void: neither
  green nor red. If more than a quarter of the rows are void, the whole test fails.
"""
import statistics

HEALTH = ("timeouts", "retransmissions", "out_of_seq", "overtaken", "late_duplicates", "duplicates", "broken")
DEEDS = ("moves", "replies_moved", "failovers", "ack_solicitations", "dead_rounds", "naks_made")
DEEDS_LOSSY = ("moves", "failovers", "naks_made")
SLOWER, MUCH_SLOWER, AGREE = 1.05, 1.5, 1.05
LATE_MS = 120
TRIES = 3
MORE_SAMPLES = 4
VOID_SHARE = 0.25


def void(sample):
    """Why a sample says nothing, or None."""
    off = sample["off"]
    if any((run["timeouts"] and not sample["lossy"]) or run["broken"] or not run["completed"] for run in off):
        return "not healthy when off"
    late = max(run["late_ms"] for run in (*off, sample["on"]))
    return f"the machine stood still for {late:.0f} ms" if late > LATE_MS else None


def allowed(values):
    worst = max(values)
    return 2 * worst + 16 if worst else 0


def counted(sample):
    """What the counters of a sample say against hp3d."""
    on, off = sample["on"], sample["off"]
    wrong = [f"{key} {', '.join(str(run[key]) for run in off)} -> {on[key]}" for key in HEALTH
             if on[key] > allowed([run[key] for run in off])]
    return wrong + [f"{key} {on[key]}" for key in (DEEDS_LOSSY if sample["lossy"] else DEEDS) if on[key]]


def ratio(sample):
    return sample["on"]["p99_us"] / max(run["p99_us"] for run in sample["off"])


def control(sample):
    """How far the outer runs are from each other, at least 1."""
    times = [run["p99_us"] for run in sample["off"]]
    return max(times) / min(times)


def slower(samples):
    """(Is it? Is one sample enough to say so?)"""
    samples = [s for s in samples if not s["lossy"]]
    if not samples:
        return False, False
    sure = any(ratio(s) > MUCH_SLOWER and control(s) < AGREE for s in samples)
    worse = sum(ratio(s) > max(SLOWER, control(s)) for s in samples)
    return sure or worse >= max(1, len(samples) - 1), sure


def clean(sample):
    """Of a sample without its third run: nothing is said against hp3d that the third one could take back."""
    return void(sample) is None and not counted(sample) and not slower([sample])[0]


def verdict(samples):
    """("green", "red" or "void", reasons)"""
    good = [s for s in samples if void(s) is None]
    if not good:
        return "void", sorted({void(s) for s in samples})
    reasons = [f"seed {s['seed']}: {text}" for s in good for text in counted(s)]
    if slower(good)[0]:
        reasons.append(f"p99 {100 * statistics.median(ratio(s) for s in good) - 100:+.1f} %, {len(good)} samples")
    return ("red" if reasons else "green"), reasons


def wants_more(samples):
    """Times alone condemn it, and one sample is not enough."""
    good = [s for s in samples if void(s) is None]
    return bool(good) and slower(good) == (True, False) and not any(counted(s) for s in good)


def too_many_void(verdicts):
    return sum(v == "void" for v in verdicts) > VOID_SHARE * len(verdicts)
