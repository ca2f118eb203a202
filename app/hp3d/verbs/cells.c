/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue pairs of an application: their begin and end, and samples of what they do. */
#include <string.h>
#include "app/hp3d/verbs/internal.h"
#include "base/minmax.h"
#include "engine/info.h"

#define TRIES   8u
#define RATE_NS 100000000u

bool hp3d_verbs_copy_cell(const struct hp3_verbs_cell *cell, struct hp3_verbs_cell *copy)
{
	for (unsigned i = 0; i < TRIES; i++) {
		uint32_t version = __atomic_load_n(&cell->version, __ATOMIC_ACQUIRE);

		if ((version & 1u) != 0)
			continue;
		memcpy(copy, cell, sizeof(*copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&cell->version, __ATOMIC_RELAXED) == version)
			return true;
	}
	return false;
}

/* An IPv4-mapped IPv6 address, as RoCEv2 uses it in GIDs. */
static bool is_ipv4(const uint8_t gid[16])
{
	static const uint8_t mapped[12] = {[10] = 0xff, 0xff};

	return memcmp(gid, mapped, sizeof(mapped)) == 0;
}

static bool read_ends(const struct hp3_verbs_cell *c, struct hp3_qp_event *qp)
{
	bool v4 = is_ipv4(c->sgid);
	const unsigned from = v4 ? 12 : 0, n = v4 ? 4 : 16;

	*qp = (struct hp3_qp_event){.kind = HP3_QP_UP,
		.source = HP3_QP_SOURCE_APPLICATION,
		.ipv6 = !v4,
		.lqpn = c->qpn,
		.rqpn = c->dest_qpn};
	memcpy(qp->local, c->sgid + from, n);
	memcpy(qp->remote, c->dgid + from, n);
	return v4 == is_ipv4(c->dgid);
}

static bool is_live(const struct hp3_verbs_cell *c, struct hp3_qp_event *qp)
{
	return (c->state == HP3_VERBS_RTR || c->state == HP3_VERBS_RTS) && c->qpn != 0 &&
	       c->qpn <= HP3_QPN_MASK && c->dest_qpn <= HP3_QPN_MASK &&
	       c->method <= HP3_VERBS_SPORT && read_ends(c, qp);
}

static void end_qp(struct hp3d_verbs_mode *b, unsigned shim, uint16_t cell, uint64_t now)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];
	struct hp3d_verbs_cell_state *k = &s->known[cell];

	s->changes -= s->changes > 0;
	k->qp.kind = HP3_QP_DOWN;
	b->owners[k->flow].shim = 0;
	hp3d_claims_drop(&b->claims, &k->qp);
	hp3d_pipe_qp(b->pipe, &k->qp, now);
	hp3d_pair_users_drop(&b->pair_users, k->pair, s->uid);
	if (--b->pairs[k->pair].qps == 0 && b->ud != NULL)
		hp3d_ud_pair_ended(b->ud, HP3_ENDS(&k->qp));
	k->flow = HP3_NO_FLOW;
	k->asked = 0;
	s->active[k->at] = s->active[--s->n_active];
	s->known[s->active[k->at]].at = k->at;
	hp3d_verbs_set_counter(&b->c.qps, b->c.qps - 1);
}

static void start_counts(
	struct hp3d_verbs_cell_state *k, const struct hp3_verbs_cell *c, uint64_t now)
{
	k->failed = 0;
	k->asked = 0;
	k->suspended = false;
	k->seq = hp3_verbs_unpack_seq(c->want);
	k->samples = c->latency_count;
	k->posted = 0;
	k->posted_wrs = k->done_wrs = c->done_wrs;
	k->done = k->rate_done = c->done_bytes;
	k->rate = 0;
	k->rate_at = now;
	hp3_least_init(&k->least, now);
	k->rnic_port = HP3D_PORT_UNKNOWN;
}

static void begin_qp(struct hp3d_verbs_mode *b, unsigned shim, uint16_t cell,
	const struct hp3_verbs_cell *c, const struct hp3_qp_event *qp, uint64_t now)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];
	struct hp3d_verbs_cell_state *k = &s->known[cell];
	struct hp3_engine *e = hp3d_pipe_engine(b->pipe);
	uint32_t flow = hp3_flow_find(e, HP3_ENDS(qp), qp->rqpn);

	s->changes--;
	k->generation = c->generation;
	k->qp = *qp;
	/* A local queue pair is in one cell only: a second claim to it is refused and has no
	 * effect. */
	k->refused = flow != HP3_NO_FLOW || hp3d_claims_has(&b->claims, qp);
	if (!k->refused && !hp3d_verbs_has_share(b, shim, qp)) {
		k->refused = true;
		hp3d_verbs_set_counter(&b->c.refused_share, b->c.refused_share + 1);
		return;
	}
	if (k->refused || hp3d_pipe_qp(b->pipe, qp, now) < 0) {
		k->refused = true;
		hp3d_verbs_set_counter(&b->c.refused_qps, b->c.refused_qps + 1);
		return;
	}
	k->flow = flow = hp3_flow_find(e, HP3_ENDS(qp), qp->rqpn);
	k->pair = hp3_pair_of(e, flow);
	b->owners[flow] = (struct hp3d_verbs_owner){(uint16_t)(shim + 1u), cell};
	k->at = (uint16_t)s->n_active;
	s->active[s->n_active++] = cell;
	hp3d_pair_users_add(&b->pair_users, k->pair, s->uid);
	b->pairs[k->pair].qps++;
	hp3d_claims_add(&b->claims, qp);
	start_counts(k, c, now);
	hp3d_verbs_set_counter(&b->c.qps, b->c.qps + 1);
	hp3d_verbs_settle_in(b, k, c, now);
}

static bool is_same(const struct hp3_qp_event *a, const struct hp3_qp_event *b)
{
	return a->lqpn == b->lqpn && a->rqpn == b->rqpn && a->ipv6 == b->ipv6 &&
	       memcmp(a->local, b->local, sizeof(a->local)) == 0 &&
	       memcmp(a->remote, b->remote, sizeof(a->remote)) == 0;
}

/* Ends the queue pair if it has gone, or if the cell now has another one. */
static void look_at_known(struct hp3d_verbs_mode *b, unsigned shim, uint16_t cell, uint64_t now)
{
	struct hp3d_verbs_cell_state *k = &b->shims[shim].known[cell];
	struct hp3_verbs_cell c;
	struct hp3_qp_event qp;

	b->shims[shim].looked++;
	if (!hp3d_verbs_copy_cell(&b->shims[shim].cells[cell], &c))
		b->shims[shim].rung = true; /* retry */
	else if (!is_live(&c, &qp) || k->generation != c.generation || !is_same(&k->qp, &qp))
		end_qp(b, shim, cell, now);
}

static void look_for_new(struct hp3d_verbs_mode *b, unsigned shim, uint16_t cell, uint64_t now)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];
	struct hp3d_verbs_cell_state *k = &s->known[cell];
	struct hp3_verbs_cell c;
	struct hp3_qp_event qp;

	if (k->flow != HP3_NO_FLOW ||
		__atomic_load_n(&s->cells[cell].state, __ATOMIC_RELAXED) == HP3_VERBS_FREE)
		return;
	s->looked++;
	if (!hp3d_verbs_copy_cell(&s->cells[cell], &c))
		s->rung = true;
	else if (is_live(&c, &qp) &&
		 !(k->refused && k->generation == c.generation && is_same(&k->qp, &qp)))
		begin_qp(b, shim, cell, &c, &qp, now);
}

/* After too many changes, the next scan continues from `next_cell`. */
void hp3d_verbs_scan(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];
	uint32_t from = s->next_cell, n = 0;

	s->rung = false;
	s->scanned = now;
	s->changes = HP3D_VERBS_CHANGES;
	s->looked = 0;
	for (uint32_t i = s->n_active; i-- > 0 && s->changes > 0;)
		look_at_known(b, shim, s->active[i], now);
	for (; n < HP3_VERBS_CELLS && s->changes > 0; n++)
		look_for_new(b, shim, (uint16_t)((from + n) % HP3_VERBS_CELLS), now);
	s->next_cell = (from + n) % HP3_VERBS_CELLS;
	if (s->changes > 0)
		return;
	s->rung = true;
	hp3d_verbs_set_counter(&b->c.postponed, b->c.postponed + 1);
}

static uint64_t take_growth(uint64_t now, uint64_t *was)
{
	uint64_t n = now > *was ? now - *was : 0; /* it is smaller if a post was refused */

	*was += n;
	return n;
}

/* The newest time from post to completion, if there is one, and the shortest time with as many
 * bytes in the queue. */
static void time_of(struct hp3d_verbs_cell_state *k, const struct hp3_verbs_cell *c,
	struct hp3_completions *completions, uint64_t now)
{
	hp3_least_age(&k->least, now);
	if (c->latency_count == k->samples || c->latency_ns == 0)
		return;
	k->samples = c->latency_count;
	completions->took_ns = c->latency_ns;
	completions->least_ns = hp3_least_seen(&k->least, c->latency_queued, c->latency_ns);
}

static void rate_of(struct hp3d_verbs_cell_state *k, uint64_t done, uint64_t now)
{
	uint64_t bytes = done >= k->rate_done ? done - k->rate_done : 0;

	if (now - k->rate_at < RATE_NS)
		return;
	k->rate = (uint64_t)((double)bytes * 8e9 / (double)(now - k->rate_at));
	k->rate_at = now;
	k->rate_done = done;
}

static void feel_qp(struct hp3d_verbs_mode *b, unsigned shim, uint16_t cell, uint64_t now)
{
	struct hp3d_verbs_cell_state *k = &b->shims[shim].known[cell];
	struct hp3_completions completions = {0};
	struct hp3_verbs_cell c;

	if (!hp3d_verbs_copy_cell(&b->shims[shim].cells[cell], &c) || c.generation != k->generation)
		return; /* the next scan handles it */
	completions.home = c.home;
	completions.port = c.port;
	completions.posted = take_growth(c.posted_bytes, &k->posted);
	completions.done = take_growth(c.done_bytes, &k->done);
	completions.posted_wrs =
		(uint32_t)hp3_min_u64(take_growth(c.posted_wrs, &k->posted_wrs), HP3_PSN_MASK);
	completions.done_wrs =
		(uint32_t)hp3_min_u64(take_growth(c.done_wrs, &k->done_wrs), HP3_PSN_MASK);
	time_of(k, &c, &completions, now);
	completions.port_cnp =
		b->asked && hp3d_port_news_cnps(&b->news, c.device, c.port_num, &k->rnic_port, now);
	rate_of(k, c.done_bytes, now);
	hp3d_pipe_completions(b->pipe, k->flow, &completions, now);
	hp3d_verbs_settle(b, k, &c, now);
}

void hp3d_verbs_sample(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];
	uint32_t n = hp3_min_u32(s->n_active, HP3D_VERBS_SAMPLED);

	for (uint32_t i = 0; i < n; i++) {
		uint16_t cell = s->active[s->next_sample++ % s->n_active];

		hp3d_verbs_check_report(b, shim, cell, now);
		feel_qp(b, shim, cell, now);
	}
}

void hp3d_verbs_ask_peers(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];
	struct hp3_verbs_cell c;

	for (uint32_t i = 0; i < s->n_active; i++)
		if (hp3d_verbs_copy_cell(&s->cells[s->active[i]], &c))
			hp3d_verbs_settle_in(b, &s->known[s->active[i]], &c, now);
}

void hp3d_verbs_forget(struct hp3d_verbs_mode *b, unsigned shim, uint64_t now)
{
	struct hp3d_verbs_shim *s = &b->shims[shim];

	while (s->n_active > 0)
		end_qp(b, shim, s->active[s->n_active - 1u], now);
}
