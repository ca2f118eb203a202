/* SPDX-License-Identifier: BSD-3-Clause */
/* The pipes of both ends, the packets between them, and the capture's time for both. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_mbuf.h>
#include "app/hp3d/replay/internal.h"

#define AGE_ROUND_NS 4000000000ull

void hp3d_replay_queue(
	struct hp3d_replay_run *r, struct rte_mbuf *m, unsigned end, enum hp3_dir dir)
{
	if (r->n == HP3D_REPLAY_QUEUE) {
		r->failed = true;
		rte_pktmbuf_free(m);
		return;
	}
	r->queue[(r->head + r->n++) % HP3D_REPLAY_QUEUE] = (struct hp3d_replay_hop){m, end, dir};
}

static void write_packet(struct hp3d_replay_run *r, struct rte_mbuf *m)
{
	if (r->write) {
		const struct hp3d_replay_stamp *st = rte_mbuf_to_priv(m);

		r->s.packets_out++;
		if (st->recorded >= rte_pktmbuf_data_len(m))
			hp3d_replay_count_icrc(rte_pktmbuf_mtod(m, const void *),
				rte_pktmbuf_data_len(m), &r->s.icrc_good_out, &r->s.icrc_bad_out);
		hp3d_replay_capture_write(&r->capture, m);
	}
	rte_pktmbuf_free(m);
}

/* A packet that leaves to the network goes to the other end's pipe. */
static void leave_tx(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	struct hp3d_replay_end *e = ctx;

	for (uint16_t i = 0; i < n; i++)
		hp3d_replay_queue(e->r, m[i], !e->index, HP3_DIR_RX);
}

static void leave_rx(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	struct hp3d_replay_end *e = ctx;

	for (uint16_t i = 0; i < n; i++)
		write_packet(e->r, m[i]);
}

static bool is_known(const struct hp3d_replay_pairs *l, const struct hp3d_event *event)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct hp3d_event *p = &l->list[i];

		if (p->event.lqpn == event->event.lqpn && p->event.rqpn == event->event.rqpn &&
			p->flow.vlan == event->flow.vlan &&
			memcmp(p->flow.local, event->flow.local, 16) == 0 &&
			memcmp(p->flow.remote, event->flow.remote, 16) == 0)
			return true;
	}
	return false;
}

/* 0, also for a known pair, or -ENOMEM. */
static int learn_pair(struct hp3d_replay_pairs *l, const struct hp3d_event *event)
{
	struct hp3d_event *list;

	if (is_known(l, event))
		return 0;
	list = realloc(l->list, (l->n + 1) * sizeof(*list));
	if (list == NULL)
		return -ENOMEM;
	list[l->n++] = *event;
	l->list = list;
	return 0;
}

/* Each row of the table is a stream of requests: its source is the local end. */
int hp3d_replay_take_pairs(struct hp3d_replay_run *r)
{
	struct hp3d_replay_row row;
	uint32_t at = 0;

	while (hp3d_replay_flows_next(r->flows, &at, &row)) {
		struct hp3d_event event = {.event = {.type = HP3_EVENT_PAIR,
						   .lqpn = row.peer_qpn,
						   .rqpn = row.key.qpn},
			.flow = {.ipv6 = row.key.ipv6, .vlan = row.key.vlan}};
		unsigned end = memcmp(row.key.src, row.key.dst, 16) > 0;

		memcpy(event.flow.local, row.key.src, 16);
		memcpy(event.flow.remote, row.key.dst, 16);
		if (row.paired && learn_pair(&r->ends[end].pairs, &event) < 0)
			return -ENOMEM;
	}
	return 0;
}

static void note_pair(struct hp3d_replay_run *r, const struct hp3d_event *event)
{
	struct hp3d_replay_key k = {
		.vlan = event->flow.vlan, .qpn = event->event.rqpn, .ipv6 = event->flow.ipv6};

	memcpy(k.src, event->flow.local, 16);
	memcpy(k.dst, event->flow.remote, 16);
	hp3d_replay_flows_pair(r->flows, &k, event->event.lqpn);
}

static void on_event(void *ctx, const struct hp3d_event *event)
{
	struct hp3d_replay_end *e = ctx;
	struct hp3d_replay_run *r = e->r;

	/* A challenge of a learning pass may be wrong. */
	if (event->event.type == HP3_EVENT_PAIR &&
		(r->write || event->event.pairing == HP3_PAIRING_CM))
		note_pair(r, event);
	if (r->write)
		hp3d_replay_count_event(&r->s, event);
	else if (event->event.type == HP3_EVENT_PAIR && learn_pair(&e->pairs, event) < 0)
		r->failed = true;
}

void hp3d_replay_forward(struct hp3d_replay_run *r)
{
	while (r->n > 0) {
		struct hp3d_replay_hop h = r->queue[r->head];

		r->head = (r->head + 1) % HP3D_REPLAY_QUEUE;
		r->n--;
		hp3d_pipe_burst(r->ends[h.end].pipe, h.dir, &h.m, 1, r->now);
	}
}

void hp3d_replay_announce(const struct hp3d_replay_pairs *l, struct hp3d_pipe *p, uint64_t now)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct hp3d_event *pair = &l->list[i];
		struct hp3_qp_event event = {.kind = HP3_QP_UP,
			.source = HP3_QP_SOURCE_KERNEL,
			.ipv6 = pair->flow.ipv6,
			.vlan = pair->flow.vlan,
			.lqpn = pair->event.lqpn,
			.rqpn = pair->event.rqpn};

		memcpy(event.local, pair->flow.local, 16);
		memcpy(event.remote, pair->flow.remote, 16);
		hp3d_pipe_qp(p, &event, now);
	}
}

/*
 * Runs timers that are due before the next packet. Without a move under way, only ageing is left to
 * do. After a long gap (joined captures, timestamps from 1970), the last round of ageing is enough.
 */
void hp3d_replay_advance(struct hp3d_replay_run *r, uint64_t to)
{
	for (unsigned i = 0; i < HP3D_REPLAY_ENDS; i++) {
		struct hp3d_pipe *p = r->ends[i].pipe;
		uint64_t due = r->now;

		while ((due = hp3d_pipe_tick(p, due)) <= to && !r->failed) {
			if (to - due > AGE_ROUND_NS && hp3_engine_moves(hp3d_pipe_engine(p)) == 0)
				due = to - AGE_ROUND_NS;
			r->now = due > r->now ? due : r->now;
			hp3d_replay_forward(r);
		}
	}
	r->now = to;
	hp3d_replay_forward(r);
}

/*
 * A capture is short, and no RNIC answers packets that hp3d changed. So the learning passes use
 * every packet with AckReq as a challenge, and one answer is enough. A wrong pairing harms no
 * connection here, and its replies soon contradict it.
 */
int hp3d_replay_make_ends(struct hp3d_replay_run *r)
{
	struct hp3_config cfg = *r->cfg;

	if (!r->write)
		cfg.engine.challenge_spread = cfg.engine.challenge_hits = 1;
	cfg.engine.challenge_quiet_ns = 0;
	cfg.engine.words.probe = HP3_PROBE_MODE_OFF; /* a capture answers no probe */
	for (unsigned i = 0; i < HP3D_REPLAY_ENDS; i++) {
		struct hp3d_replay_end *e = &r->ends[i];

		e->r = r;
		e->index = i;
		e->pipe = hp3d_pipe_create(&cfg, 0, i, cfg.engine.seed + i, SOCKET_ID_ANY);
		if (e->pipe == NULL) {
			fprintf(stderr, "hp3d: no memory for the flow tables; raise [eal] "
					"memory_mb or lower [flows] max_flows\n");
			return -1;
		}
		hp3d_pipe_output(e->pipe, HP3_DIR_TX, leave_tx, e);
		hp3d_pipe_output(e->pipe, HP3_DIR_RX, leave_rx, e);
		hp3d_pipe_on_event(e->pipe, on_event, e);
	}
	return 0;
}

void hp3d_replay_free_ends(struct hp3d_replay_run *r)
{
	for (unsigned i = 0; i < HP3D_REPLAY_ENDS; i++) {
		hp3d_pipe_free(r->ends[i].pipe);
		r->ends[i].pipe = NULL;
	}
}
