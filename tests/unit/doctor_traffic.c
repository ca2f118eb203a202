/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that app/doctor finds: ports that carry traffic of the host, or only their own frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "doctor_cases.h"

static void own_address(void)
{
	strcpy(own[1].address, "10.1.2.3");
	own[1].default_route = true;
}

static void own_address_of_vlan(void)
{
	strcpy(own[0].address, "fd00::7");
	strcpy(own[0].upper, "veth0.100");
}

static void own_address_of_advertisement(void)
{
	own_address_of_vlan();
	own[0].advertised = true;
}

static void join_bridge(struct hp3_own_traffic *o, const char *member)
{
	strcpy(o->master, "br0");
	strcpy(o->master_kind, "bridge");
	strcpy(o->member, member);
}

static void port_of_bridge(void)
{
	join_bridge(&own[1], "eth0");
}

static void vlan_in_bridge(void)
{
	join_bridge(&own[1], "eth0.100");
}

static void both_ports_of_bridge(void)
{
	port_of_bridge();
	join_bridge(&own[0], "veth0");
}

/* Each port's own address is a reason of its own. */
static void both_ports_of_bridge_and_an_address(void)
{
	both_ports_of_bridge();
	own_address();
}

static void tunnel(void)
{
	interfaces[1].no_ethernet = true;
	strcpy(interfaces[1].kind, "ipip");
}

static void macvlan(void)
{
	interfaces[1].shared = (struct hp3_shared_device){
		.name = "eth0", .kind = "macvlan", .mode = "bridge", .below = "ens1"};
}

static void vlan_of_macvtap(void)
{
	interfaces[1].shared = (struct hp3_shared_device){
		.name = "tap5", .kind = "macvtap", .mode = "passthru nopromisc", .below = "ens1"};
}

static void macvlan_of_container(void)
{
	macvlan();
	interfaces[1].shared.below[0] = '\0';
}

static void ipvlan(void)
{
	interfaces[0].shared =
		(struct hp3_shared_device){.name = "veth0", .kind = "ipvlan", .below = "ens1"};
}

/* eth0 is VF 1 of eth1. */
static void vf_without_checks(void)
{
	strcpy(interfaces[1].bus, "0000:3b:00.3");
	point("/sys/bus/pci/devices/0000:3b:00.3/physfn", "../0000:3b:00.0");
	point("/sys/bus/pci/devices/0000:3b:00.0/virtfn0", "../0000:3b:00.2");
	point("/sys/bus/pci/devices/0000:3b:00.0/virtfn1", "../0000:3b:00.3");
	put("/sys/bus/pci/devices/0000:3b:00.0/net/eth1/mtu", "1500");
	put("/sys/bus/pci/devices/0000:3b:00.0/net/eth2/mtu", "1500");
	put("/sys/class/net/eth2/phys_port_name", "pf0vf1");
}

static void vf_with_checks(void)
{
	vf_without_checks();
	vf_of_eth1.spoof_check = vf_of_eth1.untrusted = true;
}

static void vf_without_trust(void)
{
	vf_without_checks();
	vf_of_eth1.untrusted = true;
}

static void vf_of_dpdk(void)
{
	vf_without_checks();
	vf_of_eth1.spoof_check = true;
	interfaces[1].bus[0] = '\0';
	strcpy(cfg.rails[0].net, "0000:3b:00.3");
	point("/sys/bus/pci/devices/0000:3b:00.3/driver", "../../../bus/pci/drivers/vfio-pci");
	put("/sys/bus/pci/devices/0000:3b:00.3/numa_node", "0");
}

static void own_address_without_fail_open(void)
{
	fits_xdp();
	own_address();
	cfg.bypass.fail_open = HP3_FAIL_OPEN_OFF;
	interfaces[0].flags |= IFF_NOARP;
}

/* An interface of a shared PCI device, and a representor of another function. */
static void own_address_of_pci(void)
{
	strcpy(cfg.rails[0].net, "0000:3b:00.1");
	put("/sys/bus/pci/devices/0000:3b:00.1/net/eth0/mtu", "1500");
	own_address();
}

static void own_address_of_representor(void)
{
	own_address_of_pci();
	put("/sys/class/net/eth0/phys_port_name", "pf0hpf");
}

static void accepted(void)
{
	own_address();
	cfg.rails[0].own_addresses = HP3_OWN_ADDRESSES_ACCEPT;
}

/* net_af_packet without fail-open gets copies of frames. */
static void copied(void)
{
	own_address();
	cfg.bypass.fail_open = HP3_FAIL_OPEN_OFF;
}

/* Several lcores share the rail: hp3d starts without fail-open. */
static void copied_to_lcores(void)
{
	own_address();
	cfg.eal.lcores = 2;
	cfg.eal.spread = HP3_SPREAD_SOFTWARE;
}

static const struct doctor_case rows[] = {
	{"own-addresses", own_address,
		"[rail.r0] net: the host itself uses eth0 (address 10.1.2.3, the default route): "
		"hp3d would take all its frames, and the host would get none until hp3d --detach",
		"own_addresses = accept in [rail.r0]"},
	{"own-addresses", own_address_of_vlan, "veth0 (address fd00::7 of veth0.100)",
		"ip addr flush dev veth0.100"},
	{"own-addresses", port_of_bridge, "eth0 (a port of bridge br0)",
		"ip link set eth0 nomaster"},
	{"own-addresses", vlan_in_bridge, "eth0 (eth0.100 is a port of bridge br0)",
		"ip link set eth0.100 nomaster"},
	{"own-addresses", both_ports_of_bridge,
		"[rail.r0] rnic: the host itself uses veth0 (veth0 and eth0 are ports of bridge "
		"br0)",
		"ip link set veth0 nomaster; ip link set eth0 nomaster, or"},
	{"own-addresses", both_ports_of_bridge_and_an_address,
		"[rail.r0] net: the host itself uses eth0 (address 10.1.2.3, the default route, a "
		"port of bridge br0)",
		"ip link set eth0 nomaster"},
	{"own-addresses", own_address_of_advertisement, "veth0 (address fd00::7 of veth0.100)",
		"ignore router advertisements (sysctl -w net/ipv6/conf/veth0.100/accept_ra=0)"},
	{"no-ethernet", tunnel, "[rail.r0] net: eth0 (kind ipip) carries no Ethernet frames",
		"use the Ethernet interface"},
	{"macvlan", macvlan,
		"[rail.r0] net: eth0 is a macvlan in mode bridge: the kernel gives it only frames "
		"for its own addresses",
		"use ens1, the device below, or: ip link del eth0; ip link add eth0 link ens1 type "
		"macvlan mode passthru"},
	{"macvlan", vlan_of_macvtap, "eth0 is above a macvtap in mode passthru nopromisc",
		"ip link del tap5; ip link add tap5 link ens1 type macvtap mode passthru"},
	{"macvlan", macvlan_of_container, "eth0 is a macvlan in mode bridge",
		"the device below eth0 is in another network namespace"},
	{"macvlan", ipvlan, "[rail.r0] rnic: veth0 is an ipvlan: the kernel",
		"use ens1, the device below"},
	{"vf-spoofchk", vf_with_checks,
		"[rail.r0] net: eth0 is VF 1 of eth1: its device drops frames that it sends with "
		"the RNIC's source address (spoofchk on), and may refuse",
		"ip link set eth1 vf 1 spoofchk off trust on"},
	{"vf-spoofchk", vf_without_trust, "eth0 is VF 1 of eth1: its device may refuse",
		"ip link set eth1 vf 1 trust on"},
	{"vf-spoofchk", vf_of_dpdk, "0000:3b:00.3 is VF 1 of eth1: its device drops",
		"ip link set eth1 vf 1 spoofchk off"},
	{"own-addresses", own_address_without_fail_open, "get none while hp3d runs",
		"own_addresses = accept"},
	{"own-addresses", own_address_of_pci, "get none while hp3d runs", "own_addresses = accept"},
};

const struct doctor_cases doctor_traffic_cases = {rows, sizeof(rows) / sizeof(rows[0])};

void traffic_that_the_host_keeps(void **state)
{
	static void (*const kept[])(void) = {
		accepted, copied, copied_to_lcores, own_address_of_representor, vf_without_checks};

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++) {
		all_is_well();
		kept[i]();
		examine();
		if (hp3_doctor_count(&d, HP3_WARNING) > 0)
			show("kept");
		assert_int_equal(hp3_doctor_count(&d, HP3_WARNING), 0);
		forget_host();
	}
}

/* A bridge of both ports is reported once, and so is each other reason. */
void one_master_is_reported_once(void **state)
{
	static const struct {
		void (*break_it)(void);
		unsigned findings;
	} both[] = {{both_ports_of_bridge, 1}, {both_ports_of_bridge_and_an_address, 2}};

	for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
		all_is_well();
		both[i].break_it();
		examine();
		assert_int_equal(hp3_doctor_count(&d, HP3_ERROR), both[i].findings);
		forget_host();
	}
}
