# SPDX-License-Identifier: BSD-3-Clause
"""The loads that hp3d has to leave alone: one row each.

Options in `gen` are passed to the roce-gen of every end, those in `load` only to the senders,
those in `peer` only to the receiver. `mbps` is the rate of each sender's port, and `back` that of the receiver's.
"""
import dataclasses

ALL = ("wire", "one", "four")
FABRIC = ("one", "four")
TIMER_50_MS = "19"  # IBTA code of 61 ms in RNR NAKs


@dataclasses.dataclass(frozen=True)
class Shape:
    name: str
    what: str
    mbps: int
    op: str = "write"
    qps: int = 1
    depth: int = 1
    size: int = 65536
    gen: tuple = ()
    load: tuple = ()
    peer: tuple = ()
    paths: tuple = ALL
    senders: int = 1
    without: tuple = ()  # hosts without hp3d
    dcqcn: bool = False
    tcp_mbps: int = 0  # of a TCP stream beside
    restart_ms: int = 0  # when the receiver's hp3d is started anew
    lossy: bool = False  # frames are lost, whatever hp3d does: the path is dead for a while
    quick: str = ""  # the path on which make test runs it
    seconds: int = 4  # there; harm-long: LONG_S


LONG_S = 8
MIX = "read:30,write:70"

SHAPES = (
    # few and many queue pairs
    Shape("mix-4", "4 queue pairs, depth 2, READ and WRITE of 64 KiB", 100, op=MIX, qps=4, depth=2, quick="wire"),
    Shape("write-1", "1 queue pair, WRITE", 20),
    Shape("write-64", "64 queue pairs, WRITE", 100, qps=64),
    # operations and sizes
    Shape("nvmeof", "NVMe-oF: 1 queue pair, depth 16, READ and WRITE of 4 KiB", 100, op=MIX, depth=16, size=4096,
          quick="one"),
    Shape("nvmeof-8", "NVMe-oF: 8 queue pairs, depth 8, 4 KiB", 50, op=MIX, qps=8, depth=8, size=4096),
    Shape("read-4", "4 queue pairs, READ", 50, op="read", qps=4, depth=2),
    Shape("send-8", "8 queue pairs, SEND of 16 KiB", 50, op="send", qps=8, depth=2, size=16384),
    Shape("large", "1 queue pair, WRITE of 1 MiB", 50, size=1 << 20),
    # queue pairs and rates
    Shape("write-256", "256 queue pairs, WRITE", 100, qps=256),
    Shape("mix-256", "256 queue pairs, READ and WRITE of 16 KiB", 100, op=MIX, qps=256, size=16384),
    Shape("slow", "1 queue pair at 1 Mb/s, WRITE of 16 KiB", 1, size=16384),
    Shape("slow-mix", "4 queue pairs at 2 Mb/s together, READ and WRITE of 8 KiB", 2, op=MIX, qps=4, size=8192),
    # the fabric
    Shape("incast", "8 senders to 1 receiver, 5 Mb/s each of 40", 40, load=("--qp-mbps", "5"), senders=8, paths=FABRIC,
          qps=1, depth=2),
    Shape("incast-full", "8 senders to 1 receiver, DCQCN", 40, senders=8, paths=FABRIC, dcqcn=True),
    Shape("dcqcn", "throttled by DCQCN to its floor", 40, senders=2, paths=FABRIC, dcqcn=True, qps=4),
    # pauses and slow ends
    Shape("bursts", "a message on each of 4 queue pairs, then 1 s of silence", 50, qps=4,
          load=("--load", "rounds", "--gap-us", "1000000"), quick="four"),
    Shape("slow-read", "a responder that needs 50 ms for a READ", 50, op=MIX, qps=4, depth=2, size=16384,
          peer=("--read-service-us", "50000"), quick="wire"),
    Shape("slow-read-1", "the same with a queue pair that does nothing but READ", 50, op="read", depth=4, size=4096,
          peer=("--read-service-us", "50000")),
    Shape("ack-64", "ACKs for 64 packets and more, 30 ms apart", 20, qps=2, depth=4,
          peer=("--ack-delay-us", "30000")),
    Shape("ack-mix", "the same with READs between", 50, op=MIX, qps=2, depth=4, peer=("--ack-delay-us", "30000")),
    Shape("rnr", "SEND, every 20th message finds no buffer for 61 ms", 20, op="send", qps=2, depth=2,
          peer=("--rnr-every", "20", "--rnr-timer", TIMER_50_MS)),
    # others
    Shape("tcp", "READ and WRITE beside 20 Mb/s of TCP", 50, op=MIX, qps=4, depth=2, tcp_mbps=20),
    Shape("one-end", "hp3d at the sender only", 50, op=MIX, qps=4, depth=2, without=("h2",)),
    Shape("nvmeof-end", "NVMe-oF, 8 queue pairs, depth 1, and hp3d at the sender only", 50, op=MIX, qps=8, size=4096,
          without=("h2",)),
    Shape("other-end", "hp3d at the receiver only", 50, op=MIX, qps=4, depth=2, without=("h1",)),
    Shape("restart", "the receiver's hp3d is started anew in a pause", 50, op=MIX, qps=4,
          load=("--load", "rounds", "--gap-us", "4000000"), restart_ms=300, quick="wire", seconds=5),
    Shape("restart-busy", "the same in mid-traffic: what it cannot forward is lost, off as on", 50, op=MIX, qps=4,
          restart_ms=3000, lossy=True),
)
