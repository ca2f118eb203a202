/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of long flows. The engine counts outbound long flows by the length of their messages. It
 * counts inbound long flows from reports of peers, and from the READs of this host. Two hosts with
 * long flows between them send each other a report every share_advertise_us, and answer a report
 * with a report. So each host has the number of long flows on the link of the other host. A report
 * expires after FRESH_REPORTS such intervals.
 */
#include <errno.h>
#include "engine/paths/paths.h"
#include "engine/part.h"

#define FRESH_REPORTS 8u /* reports */

static uint64_t fresh_ns(const struct hp3_engine *e)
{
	return FRESH_REPORTS * e->cfg.cc.share.advertise_ns;
}

static void begin_out(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_pair *p = &e->pairs.pairs[e->flows[flow].pair];
	struct hp3_long *l = &e->longs[flow];

	if (l->out)
		return;
	l->out = true;
	l->share = (struct hp3_share){0};
	e->long_out++;
	p->long_out++;
	hp3_advertise_changed(e, e->flows[flow].pair);
}

static void end_out(struct hp3_engine *e, uint32_t flow)
{
	e->longs[flow].out = e->longs[flow].open = false;
	e->long_out--;
	e->pairs.pairs[e->flows[flow].pair].long_out--;
	hp3_advertise_changed(e, e->flows[flow].pair);
}

static void end_in(struct hp3_engine *e, uint32_t flow)
{
	e->longs[flow].in = false;
	e->long_in--;
}

/* A SEND does not carry its length: it counts as long once it was. */
static bool is_long_so_far(struct hp3_long *l, const struct hp3_view *v, uint32_t least)
{
	if (v->flags & HP3_VF_FIRST)
		l->sent = 0;
	l->sent = hp3_min_u32(l->sent + v->payload_len, least);
	return l->sent >= least || ((v->flags & HP3_VF_FIRST) && v->dma_len >= least);
}

void hp3_long_sent(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v)
{
	const struct hp3_flow *f = &e->flows[flow];
	struct hp3_long *l = &e->longs[flow];

	if (!(f->flags & HP3_FF_PAIRED))
		return; /* its replies would be unknown */
	if (v->flags & HP3_VF_READ) {
		if (v->dma_len < e->cfg.cc.share.long_bytes)
			return;
		e->long_in += !l->in;
		l->in = true;
		return;
	}
	if (is_long_so_far(l, v, e->cfg.cc.share.long_bytes)) {
		begin_out(e, flow);
		l->open = true;
	}
	if (l->open && (v->flags & HP3_VF_LAST)) {
		l->open = false;
		l->end = hp3_psn_add(v->psn, 1);
	}
}

void hp3_long_progress(struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_flow *f = &e->flows[flow];
	struct hp3_long *l = &e->longs[flow];

	if (l->out && !l->open && hp3_psn_diff(f->stream.una, l->end) >= 0)
		end_out(e, flow);
	if (l->in && f->stream.una == f->stream.nxt && f->stream.open_len == 0)
		end_in(e, flow);
}

void hp3_long_end(struct hp3_engine *e, uint32_t flow)
{
	if (e->longs == NULL)
		return;
	if (e->longs[flow].out)
		end_out(e, flow);
	if (e->longs[flow].in)
		end_in(e, flow);
	e->longs[flow].sent = 0;
}

static void set_from(struct hp3_engine *e, struct hp3_pair *p, uint16_t n)
{
	e->long_in = e->long_in - p->long_from + n;
	p->long_from = n;
}

void hp3_longs_forget(struct hp3_engine *e, uint32_t pair)
{
	if (e->longs != NULL)
		set_from(e, &e->pairs.pairs[pair], 0);
}

/* Counts of a silent peer expire: checks one pair with each report. */
static void forget_old(struct hp3_engine *e, uint64_t now)
{
	struct hp3_pair *p = &e->pairs.pairs[e->long_hand];

	if (p->long_from != 0 && now - p->long_at > fresh_ns(e))
		hp3_longs_forget(e, e->long_hand);
	e->long_hand = e->long_hand + 1 == e->cfg.max_pairs ? 0 : e->long_hand + 1;
}

uint32_t hp3_longs_on_link(const struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	const struct hp3_pair *p = &e->pairs.pairs[e->flows[flow].pair];

	if (p->peer_in_at == 0 || now - p->peer_in_at > fresh_ns(e))
		return 0;
	return hp3_max_u32(hp3_max_u32(e->long_out, p->peer_in), 1);
}

void hp3_longs_refresh(struct hp3_engine *e, uint32_t pair, uint64_t now)
{
	if (now - e->pairs.pairs[pair].advertised_at >= e->cfg.cc.share.advertise_ns)
		hp3_advertise_changed(e, pair);
}

struct hp3_long_counts hp3_longs_to(const struct hp3_engine *e, uint32_t flow)
{
	struct hp3_long_counts c = {0};

	if (e->longs == NULL || flow >= e->cfg.max_flows || !(e->flows[flow].flags & HP3_FF_USED))
		return c;
	c.out = e->pairs.pairs[e->flows[flow].pair].long_out;
	c.in = (uint16_t)hp3_min_u32(e->long_in, UINT16_MAX);
	return c;
}

int hp3_longs_from(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t stamp,
	const struct hp3_long_counts *c, uint64_t now)
{
	uint32_t pair = hp3_pairs_find(&e->pairs, ends);
	struct hp3_pair *p;

	if (pair == HP3_NO_PAIR || e->longs == NULL)
		return -ENOENT;
	p = &e->pairs.pairs[pair];
	if (stamp <= p->load_stamp)
		return -ESTALE;
	p->load_stamp = stamp;
	p->peer_in = c->in;
	set_from(e, p, c->out);
	p->peer_in_at = p->long_at = p->peer_seen = now;
	p->long_owed |= c->out != 0;
	if (c->out != 0)
		hp3_advertise_changed(e, pair);
	forget_old(e, now);
	return 0;
}

static bool has_longs(const struct hp3_engine_config *cfg)
{
	return cfg->cc.share.on;
}

static void take_longs(struct hp3_engine *e, struct hp3_arena *a)
{
	HP3_TAKE(a, e->longs, e->cfg.max_flows);
}

static void init_longs(struct hp3_engine *e)
{
	memset(e->longs, 0, e->cfg.max_flows * sizeof(*e->longs));
}

const struct hp3_part hp3_longs_part = {.is_on = has_longs, .take = take_longs, .init = init_longs};
