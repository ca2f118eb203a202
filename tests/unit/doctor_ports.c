/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that app/doctor finds: the ports of rails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "doctor_cases.h"

static void no_plain_interface(void)
{
	strcpy(cfg.rails[0].rnic, "veth7");
}

static void no_interface_of_vlan(void)
{
	strcpy(cfg.rails[0].rnic, "ens-9.100");
}

static void no_interface(void)
{
	strcpy(interfaces[1].name, "ens1");
}

static void mtu(void)
{
	interfaces[1].mtu = 4455;
	strcpy(cfg.rails[0].rnic, "net_null0");
	strcpy(cfg.rails[0].net, "net_pcap0,iface=eth0");
}

static void xdp_mtu(void)
{
	fits_xdp();
	interfaces[0].mtu++;
	interfaces[1].mtu++;
}

static void xdp_buffers(void)
{
	fits_xdp();
	cfg.eal.mbuf_bytes--;
}

static void xdp_large_buffers(void)
{
	fits_xdp();
	cfg.eal.mbuf_bytes++;
}

static void xdp_vlan(void)
{
	fits_xdp();
	interfaces[1].kind[0] = '\0';
	interfaces[1].offloads = BIT(RX_VLAN);
}

static void xdp_vlan_of_veth(void)
{
	fits_xdp();
	interfaces[1].peer = interfaces[0].peer;
	interfaces[1].peer.offloads = BIT(TX_VLAN);
}

static void small_rnic(void)
{
	interfaces[0].mtu = 1500;
}

static void small_net(void)
{
	interfaces[1].mtu = 1500;
}

static void bond_mtu(void)
{
	configure(RAIL, "[rail.r1]\nrnic = net_null0\n"
			"net = \"net_af_packet2,iface=eth1,framesz=4352,blocksz=69632\"\n"
			"[bond.b]\nrails = r0, r1\n");
	interfaces[2].mtu = 1500;
}

static void frame_size(void)
{
	strcpy(cfg.rails[0].net, "net_af_packet1,iface=eth0,framesz=4096");
}

static void frame_size_of_ring(void)
{
	strcpy(cfg.rails[0].net, "net_af_packet1,iface=eth0,framesz=8192");
}

static void link_down(void)
{
	interfaces[1].flags &= ~(unsigned)IFF_UP;
	interfaces[1].carrier = false;
}

static void no_carrier(void)
{
	interfaces[0].carrier = false;
}

static void tx_checksum(void)
{
	interfaces[0].peer.offloads = BIT(TX_CHECKSUM);
}

static void lro(void)
{
	interfaces[1].offloads = BIT(LRO);
}

static void udp_gro(void)
{
	interfaces[1].offloads = BIT(UDP_GRO);
}

static void gro(void)
{
	interfaces[1].offloads = BIT(GRO);
}

static void vlan_offload(void)
{
	interfaces[1].offloads = BIT(RX_VLAN);
}

static void arp(void)
{
	cfg.bypass.fail_open = HP3_FAIL_OPEN_OFF;
	interfaces[1].flags &= ~(unsigned)IFF_NOARP;
}

static void rx_ring(void)
{
	interfaces[1].rx_ring_max = 8192;
}

static const struct doctor_case rows[] = {
	{"interface", no_plain_interface, "rnic = veth7: there is no interface veth7",
		"ip link show"},
	{"interface", no_interface_of_vlan, "there is no interface ens-9.100", "ip link show"},
	{"interface", no_interface, "no interface eth0",
		"set the name of an interface; to list them: ip link show"},
	{"mtu", mtu, "MTU 4455 of eth0 does not fit one buffer of 4480",
		"mbuf_bytes to at least 4609"},
	{"mtu-differs", small_rnic,
		"[rail.r0] net: MTU 4200 of eth0 is larger than MTU 1500 of veth0",
		"ip link set veth0 mtu 4200, or: ip link set eth0 mtu 1500"},
	{"mtu-differs", small_net,
		"[rail.r0] rnic: MTU 4200 of veth0 is larger than MTU 1500 of eth0",
		"ip link set eth0 mtu 4200, or: ip link set veth0 mtu 1500"},
	{"bond-mtu", bond_mtu,
		"[bond.b] net: MTU 4200 of eth0 ([rail.r0]) differs from MTU 1500 of eth1 "
		"([rail.r1])",
		"ip link set eth0 mtu 1500, or: ip link set eth1 mtu 4200"},
	{"frame-size", frame_size, "framesz of 4096 would cut frames of MTU 4200",
		"append framesz=4352,blocksz=69632"},
	{"frame-size", frame_size_of_ring, "framesz of 8192 does not fit",
		"mbuf_bytes to at least 8288"},
	{"af-xdp-frames", xdp_mtu, "MTU 3439 of eth0 does not fit net_af_xdp, which carries 3438",
		"ip link set eth0 mtu 3438"},
	{"af-xdp-frames", xdp_buffers, "wants packet buffers of 3840 to 3840 bytes",
		"mbuf_bytes = 3840"},
	{"af-xdp-frames", xdp_large_buffers, "mbuf_bytes is 3841", "mbuf_bytes = 3840"},
	{"af-xdp-vlan", xdp_vlan, "eth0 takes VLAN tags off", "ethtool -K eth0 rxvlan off"},
	{"af-xdp-vlan", xdp_vlan_of_veth, "keeps VLAN tags beside", "ethtool -K"},
	{"link-down", link_down, "[rail.r0] net = ", "ip link set eth0 up"},
	{"no-carrier", no_carrier, "veth0 is up, but has no carrier",
		"ip netns exec h1 ip link set roce0 up"},
	{"tx-checksum", tx_checksum, "roce0, the other end of veth0",
		"ip netns exec h1 ethtool -K roce0 tx off"},
	{"merged-frames", lro, "(lro)", "ethtool -K eth0 lro off"},
	{"merged-frames", udp_gro, "(rx-udp-gro-forwarding)",
		"ethtool -K eth0 rx-udp-gro-forwarding off"},
	{"gro", gro, "eth0", "ethtool -K eth0 gro off"},
	{"vlan-offload", vlan_offload, "eth0", "use net_af_xdp for both ports"},
	{"arp", arp, "eth0", "ip link set eth0 arp off"},
	{"rx-ring", rx_ring, "queues 1024 received frames, and could queue 8192",
		"ethtool -G eth0 rx 8192"},
};

const struct doctor_cases doctor_ports_cases = {rows, sizeof(rows) / sizeof(rows[0])};
