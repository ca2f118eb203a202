# SPDX-License-Identifier: BSD-3-Clause
"""What a report says of queue pairs whose packets took several paths at once: rates by spine, what the receivers' hp3d held
until it was its turn, and what the RNICs made of it."""
from . import measures
from .decisions import SPRAY
from .evidence import table


def counted(result):
    """Of all hosts."""
    return {name: sum(c.get(name, 0) for c in result["counters"].values()) for name in SPRAY}


def was(results):
    """Some mode sprayed."""
    return any(counted(r)["sprayed"] for r in results)


def by_rnics(result, name):
    return sum(r["sum"].get(name, 0) for r in result["reports"].values())


def per_spine(result):
    """Megabytes that the leaves sent to each spine."""
    lanes = [lane for lane in result["fabric"]["lanes"] if lane["from"][0] == "l" and lane["to"][0] == "s"]
    spines = sorted({lane["to"] for lane in lanes})
    return {s: sum(lane["bytes"] for lane in lanes if lane["to"] == s) / 1e6 for s in spines}


def lines(result):
    c = counted(result)
    yield "Bytes to each spine, MB", " / ".join(f"{mb:.1f}" for mb in per_spine(result).values())
    yield "Packets sent by one of several paths", f"{c['sprayed']:,}"
    yield "Came too early at the receiver's hp3d and were held", f"{c['reseq_held']:,}"
    yield "... by 8 / 64 packets or more", f"{c['reseq_ahead_8']:,} / {c['reseq_ahead_64']:,}"
    yield "Packets that others waited for", f"{c['reseq_gaps']:,}"
    yield "... for 1 / 10 ms or longer; on average, ms", (f"{c['reseq_gaps_1ms']:,} / {c['reseq_gaps_10ms']:,}; "
                                                         f"{c['reseq_waited'] / 1e6 / max(c['reseq_gaps'], 1):.1f}")
    yield "Waited for anew, since hp3d itself had stood still", f"{c['reseq_stood']:,}"
    yield "Handed over although one lacked: late / too far ahead / no room / no room for its host / given up", " / ".join(
        f"{c[name]:,}" for name in ("reseq_late", "reseq_beyond", "reseq_full", "reseq_share", "reseq_given_up"))
    yield "At the RNICs: overtaken / out of sequence / NAKs / duplicates / retransmissions", " / ".join(
        f"{by_rnics(result, name):,}" for name in ("overtaken", "out_of_seq_request", "naks_received", "duplicate_request", "retransmissions"))


def order_table(results):
    columns = [dict(lines(r)) for r in results]
    return table([""] + [f"hp3 {r['mode']}" for r in results], [[name, *[c[name] for c in columns]] for name in columns[0]])


def sentence(scenario, results, result):
    """Of a mode that sprayed, beside those that did not."""
    c = counted(result)

    def rate(r):
        begin = scenario["scenario"]["warmup_ms"] / 1000
        rates = [measures.between(scenario, r, n, begin, scenario["scenario"]["seconds"]) for n in measures.flows_of(scenario, r)]
        return sum(v for v in rates if v is not None)

    others = ", ".join(f"hp3 {r['mode']}: {rate(r):.1f}" for r in results if r is not result)
    return (f"hp3d sent {c['sprayed']:,} packets by several paths at once; goodput of all flows was {rate(result):.1f} Mb/s"
            + (f" ({others})" if others else "") + f"; {c['reseq_held']:,} came too early and were held until it was their turn; "
            f"at the RNICs {by_rnics(result, 'retransmissions')} retransmissions, {by_rnics(result, 'out_of_seq_request')} out of "
            f"sequence, {by_rnics(result, 'naks_received')} NAKs.")
