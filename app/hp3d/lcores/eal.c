/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/lcores/eal.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_errno.h>

#define ARGS_MAX  384 /* 32 PCI devices, 256 words of extra, and hp3d's own: never full */
#define CPUS_TEXT 1024

struct args {
	char *v[ARGS_MAX + 1];
	int n;
	bool no_memory;
};

static void add_arg(struct args *a, const char *text)
{
	char *copy = strdup(text);

	if (copy == NULL)
		a->no_memory = true;
	else if (a->n < ARGS_MAX)
		a->v[a->n++] = copy;
	else
		free(copy);
}

/* The CPUs that hp3d may run on, in EAL's format: "0,1,5". */
static void allowed_cpus(char *buf, size_t cap)
{
	cpu_set_t set;
	size_t n = 0;

	buf[0] = '\0';
	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		CPU_SET(0, &set);
	for (int i = 0; i < CPU_SETSIZE && n + 8 < cap; i++) {
		if (CPU_ISSET(i, &set))
			n += (size_t)snprintf(buf + n, cap - n, "%s%d", n ? "," : "", i);
	}
}

/* lcore 0 is the main one, workers follow; each may run on all CPUs named. */
static void add_lcores(struct args *a, const struct hp3_config *cfg, unsigned workers)
{
	char cpus[CPUS_TEXT], text[(CPUS_TEXT + 16) * 8];
	size_t n = 0;

	if (cfg->eal.cpus[0] != '\0')
		snprintf(cpus, sizeof(cpus), "%s", cfg->eal.cpus);
	else
		allowed_cpus(cpus, sizeof(cpus));
	n = (size_t)snprintf(text, sizeof(text), "0@(%s)", cpus);
	if (workers > 0)
		snprintf(text + n, sizeof(text) - n, ",(1-%u)@(%s)", workers, cpus);
	add_arg(a, "--lcores");
	add_arg(a, text);
}

static bool is_pci(const char *devargs)
{
	/* [dddd:]bb:dd.f */
	return strchr(devargs, ':') != NULL && strncmp(devargs, "net_", 4) != 0 &&
	       strspn(devargs, "0123456789abcdefABCDEF:.") >= 7;
}

/* Only the PCI devices that rails name: by default EAL takes every one that its drivers support. */
static void add_pci(struct args *a, const struct hp3_config *cfg)
{
	bool any = false;

	for (uint32_t i = 0; i < 2 * cfg->n_rails; i++) {
		const struct hp3_config_rail *r = &cfg->rails[i / 2];
		const char *devargs = i % 2 == 0 ? r->rnic : r->net;

		if (!is_pci(devargs))
			continue;
		add_arg(a, "-a");
		add_arg(a, devargs);
		any = true;
	}
	if (!any)
		add_arg(a, "--no-pci");
}

static void add_extra(struct args *a, const char *extra)
{
	char *copy = strdup(extra), *save = NULL;

	if (copy == NULL) {
		a->no_memory = true;
		return;
	}
	for (char *w = strtok_r(copy, " \t", &save); w != NULL; w = strtok_r(NULL, " \t", &save))
		add_arg(a, w);
	free(copy);
}

int hp3d_eal_init(const struct hp3_config *cfg, unsigned workers, bool quiet)
{
	static struct args a; /* EAL keeps the strings, and reorders the list */
	char text[64], *argv[ARGS_MAX + 1];
	int ret;

	add_arg(&a, "hp3d");
	if (cfg->eal.hugepages == HP3_OFF) {
		add_arg(&a, "--no-huge");
		add_arg(&a, "--no-shconf");
		add_arg(&a, "-m");
		snprintf(text, sizeof(text), "%u", cfg->eal.memory_mb);
		add_arg(&a, text);
	}
	add_arg(&a, "--file-prefix");
	add_arg(&a, cfg->eal.file_prefix);
	add_lcores(&a, cfg, workers);
	if (quiet) {
		add_arg(&a, "--no-pci");
		add_arg(&a, "--no-telemetry");
	} else {
		add_pci(&a, cfg);
	}
	add_arg(&a, quiet ? "--log-level=1" : "--log-level=4");
	if (!quiet)
		add_extra(&a, cfg->eal.extra);
	if (a.no_memory) {
		fprintf(stderr, "hp3d: no memory for DPDK's arguments\n");
		return -1;
	}
	memcpy(argv, a.v, sizeof(argv));
	ret = rte_eal_init(a.n, argv);
	if (ret < 0)
		fprintf(stderr,
			"hp3d: DPDK does not start: %s; see the lines above, check [eal] "
			"(memory_mb, cpus, "
			"file_prefix, extra) and that no other hp3d uses file_prefix = %s\n",
			rte_strerror(rte_errno), cfg->eal.file_prefix);
	return ret < 0 ? -1 : 0;
}

/* ns per cycle, 32 fractional bits; calculated at the first use, by any thread */
static uint64_t mult;

static uint64_t calibrate_clock(void)
{
	uint64_t m = (uint64_t)(((unsigned __int128)NS_PER_S << 32) / rte_get_tsc_hz());

	__atomic_store_n(&mult, m, __ATOMIC_RELAXED);
	return m;
}

uint64_t hp3d_now(void)
{
	uint64_t m = __atomic_load_n(&mult, __ATOMIC_RELAXED);

	if (unlikely(m == 0))
		m = calibrate_clock();
	return (uint64_t)(((unsigned __int128)rte_rdtsc() * m) >> 32);
}
