/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Flows keep their EVs when their rail goes direct: hp3d stores each move in the kernel at once,
 * and the hp3d that takes over reads these EVs.
 */
#include <errno.h>
#include <string.h>
#include "app/hp3d/lcores/bypass_internal.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/ports.h"
#include "app/hp3d/lcores/worker.h"

#define PER_CALL 64u

void hp3d_bypass_note(struct hp3d_bypass *b, const struct hp3d_event *e)
{
	const struct hp3_flow_info *f = &e->flow;
	struct hp3_bypass_ports ports = {.requests = f->moved ? f->port : 0, .replies = f->replies};
	struct hp3_bypass_flow flow = {.qpn = f->rqpn, .kind = hp3_bypass_kind(f->vlan, f->ipv6)};
	int err;

	switch ((enum hp3_event_type)e->event.type) {
	case HP3_EVENT_SWITCH:
	case HP3_EVENT_IDLE_SWITCH:
	case HP3_EVENT_FAILOVER:
	case HP3_EVENT_REPLIES:
		break;
	default:
		return;
	}
	memcpy(flow.local, f->local, f->ipv6 ? 16 : 4);
	memcpy(flow.remote, f->remote, f->ipv6 ? 16 : 4);
	err = hp3_bypass_keep(b->side[HP3_DIR_TX], &flow, &ports);
	__atomic_store_n(&b->not_kept, b->not_kept + (err < 0), __ATOMIC_RELAXED);
	__atomic_store_n(&b->forbidden, b->forbidden || err == -EPERM, __ATOMIC_RELAXED);
}

static struct hp3_ends ends_of(const struct hp3_bypass_flow *f)
{
	return (struct hp3_ends){
		hp3_bypass_ipv6(f->kind), hp3_bypass_vlan(f->kind), f->local, f->remote};
}

void hp3d_bypass_restore(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now)
{
	struct hp3_bypass_flow flow, *before = NULL;
	struct hp3_bypass_ports ports;
	uint32_t n = 0;

	for (; hp3_bypass_kept(b->side[HP3_DIR_TX], before, &flow, &ports); before = &flow) {
		struct hp3_ends ends = ends_of(&flow);

		n += hp3_flow_restore(hp3d_pipe_engine(p), &ends, flow.qpn, ports.requests,
			     ports.replies, now) == 0;
	}
	__atomic_store_n(&b->restored, n, __ATOMIC_RELAXED);
}

unsigned hp3d_bypass_flows_kept(void)
{
	struct hp3_bypass_flow flow, *before;
	struct hp3_bypass_ports ports;
	unsigned n = 0;

	for (unsigned rail = 0; rail < HP3_CONFIG_RAILS_MAX; rail++) {
		const struct hp3d_bypass *b = hp3d_bypass(rail);

		/* all rails of a bond have the same flows */
		if (b != NULL && b->rail != hp3d_rail_ports(rail)->lead &&
			hp3d_bypass(hp3d_rail_ports(rail)->lead) != NULL)
			continue;
		if (b == NULL || __atomic_load_n(&b->phase, __ATOMIC_ACQUIRE) != HP3D_BYPASS_QUIET)
			continue;
		for (before = NULL; hp3_bypass_kept(b->side[HP3_DIR_TX], before, &flow, &ports);
			before = &flow)
			n++;
	}
	return n;
}

/* Flows stored in the kernel, to be looked up in the engine. */
struct page {
	struct hp3d_bypass *b;
	unsigned n;
	struct hp3_bypass_flow flow[PER_CALL];
};

/* Deletes flows from the kernel that are on their home ports or have ended. */
static void forget_flows(struct hp3d_worker *w, void *arg)
{
	static const struct hp3_bypass_ports home;
	struct page *g = arg;
	struct hp3_engine *e = hp3d_pipe_engine(hp3d_worker_pipe(w, g->b->rail));

	if (g->b->phase != HP3D_BYPASS_RUNNING)
		return;
	for (unsigned i = 0; i < g->n; i++) {
		struct hp3_ends ends = ends_of(&g->flow[i]);
		struct hp3_flow_info f;
		uint32_t flow = hp3_flow_find(e, &ends, g->flow[i].qpn);

		if (flow == HP3_NO_FLOW || hp3_flow_info(e, flow, hp3d_now(), &f) != 0 ||
			(!f.moved && f.replies == 0))
			hp3_bypass_keep(g->b->side[HP3_DIR_TX], &g->flow[i], &home);
	}
}

void hp3d_bypass_tidy(struct hp3d_bypass *b)
{
	struct page g = {.b = b};
	struct hp3_bypass_flow flow, *before = NULL;
	struct hp3_bypass_ports ports;
	bool more;

	do {
		more = hp3_bypass_kept(b->side[HP3_DIR_TX], before, &flow, &ports);
		before = &flow;
		if (more)
			g.flow[g.n++] = flow;
		if (g.n == PER_CALL || (!more && g.n > 0)) {
			hp3d_worker_call(
				hp3d_worker(hp3d_rail_ports(b->rail)->lead % hp3d_worker_count()),
				forget_flows, &g);
			g.n = 0;
		}
	} while (more);
}
