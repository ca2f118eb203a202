/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <rte_telemetry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/hp3d/control/counters.h"
#include "app/hp3d/lcores/worker.h"
#include "config/bonds.h"

static const struct hp3_config *config;

/* A dictionary of DPDK has at most 256 entries, fewer than there are counters: counters that are 0
 * are left out, except drops. */
static int add_counters(struct rte_tel_data *d, unsigned rail, unsigned worker, bool drops_only)
{
	rte_tel_data_start_dict(d);
	for (unsigned i = 0; i < hp3d_counter_count(); i++) {
		struct hp3d_counter c = hp3d_counter(i);
		uint64_t sum = hp3d_counter_sum(i, config->n_rails, rail, worker);
		char name[RTE_TEL_MAX_STRING_LEN];

		if (drops_only ? !c.drop : sum == 0)
			continue;
		snprintf(name, sizeof(name), "%s", c.name);
		for (char *p = name; (p = strchr(p, '-'));) /* names must not have it */
			*p = '_';
		rte_tel_data_add_dict_u64(d, name, sum);
	}
	return 0;
}

static int answer_stats(const char *cmd, const char *params, struct rte_tel_data *d)
{
	return add_counters(d, HP3D_ALL, HP3D_ALL, false);
}

static int answer_drops(const char *cmd, const char *params, struct rte_tel_data *d)
{
	return add_counters(d, HP3D_ALL, HP3D_ALL, true);
}

static int answer_rail(const char *cmd, const char *params, struct rte_tel_data *d)
{
	unsigned rail;

	if (!params || !*params) {
		rte_tel_data_start_array(d, RTE_TEL_STRING_VAL);
		for (unsigned i = 0; i < config->n_rails; i++) {
			if (hp3_config_is_lead(config, i))
				rte_tel_data_add_array_string(d, hp3_config_flows_name(config, i));
		}
		return 0;
	}
	rail = hp3_config_flows_rail(config, params);
	return rail < config->n_rails ? add_counters(d, rail, HP3D_ALL, false) : -ENOENT;
}

static int answer_lcore(const char *cmd, const char *params, struct rte_tel_data *d)
{
	unsigned long worker;
	char *end;

	if (!params || !*params) {
		rte_tel_data_start_array(d, RTE_TEL_INT_VAL);
		for (unsigned i = 0; i < hp3d_worker_count(); i++)
			rte_tel_data_add_array_int(d, (int)i);
		return 0;
	}
	worker = strtoul(params, &end, 10);
	if (end == params || *end != '\0' || worker >= hp3d_worker_count())
		return -ENOENT;
	return add_counters(d, HP3D_ALL, (unsigned)worker, false);
}

int hp3d_telemetry_start(const struct hp3_config *cfg)
{
	static const struct {
		const char *cmd;
		telemetry_cb fn;
		const char *help;
	} commands[] = {
		{"/hp3/stats", answer_stats,
			"Counters over all rails and lcores, except those that are 0. Takes no "
			"parameters"},
		{"/hp3/drops", answer_drops,
			"Counters of packets not forwarded. Takes no parameters"},
		{"/hp3/rail", answer_rail,
			"The rails, or the counters of one. Parameters: string name"},
		{"/hp3/lcore", answer_lcore,
			"The workers, or the counters of one. Parameters: int worker"},
	};
	int rc = 0;

	config = cfg;
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]) && rc == 0; i++)
		rc = rte_telemetry_register_cmd(commands[i].cmd, commands[i].fn, commands[i].help);
	if (rc < 0)
		fprintf(stderr, "hp3d: no DPDK telemetry (%s); hp3ctl stats shows the same\n",
			strerror(-rc));
	return rc;
}
