/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of the fabric and of balancers, broken on purpose: linked with --wrap into the tests
 * once more; mutants.py names in SIM_MUTANT what to break, and in SIM_TEST the test that must see
 * it. SIM_MUTANT of the form idle:NAME makes that balancer do what ECMP does: nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "engine/engine.h"
#include "sim/fabric/port.h"
#include "sim/fabric/switch.h"
#include "sim/host/host.h"
#include "sim/lb/conweave.h"
#include "sim/lb/hp3_verbs.h"
#include "sim/lb/hp3x.h"
#include "sim/lb/lb.h"

#define WRAP(type, name, args)                                                                     \
	type __real_##name args;                                                                   \
	type __wrap_##name args;                                                                   \
	type __wrap_##name args

static const char *mutant; /* what is broken */

static bool broken(const char *what)
{
	return mutant != NULL && strcmp(mutant, what) == 0;
}

__attribute__((constructor)) static void read_environment(void)
{
	mutant = getenv("SIM_MUTANT");
	cmocka_set_test_filter(getenv("SIM_TEST"));
}

/* Senders are never paused. */
WRAP(bool, sim_mmu_must_pause, (struct sim * s, struct sim_switch *sw, struct sim_port *in))
{
	return !broken("no-pause") && __real_sim_mmu_must_pause(s, sw, in);
}

/* Nothing is marked. */
WRAP(bool, sim_mmu_marks, (struct sim * s, const struct sim_port *out))
{
	return !broken("no-mark") && __real_sim_mmu_marks(s, out);
}

/* One bit of the hash is stuck. */
WRAP(uint32_t, sim_flow_hash, (const struct sim *s, const struct sim_packet *p, uint32_t node))
{
	return __real_sim_flow_hash(s, p, node) & (broken("stuck-hash") ? ~1u : ~0u);
}

/* Now and then a packet goes to the head of the queue. */
WRAP(void, sim_port_queue_data, (struct sim * s, struct sim_port *port, struct sim_packet *p))
{
	static unsigned n;

	if (!broken("not-fifo") || ++n % 16 != 0 || port->data.head == NULL) {
		__real_sim_port_queue_data(s, port, p);
		return;
	}
	p->event.next = &port->data.head->event;
	port->data.head = p;
	port->data_bytes += p->bytes;
}

/* A packet that is dropped is forgotten. */
WRAP(void, sim_packet_drop, (struct sim * s, struct sim_packet *p, enum sim_drop reason))
{
	if (broken("leak"))
		s->n.dropped[reason]++;
	else
		__real_sim_packet_drop(s, p, reason);
}

/* The destination leaf does not put right what overtook. */
WRAP(bool, conweave_arrive,
	(struct sim * s, struct conweave *c, struct sim_switch *sw, const struct sim_where *w,
		struct sim_packet *p))
{
	return broken("no-sort") || __real_conweave_arrive(s, c, sw, w, p);
}

/* A move does not wait for the drain: what is held goes at once, elsewhere. */
WRAP(void, hp3_tx,
	(struct hp3_engine * e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd,
		struct hp3_acts *acts))
{
	__real_hp3_tx(e, pkt, now, vd, acts);
	if (broken("no-drain") && vd->kind == HP3_HOLD) {
		vd->kind = HP3_PASS;
		vd->sport ^= 0x155;
	}
}

/* A queue pair that is told to wait for its work goes elsewhere at once. */
WRAP(void, hp3_verbs_act, (struct sim * s, struct sim_flow *f, const struct hp3_act *a))
{
	if (broken("no-wait") && a->kind == HP3_ACT_SUSPEND)
		f->sport ^= 0x155;
	__real_hp3_verbs_act(s, f, a);
}

/* The peer's engine does not act on reports. */
WRAP(int, hp3_peer_report,
	(struct hp3_engine * e, const struct hp3_ends *ends, uint32_t rqpn, uint64_t now,
		struct hp3_acts *acts))
{
	if (broken("deaf-peer"))
		return 0;
	return __real_hp3_peer_report(e, ends, rqpn, now, acts);
}

/* A request that comes again is not executed. */
WRAP(void, sim_read_request, (struct sim * s, struct sim_port *in, struct sim_packet *p))
{
	if (!broken("deaf-responder") || p->psn >= p->flow->limit)
		__real_sim_read_request(s, in, p);
}

/* Slices take the first path, a path in turn instead of the best one, or any number of them. */
WRAP(struct hp3x_path *, hp3x_choose, (struct hp3x_pair * pair, uint32_t bytes))
{
	struct hp3x_path *best = __real_hp3x_choose(pair, bytes);

	if (broken("no-window") && best == NULL)
		return &pair->path[pair->turn];
	if (best == NULL)
		return NULL;
	if (broken("one-path"))
		return pair->path;
	return broken("any-path") ? &pair->path[pair->turn] : best;
}

/* All queue pairs are on the first rail. */
WRAP(struct sim_flow *, sim_flow_open, (struct sim * s, uint32_t demand, uint32_t rail))
{
	return __real_sim_flow_open(s, demand, broken("one-rail") ? 0 : rail);
}

/* Rates are not measured. */
WRAP(void, hp3x_ended,
	(struct hp3x_pair * pair, struct hp3x_path *p, const struct hp3x_slice *slice))
{
	uint64_t rate = p->rate;

	__real_hp3x_ended(pair, p, slice);
	if (broken("no-measure"))
		p->rate = rate;
}

WRAP(const struct sim_lb *, sim_lb_find, (const char *name))
{
	if (mutant != NULL && strncmp(mutant, "idle:", 5) == 0 && strcmp(mutant + 5, name) == 0)
		name = "ecmp";
	return __real_sim_lb_find(name);
}
