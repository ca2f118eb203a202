/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every check of app/doctor: on a good host, none finds anything worse than a note. With one fault
 * at a time, its own check reports it, and no other check does. The host is a folder of sysfs and
 * procfs files, so that absent hardware can be checked.
 */
#include <errno.h>
#include <ftw.h>
#include <linux/capability.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include "app/doctor/doctor.h"
#include "base/plain.h"

#define BIT(sym) (1u << HP3_OFFLOAD_##sym)

static char root[64], file[128];
static struct hp3_interface interfaces[3];
static struct hp3_own_traffic own[3];
static struct hp3_vf vf_of_eth1;
static struct hp3_drawn drawn;
static int bpf_says;
static bool synchronised, has_libraries;
static uint32_t send_bytes;
static uint64_t caps;

static bool interface(const char *name, struct hp3_interface *out)
{
	for (size_t i = 0; i < 3; i++) {
		if (strcmp(interfaces[i].name, name) == 0) {
			*out = interfaces[i];
			return true;
		}
	}
	return false;
}

static void own_traffic(const struct hp3_interface *itf, struct hp3_own_traffic *out)
{
	for (size_t i = 0; i < 3; i++) {
		if (strcmp(interfaces[i].name, itf->name) == 0)
			*out = own[i];
	}
}

/* eth1 is a physical function. */
static bool vf(const char *pf, unsigned number, struct hp3_vf *out)
{
	if (strcmp(pf, "eth1") != 0 || number != 1)
		return false;
	*out = vf_of_eth1;
	return true;
}

static int tc_bpf(void)
{
	return bpf_says;
}

static bool has_symbol(const char *library, const char *symbol)
{
	return has_libraries;
}

static bool clock_synchronised(void)
{
	return synchronised;
}

static uint32_t send_buffer(void)
{
	return send_bytes;
}

static bool may_use(int cap)
{
	return caps >> cap & 1;
}

static const struct hp3_host host = {.root = root,
	.interface = interface,
	.own_traffic = own_traffic,
	.vf = vf,
	.tc_bpf = tc_bpf,
	.has_symbol = has_symbol,
	.clock_synchronised = clock_synchronised,
	.send_buffer = send_buffer,
	.may_use = may_use};

static void make_parents(char *path)
{
	for (char *p = path + 1; (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		assert_true(mkdir(path, 0755) == 0 || errno == EEXIST);
		*p = '/';
	}
}

static void put(const char *path, const char *text)
{
	char whole[256];
	FILE *f;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	make_parents(whole);
	f = fopen(whole, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", text);
	fclose(f);
}

static void point(const char *path, const char *target)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	make_parents(whole);
	unlink(whole);
	assert_int_equal(symlink(target, whole), 0);
}

static void take_away(const char *path)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	assert_int_equal(remove(whole), 0);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *w)
{
	return remove(path);
}

/* A ConnectX with one port, on a host with Debian's kernel. */
static void make_host(void)
{
	put("/proc/version",
		"Linux version 6.1.0-40-amd64 (debian-kernel@lists.debian.org) (gcc-12) #1 "
		"SMP PREEMPT_DYNAMIC Debian 6.1.153-1 (2025-09-20)");
	put("/proc/sys/kernel/osrelease", "6.1.0-40-amd64");
	put("/boot/config-6.1.0-40-amd64",
		"CONFIG_XDP_SOCKETS=y\nCONFIG_NET_SCH_INGRESS=m\nCONFIG_NET_CLS_BPF=m\n"
		"CONFIG_NET_CLS_ACT=y");
	put("/proc/sys/net/core/wmem_default", "16777216");
	put("/proc/meminfo", "MemTotal: 16000000 kB\nMemAvailable: 8000000 kB");
	put("/proc/self/cgroup", "1:name=systemd:/\n0::/system.slice/hp3.service");
	put("/sys/fs/cgroup/system.slice/hp3.service/memory.max", "max");
	put("/proc/cpuinfo", "processor : 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc avx2");
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc");
	put("/sys/devices/system/node/node0/cpulist", "0-4095");
	put("/sys/devices/system/node/node1/cpulist", "4096-8191");
	put("/sys/kernel/security/lockdown", "[none] integrity confidentiality");
	put("/sys/bus/pci/devices/0000:3b:00.1/numa_node", "0");
	point("/sys/bus/pci/devices/0000:3b:00.1/driver", "../../../bus/pci/drivers/mlx5_core");
	put("/sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002");
	point("/sys/class/infiniband/mlx5_0/device/driver", "../../../drivers/mlx5_core");
	put("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
	put("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet");
	put("/sys/class/infiniband/mlx5_0/ports/1/gids/0",
		"fe80:0000:0000:0000:0000:0000:0000:0001");
	put("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/0", "IB/RoCE v1");
	put("/sys/class/infiniband/mlx5_0/ports/1/gids/1",
		"0000:0000:0000:0000:0000:ffff:0a09:0001");
	put("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/1", "RoCE v2");
	put("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/1", "eth0");
	put("/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos", "106");
	put("/sys/class/net/eth0/ecn/roce_np/enable/3", "1");
	put("/sys/class/net/eth0/ecn/roce_rp/enable/3", "1");
	put("/sys/class/net/eth0/ecn/roce_np/cnp_dscp", "48");
}

#define RAIL                                                                                       \
	"[rail.r0]\nrnic = \"net_af_packet0,iface=veth0,framesz=4352,blocksz=69632\"\n"            \
	"net = \"net_af_packet1,iface=eth0,framesz=4352,blocksz=69632\"\nrdma = mlx5_0\n"

static struct hp3_config cfg;
static struct hp3_config_errors errors;
static char config_text[2048];

/* A configuration that goes on with `more`. */
static void configure(const char *rail, const char *more)
{
	static const char key[] = "[probes]\nprobe_key = 00112233445566778899aabbccddeeff\n";

	snprintf(config_text, sizeof(config_text),
		"[control]\nsocket = %s/hp3.sock\n[log]\naudit = %s/audit.log\n%s%s%s", root, root,
		rail, more, strstr(more, "[probes]") == NULL ? key : "");
	hp3_config_errors_free(&errors);
	hp3_config_parse(file, config_text, strlen(config_text), 0, &cfg, &errors);
	hp3_config_errors_print(&errors, stderr);
	assert_int_equal(errors.count, 0);
}

static void all_is_well(void)
{
	const struct hp3_interface good = {.flags = IFF_UP | IFF_NOARP,
		.mtu = 4200,
		.carrier = true,
		.rx_ring = 1024,
		.rx_ring_max = 1024};
	FILE *f;

	for (size_t i = 0; i < 3; i++) {
		interfaces[i] = good;
		snprintf(interfaces[i].name, IFNAMSIZ, "%s",
			(const char *[]){"veth0", "eth0", "eth1"}[i]);
	}
	interfaces[0].peer = (struct hp3_interface_peer){
		.found = true, .name = "roce0", .inside = "ip netns exec h1 "};
	memset(own, 0, sizeof(own));
	vf_of_eth1 = (struct hp3_vf){.pf = "eth1", .number = 1, .found = true};
	drawn = (struct hp3_drawn){
		.pair = "r0/10.9.0.1-10.9.0.2", .ports = 64, .paths = 4, .most = 18};
	bpf_says = 0;
	synchronised = has_libraries = true;
	send_bytes = 16777216;
	caps = ~0ull;
	snprintf(root, sizeof(root), "/tmp/hp3-doctor-%d", getpid());
	snprintf(file, sizeof(file), "%s/hp3.ini", root);
	make_host();
	configure(RAIL, "");
	f = fopen(file, "w");
	assert_non_null(f);
	fputs(config_text, f);
	fclose(f);
	assert_int_equal(chmod(file, 0600), 0);
}

static void forget_host(void)
{
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	hp3_config_errors_free(&errors);
}

static bool unreadable; /* the configuration */

/* What is broken. */
static void config(void)
{
	static const char bad[] = "[eal]\nmbufs = many\n";

	hp3_config_parse(file, bad, strlen(bad), HP3_CONFIG_NO_RAILS, &cfg, &errors);
	unreadable = true;
}

static void secret(void)
{
	chmod(file, 0644);
}

static void no_key(void)
{
	configure(RAIL, "[probes]\nkeys = off\n");
}

static void spray_without_probes(void)
{
	configure(RAIL, "[ppp]\nprobe = standard\n");
}

static void audit_directory(void)
{
	snprintf(cfg.log.audit, sizeof(cfg.log.audit), "%s/none/audit.log", root);
}

static void no_plain_interface(void)
{
	strcpy(cfg.rails[0].rnic, "veth7");
}

static void no_interface_of_vlan(void)
{
	strcpy(cfg.rails[0].rnic, "ens-9.100");
}

static void run_directory(void)
{
	put("/file", "");
	snprintf(cfg.control.socket, sizeof(cfg.control.socket), "%s/file/hp3.sock", root);
}

static void driver(void)
{
	strcpy(cfg.rails[0].rnic, "net_afpacket0,iface=veth0");
}

static void no_interface(void)
{
	strcpy(interfaces[1].name, "ens1");
}

static void pci_gone(void)
{
	strcpy(cfg.rails[0].net, "3b:00.0");
}

static void pci_bound(void)
{
	strcpy(cfg.rails[0].net, "0000:3b:00.1");
	point("/sys/bus/pci/devices/0000:3b:00.1/driver", "../../../bus/pci/drivers/ice");
}

static void mtu(void)
{
	interfaces[1].mtu = 4455;
	strcpy(cfg.rails[0].rnic, "net_null0");
	strcpy(cfg.rails[0].net, "net_pcap0,iface=eth0");
}

static void fits_xdp(void)
{
	interfaces[0].mtu = interfaces[1].mtu = 3438;
	strcpy(cfg.rails[0].rnic, "net_af_packet0,iface=veth0,framesz=3584,blocksz=57344");
	cfg.eal.mbuf_bytes = 3840;
	strcpy(cfg.rails[0].net, "net_af_xdp0,iface=eth0");
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

static void wmem(void)
{
	send_bytes = 212992;
}

static void wmem_elsewhere(void)
{
	send_bytes = 212992;
	take_away("/proc/sys/net/core/wmem_default");
}

static void privileges(void)
{
	caps &= ~(1ull << CAP_NET_RAW);
}

static void memory(void)
{
	put("/proc/meminfo", "MemAvailable: 100000 kB");
}

static void memory_of_group(void)
{
	put("/sys/fs/cgroup/system.slice/hp3.service/memory.max", "209715200");
	put("/sys/fs/cgroup/system.slice/hp3.service/memory.current", "104857600");
}

static void hugepages(void)
{
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "10");
	cfg.eal.hugepages = HP3_ON;
}

static void no_hugepages(void)
{
	cfg.eal.hugepages = HP3_ON;
}

static void hugepages_not_mounted(void)
{
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "1000");
	put("/proc/mounts", "sysfs /sys sysfs rw 0 0");
	cfg.eal.hugepages = HP3_ON;
}

static void cpus(void)
{
	cfg.eal.lcores = 2; /* and one CPU */
	cfg.eal.idle = HP3_IDLE_POLL;
}

static void numa(void)
{
	put("/sys/class/net/eth0/device/numa_node", "1");
}

static void no_bpf(void)
{
	bpf_says = -EOPNOTSUPP;
}

static void bpf_forbidden(void)
{
	bpf_says = -EPERM;
}

static void clsact(void)
{
	put("/boot/config-6.1.0-40-amd64",
		"CONFIG_XDP_SOCKETS=y\nCONFIG_NET_SCH_INGRESS=m\nCONFIG_NET_CLS_ACT=y");
}

static void af_xdp(void)
{
	put("/boot/config-6.1.0-40-amd64",
		"CONFIG_NET_SCH_INGRESS=m\nCONFIG_NET_CLS_BPF=m\nCONFIG_NET_CLS_ACT=y\n"
		"# CONFIG_XDP_SOCKETS is not set");
	fits_xdp();
}

static void lockdown(void)
{
	put("/sys/kernel/security/lockdown", "none integrity [confidentiality]");
}

static void rdma_name(void)
{
	strcpy(cfg.rails[0].rdma, "mlx5_7");
}

static void nothing(void)
{
}

static void old_library(void)
{
	has_libraries = false;
}

static void other_rnic(void)
{
	point("/sys/class/infiniband/mlx5_0/device/driver", "../../../drivers/ice");
}

static void broadcom(void)
{
	point("/sys/class/infiniband/mlx5_0/device/driver", "../../../drivers/bnxt_en");
}

static void rdma_port(void)
{
	put("/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN");
}

static void rdma_gid(void)
{
	put("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/1", "IB/RoCE v1");
}

static void infiniband(void)
{
	rdma_gid();
	put("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand");
}

static void rdma_bond(void)
{
	put("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/1", "bond0");
	put("/sys/class/net/bond0/bonding/slaves", "eth0 eth1");
}

/* A rail on each port, but they do not share their flows. */
static void rails_apart(void)
{
	configure(RAIL, "[rail.r1]\nrnic = net_null0\n"
			"net = \"net_af_packet2,iface=eth1,framesz=4352,blocksz=69632\"\n");
	rdma_bond();
}

static void soft_roce(void)
{
	put("/sys/class/infiniband/mlx5_0/parent", "veth0");
	take_away("/sys/class/infiniband/mlx5_0/device/driver");
}

static void soft_roce_native(void)
{
	soft_roce();
	cfg.engine.cc.mode = HP3_CC_NATIVE;
}

static void soft_roce_verbs_mode(void)
{
	soft_roce();
	cfg.engine.cc.mode = HP3_CC_OFF;
}

static void ecn(void)
{
	put("/sys/class/net/eth0/ecn/roce_np/enable/3", "0");
}

static void ecn_ignored(void)
{
	put("/sys/class/net/eth0/ecn/roce_rp/enable/3", "0");
}

static void cnps_of_another_class(void)
{
	put("/sys/class/net/eth0/ecn/roce_np/cnp_dscp", "46");
}

static void cnps_of_another_class_in_debugfs(void)
{
	take_away("/sys/class/net/eth0/ecn/roce_np/cnp_dscp");
	take_away("/sys/class/infiniband/mlx5_0/device/driver");
	take_away("/sys/class/infiniband/mlx5_0/device");
	point("/sys/class/infiniband/mlx5_0/device", "../../../devices/pci0000:3a/0000:3b:00.1");
	put("/sys/kernel/debug/mlx5/0000:3b:00.1/cc_params/np_cnp_dscp", "0");
}

static void traffic_class(void)
{
	take_away("/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos");
}

static void traffic_class_of_driver(void)
{
	put("/sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=104");
}

static void polarised(void)
{
	drawn.paths = 1;
	drawn.most = 64;
}

static void polarised_partly(void)
{
	drawn.most = 40;
}

static void qpn_hashed(void)
{
	drawn.by_qpn = true;
}

static void opcode_hashed(void)
{
	drawn.by_opcode = true;
}

static void clock_adrift(void)
{
	synchronised = false;
}

static void tsc(void)
{
	put("/proc/cpuinfo", "processor : 0\nflags\t\t: fpu tsc constant_tsc_not avx2");
}

static const struct {
	const char *id;
	void (*break_it)(void);
	const char *what, *fix; /* parts of the finding */
} cases[] = {
	{"config", config, "only digits are allowed", "hp3d --check-config /tmp/"},
	{"secret", secret, "its mode is 0644", "chmod 600 /tmp/"},
	{"no-key", no_key, "keys = off: what peers report", "remove keys = off"},
	{"spray-probes", spray_without_probes,
		"[rail.r0] [rfr] mode = auto sprays nothing with [ppp] probe = standard",
		"set [ppp] probe = auto"},
	{"audit", audit_directory, "/none/audit.log: there is no directory", "mkdir -p /tmp/"},
	{"interface", no_plain_interface, "rnic = veth7: there is no interface veth7",
		"ip link show"},
	{"interface", no_interface_of_vlan, "there is no interface ens-9.100", "ip link show"},
	{"run-directory", run_directory, "/file is no directory", "rm /tmp/"},
	{"driver", driver, "no driver net_afpacket", "net_af_packet0,iface=NAME"},
	{"interface", no_interface, "no interface eth0",
		"set the name of an interface; to list them: ip link show"},
	{"pci", pci_gone, "no PCI device 0000:3b:00.0", "lspci"},
	{"pci", pci_bound, "the kernel's driver ice has",
		"dpdk-devbind.py -b vfio-pci 0000:3b:00.1"},
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
	{"wmem", wmem, "wmem_default = 212992",
		"sysctl -w net.core.wmem_default=16777216 | tee /etc/sysctl.d/60-hp3.conf"},
	{"wmem", wmem_elsewhere, "wmem_default = 212992", "nsenter -t 1 -n sysctl -w"},
	{"privileges", privileges, "has no CAP_NET_RAW", "sudo hp3d --config /tmp/"},
	{"memory", memory, "memory_mb = 256, and only 97 MiB", "lower memory_mb"},
	{"memory", memory_of_group, "only 100 MiB", "memory.max"},
	{"hugepages", hugepages, "take 76 MiB, free are 20 MiB", "sysctl -w vm.nr_hugepages="},
	{"hugepages", no_hugepages, "this kernel has none", "hugepages = off"},
	{"hugepages", hugepages_not_mounted, "no hugetlbfs is mounted", "mount -t hugetlbfs"},
	{"cpus", cpus, "lcores = 2 poll, and may run on 1 CPUs", "idle = sleep"},
	{"numa", numa, "NUMA node 1", "set [eal] cpus = \"4096-8191\""},
	{"bpf", no_bpf, "not supported", "CONFIG_BPF_SYSCALL"},
	{"bpf", bpf_forbidden, "not permitted", "CAP_BPF"},
	{"clsact", clsact, "CONFIG_NET_CLS_BPF", "apt-get install linux-image-amd64"},
	{"af-xdp", af_xdp, "CONFIG_XDP_SOCKETS", "use net_af_packet"},
	{"lockdown", lockdown, "[confidentiality]", "verbs = off"},
	{"rdma-name", rdma_name, "rdma = mlx5_7", "rdma link show"},
	{"rdma-device", nothing,
		"mlx5_0: driver mlx5_core, firmware 28.39.1002, port 1 ACTIVE, Ethernet, 1 RoCE v2 "
		"addresses (10.9.0.1, eth0), CNPs with DSCP 48; live move: "
		"mlx5dv_modify_qp_udp_sport; verbs-mode probes timed by: its stamps",
		""},
	{"rdma-device", old_library, "which this libmlx5 lacks", ""},
	{"rdma-device", other_rnic, "live move: none known", ""},
	{"rdma-device", other_rnic, "timed by: nobody", ""},
	{"rdma-device", broadcom, "live move: bnxt_re_dv_modify_qp_udp_sport", ""},
	{"rdma-port", rdma_port, "mlx5_0 port 1: DOWN", "ip link set eth0 up"},
	{"rdma-gid", rdma_gid, "no RoCE v2 address", "ip addr add"},
	{"rdma-gid", infiniband, "is InfiniBand", "LINK_TYPE_P1=2"},
	{"rdma-bond", rdma_bond, "no rail is on its port eth1", "ROCE_ACCL"},
	{"rdma-bond", rails_apart,
		"[rail.r0] and [rail.r1] are on its ports, but no [bond.NAME] lists both",
		"add [bond.NAME] with rails = r0, r1"},
	{"rxe-cnp", soft_roce_native, "Soft-RoCE of Linux 6.1.153", "set [cc] mode = off"},
	{"rxe-kernel", soft_roce_verbs_mode, "Soft-RoCE of Linux 6.1.153", "6.1.175"},
	{"rdma-device", soft_roce_verbs_mode, "live move: SQD", ""},
	{"rdma-device", soft_roce_verbs_mode, "timed by: hp3d's clock", ""},
	{"ecn", ecn, "answers no marks with CNPs",
		"echo 1 > /sys/class/net/eth0/ecn/roce_np/enable/3"},
	{"ecn", ecn_ignored, "ignores CNPs", "roce_rp/enable/3"},
	{"cnp-class", cnps_of_another_class,
		"mlx5_0 port 1 sends CNPs with DSCP 46, and [ppp] "
		"answer_dscp is 48",
		"set [ppp] answer_dscp = 46, or: echo 48 > "
		"/sys/class/net/eth0/ecn/roce_np/cnp_dscp"},
	{"cnp-class", cnps_of_another_class_in_debugfs, "with DSCP 0,",
		"echo 48 > /sys/kernel/debug/mlx5/0000:3b:00.1/cc_params/np_cnp_dscp"},
	{"traffic-class", traffic_class, "ToS 0 (DSCP 0)", "cma_roce_tos -d mlx5_0 -p 1 -t 106"},
	{"traffic-class", traffic_class_of_driver, "ToS 104 (DSCP 26)", "cma_roce_tos"},
	{"polarised", polarised, "all 64 source ports", "seed of its own"},
	{"polarised", polarised_partly,
		"40 of 64 source ports whose path is known lead to one of 4", "hash seed"},
	{"qpn-hashed", qpn_hashed, "r0/10.9.0.1-10.9.0.2", "hash addresses and UDP ports only"},
	{"opcode-hashed", opcode_hashed, "r0/10.9.0.1-10.9.0.2",
		"hash addresses and UDP ports only"},
	{"clock", clock_adrift, "not synchronised", "timedatectl"},
	{"tsc", tsc, "no constant time-stamp counter", "invtsc"},
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static struct hp3_doctor d;

static void examine(void)
{
	d = (struct hp3_doctor){.host = &host,
		.file = file,
		.cfg = unreadable ? NULL : &cfg,
		.errors = &errors,
		.drawn = &drawn,
		.n_drawn = 1};
	hp3_doctor_run(&d, HP3_CHECK_DOCTOR);
}

static void show(const char *id)
{
	for (unsigned i = 0; i < d.n; i++)
		print_message("%s: %s: %s; %s\n", id, d.found[i].check->id, d.found[i].what,
			d.found[i].fix);
}

static void a_host_where_all_is_well(void **state)
{
	all_is_well();
	examine();
	if (hp3_doctor_count(&d, HP3_WARNING) > 0 || d.n != 1)
		show("well");
	assert_int_equal(hp3_doctor_count(&d, HP3_WARNING), 0);
	assert_int_equal(d.n, 1); /* the RDMA device */
	forget_host();
}

static void each_tells_of_its_own(void **state)
{
	for (size_t i = 0; i < N_CASES; i++) {
		bool found = false, alone = true;

		all_is_well();
		cases[i].break_it();
		examine();
		for (unsigned k = 0; k < d.n; k++) {
			const struct hp3_finding *f = &d.found[k];
			bool its = strcmp(f->check->id, cases[i].id) == 0;

			found |= its && strstr(f->what, cases[i].what) != NULL &&
				 strstr(f->fix, cases[i].fix) != NULL &&
				 (f->fix[0] != '\0' || f->check->severity == HP3_INFO);
			alone &= its || f->check->severity == HP3_INFO ||
				 strcmp(cases[i].id, "rdma-device") == 0;
		}
		if (!found || !alone) {
			show(cases[i].id);
			fail_msg("case %zu, %s: %s", i, cases[i].id,
				found ? "others found something, too" : "not found");
		}
		unreadable = false;
		forget_host();
	}
}

static void every_check_has_a_case(void **state)
{
	for (unsigned i = 0; i < hp3_n_checks; i++) {
		size_t k = 0;

		while (k < N_CASES && strcmp(cases[k].id, hp3_checks[i].id) != 0)
			k++;
		if (k == N_CASES)
			fail_msg("%s: no case breaks it", hp3_checks[i].id);
	}
}

static void traffic_that_the_host_keeps(void **state)
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
static void one_master_is_reported_once(void **state)
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

/* Rule 5: the branches that were mended, and those that never were. */
static void kernels_with_the_bug(void **state)
{
	static const struct {
		const char *version;
		bool bad;
	} kernels[] = {
		{"Linux version 5.15.0-100-generic", true},
		{"Linux version 6.1.0-41-amd64 (a@b) #1 SMP Debian 6.1.174-1 (2026)", true},
		{"Linux version 6.1.0-42-amd64 (a@b) #1 SMP Debian 6.1.175-1 (2026)", false},
		{"Linux version 6.2.16", true},
		{"Linux version 6.6.139", true},
		{"Linux version 6.6.140", false},
		{"Linux version 6.11.0", true},
		{"Linux version 6.12.87", true},
		{"Linux version 6.12.88", false},
		{"Linux version 7.2.1", false},
	};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		bool found = false;

		all_is_well();
		soft_roce_verbs_mode();
		put("/proc/version", kernels[i].version);
		examine();
		for (unsigned k = 0; k < d.n; k++)
			found |= strcmp(d.found[k].check->id, "rxe-kernel") == 0;
		if (found != kernels[i].bad)
			fail_msg("%s", kernels[i].version);
		forget_host();
	}
}

static void answers_in_the_class_of_data_need_no_equal(void **state)
{
	all_is_well();
	cnps_of_another_class();
	configure(RAIL, "[ppp]\nanswer_dscp = data\n");
	examine();
	assert_int_equal(hp3_doctor_count(&d, HP3_WARNING), 0);
	configure(RAIL, "[ppp]\nanswer_dscp = 46\n");
	examine();
	assert_int_equal(hp3_doctor_count(&d, HP3_WARNING), 0);
	forget_host();
}

static void few_ports_say_nothing_of_a_hash(void **state)
{
	all_is_well();
	polarised();
	drawn.ports = drawn.most = 15;
	examine();
	assert_int_equal(hp3_doctor_count(&d, HP3_WARNING), 0);
	forget_host();
}

/* Containers name interfaces; somebody types a fix as root. */
static void a_name_is_quoted_for_the_shell(void **state)
{
	char buf[HP3_SHELL_QUOTE_MAX], many[2 * HP3_SHELL_QUOTE_MAX] = {0};

	assert_string_equal(hp3_shell_quote(buf, "eth0.100@x"), "eth0.100@x");
	assert_string_equal(hp3_shell_quote(buf, ";id>\x1b[8mX;"), "';id>?[8mX;'");
	assert_string_equal(hp3_shell_quote(buf, "a'$(id)"), "'a'\\''$(id)'");
	assert_string_equal(hp3_shell_quote(buf, ""), "''");
	memset(many, '\'', sizeof(many) - 1);
	hp3_shell_quote(buf, many);
	assert_true(strlen(buf) < HP3_SHELL_QUOTE_MAX && strlen(buf) > HP3_SHELL_QUOTE_MAX - 8);
	assert_int_equal(buf[strlen(buf) - 1], '\'');
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_where_all_is_well),
		cmocka_unit_test(each_tells_of_its_own),
		cmocka_unit_test(every_check_has_a_case),
		cmocka_unit_test(traffic_that_the_host_keeps),
		cmocka_unit_test(one_master_is_reported_once),
		cmocka_unit_test(kernels_with_the_bug),
		cmocka_unit_test(answers_in_the_class_of_data_need_no_equal),
		cmocka_unit_test(few_ports_say_nothing_of_a_hash),
		cmocka_unit_test(a_name_is_quoted_for_the_shell),
	};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
