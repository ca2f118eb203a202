# SPDX-License-Identifier: BSD-3-Clause
"""How hosts are attached to the fabric ([hosts] port of the topology), as far as the kernel is concerned.

af_packet, af_xdp   a veth: eth0 in the host's namespace, named after the host in the fabric's
tap                 the tap that hp3-fabric makes becomes eth0 of the host's namespace
vhost, memif        a socket in the testbed's directory, HOST.vhost or HOST.memif: the connected process is the host
"""
from . import tools
from .tools import Problem

SOCKETS = ("vhost", "memif")


def outside(plan, taps, target):
    """Hosts that have no namespace of ours; a Problem where the ports do not fit the rest."""
    for h in plan["hosts"]:
        if h["port"] != "af_packet" and target == "bmv2":
            raise Problem(f"host {h['name']}: port = {h['port']}: bmv2 takes interfaces only; [hosts] port = af_packet")
        if h["port"] != "af_packet" and h["name"] in taps:
            raise Problem(f"--tap {h['name']}: its port is {h['port']} in the topology; [host.{h['name']}] port = af_packet")
    return list(taps) + [h["name"] for h in plan["hosts"] if h["port"] in SOCKETS]


def has_veth(host):
    return host["port"] in ("af_packet", "af_xdp")


def adopt_taps(bed, plan, bare):
    """hp3-fabric has made its taps: each moves into its host's namespace."""
    for h in plan["hosts"]:
        if h["port"] == "tap":
            tools.run(["ip", "-n", bed.ns("fabric"), "link", "set", h["name"], "netns", bed.ns(h["name"]), "name", "eth0"])
            bed.batch(bed.ns(h["name"]), [f"link set eth0 mtu {plan['mtu']}"])
            bed.make_host(h, plan["mtu"], bare)


def socket_of(bed, host):
    return bed.path(f"{host['name']}.{host['port']}")
