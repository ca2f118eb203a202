# SPDX-License-Identifier: BSD-3-Clause
"""hp3d's configuration for a host of the testbed: the shipped one, with times scaled.

Thresholds are those of `hp3d --dump-config=all`, with [policy] study = on. Times of probing, moves, congestion control and
the bypass are multiplied by tools.slowness(), rates divided by it, up to the end of a key's range. The bypass: where 64
processes share two cores, one of them may well wait for longer than the 40 ms that ship, and the kernel would forward
its packets past it. Pairing keeps its times: they depend on RNICs
and hosts, and a scenario would end before.
"""
import functools
import re
import tempfile

from . import tools
from .tools import Problem

SLOWED = ("ppp", "rfr", "cc", "bypass")
UNITS = {"us": True, "ms": True, "probes/s": False, "traces/s": False, "Mb/s": False}  # True: a time, False: a rate
RANGE = re.compile(r"# (\d+)\.\.(\d+) (\S+); default (\d+);")
# Of the bed, not thresholds: roce-gen's queue pairs are not the kernel's; hosts of a fabric share a key.
FACTS = {"policy": {"study": "on"}, "watch": {"verbs": "off"}, "probes": {"probe_key": "68703368703368703368703368703368"}, "service": {"state": '""'}}


def dump_all(build):
    """hp3d's defaults of all keys, those for studies included."""
    with tempfile.NamedTemporaryFile("w", suffix=".ini") as f:
        print("[policy]\nstudy = on", file=f, flush=True)
        return tools.run([tools.binary(build, "hp3d"), "--dump-config=all", f.name])


@functools.lru_cache
def shipped(build):
    """{section: {key: (default, least, most, unit)}} of the numbers with a unit, as hp3d itself tells them."""
    found, section, limits = {}, None, None
    for line in dump_all(build).splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line.startswith("#"):
            limits = RANGE.match(line)
        elif limits and "=" in line:
            least, most, unit, default = limits.groups()
            found.setdefault(section, {})[line.split()[0]] = (int(default), int(least), int(most), unit)
    return found


def slowed(build, rate_mbps):
    """Keys of which the value is not the one that ships, {section: {key: value}}."""
    slow, changed = tools.slowness(rate_mbps), {}
    for section in SLOWED:
        for key, (default, least, most, unit) in shipped(build)[section].items():
            if unit in UNITS:
                value = round(default * slow if UNITS[unit] else default / slow)
                changed.setdefault(section, {})[key] = min(max(value, least), most)
    changed["cc"]["rpg_max_rate"] = rate_mbps  # the line's, whatever that is
    return changed


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


def ini(build, fixed, rate_mbps, chosen):
    """The INI file: what the testbed fixes (ports, memory), the time scale, and then what was chosen."""
    sections = {name: dict(keys) for name, keys in fixed.items()}
    for part in (FACTS, slowed(build, rate_mbps), chosen):
        for name, keys in part.items():
            sections.setdefault(name, {}).update(keys)
    return "".join(f"[{name}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
                   for name, keys in sections.items())
