/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>
#include <string.h>
#include "sim/lb/lb.h"

/* RFC 2992: each switch hashes the 5-tuple; a flow keeps its path. */
const struct sim_lb sim_lb_ecmp = {.name = "ecmp"};

static const struct sim_lb *const balancers[] = {
	&sim_lb_ecmp,
	&sim_lb_hp3,
	&sim_lb_hp3_verbs,
	&sim_lb_hp3_ideal,
	&sim_lb_hp3_paper,
	&sim_lb_flowbender,
	&sim_lb_plb,
	&sim_lb_hopper,
	&sim_lb_hermes,
	&sim_lb_letflow,
	&sim_lb_conga,
	&sim_lb_drill,
	&sim_lb_rps,
	&sim_lb_ar,
	&sim_lb_conweave,
	&sim_lb_stellar_obs,
	&sim_lb_stellar_rr,
	&sim_lb_stellar_dwrr,
	&sim_lb_stellar_bestrtt,
	&sim_lb_stellar_mprdma,
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
