# SPDX-License-Identifier: BSD-3-Clause
"""What counts as harm, and how a busy machine is kept from deciding.

A sample is three runs with the same seed: off, on, off. The two outer ones bracket the middle one, so what the machine
does more and more, or less and less, meets both sides; and the worse of them is what `on` is held against. If hp3d did
nothing, `on` would be the worst of the three once in three times, and by 5 % far less often; that is why one sample
condemns nobody by its times:

- The third run can only speak for hp3d: it widens what `on` may have and slows what `on` is held against. A sample that is
  clean beside its first run alone is clean beside both, and goes without the third one.
- Counters are exact. Time-outs, retransmissions, requests out of sequence, overtaken packets and duplicates that are 0
  in both outer runs must be 0 in the middle one; where they are not (RNR), it may have twice as many, and 16.
  hp3d's own deeds (moves, failovers, ACK solicitations, rounds for a dead path, NAKs) must be 0.
- The 99th percentile of completion times may be 5 % above the worse outer one, and as far above it as that is above the
  other one: what differs from itself by so much says nothing finer. If it is more, four further samples with seeds of
  their own are taken, and all but one of them have to say so. Without any harm, and times that vary by 5 to 30 %, a
  sample does so once in six times at most, and four of five once in three hundred (simulated). A ratio above 1.5 decides at once, but only if the outer runs agree with
  each other within 5 %.
- Of a lossy row, where the path really is dead for a while, the times and what hp3d asks its peer say nothing.
- A sample in which a roce-gen was not let run for LATE_MS says nothing and is taken again, TRIES times; so does one
  whose outer runs are not healthy themselves. A row without any sample left is void: neither green nor red. More than
  a quarter of rows void fails the whole.
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
