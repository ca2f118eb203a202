/* SPDX-License-Identifier: BSD-3-Clause */
/* The host that tests of app/doctor examine (doctor_kit.h). */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "doctor_kit.h"

char root[64], file[128];
struct hp3_interface interfaces[3];
struct hp3_own_traffic own[3];
struct hp3_vf vf_of_eth1;
struct hp3_drawn drawn;
int bpf_says;
bool synchronised, has_libraries;
uint32_t send_bytes;
uint64_t caps;

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

void put(const char *path, const char *text)
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

void point(const char *path, const char *target)
{
	char whole[256];

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	make_parents(whole);
	unlink(whole);
	assert_int_equal(symlink(target, whole), 0);
}

void take_away(const char *path)
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

struct hp3_config cfg;
struct hp3_config_errors errors;
static char config_text[2048];

/* A configuration that goes on with `more`. */
void configure(const char *rail, const char *more)
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

void all_is_well(void)
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

void forget_host(void)
{
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	hp3_config_errors_free(&errors);
}

bool unreadable;
struct hp3_doctor d;

void examine(void)
{
	d = (struct hp3_doctor){.host = &host,
		.file = file,
		.cfg = unreadable ? NULL : &cfg,
		.errors = &errors,
		.drawn = &drawn,
		.n_drawn = 1};
	hp3_doctor_run(&d, HP3_CHECK_DOCTOR);
}

void show(const char *id)
{
	for (unsigned i = 0; i < d.n; i++)
		print_message("%s: %s: %s; %s\n", id, d.found[i].check->id, d.found[i].what,
			d.found[i].fix);
}

void fits_xdp(void)
{
	interfaces[0].mtu = interfaces[1].mtu = 3438;
	strcpy(cfg.rails[0].rnic, "net_af_packet0,iface=veth0,framesz=3584,blocksz=57344");
	cfg.eal.mbuf_bytes = 3840;
	strcpy(cfg.rails[0].net, "net_af_xdp0,iface=eth0");
}
