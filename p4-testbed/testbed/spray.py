# SPDX-License-Identifier: BSD-3-Clause
"""The report's part on sprayed queue pairs: rates by spine, packets held by the receivers' hp3d, and the RNICs' counts
of packets out of order."""
from . import spans
from .decisions import SPRAY
from .evidence import table
from .load import sections


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


def data_leaves(scenario, plan):
    """Leaves of the hosts that send data: who writes, or is read from."""
    leaf = {h["name"]: h["leaf"] for h in plan["hosts"]}
    hosts = [f["dst"] if f["op"] == "read" else f["src"] for f in sections(scenario, "flow").values()]
    hosts += [h for r in sections(scenario, "ring").values() for h in r["hosts"].split()]
    return sorted({leaf[h] for h in hosts})


def spine_packets(leaf, result):
    """Packets that a leaf sent to each spine, as the fabric counted them."""
    return {lane["to"]: lane["packets"] for lane in result["fabric"]["lanes"] if lane["from"] == leaf and lane["to"][0] == "s"}


def spine_rows(scenario, plan, results):
    """A row for each spine that data may take: [leaf and spine, packets and share of each mode ...]."""
    for leaf in data_leaves(scenario, plan):
        columns = [spine_packets(leaf, r) for r in results]
        for spine in sorted(columns[0]):
            row = [f"{leaf} to {spine}"]
            for packets in columns:
                row += [f"{packets[spine]:,}", f"{100 * packets[spine] / max(sum(packets.values()), 1):.1f} %"]
            yield row


def spine_table(scenario, plan, results):
    head = ["Spine"] + [text for r in results for text in (f"hp3 {r['mode']}: packets", "share")]
    return table(head, list(spine_rows(scenario, plan, results)))


def spine_text(scenario, plan, results):
    """The same for a terminal."""
    lines = ["Packets that the sender's leaf sent to each spine, by the fabric's counters:",
             f"{'':10}" + "".join(f"{'hp3 ' + r['mode']:>20}" for r in results)]
    for name, *cells in spine_rows(scenario, plan, results):
        lines.append(f"{name:10}" + "".join(f"{n:>11}{share:>9}" for n, share in zip(cells[::2], cells[1::2])))
    return "\n".join(lines)


def peers_text(results):
    """hp3ctl peers of each host in the modes that sprayed."""
    return "\n".join(f"hp3ctl peers, on {host}, hp3 {r['mode']}:\n{text.rstrip()}"
                     for r in results if was([r]) for host, text in r["peers_text"].items())


def lines(result):
    c = counted(result)
    yield "Bytes to each spine, MB", " / ".join(f"{mb:.1f}" for mb in per_spine(result).values())
    yield "Packets sent by one of several paths", f"{c['sprayed']:,}"
    yield "Arrived out of order at the receiver's hp3d and were held", f"{c['reseq_held']:,}"
    yield "... by 8 / 64 packets or more", f"{c['reseq_ahead_8']:,} / {c['reseq_ahead_64']:,}"
    yield "Packets that others waited for", f"{c['reseq_gaps']:,}"
    yield "... for 1 / 10 ms or longer; on average, ms", (f"{c['reseq_gaps_1ms']:,} / {c['reseq_gaps_10ms']:,}; "
                                                         f"{c['reseq_waited'] / 1e6 / max(c['reseq_gaps'], 1):.1f}")
    yield "Waited for anew, since hp3d itself had stood still", f"{c['reseq_wait_restarts']:,}"
    yield "Handed over although one was missing: late / too far ahead / no room / no room for its host / given up", " / ".join(
        f"{c[name]:,}" for name in ("reseq_late", "reseq_beyond", "reseq_full", "reseq_share", "reseq_given_up"))
    yield "At the RNICs: overtaken / out of sequence / NAKs / duplicates / retransmissions", " / ".join(
        f"{by_rnics(result, name):,}" for name in ("overtaken", "out_of_seq_request", "naks_received", "duplicate_request", "retransmissions"))


def order_table(results):
    columns = [dict(lines(r)) for r in results]
    return table([""] + [f"hp3 {r['mode']}" for r in results], [[name, *[c[name] for c in columns]] for name in columns[0]])


def sentence(scenario, results, result):
    """Of a mode that sprayed, beside those that did not."""
    c = counted(result)

    met_s = spans.meeting(scenario, results)[0]

    def rate(r):
        return spans.goodputs(scenario, r, met_s)["met"] or 0.0

    others = ", ".join(f"hp3 {r['mode']}: {rate(r):.1f}" for r in results if r is not result)
    return (f"hp3d sent {c['sprayed']:,} packets by several paths at once; goodput of all flows was {rate(result):.1f} Mb/s"
            + (f" ({others})" if others else "") + f"; {c['reseq_held']:,} arrived out of order and were held until it was their turn; "
            f"at the RNICs {by_rnics(result, 'retransmissions')} retransmissions, {by_rnics(result, 'out_of_seq_request')} out of "
            f"sequence, {by_rnics(result, 'naks_received')} NAKs.")
