/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/hash.h"
#include "bench/load.h"
#include <errno.h>
#include <stdlib.h>
#include <rte_mbuf.h>
#include "app/hp3d/lcores/eal.h"
#include "bench/load_spray.h"
#include "roce/icrc.h"

#define WINDOW (1u << (LOAD_READ_LOG2 - 10))
#define HALF   (WINDOW / 2)

/* The first PSN differs by flow, so that wrapping is met too. */
static uint32_t first_psn(uint32_t flow)
{
	return (flow * 0x9e3779b1u) & HP3_PSN_MASK;
}

static bool drains(const struct load *l, uint32_t flow)
{
	return (l->mode == LOAD_DRAIN || l->mode == LOAD_HOLD) && flow % LOAD_DRAIN_EVERY == 0;
}

void load_refresh(struct load *l, enum load_kind kind, struct rte_mbuf *m)
{
	bool few = load_is_agreed(l->mode);
	uint32_t flow = hp3_random_below(&l->rng, few ? load_sprays(l) : l->flows);

	load_next(l, kind, m, few ? load_sprayed(l, flow) : flow);
}

void load_next(struct load *l, enum load_kind kind, struct rte_mbuf *m, uint32_t flow)
{
	uint32_t *psn = &l->psn[kind][flow];

	load_address(m, load_dir(kind), flow, *psn);
	if (kind == LOAD_ACK) { /* in short bursts, and in moves, replies are checked */
		struct hp3_view v;

		hp3_parse(rte_pktmbuf_mtod(m, void *), m->data_len, &v);
		hp3_icrc_store(rte_pktmbuf_mtod(m, void *), &v);
	}
	*psn = hp3_psn_add(*psn, 1);
	l->drawn++;
	if (drains(l, flow) && l->mode == LOAD_HOLD && !l->holds[flow] &&
		l->n_held < LOAD_HELD_MAX) {
		l->holds[flow] = true;
		l->held[l->n_held++] = flow;
	}
}

/* Priming: what the pipe sends is put back where it came from. */
struct back {
	struct rte_mbuf **m;
	uint16_t n;
};

static void take_back(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	struct back *b = ctx;

	for (uint16_t i = 0; i < n; i++)
		b->m[b->n++] = m[i];
}

/* One packet for each of n flows from `first` on, `ahead` of their first PSN. */
static int step(struct load *l, struct rte_mbuf **m, uint32_t first, uint16_t n, uint8_t opcode,
	uint32_t ahead)
{
	enum hp3_dir dir = opcode == HP3_OP_RC_ACK ? HP3_DIR_RX : HP3_DIR_TX;
	struct back b = {.m = m};
	uint16_t made = 0;

	for (uint32_t flow = first; flow < first + n; flow++) {
		uint32_t psn = hp3_psn_add(first_psn(flow), ahead);
		int ret;

		if (ahead != 0 && l->mode == LOAD_HOLD && drains(l, flow))
			continue; /* begin_move() is for it */
		ret = load_packet(m[made++], flow, opcode, psn);
		if (ret < 0)
			return ret;
	}
	n = made;
	l->primed += n;
	hp3d_pipe_output(l->pipe, HP3_DIR_TX, take_back, &b);
	hp3d_pipe_output(l->pipe, HP3_DIR_RX, take_back, &b);
	hp3d_pipe_burst(l->pipe, dir, m, n, hp3d_now());
	return b.n == n ? 0 : -EIO;
}

static int announce(struct load *l, uint32_t flow)
{
	struct hp3_qp_event event = {.kind = HP3_QP_UP,
		.source = HP3_QP_SOURCE_KERNEL,
		.lqpn = load_local_qpn(flow),
		.rqpn = load_remote_qpn(flow)};

	load_addresses(flow, event.local, event.remote);
	return hp3d_pipe_qp(l->pipe, &event, hp3d_now());
}

uint32_t load_find(const struct load *l, uint32_t flow)
{
	uint8_t local[4], remote[4];

	load_addresses(flow, local, remote);
	return hp3_flow_find(hp3d_pipe_engine(l->pipe),
		&(struct hp3_ends){.local = local, .remote = remote}, load_remote_qpn(flow));
}

static int move_to(struct load *l, uint32_t flow, uint16_t port)
{
	struct hp3_cmd cmd = {.kind = HP3_CMD_MOVE, .port = port, .flow = load_find(l, flow)};

	return hp3d_pipe_command(l->pipe, &cmd, hp3d_now());
}

/* WRITEs that fill the window of a drain: one in flight, one behind the command closes. */
static int begin_move(struct load *l, struct rte_mbuf **m, uint32_t flow, uint16_t port)
{
	uint32_t *psn = &l->psn[LOAD_WRITE][flow];
	struct back b = {.m = m};
	int ret = load_packet(m[0], flow, HP3_OP_RC_WRITE_MIDDLE, *psn);

	if (ret == 0)
		ret = move_to(l, flow, port);
	if (ret < 0)
		return ret;
	l->psn[LOAD_ACK][flow] = *psn; /* the closing packet's: its ACK ends the drain */
	*psn = hp3_psn_add(*psn, 1);
	l->primed++;
	l->away[flow] = port != load_home(flow);
	hp3d_pipe_output(l->pipe, HP3_DIR_TX, take_back, &b);
	hp3d_pipe_burst(l->pipe, HP3_DIR_TX, m, 1, hp3d_now());
	return b.n == 1 ? 0 : -EIO;
}

uint16_t load_acks(struct load *l, uint32_t first, struct rte_mbuf **m)
{
	uint16_t n = 0;

	for (; n < LOAD_BURST && first + n < l->n_held; n++) {
		uint32_t flow = l->held[first + n];

		if (load_packet(m[n], flow, HP3_OP_RC_ACK, l->psn[LOAD_ACK][flow]) < 0)
			break;
	}
	l->primed += n;
	return n;
}

int load_again(struct load *l, struct rte_mbuf **m)
{
	int ret = 0;

	for (; l->n_held > 0 && ret == 0; l->n_held--) {
		uint32_t flow = l->held[l->n_held - 1];

		l->holds[flow] = false;
		ret = begin_move(l, m, flow, l->away[flow] ? load_home(flow) : load_away(flow));
	}
	return ret;
}

/* A flow of HOLD that drains has no more in flight than two WRITEs. */
static int prime_hold(struct load *l, struct rte_mbuf **m, uint32_t first, uint16_t n)
{
	int ret = 0;

	for (uint32_t flow = first; flow < first + n && ret == 0; flow++) {
		if (!drains(l, flow))
			continue;
		l->psn[LOAD_WRITE][flow] = hp3_psn_add(first_psn(flow), 1);
		ret = begin_move(l, m, flow, load_away(flow));
	}
	return ret;
}

static int prime(struct load *l, struct rte_mbuf **m, uint32_t first, uint16_t n)
{
	int ret = 0;

	for (uint16_t i = 0; i < n && ret == 0; i++)
		ret = announce(l, first + i);
	if (ret == 0)
		ret = step(l, m, first, n, HP3_OP_RC_WRITE_MIDDLE, 0);
	if (load_is_read(l->mode)) {
		for (uint16_t i = 0; i < n; i++)
			l->psn[LOAD_WRITE][first + i] = hp3_psn_add(first_psn(first + i), 1);
		return ret;
	}
	if (ret == 0 && l->mode == LOAD_MOVED) {
		ret = step(l, m, first, n, HP3_OP_RC_ACK, 0);
		for (uint16_t i = 0; i < n && ret == 0; i++)
			ret = move_to(l, first + i, load_away(first + i));
	}
	if (ret == 0)
		ret = step(l, m, first, n, HP3_OP_RC_READ_REQUEST, 1);
	if (ret == 0)
		ret = step(l, m, first, n, HP3_OP_RC_WRITE_MIDDLE, 1 + WINDOW);
	if (ret == 0)
		ret = step(l, m, first, n, HP3_OP_RC_ACK, HALF);
	/* The next packet of a flow that is asked to move closes its old path. */
	for (uint16_t i = 0; i < n && ret == 0 && l->mode == LOAD_DRAIN; i++) {
		if ((first + i) % LOAD_DRAIN_EVERY == 0)
			ret = move_to(l, first + i, load_away(first + i));
	}
	if (ret == 0 && l->mode == LOAD_DRAIN)
		ret = step(l, m, first, n, HP3_OP_RC_WRITE_MIDDLE, 2 + WINDOW);
	for (uint16_t i = 0; i < n && ret == 0; i++) {
		uint32_t psn = first_psn(first + i);

		if (l->mode == LOAD_HOLD && drains(l, first + i))
			continue;
		l->psn[LOAD_ACK][first + i] = hp3_psn_add(psn, HALF + 1);
		l->psn[LOAD_WRITE][first + i] =
			hp3_psn_add(psn, WINDOW + 2 + (l->mode == LOAD_DRAIN));
	}
	if (ret == 0 && l->mode == LOAD_HOLD)
		ret = prime_hold(l, m, first, n);
	return ret;
}

struct hp3_config load_config(uint32_t flows, enum load_mode mode, uint32_t memory_mb)
{
	struct hp3_config cfg;

	hp3_config_defaults(&cfg);
	cfg.eal.memory_mb = memory_mb;
	cfg.engine.max_flows = flows;
	cfg.engine.max_pairs = LOAD_PAIRS;
	if (mode == LOAD_DRAIN || mode == LOAD_HOLD)
		cfg.engine.max_moves += flows / LOAD_DRAIN_EVERY;
	if (mode == LOAD_DCQCN)
		cfg.engine.cc.mode = HP3_CC_DCQCN;
	if (load_is_agreed(mode))
		load_spray_config(&cfg, mode);
	return cfg;
}

static int fill(struct load *l, struct rte_mbuf **m)
{
	int ret = 0;

	for (unsigned k = 0; k < LOAD_KINDS; k++) {
		l->psn[k] = calloc(l->flows, sizeof(uint32_t));
		ret = l->psn[k] != NULL ? ret : -ENOMEM;
	}
	l->holds = calloc(l->flows, sizeof(bool));
	l->away = calloc(l->flows, sizeof(bool));
	if (l->pipe == NULL || l->holds == NULL || l->away == NULL)
		ret = -ENOMEM;
	for (uint32_t i = 0; i < l->flows && ret == 0; i += LOAD_BURST)
		ret = prime(l, m, i, (uint16_t)RTE_MIN(l->flows - i, LOAD_BURST));
	if (ret < 0)
		load_free(l);
	return ret;
}

int load_init(struct load *l, uint32_t flows, enum load_mode mode, uint64_t seed,
	uint32_t memory_mb, struct rte_mbuf **m)
{
	struct hp3_config cfg = load_config(flows, mode, memory_mb);

	*l = (struct load){.flows = flows, .mode = mode, .rng = seed};
	l->pipe = hp3d_pipe_create(&cfg, 0, 0, seed, SOCKET_ID_ANY);
	return fill(l, m);
}

int load_attach(struct load *l, struct hp3d_pipe *pipe, uint32_t flows, struct rte_mbuf **m)
{
	*l = (struct load){.flows = flows, .pipe = pipe, .attached = true};
	return fill(l, m);
}

void load_free(struct load *l)
{
	if (!l->attached)
		hp3d_pipe_free(l->pipe);
	l->pipe = NULL;
	for (unsigned k = 0; k < LOAD_KINDS; k++) {
		free(l->psn[k]);
		l->psn[k] = NULL;
	}
	free(l->holds);
	free(l->away);
	l->holds = l->away = NULL;
}

const char *load_check(const struct load *l)
{
	const struct hp3_stats *s = hp3_engine_stats(hp3d_pipe_engine(l->pipe));
	struct hp3_flow_info info;

	if (load_is_agreed(l->mode))
		return load_spray_check(l);
	if (s->tx_requests + s->rx_replies != l->primed + l->drawn)
		return "packets were not seen as requests and replies";
	if (s->untracked + s->retransmits + s->epochs + s->unpaired + s->contradictions +
		s->bad_icrc + s->moves_recovered)
		return "packets left the steady path";
	if (l->mode == LOAD_HOLD && l->drawn > 50 * LOAD_DRAIN_EVERY && s->moves_switched == 0)
		return "nothing was held and released";
	if (s->paired_event != l->flows)
		return "flows are not paired";
	for (uint32_t f = 0; f < l->flows; f++) {
		uint32_t id = load_find(l, f);

		if (id == HP3_NO_FLOW ||
			hp3_flow_info(hp3d_pipe_engine(l->pipe), id, 0, &info) != 0)
			return "a flow is missing";
		bool holds = l->mode == LOAD_HOLD && drains(l, f);

		if ((!holds && info.una != l->psn[LOAD_ACK][f]) ||
			info.nxt != l->psn[LOAD_WRITE][f])
			return "replies were no progress, or requests not consecutive";
		if (info.moved != (l->mode == LOAD_MOVED || (holds && !l->away[f])) ||
			info.home != load_home(f))
			return "a flow is not on the port that it was put on";
		if ((info.state == HP3_RFR_DRAINING) != drains(l, f))
			return "a flow is in a drain that should not be, or the other way round";
	}
	return NULL;
}
