/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Effects on a flow's agreements when the flow is added, paired, unpaired or removed, or begins a
 * new epoch (rule 35).
 */
#include "engine/flows/keys.h"
#include "engine/flows/pending.h"
#include "engine/spray/receive.h"
#include "engine/spray/send.h"

static void turn_blind(struct hp3_turn *t, struct hp3_spray_out *o)
{
	o->blind = true;
	hp3_out_input(t, o, HP3_SPRAY_IN_STOP);
}

void hp3_spray_unpaired(struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_flow *f = &t->e->flows[flow];

	if (f->watch & HP3_FW_SPRAY)
		turn_blind(t, hp3_out_of(t->e, flow));
	if (f->watch & HP3_FW_READ)
		turn_blind(t, hp3_out_of_read(t->e, flow));
}

void hp3_spray_added(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_engine *e = t->e;
	const struct hp3_flow *f = &e->flows[flow];
	struct hp3_spray_in *in =
		hp3_in_find_back(e, f->addr, f->vlan, (f->flags & HP3_FF_IPV6) != 0, f->rqpn, true);

	if (in != NULL && in->flow == HP3_NO_FLOW)
		hp3_spray_reads_taken(e, in, flow);
}

void hp3_spray_paired(struct hp3_turn *t, uint32_t flow, uint32_t lqpn)
{
	struct hp3_engine *e = t->e;
	const struct hp3_pair *p = &e->pairs.pairs[e->flows[flow].pair];
	struct hp3_spray_in *in;

	hp3_spray_unpaired(t, flow);
	if (e->nspray_in == 0)
		return;
	if ((e->flows[flow].watch & HP3_FW_READS) && hp3_in_of_reads(e, flow)->responder != lqpn)
		hp3_spray_in_end(t, hp3_in_of_reads(e, flow), false);
	in = hp3_in_find(e, hp3_key_addr(e, HP3_ENDS(p)), p->vlan, p->ipv6, lqpn, true);
	if (in == NULL)
		return;
	if (in->flow != flow) /* another queue pair has this QPN now */
		hp3_spray_in_end(t, in, true);
	else if (!(e->flows[flow].flags & HP3_FF_STARTED)) /* the event came before packets */
		hp3_spray_reads_anew(t, in, true);
}

static void end_outs(struct hp3_turn *t, uint32_t flow, bool over)
{
	const struct hp3_flow *f = &t->e->flows[flow];

	if (f->watch & HP3_FW_SPRAY)
		hp3_out_end(t, hp3_out_of(t->e, flow), over);
	if (f->watch & HP3_FW_READ)
		hp3_out_end(t, hp3_out_of_read(t->e, flow), over);
}

void hp3_spray_down(struct hp3_turn *t, uint32_t flow)
{
	end_outs(t, flow, true);
}

static bool is_recently_large(const struct hp3_turn *t, const struct hp3_spray_out *o)
{
	return t->now < o->large_at + hp3_out_keepalive_ns(o);
}

bool hp3_spray_is_under_way(const struct hp3_turn *t, uint32_t flow)
{
	struct hp3_engine *e = t->e;
	const struct hp3_flow *f = &e->flows[flow];
	uint64_t idle = (uint64_t)((uint32_t)(t->now >> HP3_TICK_SHIFT) - f->last)
			<< HP3_TICK_SHIFT;

	return ((f->watch & HP3_FW_SPRAY) && (f->flags & HP3_FF_STARTED) &&
		       !hp3_stream_idle(&f->stream) && is_recently_large(t, hp3_out_of(e, flow))) ||
	       ((f->watch & HP3_FW_READ) && is_recently_large(t, hp3_out_of_read(e, flow))) ||
	       ((f->watch & HP3_FW_READS) && hp3_in_of_reads(e, flow)->numbered &&
		       idle <= hp3_in_of_reads(e, flow)->keepalive_ns + (1u << HP3_TICK_SHIFT));
}

void hp3_spray_look_at_end(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_spraying *s = t->e->spraying;

	if (!t->e->flows[flow].pending)
		return;
	if (!hp3_pending_end(t->e, flow, 0))
		hp3_pending_end_drop(t->e, flow); /* the event was late: the stream goes on */
	else if (!hp3_spray_is_under_way(t, flow) && s->nended < HP3_SPRAY_ENDED)
		s->ended[s->nended++] = flow;
}

void hp3_spray_anew(struct hp3_turn *t, uint32_t flow, bool reported)
{
	const struct hp3_flow *f = &t->e->flows[flow];

	if (reported)
		end_outs(t, flow, true);
	else /* perhaps packets were lost before hp3d */
		hp3_spray_unpaired(t, flow);
	if (f->watch & HP3_FW_READS)
		hp3_spray_reads_anew(t, hp3_in_of_reads(t->e, flow), reported);
}

void hp3_spray_gone(struct hp3_turn *t, uint32_t flow)
{
	end_outs(t, flow, false);
	if (t->e->flows[flow].watch & HP3_FW_READS)
		hp3_spray_reads_gone(t, hp3_in_of_reads(t->e, flow));
}
