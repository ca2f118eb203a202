/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>
#include "sim/lb/lb.h"

/* RFC 2992: each switch hashes the 5-tuple; a flow keeps its path. */
const struct sim_lb sim_lb_ecmp = {.name = "ecmp",
	.about = "hashes the 5-tuple, and keeps the path of a flow; in switches (RFC 2992)"};

static const struct sim_lb *const balancers[] = {
#define SIM_BALANCER(id) &sim_lb_##id,
	SIM_BALANCERS(SIM_BALANCER)
#undef SIM_BALANCER
};

const struct sim_lb *sim_lb_list(unsigned i)
{
	return i < sizeof(balancers) / sizeof(balancers[0]) ? balancers[i] : NULL;
}

const struct sim_lb *sim_lb_find(const char *name)
{
	for (unsigned i = 0; sim_lb_list(i) != NULL; i++)
		if (strcmp(balancers[i]->name, name) == 0)
			return balancers[i];
	return NULL;
}
