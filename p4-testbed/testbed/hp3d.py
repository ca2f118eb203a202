# SPDX-License-Identifier: BSD-3-Clause
"""hp3d's configuration beside a host of the testbed: its defaults, and what the time scale asks for.

hp3d's defaults are for links of 100 Gb/s and round trips of 10 us. Here links have 10 to 50 Mb/s, an undisturbed
round trip takes 3 ms at 50 Mb/s, one through a full queue tens of ms, and DCQCN's periods are 4 ms (load.py). Every
time below is one of hp3d's own keys in that scale; each can be changed with --set SECTION.KEY=VALUE.
"""
from . import tools
from .tools import Problem

SCALED = {
    "ppp": {
        "probe": "peer",  # every host has an hp3d
        # DCQCN takes some of its periods to react; two flows on a link get a CNP every 20 ms or so each.
        "cycle_us": 25000,
        # roce-gen tells of congestion by CNPs; round trips here contain what the scheduler of this machine does to a
        # dozen processes, so they must be a lot longer to count.
        "rtt_factor": 1000,
        # A queue swings by several ms while DCQCN does its work: what is not twice as fast is not better.
        "improve": 50,
        "candidates": 1,  # few of them herd least (docs/sim.md)
        "probe_timeout_us": 60000,  # longer than round trips are with DCQCN
        "probes_per_second": 20,
        "probe_burst": 16,
        "backoff_min_us": 1000000,
        "backoff_max_us": 4000000,
        "path_fresh_us": 2000000,
    },
    "rfr": {
        "max_hold_us": 100000,  # below a quarter of roce-gen's retransmission timer, 1.07 s
        "cooldown_us": 2000000,  # until DCQCN has taken what the new path has to give
        "verify_us": 1800000,
        # Two hosts that leave a link within so short a time that neither sees the other go do so together: one
        # round trip, and the time until a queue is gone and CNPs stop, is 50 ms or so.
        "move_wait_us": 500000,
        "stall_us": 50000,
    },
    # roce-gen does DCQCN itself: its CNPs pass, but those of a path that was left.
    "cc": {"mode": "native", "max_rtt_us": 60000},
    "watch": {"verbs": "off"},  # roce-gen's queue pairs are not the kernel's
}
# Longer on slow links, as DCQCN's periods are (tools.stretch).
TIMES = ("cycle_us", "probe_timeout_us", "cooldown_us", "move_wait_us", "verify_us", "stall_us", "max_rtt_us")


def scaled(rate_mbps):
    slow = tools.stretch(rate_mbps)
    return {section: {key: value * slow if key in TIMES else value for key, value in keys.items()}
            for section, keys in SCALED.items()}


def overrides(words):
    """{section: {key: value}} of SECTION.KEY=VALUE words; hp3d itself checks them."""
    found = {}
    for word in words:
        name, equals, value = word.partition("=")
        section, dot, key = name.partition(".")
        if not (equals and dot and section and key):
            raise Problem(f"--set {word}: write SECTION.KEY=VALUE, such as ppp.improve=60")
        found.setdefault(section, {})[key] = value
    return found


def ini(fixed, rate_mbps, chosen):
    """The INI file: what the testbed fixes (ports, memory), the time scale, and then what was chosen."""
    sections = {name: dict(keys) for name, keys in fixed.items()}
    for part in (scaled(rate_mbps), chosen):
        for name, keys in part.items():
            sections.setdefault(name, {}).update(keys)
    return "".join(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
                   for name, keys in sections.items())
