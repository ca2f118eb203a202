/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LetFlow (Vanini et al., NSDI 2017): the source leaf sends each flowlet, the packets of a flow
 * without a gap of letflow.gap_us, along a path drawn at random. Gap as in ConWeave's evaluation:
 * 100 us.
 */
#include <errno.h>
#include "sim/lb/lb.h"
#include "sim/lb/paths.h"

static int start_letflow(struct sim *s)
{
	s->lb_state = sim_paths_new(s);
	return s->lb_state != NULL ? 0 : -EOPNOTSUPP;
}

static void stop_letflow(struct sim *s)
{
	sim_paths_free(s->lb_state);
}

static bool route_letflow(
	struct sim *s, struct sim_switch *sw, struct sim_packet *p, struct sim_port **out)
{
	struct sim_where w = sim_paths_where(s, s->lb_state, sw, p);
	struct sim_flowlet *fl = (struct sim_flowlet *)p->flow->lb;

	if (w.place == SIM_SOURCE) {
		if (sim_flowlet_begins(s, fl, w.paths, s->cfg.letflow.gap_us))
			fl->path = sim_paths_draw(s, w.paths);
		p->path = fl->path;
	}
	*out = sim_paths_port(s, sw, &w, p);
	return true;
}

const struct sim_lb sim_lb_letflow = {
	.name = "letflow",
	.about = "flowlets to random paths; in switches (NSDI 2017)",
	.flow_bytes = sizeof(struct sim_flowlet),
	.start = start_letflow,
	.stop = stop_letflow,
	.route = route_letflow,
};
