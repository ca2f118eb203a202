/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts of long flows. The engine counts outbound long flows by the length of their messages. It
 * counts inbound long flows from reports of peers, and from the READs of this host. Two hosts with
 * long flows between them send each other a report every share_advertise_us, and answer a report
 * with a report. So each host has the number of long flows on the link of the other host. A report
 * expires after FRESH_REPORTS such intervals.
 */
#include "engine/paths/paths.h"
#include "engine/paths/spine_paths.h"

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
	l->search_at = 0;
	e->long_out++;
	p->long_out++;
	hp3_spine_path_enter(e, flow);
	hp3_advertise_changed(e, e->flows[flow].pair);
}

static void end_out(struct hp3_engine *e, uint32_t flow)
{
	hp3_spine_path_leave(e, flow);
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
	if (v->flags & HP3_VF_FIRST)
		l->left = v->dma_len != 0 ? v->dma_len : UINT32_MAX;
	if (l->left != UINT32_MAX)
		l->left -= hp3_min_u32(l->left, v->payload_len);
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
	hp3_spine_paths_forget(e, pair);
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

uint32_t hp3_longs_fill(const struct hp3_engine *e, const struct hp3_pair *to,
	struct hp3_path_count *path, uint32_t max)
{
	uint32_t n = 0;

	if (e->longs == NULL || max < 2)
		return 0;
	path[n++] = (struct hp3_path_count){
		HP3_NAME_LONG_IN, (uint16_t)hp3_min_u32(e->long_in, UINT16_MAX)};
	if (to != NULL && to->long_out != 0)
		path[n++] = (struct hp3_path_count){HP3_NAME_LONG, to->long_out};
	return n;
}

void hp3_longs_received_in(struct hp3_engine *e, uint32_t pair, const struct hp3_path_count *path,
	uint32_t n, uint64_t now)
{
	struct hp3_pair *p = &e->pairs.pairs[pair];

	for (uint32_t i = 0; e->longs != NULL && i < n; i++) {
		if (path[i].name != HP3_NAME_LONG_IN)
			continue;
		p->peer_in = path[i].count;
		p->peer_in_at = now;
	}
}

void hp3_longs_reported(struct hp3_engine *e, uint32_t pair, const struct hp3_path_count *path,
	uint32_t n, uint64_t now)
{
	struct hp3_pair *p = &e->pairs.pairs[pair];
	uint16_t from = 0;

	if (e->longs == NULL)
		return;
	hp3_longs_received_in(e, pair, path, n, now);
	for (uint32_t i = 0; i < n; i++)
		from = path[i].name == HP3_NAME_LONG ? path[i].count : from;
	set_from(e, p, from);
	p->long_at = p->peer_seen = now;
	p->long_owed |= from != 0;
	if (from != 0)
		hp3_advertise_changed(e, pair);
	forget_old(e, now);
}
