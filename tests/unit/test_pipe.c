/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conservation: two pipes with agents, connected by a network that reorders, and random calls of
 * their engines: packets, time, commands, set-up events that reuse queue pair numbers, missed
 * packets, stops. After each call, every buffer is held, on the wire, or freed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/keyring.h"
#include "app/hp3d/pipe/memory.h"
#include "app/hp3d/pipe/pipe.h"
#include "app/hp3d/pipe/pool.h"
#include "base/random.h"
#include "roce/build.h"
#include "roce/opcode.h"

#define US      1000ull
#define MS      1000000ull
#define QPS     4u
#define BUFFERS 4095u
#define WIRE    256u
#define WINDOW  24u /* packets on the wire among which the next one is drawn */
#define STEPS   200000u
#define SEEDS   8u
#define PAYLOAD 1024u

struct queue_pair {
	uint32_t lqpn, rqpn; /* in the sight of host 0 */
	uint32_t psn[2], left[2]; /* next request of each host; what is left of its message */
	uint32_t read[2], owed[2]; /* next response that each host owes, and how many */
};

struct end {
	struct hp3d_pipe *pipe;
	struct rte_mbuf *in[WIRE]; /* frames on their way to it */
	uint32_t n;
};

static struct {
	struct rte_mempool *pool;
	struct end end[2];
	struct queue_pair qp[QPS];
	uint64_t now, rng;
	uint32_t next_qpn;
} w;

static uint32_t draw(uint32_t n)
{
	return hp3_random_below(&w.rng, n);
}

static void leave_tx(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	struct end *peer = ctx;

	for (uint16_t i = 0; i < n; i++) {
		if (peer->n == WIRE)
			rte_pktmbuf_free(m[i]);
		else
			peer->in[peer->n++] = m[i];
	}
}

static void leave_rx(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	rte_pktmbuf_free_bulk(m, n);
}

/* Packets of hp3d's own have pools of their own. */
static uint32_t on_the_wire(const struct end *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->n; i++)
		n += e->in[i]->pool == w.pool;
	return n;
}

static void nothing_is_lost(const char *after)
{
	uint32_t known = 0;

	for (unsigned h = 0; h < 2; h++) {
		if (hp3d_pipe_unaccounted(w.end[h].pipe) != 0)
			fail_msg("%lld packets unaccounted for after %s",
				(long long)hp3d_pipe_unaccounted(w.end[h].pipe), after);
		known += hp3d_pipe_held(w.end[h].pipe) + on_the_wire(&w.end[h]);
	}
	if (rte_mempool_in_use_count(w.pool) != known)
		fail_msg("%u buffers in use, %u of them held or on the wire, after %s",
			rte_mempool_in_use_count(w.pool), known, after);
}

static struct hp3_addressing way(unsigned from)
{
	return (struct hp3_addressing){.ttl = 64,
		.tclass = 2,
		.sport = (uint16_t)(0xc001 + from),
		.pkey = 0xffff,
		.dst_mac = {2, 0, 0, 0, 0, (uint8_t)!from},
		.src_mac = {2, 0, 0, 0, 0, (uint8_t)from},
		.src_ip = {10, 9, 0, (uint8_t)from},
		.dst_ip = {10, 9, 0, (uint8_t)!from}};
}

static void emit(unsigned from, const struct hp3_fields *f)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w.pool);
	struct hp3_addressing a = way(from);

	assert_non_null(m);
	m->data_len = (uint16_t)hp3_build(rte_pktmbuf_mtod(m, void *), 2048, &a, f);
	m->pkt_len = m->data_len;
	hp3d_pipe_burst(w.end[from].pipe, HP3_DIR_TX, &m, 1, w.now);
}

static void request(unsigned from, struct queue_pair *q)
{
	static const uint8_t payload[PAYLOAD];
	struct hp3_fields f = {.dest_qpn = from == 0 ? q->rqpn : q->lqpn, .payload = payload};

	if (q->left[from] == 0 && draw(3) == 0 && q->owed[!from] == 0) {
		q->owed[!from] = 64 + draw(200);
		q->read[!from] = q->psn[from];
		f.opcode = HP3_OP_RC_READ_REQUEST;
		f.psn = q->psn[from];
		f.dma_len = q->owed[!from] * PAYLOAD;
		q->psn[from] = hp3_psn_add(q->psn[from], q->owed[!from]);
	} else {
		bool first = q->left[from] == 0;

		if (first)
			q->left[from] = 64 + draw(200);
		f.dma_len = first ? q->left[from] * PAYLOAD : 0;
		q->left[from]--;
		f.opcode = first                ? HP3_OP_RC_WRITE_FIRST
			   : q->left[from] == 0 ? HP3_OP_RC_WRITE_LAST
						: HP3_OP_RC_WRITE_MIDDLE;
		f.ackreq = q->left[from] == 0;
		f.payload_len = PAYLOAD;
		f.psn = q->psn[from];
		q->psn[from] = hp3_psn_add(q->psn[from], 1);
	}
	emit(from, &f);
	if (draw(400) == 0 && q->left[from] != 0)
		q->psn[from] = hp3_psn_add(q->psn[from], HP3_PSN_MASK - draw(30));
}

static void reply(unsigned from, struct queue_pair *q)
{
	static const uint8_t payload[PAYLOAD];
	struct hp3_fields f = {.opcode = HP3_OP_RC_ACK,
		.dest_qpn = from == 0 ? q->rqpn : q->lqpn,
		.psn = hp3_psn_add(q->psn[!from], HP3_PSN_MASK),
		.syndrome = (uint8_t)(draw(60) == 0 ? 0x60 : 0x1f)};

	if (q->owed[from] != 0) {
		q->owed[from]--;
		f.opcode =
			q->owed[from] == 0 ? HP3_OP_RC_READ_RESP_LAST : HP3_OP_RC_READ_RESP_MIDDLE;
		f.psn = q->read[from];
		f.payload = payload;
		f.payload_len = PAYLOAD;
		q->read[from] = hp3_psn_add(q->read[from], 1);
	}
	emit(from, &f);
}

static void arrive(unsigned at)
{
	struct end *e = &w.end[at];
	uint32_t i;
	struct rte_mbuf *m;

	if (e->n == 0)
		return;
	i = draw(e->n < WINDOW ? e->n : WINDOW);
	m = e->in[i];
	memmove(&e->in[i], &e->in[i + 1], (--e->n - i) * sizeof(e->in[0]));
	if (draw(200) == 0)
		rte_pktmbuf_free(m);
	else
		hp3d_pipe_burst(e->pipe, HP3_DIR_RX, &m, 1, w.now);
}

static void congest(unsigned at, const struct queue_pair *q)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(w.pool);
	struct hp3_addressing a = way(!at);

	assert_non_null(m);
	m->data_len = (uint16_t)hp3_build_cnp(
		rte_pktmbuf_mtod(m, void *), 2048, &a, at == 0 ? q->lqpn : q->rqpn);
	m->pkt_len = m->data_len;
	hp3d_pipe_burst(w.end[at].pipe, HP3_DIR_RX, &m, 1, w.now);
}

static void report_as(unsigned at, const struct queue_pair *q, enum hp3_qp_kind kind,
	enum hp3_qp_source source, bool psn_known)
{
	struct hp3_addressing a = way(at);
	struct hp3_qp_event event = {.kind = (uint8_t)kind,
		.source = (uint8_t)source,
		.lqpn = at == 0 ? q->lqpn : q->rqpn,
		.rqpn = at == 0 ? q->rqpn : q->lqpn,
		.psn = q->psn[at],
		.psn_known = psn_known};

	memcpy(event.local, a.src_ip, 4);
	memcpy(event.remote, a.dst_ip, 4);
	hp3d_pipe_qp(w.end[at].pipe, &event, w.now);
}

static void tell(unsigned at, const struct queue_pair *q, enum hp3_qp_kind kind)
{
	enum hp3_qp_source source = draw(2) ? HP3_QP_SOURCE_KERNEL : HP3_QP_SOURCE_LIBRARY;

	report_as(at, q, kind, source, draw(2));
}

/* A queue pair gives way to another one that has one of its numbers, or both. */
static void reuse(struct queue_pair *q)
{
	uint32_t which = draw(3);

	if (draw(2))
		tell(draw(2), q, HP3_QP_DOWN);
	q->lqpn = which == 0 ? 0x1000 + w.next_qpn++ : q->lqpn;
	q->rqpn = which == 1 ? 0x20000 + w.next_qpn++ : q->rqpn;
	for (unsigned h = 0; h < 2; h++) {
		q->psn[h] = draw(HP3_PSN_MASK);
		q->left[h] = q->owed[h] = 0;
		tell(h, q, HP3_QP_UP);
	}
}

static void command(struct hp3d_pipe *p)
{
	struct hp3_cmd cmd = {.kind = (uint8_t)draw(3),
		.cause = HP3_CAUSE_OPERATOR,
		.flow = hp3_flow_next(hp3d_pipe_engine(p), draw(8))};

	if (draw(2))
		hp3d_pipe_command(p, &cmd, w.now);
	else
		hp3d_pipe_advise(p, &cmd, w.now);
}

/* In pieces: queue pairs are set up between them. */
static void forget(struct hp3d_pipe *p, struct queue_pair *q)
{
	hp3d_pipe_missed(p, w.now);
	while (!hp3d_pipe_is_anew(p, w.now)) {
		if (draw(20) == 0)
			reuse(q);
		w.now += 1000;
		hp3d_pipe_tick(p, w.now);
	}
}

static const char *seldom(unsigned at, struct queue_pair *q)
{
	struct hp3d_pipe *p = w.end[at].pipe;

	switch (draw(24)) {
	case 0:
		forget(p, q);
		return "missed()";
	case 1:
		hp3d_pipe_cancel_all(p, w.now);
		return "cancel_all()";
	case 2:
		hp3d_pipe_call_off(p, w.now);
		return "call_off()";
	case 3:
		hp3d_pipe_home_all(p, w.now);
		return "home_all()";
	case 4:
	case 5:
	case 6:
		reuse(q);
		return "a set-up event";
	default:
		command(p);
		return "a command";
	}
}

static const char *step(void)
{
	struct queue_pair *q = &w.qp[draw(QPS)];
	unsigned at = draw(2);

	w.now += draw(2000);
	switch (draw(12)) {
	case 0:
		w.now += draw(100) == 0 ? draw(20) * MS : 0;
		hp3d_pipe_tick(w.end[at].pipe, w.now);
		return "a tick";
	case 1:
		if (draw(100) == 0)
			return seldom(at, q);
		if (draw(2) == 0)
			congest(at, q);
		return "a CNP";
	case 2:
	case 3:
		reply(at, q);
		return "a reply";
	case 4:
	case 5:
	case 6:
		if (w.end[!at].n < WIRE / 2)
			request(at, q);
		return "a request";
	default:
		arrive(at);
		return "a packet's arrival";
	}
}

static void begin_with_key(uint64_t seed, enum hp3_cc_mode cc, const char *key)
{
	struct hp3_config cfg;

	hp3_config_defaults(&cfg);
	cfg.engine.max_flows = 64;
	cfg.engine.max_pairs = 16;
	cfg.engine.hold_packets = 1024;
	cfg.engine.spray.mode = HP3_SPRAY_ALL;
	cfg.engine.cc.mode = cc;
	snprintf(cfg.probes.probe_key, sizeof(cfg.probes.probe_key), "%s", key);
	assert_int_equal(hp3d_keyring_read(&cfg, stderr), 0);
	hp3d_keyring_take();
	w.rng = seed;
	w.now = 1000000 * MS;
	w.next_qpn = 0;
	for (unsigned h = 0; h < 2; h++) {
		struct hp3d_pipe *p = hp3d_pipe_create(&cfg, h, 0, seed, SOCKET_ID_ANY);

		assert_non_null(p);
		assert_int_equal(hp3d_pipe_add_agent(p, &cfg, SOCKET_ID_ANY), 0);
		hp3d_pipe_output(p, HP3_DIR_TX, leave_tx, &w.end[!h]);
		hp3d_pipe_output(p, HP3_DIR_RX, leave_rx, NULL);
		w.end[h] = (struct end){.pipe = p};
	}
	for (uint32_t i = 0; i < QPS; i++) {
		w.qp[i] = (struct queue_pair){.lqpn = 0x1000 + w.next_qpn,
			.rqpn = 0x20000 + w.next_qpn,
			.psn = {draw(1000), draw(1000)}};
		w.next_qpn++;
		tell(0, &w.qp[i], HP3_QP_UP);
		tell(1, &w.qp[i], HP3_QP_UP);
	}
}

static void begin(uint64_t seed, enum hp3_cc_mode cc)
{
	begin_with_key(seed, cc, "000102030405060708090a0b0c0d0e0f");
}

/* What a clean stop does; then the wire is empty, and nothing is anywhere. */
static void end(struct hp3d_pipe_counters *c, struct hp3_stats *s)
{
	for (unsigned h = 0; h < 2; h++) {
		struct end *e = &w.end[h];

		hp3d_pipe_cancel_all(e->pipe, w.now);
		assert_int_equal(hp3d_pipe_held(e->pipe), 0);
		nothing_is_lost("the stop");
		c->delivered += hp3d_pipe_counters(e->pipe)->delivered;
		c->shown += hp3d_pipe_counters(e->pipe)->shown;
		c->released += hp3d_pipe_counters(e->pipe)->released;
		c->drop_discarded += hp3d_pipe_counters(e->pipe)->drop_discarded;
		c->taken += hp3d_pipe_counters(e->pipe)->taken;
		s->paced += hp3_engine_stats(hp3d_pipe_engine(e->pipe))->paced;
		s->sprayed_reads += hp3_engine_stats(hp3d_pipe_engine(e->pipe))->sprayed_reads;
		s->sprayed += hp3_engine_stats(hp3d_pipe_engine(e->pipe))->sprayed;
	}
	for (unsigned h = 0; h < 2; h++) {
		rte_pktmbuf_free_bulk(w.end[h].in, w.end[h].n);
		hp3d_pipe_free(w.end[h].pipe);
	}
	assert_int_equal(rte_mempool_in_use_count(w.pool), 0);
	hp3d_keyring_free();
}

static void no_buffer_is_lost_whoever_calls_the_engine(void **state)
{
	struct hp3d_pipe_counters c = {0};
	struct hp3_stats s = {0};

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		begin(seed, seed % 2 == 0 ? HP3_CC_DCQCN : HP3_CC_NATIVE);
		for (uint32_t i = 0; i < STEPS; i++)
			nothing_is_lost(step());
		end(&c, &s);
	}
	/* ... of all kinds */
	printf("delivered %llu, shown %llu, released %llu, discarded %llu, taken %llu, paced %llu, "
	       "sprayed %llu, of READs %llu\n",
		(unsigned long long)c.delivered, (unsigned long long)c.shown,
		(unsigned long long)c.released, (unsigned long long)c.drop_discarded,
		(unsigned long long)c.taken, (unsigned long long)s.paced,
		(unsigned long long)s.sprayed, (unsigned long long)s.sprayed_reads);
	assert_true(c.delivered > 0 && c.shown > 0 && c.released > 0 && c.drop_discarded > 0);
	assert_true(c.taken > 0 && s.paced > 0 && s.sprayed > 0);
}

static uint32_t came[WIRE], n_came;

static void note_rx(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++) {
		struct hp3_view v;

		hp3_parse(rte_pktmbuf_mtod(m[i], void *), m[i]->data_len, &v);
		if (v.class == HP3_CLASS_RC_REQUEST && !(v.flags & HP3_VF_ATOMIC))
			came[n_came++] = v.psn;
	}
	rte_pktmbuf_free_bulk(m, n);
}

/* A request of host 0, behind whatever is on its way to host 1. */
static void append(const struct queue_pair *q, uint8_t opcode, uint32_t psn)
{
	static const uint8_t payload[PAYLOAD];
	const struct hp3_fields f = {.opcode = opcode,
		.dest_qpn = q->rqpn,
		.psn = psn,
		.dma_len = 1 << 20,
		.payload = payload,
		.payload_len = PAYLOAD};
	struct hp3_addressing a = way(0);
	struct rte_mbuf *m = rte_pktmbuf_alloc(w.pool);

	assert_non_null(m);
	m->data_len = (uint16_t)hp3_build(rte_pktmbuf_mtod(m, void *), 2048, &a, &f);
	m->pkt_len = m->data_len;
	w.end[1].in[w.end[1].n++] = m;
}

/* A question, and behind it in one burst the first two packets that it is about, swapped. */
static void a_question_counts_for_the_burst_that_brings_it(void **state)
{
	struct hp3d_pipe_counters c = {0};
	struct hp3_stats s = {0};
	const struct queue_pair q = {.lqpn = 0x5000, .rqpn = 0x25000, .psn = {700, 100}};

	begin(1, HP3_CC_OFF);
	request(0, &w.qp[0]); /* tells how host 1 is addressed */
	rte_pktmbuf_free_bulk(w.end[1].in, w.end[1].n);
	w.end[1].n = 0;
	hp3d_pipe_output(w.end[1].pipe, HP3_DIR_RX, note_rx, NULL);
	report_as(0, &q, HP3_QP_UP, HP3_QP_SOURCE_KERNEL, true);
	hp3d_pipe_tick(w.end[0].pipe, w.now);
	append(&q, HP3_OP_RC_WRITE_MIDDLE, 701);
	append(&q, HP3_OP_RC_WRITE_FIRST, 700);
	hp3d_pipe_burst(w.end[1].pipe, HP3_DIR_RX, w.end[1].in, (uint16_t)w.end[1].n, w.now);
	w.end[1].n = 0;
	assert_int_equal(n_came, 2);
	assert_int_equal(came[0], 700);
	assert_int_equal(came[1], 701);
	end(&c, &s);
}

/* Requests [from, to) arrive one by one, behind whatever is on its way to host 1. */
static void come(const struct queue_pair *q, uint32_t from, uint32_t to)
{
	for (uint32_t psn = from; psn < to; psn++) {
		append(q, HP3_OP_RC_WRITE_MIDDLE, psn);
		hp3d_pipe_burst(
			w.end[1].pipe, HP3_DIR_RX, w.end[1].in, (uint16_t)w.end[1].n, w.now);
		w.end[1].n = 0;
	}
}

/*
 * Two requests are missing for as long as hp3d waits. The first arrives, and what waited for it
 * leaves in two pieces. The call that releases the second piece also shows the RNIC the next gap.
 */
static void the_copy_behind_a_gap_passes_nothing(void **state)
{
	struct hp3d_pipe_counters c = {0};
	struct hp3_stats s = {0};
	const struct queue_pair q = {.lqpn = 0x5000, .rqpn = 0x25000, .psn = {700, 100}};
	const struct hp3d_pipe_counters *at;

	begin(1, HP3_CC_OFF);
	at = hp3d_pipe_counters(w.end[1].pipe);
	request(0, &w.qp[0]); /* tells how host 1 is addressed */
	rte_pktmbuf_free_bulk(w.end[1].in, w.end[1].n);
	w.end[1].n = 0;
	n_came = 0;
	hp3d_pipe_output(w.end[1].pipe, HP3_DIR_RX, note_rx, NULL);
	report_as(0, &q, HP3_QP_UP, HP3_QP_SOURCE_KERNEL, true);
	hp3d_pipe_tick(w.end[0].pipe, w.now);
	come(&q, 700, 701);
	come(&q, 702, 800); /* 701 and 800 are missing */
	come(&q, 801, 803);
	assert_int_equal(n_came, 1);
	for (uint32_t i = 0; i < 250 && at->shown == 0; i++) {
		w.now += 10 * US;
		hp3d_pipe_tick(w.end[1].pipe, w.now);
	}
	assert_int_equal(at->shown, 1);
	assert_int_equal(n_came, 2);
	assert_int_equal(came[1], 702);
	come(&q, 701, 702);
	assert_in_range(n_came, 4, 99); /* the first piece */
	hp3d_pipe_tick(w.end[1].pipe, w.now + 1);
	assert_int_equal(at->shown, 2);
	assert_int_equal(n_came, 2 + 99 + 1);
	for (uint32_t i = 0; i < 99; i++)
		assert_int_equal(came[2 + i], 701 + i);
	assert_int_equal(came[2 + 99], 801);
	end(&c, &s);
}

static uint32_t keys_of(struct hp3d_pipe *p)
{
	struct hp3_keying_info info[2];
	uint32_t at = 0;

	return hp3d_agent_key_list(hp3d_pipe_agent(p), &at, info, 2);
}

/*
 * Each burst of one packet, requests and replies in turn: hp3d of the host that only replies soon
 * knows with whom its RNIC talks, and so with whom it agrees on a key.
 */
static void a_host_that_only_replies_knows_its_peer(void **state)
{
	struct hp3d_pipe_counters c = {0};
	struct hp3_stats s = {0};
	struct queue_pair q = {.lqpn = 0x5000, .rqpn = 0x25000, .psn = {700, 100}};
	const struct hp3_fields ack = {.opcode = HP3_OP_RC_ACK, .dest_qpn = q.lqpn};
	struct rte_mbuf *other;

	begin_with_key(1, HP3_CC_OFF, "");
	other = rte_pktmbuf_alloc(w.pool);
	assert_non_null(other);
	memset(rte_pktmbuf_append(other, 64), 0, 64);
	hp3d_pipe_burst(w.end[1].pipe, HP3_DIR_TX, &other, 1, w.now); /* flows are no news */
	w.now += 20 * MS;
	for (unsigned i = 0; i < 2; i++) {
		append(&q, HP3_OP_RC_WRITE_MIDDLE, 700 + i);
		hp3d_pipe_burst(w.end[1].pipe, HP3_DIR_RX, w.end[1].in, 1, w.now);
		w.end[1].n = 0;
	}
	assert_int_equal(keys_of(w.end[1].pipe), 0);
	emit(1, &ack);
	assert_int_equal(keys_of(w.end[1].pipe), 1);
	end(&c, &s);
}

/* Packets are looked at between the pieces of a tick: here those of ageing (engine/tick.c). */
static void a_tick_is_one_piece(void **state)
{
	struct hp3_config cfg;
	struct hp3d_pipe *p;
	uint32_t pieces = 1;

	hp3_config_defaults(&cfg);
	cfg.engine.max_flows = 65536;
	cfg.engine.max_pairs = 16;
	p = hp3d_pipe_create(&cfg, 0, 0, 1, SOCKET_ID_ANY);
	assert_non_null(p);
	w.now = 1000000 * MS;
	while (hp3d_pipe_tick(p, w.now) <= w.now)
		pieces++;
	assert_in_range(pieces, 65536 / 64 / 128, 65536 / 64 / 128 + 2);
	hp3d_pipe_free(p);
}

/* Verbs mode: no packet passes hp3d, so none takes several paths. An engine that has to spray is
 * not made beside the data path. */
static void with_mode_spray_verbs_mode_starts(void **state)
{
	struct hp3_config cfg;
	struct hp3d_pipe *p;

	hp3_config_defaults(&cfg);
	cfg.engine.max_flows = 64;
	cfg.engine.max_pairs = 16;
	cfg.engine.spray.mode = HP3_SPRAY_ALL;
	snprintf(cfg.verbs.socket, sizeof(cfg.verbs.socket), "/run/hp3/verbs");
	p = hp3d_pipe_create(&cfg, 0, 0, 1, SOCKET_ID_ANY);
	assert_non_null(p);
	hp3d_pipe_free(p);
}

/* No packet waits for the kernel to find a page for the tables. */
static void tables_are_all_there(void **state)
{
	const size_t bytes = 16u << 20, page = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char there[(16u << 20) / 4096];
	struct hp3_config cfg;
	void *mem;

	hp3_config_defaults(&cfg);
	mem = hp3d_memory_get(&cfg, HP3D_MEMORY_TABLES, bytes, SOCKET_ID_ANY);
	assert_non_null(mem);
	assert_int_equal(mincore(mem, bytes, there), 0);
	for (size_t i = 0; i < bytes / page; i++)
		assert_true(there[i] & 1);
	hp3d_memory_put(mem, HP3D_MEMORY_TABLES, bytes);
}

/* Readers of all pools leave out those that are being created. */
static void pools_without_memory_are_not_ready(void **state)
{
	struct rte_mempool *pool =
		rte_mempool_create_empty("half", 64, 128, 0, 0, SOCKET_ID_ANY, 0);

	assert_non_null(pool);
	assert_false(hp3d_pool_is_ready(pool));
	assert_int_equal(rte_mempool_populate_default(pool), 64);
	assert_true(hp3d_pool_is_ready(pool));
	rte_mempool_free(pool);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_all_there),
		cmocka_unit_test(pools_without_memory_are_not_ready),
		cmocka_unit_test(no_buffer_is_lost_whoever_calls_the_engine),
		cmocka_unit_test(a_question_counts_for_the_burst_that_brings_it),
		cmocka_unit_test(the_copy_behind_a_gap_passes_nothing),
		cmocka_unit_test(a_host_that_only_replies_knows_its_peer),
		cmocka_unit_test(a_tick_is_one_piece),
		cmocka_unit_test(with_mode_spray_verbs_mode_starts),
	};
	static char args[][16] = {"test_pipe", "--no-huge", "--no-pci", "--no-shconf", "-m", "128",
		"-l", "0", "--log-level=1", "--no-telemetry"};
	char *argv[RTE_DIM(args) + 1] = {NULL};

	for (size_t i = 0; i < RTE_DIM(args); i++)
		argv[i] = args[i];
	if (rte_eal_init(RTE_DIM(args), argv) < 0)
		return 1;
	w.pool = rte_pktmbuf_pool_create("packets", BUFFERS, 0, 0, 2304, SOCKET_ID_ANY);
	if (w.pool == NULL)
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
