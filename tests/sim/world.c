/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include "sim/lb/lb.h"
#include "world.h"

void world_make(struct sim *s, const char *const *set)
{
	struct sim_config cfg;
	struct hp3_config_errors errs = {0};
	struct sim_topo topo;
	char err[512] = "";
	unsigned n = 0;
	int ret;

	while (set[n] != NULL)
		n++;
	assert_int_equal(sim_config_load(&cfg, NULL, NULL, set, n, &errs), 0);
	ret = sim_topo_make(&topo, &cfg, err, sizeof(err));
	if (ret == 0)
		ret = sim_create(s, &cfg, &topo, err, sizeof(err));
	if (ret < 0)
		fail_msg("%s", err);
}

void world_flow(struct sim *s, uint32_t src, uint32_t dst, uint64_t bytes, uint64_t start)
{
	sim_demand_add(
		s, &(struct sim_demand){.src = src, .dst = dst, .bytes = bytes, .start = start});
}

void world_run(struct sim *s)
{
	assert_int_equal(sim_run(s, 10 * SIM_SEC), 0);
	assert_int_equal(s->finished, s->n_demands);
	assert_int_equal(s->n.made, s->n.ended);
	assert_int_equal(s->packets.used, 0);
}
