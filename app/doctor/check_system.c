/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of capabilities, memory, CPUs and clocks. */
#include <linux/capability.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app/doctor/internal.h"
#include "config/devargs.h"

#define MB 1048576ull

/* Reports a missing capability that a port needs. */
void hp3_check_privileges(struct hp3_doctor *d, const struct hp3_port *p)
{
	static const struct {
		int cap;
		const char *name;
	} wanted[] = {{CAP_NET_RAW, "CAP_NET_RAW"}, {CAP_NET_ADMIN, "CAP_NET_ADMIN"}};

	if (!p->named || (d->n > 0 && d->found[d->n - 1].check == d->check))
		return;
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		if (d->host->may_use(wanted[i].cap))
			continue;
		hp3_find(d, " = \"%s\": user %d has no %s, and cannot open it", p->devargs,
			(int)getuid(), wanted[i].name);
		hp3_fix(d, "run it as root: sudo hp3d --config %s",
			d->file != NULL ? d->file : "FILE");
		return;
	}
}

/* Bytes that this process may still allocate: free memory, within its control group. */
static uint64_t available_memory(const struct hp3_host *h)
{
	char text[256], group[256] = "";
	uint64_t bytes = UINT64_MAX;

	if (hp3_host_field(h, "/proc/meminfo", "MemAvailable", text, sizeof(text)))
		bytes = strtoull(text, NULL, 10) * 1024;
	if (hp3_host_field(h, "/proc/self/cgroup", "0:", group, sizeof(group)) && *group == '/') {
		long long max = hp3_host_number(h, -1, "/sys/fs/cgroup%s/memory.max", group);
		long long used = hp3_host_number(h, 0, "/sys/fs/cgroup%s/memory.current", group);

		if (max >= 0 && (uint64_t)(max > used ? max - used : 0) < bytes)
			bytes = (uint64_t)(max > used ? max - used : 0);
	}
	return bytes;
}

void hp3_check_memory(struct hp3_doctor *d)
{
	uint64_t have;

	if (d->cfg == NULL || d->cfg->eal.hugepages == HP3_ON)
		return;
	have = available_memory(d->host) / MB;
	if (have >= d->cfg->eal.memory_mb)
		return;
	hp3_find(d, "[eal] memory_mb = %u, and only %llu MiB are free", d->cfg->eal.memory_mb,
		(unsigned long long)have);
	hp3_fix(d, "lower memory_mb, and mbufs with it, or free memory (free -m, memory.max of the "
		   "control group)");
}

struct huge {
	const struct hp3_host *host;
	uint64_t free, largest; /* bytes */
};

static void add_hugepages(void *arg, const char *name)
{
	struct huge *h = arg;
	unsigned long kb;
	long long n;

	if (sscanf(name, "hugepages-%lukB", &kb) != 1)
		return;
	n = hp3_host_number(h->host, 0, "/sys/kernel/mm/hugepages/%s/free_hugepages", name);
	h->free += (uint64_t)n * kb * 1024;
	if (h->largest == 0 || kb * 1024 < h->largest)
		h->largest = kb * 1024;
}

static bool is_hugetlbfs_mounted(const struct hp3_host *h)
{
	char mount[512];

	/* Lines begin with the device, whose name is arbitrary. */
	return hp3_host_exists(h, "/dev/hugepages") ||
	       hp3_host_field(h, "/proc/mounts", "hugetlbfs", mount, sizeof(mount)) ||
	       hp3_host_field(h, "/proc/mounts", "none /mnt/huge hugetlbfs", mount, sizeof(mount));
}

void hp3_check_hugepages(struct hp3_doctor *d)
{
	struct huge h = {.host = d->host};
	uint64_t need;

	if (d->cfg == NULL || d->cfg->eal.hugepages == HP3_OFF)
		return;
	hp3_host_each(d->host, "/sys/kernel/mm/hugepages", add_hugepages, &h);
	need = (uint64_t)d->cfg->n_rails * d->cfg->eal.mbufs * (d->cfg->eal.mbuf_bytes + 256ull);
	if (h.largest == 0) {
		hp3_find(d, "[eal] hugepages = on, and this kernel has none");
		hp3_fix(d, "set hugepages = off");
	} else if (h.free < need) {
		hp3_find(d,
			"[eal] hugepages = on: the packet buffers take %llu MiB, free are %llu MiB",
			(unsigned long long)(need / MB), (unsigned long long)(h.free / MB));
		hp3_fix(d, "sysctl -w vm.nr_hugepages=%llu, or set hugepages = off",
			(unsigned long long)(2 * need / h.largest + 1));
	} else if (!is_hugetlbfs_mounted(d->host)) {
		hp3_find(d, "[eal] hugepages = on, and no hugetlbfs is mounted");
		hp3_fix(d,
			"mkdir -p /dev/hugepages && mount -t hugetlbfs hugetlbfs /dev/hugepages");
	}
}

void hp3_check_cpus(struct hp3_doctor *d)
{
	cpu_set_t set;
	int n;

	if (d->cfg == NULL || d->cfg->eal.idle != HP3_IDLE_POLL || d->cfg->eal.cpus[0] != '\0' ||
		sched_getaffinity(0, sizeof(set), &set) < 0)
		return;
	n = CPU_COUNT(&set);
	if ((unsigned)n >= d->cfg->eal.lcores)
		return;
	hp3_find(d, "[eal] lcores = %u poll, and may run on %d CPUs", d->cfg->eal.lcores, n);
	hp3_fix(d, "set lcores = %d, or idle = sleep", n);
}

/* Whether one of the CPUs that hp3d may use is on this node. */
static bool node_has_ours(struct hp3_doctor *d, long long node)
{
	char list[1024], *at = list, *end;
	cpu_set_t set;

	if (!hp3_host_line(d->host, list, sizeof(list), "/sys/devices/system/node/node%lld/cpulist",
		    node) ||
		sched_getaffinity(0, sizeof(set), &set) < 0)
		return true;
	while (*at != '\0') {
		long from = strtol(at, &end, 10), to = from;

		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		for (long cpu = from; cpu <= to && cpu < CPU_SETSIZE; cpu++) {
			if (CPU_ISSET(cpu, &set))
				return true;
		}
		if (*end != ',')
			return false;
		at = end + 1;
	}
	return false;
}

void hp3_check_numa(struct hp3_doctor *d, const struct hp3_port *p)
{
	char address[16], list[1024];
	long long node = -1;

	if (hp3_devargs_pci(p->devargs, address))
		node = hp3_host_number(d->host, -1, "/sys/bus/pci/devices/%s/numa_node", address);
	else if (p->there)
		node = hp3_host_number(
			d->host, -1, "/sys/class/net/%s/device/numa_node", p->itf.name);
	if (node < 0 || node_has_ours(d, node))
		return;
	hp3_host_line(
		d->host, list, sizeof(list), "/sys/devices/system/node/node%lld/cpulist", node);
	hp3_find(d,
		": the device is on NUMA node %lld, and hp3d may use none of its "
		"CPUs",
		node);
	hp3_fix(d, "set [eal] cpus = \"%s\", or allow hp3d these CPUs", list);
}

void hp3_check_clock(struct hp3_doctor *d)
{
	if (d->cfg == NULL || d->cfg->probes.keys == HP3_KEYS_OFF || d->host->clock_synchronised())
		return;
	hp3_find(d,
		"the clock is not synchronised; peers whose clocks differ by more than [probes] "
		"clock_s = %u s are ignored",
		d->cfg->probes.clock_s);
	hp3_fix(d, "timedatectl set-ntp true, or: apt-get install chrony");
}

/* Finds a word between blanks. */
static bool has_flag(const char *flags, const char *word)
{
	const char *at = strstr(flags, word);
	size_t n = strlen(word);

	return at != NULL && (at[n] == ' ' || at[n] == '\0');
}

void hp3_check_tsc(struct hp3_doctor *d)
{
	char flags[4096], source[32] = "";

	if (!hp3_host_field(d->host, "/proc/cpuinfo", "flags", flags, sizeof(flags)))
		return; /* not x86: its counter is constant by architecture */
	hp3_host_line(d->host, source, sizeof(source),
		"/sys/devices/system/clocksource/clocksource0/current_clocksource");
	if (has_flag(flags, "constant_tsc") && has_flag(flags, "nonstop_tsc") &&
		strcmp(source, "hpet") != 0)
		return;
	hp3_find(d,
		"the CPU has no constant time-stamp counter, or the kernel does not trust it "
		"(clocksource %s)",
		source);
	hp3_fix(d, "in a virtual machine pass it through (qemu: -cpu host,+invtsc); on a host look "
		   "for: dmesg | grep -i tsc");
}
