/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that app/doctor finds: the configuration, and the resources and the kernel of the host. */
#include <errno.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "doctor_cases.h"

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

static void run_directory(void)
{
	put("/file", "");
	snprintf(cfg.control.socket, sizeof(cfg.control.socket), "%s/file/hp3.sock", root);
}

static void driver(void)
{
	strcpy(cfg.rails[0].rnic, "net_afpacket0,iface=veth0");
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

static void clock_adrift(void)
{
	synchronised = false;
}

static void tsc(void)
{
	put("/proc/cpuinfo", "processor : 0\nflags\t\t: fpu tsc constant_tsc_not avx2");
}

static const struct doctor_case rows[] = {
	{"config", config, "only digits are allowed", "hp3d --check-config /tmp/"},
	{"secret", secret, "its mode is 0644", "chmod 600 /tmp/"},
	{"no-key", no_key, "keys = off: what peers report", "remove keys = off"},
	{"spray-probes", spray_without_probes,
		"[rail.r0] [rfr] mode = auto sprays nothing with [ppp] probe = standard",
		"set [ppp] probe = auto"},
	{"audit", audit_directory, "/none/audit.log: there is no directory", "mkdir -p /tmp/"},
	{"run-directory", run_directory, "/file is no directory", "rm /tmp/"},
	{"driver", driver, "no driver net_afpacket", "net_af_packet0,iface=NAME"},
	{"pci", pci_gone, "no PCI device 0000:3b:00.0", "lspci"},
	{"pci", pci_bound, "the kernel's driver ice has",
		"dpdk-devbind.py -b vfio-pci 0000:3b:00.1"},
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
	{"clock", clock_adrift, "not synchronised", "timedatectl"},
	{"tsc", tsc, "no constant time-stamp counter", "invtsc"},
};

const struct doctor_cases doctor_host_cases = {rows, sizeof(rows) / sizeof(rows[0])};
