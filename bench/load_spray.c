/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/load_spray.h"
#include <errno.h>
#include <stdio.h>
#include <rte_mbuf.h>
#include "app/hp3d/lcores/eal.h"
#include "rfr/spraying.h"
#include "roce/build.h"
#include "roce/icrc.h"

#define EVS          64u
#define FIRST        2u /* packets that tell what the RNIC waits for */
#define KEEPALIVE_NS 1000000000u /* so that a slow machine hears none late */
#define PMTU         10u /* log2 */
#define LARGE        (1u << 30)
#define ROOM         2047u /* as hp3d states it by default */
#define SHOWN        4u /* READ responses that show that a READ is large */

void load_spray_config(struct hp3_config *cfg, enum load_mode mode)
{
	cfg->engine.spray.mode = HP3_SPRAY_ALL;
	cfg->engine.spray.flows = 4 * LOAD_SPRAYS; /* shares of one peer: engine/spray/quota.h */
	cfg->engine.spray.keepalive_ns = KEEPALIVE_NS;
	cfg->engine.spray.reads = load_is_read(mode); /* else: not those that open windows */
	cfg->engine.spray.bytes = SHOWN * LOAD_BYTES;
	cfg->engine.spray.wait_ns = KEEPALIVE_NS; /* nothing is lost: who was preempted waits on */
	snprintf(cfg->probes.probe_key, sizeof(cfg->probes.probe_key), "%s",
		"000102030405060708090a0b0c0d0e0f");
}

static void answer(struct load *l, const struct hp3_act_agree *asked)
{
	struct hp3_ends ends = {.local = asked->local, .remote = asked->remote};
	struct hp3_agree yes = asked->what;
	static struct hp3_acts acts;

	yes.kind = HP3_AGREE_YES;
	yes.room = ROOM;
	acts.n = 0;
	hp3_agree_received(hp3d_pipe_engine(l->pipe), &ends, &yes, hp3d_now(), &acts);
}

/* What a sender says about a flow that is resequenced; OFFER: who reads from us. */
static void say(struct load *l, uint32_t i, enum hp3_agree_kind kind)
{
	uint32_t flow = load_sprayed(l, i);
	uint8_t local[4], remote[4];
	const bool offer = kind == HP3_AGREE_OFFER;
	struct hp3_ends ends = {.local = local, .remote = remote};
	static struct hp3_acts acts;
	const struct hp3_agree what = {.kind = (uint8_t)kind,
		.reads = load_is_read(l->mode),
		.next = HP3_NO_PSN,
		.pmtu_log2 = PMTU,
		.evs = EVS,
		.port = load_home(flow),
		.responder = offer ? load_remote_qpn(flow) : load_local_qpn(flow),
		.requester = offer ? load_local_qpn(flow) : load_remote_qpn(flow),
		.number = offer ? 0 : 1,
		.turn = ++l->turn,
		.keepalive_us = KEEPALIVE_NS / 1000};

	load_addresses(flow, local, remote);
	acts.n = 0;
	hp3_agree_received(hp3d_pipe_engine(l->pipe), &ends, &what, hp3d_now(), &acts);
	for (uint32_t j = 0; j < acts.n; j++)
		l->refused += acts.act[j].kind == HP3_ACT_AGREE &&
			      acts.act[j].agree.what.kind != HP3_AGREE_YES;
}

static bool is_sent(const struct load *l)
{
	return l->mode == LOAD_SPRAYED || l->mode == LOAD_READ_SPRAYED;
}

void load_messages(struct load *l)
{
	static struct hp3_acts acts;

	do {
		acts.n = 0;
		hp3_tick(hp3d_pipe_engine(l->pipe), hp3d_now(), &acts);
		for (uint32_t i = 0; i < acts.n; i++) {
			if (acts.act[i].kind == HP3_ACT_AGREE && is_sent(l))
				answer(l, &acts.act[i].agree);
		}
	} while (acts.more);
	for (uint32_t i = 0; i < load_sprays(l) && !is_sent(l); i++)
		say(l, i, HP3_AGREE_SPRAYING);
}

static void take(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	*(uint32_t *)ctx += n;
}

/* A packet of load_template() of a flow, with a right ICRC. */
static void burst(struct load *l, struct rte_mbuf *m, enum hp3_dir dir, uint32_t flow, uint32_t psn)
{
	struct hp3_view v;

	load_address(m, dir, flow, psn);
	hp3_parse(rte_pktmbuf_mtod(m, void *), m->data_len, &v);
	hp3_icrc_store(rte_pktmbuf_mtod(m, void *), &v);
	hp3d_pipe_burst(l->pipe, dir, &m, 1, hp3d_now());
}

/* A large message begins; the peer agrees; the first packet after that keeps to the port in use. */
static int spray(struct load *l, struct rte_mbuf *m)
{
	uint32_t n = 0;
	int ret;

	hp3d_pipe_output(l->pipe, HP3_DIR_TX, take, &n);
	for (uint32_t i = 0; i < load_sprays(l); i++) {
		uint32_t flow = load_sprayed(l, i), *psn = &l->psn[LOAD_WRITE][flow];

		ret = load_first(m, flow, *psn, LARGE);
		if (ret < 0)
			return ret;
		*psn = hp3_psn_add(*psn, 1);
		hp3d_pipe_burst(l->pipe, HP3_DIR_TX, &m, 1, hp3d_now());
	}
	load_messages(l);
	for (uint32_t i = 0; i < load_sprays(l); i++) {
		struct hp3_flow_info info;
		uint32_t id = load_find(l, load_sprayed(l, i));

		if (hp3_flow_info(hp3d_pipe_engine(l->pipe), id, hp3d_now(), &info) != 0 ||
			info.evs != EVS)
			return -EPROTO;
	}
	ret = load_template(LOAD_WRITE, m);
	for (uint32_t i = 0; i < load_sprays(l) && ret == 0; i++) {
		uint32_t flow = load_sprayed(l, i), *psn = &l->psn[LOAD_WRITE][flow];

		burst(l, m, HP3_DIR_TX, flow, *psn);
		*psn = hp3_psn_add(*psn, 1);
	}
	return n == 2 * load_sprays(l) ? ret : -EIO;
}

/* Peers ask; the first packets tell what comes next. */
static int order(struct load *l, struct rte_mbuf *m)
{
	uint32_t n = 0;
	int ret = load_template(LOAD_PEER, m);

	if (ret < 0)
		return ret;
	hp3d_pipe_output(l->pipe, HP3_DIR_RX, take, &n);
	for (uint32_t i = 0; i < load_sprays(l); i++) {
		uint32_t flow = load_sprayed(l, i);

		say(l, i, HP3_AGREE_ASK);
		for (uint32_t psn = 0; psn < FIRST; psn++)
			burst(l, m, HP3_DIR_RX, flow, psn);
		l->psn[LOAD_PEER][flow] = l->psn[LOAD_ACK][flow] = FIRST;
	}
	return n == FIRST * load_sprays(l) ? 0 : -EIO;
}

/* What is not asked for is not sprayed. */
static int read_by_peers(struct load *l, struct rte_mbuf *m, uint32_t *n)
{
	int ret = 0;

	hp3d_pipe_output(l->pipe, HP3_DIR_RX, take, n);
	for (uint32_t i = 0; i < load_sprays(l) && ret == 0; i++) {
		ret = load_read_of_peer(m, load_sprayed(l, i), 0);
		if (ret == 0)
			hp3d_pipe_burst(l->pipe, HP3_DIR_RX, &m, 1, hp3d_now());
	}
	return ret;
}

/* Peers offer to resequence what they read; they are asked, agree, and begin to read. */
static int serve(struct load *l, struct rte_mbuf *m)
{
	uint32_t n = 0;
	int ret;

	hp3d_pipe_output(l->pipe, HP3_DIR_TX, take, &n);
	for (uint32_t i = 0; i < load_sprays(l); i++)
		say(l, i, HP3_AGREE_OFFER);
	load_messages(l);
	ret = read_by_peers(l, m, &n);
	if (ret == 0)
		ret = load_template(LOAD_SERVED, m);
	if (ret < 0)
		return ret;
	for (uint32_t i = 0; i < load_sprays(l); i++) {
		uint32_t flow = load_sprayed(l, i);
		struct hp3_flow_info info;

		if (hp3_flow_info(hp3d_pipe_engine(l->pipe), load_find(l, flow), hp3d_now(),
			    &info) != 0 ||
			info.spray_reads != HP3_SPRAY_SPRAYING)
			return -EPROTO;
		for (uint32_t psn = 0; psn < SHOWN; psn++)
			burst(l, m, HP3_DIR_TX, flow, psn);
		l->psn[LOAD_SERVED][flow] = SHOWN;
	}
	return n == (1 + SHOWN) * load_sprays(l) ? 0 : -EIO;
}

/* A READ leaves, which is offered to be resequenced; the peer asks, and the first response tells
 * that all before it has come. */
static int read_on(struct load *l, struct rte_mbuf *m)
{
	uint32_t n = 0;
	int ret = 0;

	hp3d_pipe_output(l->pipe, HP3_DIR_TX, take, &n);
	hp3d_pipe_output(l->pipe, HP3_DIR_RX, take, &n);
	for (uint32_t i = 0; i < load_sprays(l) && ret == 0; i++) {
		uint32_t flow = load_sprayed(l, i), psn = l->psn[LOAD_WRITE][flow];

		ret = load_packet(m, flow, HP3_OP_RC_READ_REQUEST, psn);
		if (ret < 0)
			return ret;
		hp3d_pipe_burst(l->pipe, HP3_DIR_TX, &m, 1, hp3d_now());
		say(l, i, HP3_AGREE_ASK);
		ret = load_template(LOAD_READ, m);
		if (ret == 0)
			burst(l, m, HP3_DIR_RX, flow, psn);
		l->psn[LOAD_READ][flow] = l->psn[LOAD_ACK][flow] = hp3_psn_add(psn, 1);
	}
	if (hp3_engine_stats(hp3d_pipe_engine(l->pipe))->resequenced != load_sprays(l))
		return -EPROTO;
	return n == 2 * load_sprays(l) ? ret : -EIO;
}

int load_agree(struct load *l, struct rte_mbuf *m)
{
	switch (l->mode) {
	case LOAD_SPRAYED:
		return spray(l, m);
	case LOAD_RESEQUENCED:
		return order(l, m);
	case LOAD_READ_SPRAYED:
		return serve(l, m);
	case LOAD_READ_ORDERED:
		return read_on(l, m);
	default:
		return 0;
	}
}

void load_out_of_order(struct load *l, enum load_kind kind, struct rte_mbuf **m, uint32_t n)
{
	uint32_t flow[LOAD_OUT_OF_ORDER];

	for (uint32_t at = 0; at < n;
		at += 2 * LOAD_OUT_OF_ORDER, l->drawn += 2 * LOAD_OUT_OF_ORDER) {
		uint32_t start = hp3_random_below(&l->rng, load_sprays(l));
		uint32_t step =
			2 * hp3_random_below(&l->rng, LOAD_OUT_OF_ORDER) + 1; /* odd: all differ */

		for (uint32_t i = 0; i < LOAD_OUT_OF_ORDER; i++) {
			uint32_t *psn;

			flow[i] = load_sprayed(l, (start + i * step) % load_sprays(l));
			psn = &l->psn[kind][flow[i]];
			load_address(m[at + i], HP3_DIR_RX, flow[i], hp3_psn_add(*psn, 1));
			*psn = hp3_psn_add(*psn, 2);
		}
		for (uint32_t i = 0; i < LOAD_OUT_OF_ORDER; i++)
			load_address(m[at + LOAD_OUT_OF_ORDER + i], HP3_DIR_RX, flow[i],
				hp3_psn_add(l->psn[kind][flow[i]], HP3_PSN_MASK - 1));
	}
}

bool load_in_order(struct load *l, const struct rte_mbuf *m)
{
	struct hp3_view v;
	uint32_t *next;

	hp3_parse(rte_pktmbuf_mtod(m, void *), m->data_len, &v);
	next = &l->psn[LOAD_ACK][v.dest_qpn - load_local_qpn(0)];
	if (v.psn != *next)
		return false;
	*next = hp3_psn_add(*next, 1);
	return true;
}

const char *load_spray_check(const struct load *l)
{
	const struct hp3_stats *s = hp3_engine_stats(hp3d_pipe_engine(l->pipe));

	if (s->retransmits + s->epochs + s->bad_icrc + s->sprays_broken + s->reseq_late +
		s->reseq_beyond + s->reseq_full + s->reseq_share + s->reseq_given_up)
		return "packets left what was to be measured";
	if (l->refused != 0)
		return "peers were told no";
	if (l->mode == LOAD_SPRAYED)
		return s->sprayed == l->drawn ? NULL : "not every packet was sprayed";
	if (l->mode == LOAD_READ_SPRAYED)
		return s->sprayed_reads == l->drawn ? NULL : "not every READ response was sprayed";
	return s->reseq_held == l->drawn / 2 ? NULL : "not every other packet was held";
}
