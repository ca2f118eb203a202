/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "sim/fabric/port.h"
#include "sim/work/traffic.h"

#define FAULT_STREAM UINT64_C(0x6661756c74000000)
#define FLAPS        8u

struct change {
	struct sim_event event;
	bool down;
	bool known; /* routing learns of it; else it happens */
};

struct sim_faults {
	uint32_t *link, n;
	struct change *change;
	uint32_t n_changes;
	bool *down; /* by link, as routing knows it */
};

static struct sim_port *end_of_link(struct sim *s, uint32_t link, bool b)
{
	const struct sim_topo *t = &s->topo;
	uint32_t node = t->link[link].a;

	for (uint32_t p = t->first_port[node]; p < t->first_port[node + 1]; p++)
		if (t->port_link[p] == link)
			return &s->port[b ? t->peer_port[p] : p];
	return NULL;
}

static void apply_change(struct sim *s, struct sim_event *event)
{
	struct change *c = (struct change *)event;
	struct sim_faults *f = s->faults;

	for (uint32_t i = 0; i < f->n; i++) {
		struct sim_port *a = end_of_link(s, f->link[i], false),
				*b = end_of_link(s, f->link[i], true);

		if (c->known) {
			f->down[f->link[i]] = c->down;
			a->withdrawn = b->withdrawn = c->down;
		} else {
			sim_port_set_down(s, a, c->down);
			sim_port_set_down(s, b, c->down);
		}
	}
	if (c->known)
		sim_topo_route(&s->topo, f->down);
}

static void plan_change(struct sim *s, uint64_t at, bool down)
{
	struct sim_faults *f = s->faults;

	for (unsigned known = 0; known < 2; known++) {
		struct change *c = &f->change[f->n_changes++];

		*c = (struct change){.event.fire = apply_change, .down = down, .known = known != 0};
		sim_at(s, &c->event, at + (known ? s->cfg.fault.converge_us * SIM_US : 0));
	}
}

static void draw_links(struct sim *s, struct sim_faults *f)
{
	uint64_t rng = s->cfg.run.seed ^ FAULT_STREAM;
	uint32_t core = 0, want = s->cfg.fault.links;

	f->link = sim_alloc(s->topo.n_links, sizeof(*f->link));
	for (uint32_t i = 0; i < s->topo.n_links; i++)
		if (s->topo.link[i].a >= s->topo.hosts && s->topo.link[i].b >= s->topo.hosts)
			f->link[core++] = i;
	if (s->cfg.fault.links_percent > 0) {
		for (uint32_t i = 0; i < core; i++)
			if (hp3_random_below(&rng, 100) < s->cfg.fault.links_percent)
				f->link[f->n++] = f->link[i];
		return;
	}
	for (; f->n < want && f->n < core; f->n++) {
		uint32_t j = f->n + hp3_random_below(&rng, core - f->n), l = f->link[j];

		f->link[j] = f->link[f->n];
		f->link[f->n] = l;
	}
}

static void set_lasting_fault(struct sim *s, struct sim_port *port, bool first_end)
{
	uint32_t share = s->cfg.fault.share_permyriad;

	switch (s->cfg.fault.kind) {
	case SIM_FAULT_LOSS:
		port->loss = share * 100000;
		break;
	case SIM_FAULT_BLACK_HOLE:
		port->hole = first_end ? share : 0;
		break;
	case SIM_FAULT_DEGRADE:
		port->bps = port->bps * (share > 0 ? share : 1) / 10000;
		port->ps_per_kib = 8 * 1024 * SIM_SEC / port->bps;
		break;
	default:
		break;
	}
}

int sim_faults(struct sim *s, char *err, uint32_t err_size)
{
	struct sim_faults *f;
	uint64_t at = s->cfg.fault.at_us * SIM_US, time = s->cfg.fault.for_us * SIM_US;
	uint32_t times = s->cfg.fault.kind == SIM_FAULT_FLAP ? FLAPS : 1;

	if (s->cfg.fault.kind == SIM_NO_FAULT)
		return 0;
	f = sim_alloc(1, sizeof(*f));
	s->faults = f;
	f->down = sim_alloc(s->topo.n_links, sizeof(*f->down));
	f->change = sim_alloc(4 * FLAPS, sizeof(*f->change));
	draw_links(s, f);
	if (f->n == 0) {
		snprintf(err, err_size, "fault: no link between switches was drawn");
		return -EINVAL;
	}
	if (s->cfg.fault.kind == SIM_FAULT_DOWN || s->cfg.fault.kind == SIM_FAULT_FLAP) {
		for (uint32_t i = 0; i < times; i++) {
			plan_change(s, at + 2 * i * time, true);
			plan_change(s, at + (2 * i + 1) * time, false);
		}
		return 0;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		set_lasting_fault(s, end_of_link(s, f->link[i], false), true);
		set_lasting_fault(s, end_of_link(s, f->link[i], true), false);
	}
	return 0;
}

void sim_faults_free(struct sim_faults *f)
{
	if (f == NULL)
		return;
	free(f->link);
	free(f->change);
	free(f->down);
	free(f);
}
