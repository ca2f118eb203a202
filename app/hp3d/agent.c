/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/agent.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <rte_malloc.h>
#include "ppp/placement.h"
#include "probes/responder.h"
#include "probes/standard.h"

#define BUFFERS     511u
#define FRAME_MAX   256u
#define BUFFER_SIZE (RTE_PKTMBUF_HEADROOM + FRAME_MAX)
#define SOURCES     1024u /* hosts whose probes are counted apart */
#define WINDOW_MAX  (1u << 20)

struct hp3d_agent {
	struct rte_mempool *pool;
	struct hp3_responder *responder;
	struct hp3_probe_key key;
	uint16_t port;
	uint32_t clock_s;
	struct hp3d_agent_counters c;
	struct hp3_probe_stats stats;
	struct hp3_tracer tracer;
	struct hp3d_neighbours neighbours;
};

static uint64_t wall_clock(void)
{
	return (uint64_t)time(NULL);
}

static uint64_t wall_clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

/* 32 hexadecimal digits; the loader has checked them. Empty: the zero key. */
static struct hp3_probe_key key_of(const char *hex)
{
	struct hp3_probe_key key = {{0}};
	char byte[3] = "";

	for (unsigned i = 0; i < sizeof(key.bytes) && hex[0] != '\0'; i++, hex += 2) {
		byte[0] = hex[0];
		byte[1] = hex[1];
		key.bytes[i] = (uint8_t)strtoul(byte, NULL, 16);
	}
	return key;
}

/* Probes remembered: what may be answered within the time that a probe is believed (responder.h).
 */
static uint32_t window(const struct hp3_config *c)
{
	uint64_t want = 3ull * c->probes.clock_s * c->probes.answers_per_second;
	uint32_t n = 1024;

	while (n < want && n < WINDOW_MAX)
		n *= 2;
	return n;
}

static struct hp3_responder_config responder_config(const struct hp3_config *c, uint64_t seed)
{
	return (struct hp3_responder_config){.key = key_of(c->probes.probe_key),
		.seed = seed,
		.clock_s = c->probes.clock_s,
		.source = {c->probes.answers_per_source, c->probes.answers_per_source},
		.all = {c->probes.answers_per_second, c->probes.answers_per_second},
		.sources = SOURCES,
		.window = window(c)};
}

/* The engine keeps the rate; here it is but a bound. */
static struct hp3_trace_params trace_params(const struct hp3_config *c)
{
	return (struct hp3_trace_params){.timeout_ns = c->ppp.probe_timeout_us * 1000ull,
		.limit = {c->ppp.traces_per_second, HP3_TRACES_MAX},
		.key = key_of(c->probes.probe_key)};
}

struct hp3d_agent *hp3d_agent_create(
	const struct hp3_config *cfg, const char *name, uint64_t seed, int socket)
{
	struct hp3_responder_config rc = responder_config(cfg, seed);
	struct hp3_trace_params tp = trace_params(cfg);
	size_t size = hp3_responder_size(&rc);
	struct hp3d_agent *a = rte_zmalloc_socket("hp3d agent", sizeof(*a), 0, socket);
	void *mem = rte_malloc_socket("hp3d responder", size, RTE_CACHE_LINE_SIZE, socket);

	if (a == NULL || mem == NULL) {
		rte_free(mem);
		rte_free(a);
		return NULL;
	}
	a->key = rc.key;
	a->clock_s = rc.clock_s;
	a->port = (uint16_t)cfg->probes.port;
	hp3_tracer_init(&a->tracer, &tp, seed, &a->stats);
	a->responder = hp3_responder_create(mem, size, &rc, &a->stats);
	a->pool = rte_mempool_lookup(name); /* of an agent that is gone */
	if (a->pool == NULL)
		a->pool = rte_pktmbuf_pool_create(name, BUFFERS, 0, 0, BUFFER_SIZE, socket);
	if (a->responder == NULL || a->pool == NULL) {
		hp3d_agent_free(a);
		return NULL;
	}
	return a;
}

void hp3d_agent_free(struct hp3d_agent *a)
{
	if (a == NULL)
		return;
	rte_free(a->responder); /* the pool stays: rings and ports may hold buffers of it still */
	rte_free(a);
}

void hp3d_agent_reconfigure(struct hp3d_agent *a, const struct hp3_config *cfg)
{
	struct hp3_responder_config rc = responder_config(cfg, 0);

	a->key = rc.key;
	a->clock_s = rc.clock_s;
	a->tracer.params = trace_params(cfg);
	hp3_responder_reconfigure(a->responder, &rc);
}

void hp3d_agent_learn(
	struct hp3d_agent *a, const void *frame, uint32_t len, const struct hp3_view *v)
{
	hp3d_neighbours_learn(&a->neighbours, frame, len, v);
}

/* --- what we say --- */

/* From the flow's remote end to its local one. */
static struct hp3_addressing turned(const struct hp3_addressing *a)
{
	struct hp3_addressing t = *a;

	memcpy(t.dst_mac, a->src_mac, sizeof(t.dst_mac));
	memcpy(t.src_mac, a->dst_mac, sizeof(t.src_mac));
	memcpy(t.dst_ip, a->src_ip, sizeof(t.dst_ip));
	memcpy(t.src_ip, a->dst_ip, sizeof(t.src_ip));
	return t;
}

static int build_probe(struct hp3d_agent *a, void *buf, const struct hp3_addressing *to,
	const struct hp3_act *act, uint32_t qpn)
{
	struct hp3_peer_probe p = {
		.dest_qpn = qpn, .psn = act->psn, .id = act->probe_id, .time = wall_clock()};

	switch ((enum hp3_probe_kind)act->op) {
	case HP3_PROBE_STANDARD:
		a->c.probes_standard++;
		return hp3_standard_build(buf, FRAME_MAX, to, qpn, act->psn);
	case HP3_PROBE_NAK:
		a->c.probes_nak++;
		return hp3_nak_probe_build(buf, FRAME_MAX, to, qpn, act->psn);
	default:
		a->c.probes_peer++;
		return hp3_peer_build(buf, FRAME_MAX, to, &p, &a->key);
	}
}

static int build_report(struct hp3d_agent *a, void *buf, const struct hp3_addressing *to,
	const struct hp3_act *act, const struct hp3_flow_info *f)
{
	struct hp3_peer_probe p = {.dest_qpn = f->rqpn,
		.psn = act->psn,
		.id = hp3_report_id(f->lqpn, (uint8_t)a->c.reports_sent++),
		.time = wall_clock(),
		.report = true};

	return hp3_peer_build(buf, FRAME_MAX, to, &p, &a->key);
}

/* How many flows of ours go to this peer, by path. */
static int build_loads(struct hp3d_agent *a, const struct hp3_engine *e, void *buf,
	const struct hp3_addressing *to, uint32_t flow)
{
	struct hp3_loads r = {.clock_us = wall_clock_us()};

	r.n = (uint8_t)hp3_load_to_names(e, flow, r.path, HP3_LOADS_PATHS);
	a->c.loads_sent++;
	return hp3_loads_build(buf, FRAME_MAX, to, &r, a->port, &a->key);
}

static int build(struct hp3d_agent *a, void *buf, const struct hp3_addressing *from_here,
	const struct hp3_act *act, const struct hp3_flow_info *f, uint64_t now)
{
	struct hp3_trace_ask ask = {
		.cookie = act->probe_id, .qpn = f->rqpn, .psn = act->psn, .ttl = act->op};
	struct hp3_addressing to = *from_here;

	if (act->kind == HP3_ACT_NAK) {
		to = turned(&to);
		to.sport = f->port;
		to.pkey = act->pkey;
		return hp3_build_ack(buf, FRAME_MAX, &to, f->lqpn, act->psn,
			HP3_SYN_NAK | HP3_NAK_PSN_SEQUENCE, act->msn);
	}
	to.sport = act->port;
	if (act->kind == HP3_ACT_REPORT)
		return build_report(a, buf, &to, act, f);
	if (act->kind == HP3_ACT_URGE) {
		a->c.urges_sent++;
		return hp3_standard_build(buf, FRAME_MAX, &to, f->rqpn, act->psn);
	}
	if (act->kind == HP3_ACT_CNP) {
		to.pkey = act->pkey;
		return hp3_build_cnp(buf, FRAME_MAX, &to, f->rqpn);
	}
	if (act->kind == HP3_ACT_TRACE)
		return hp3_trace_start(&a->tracer, &to, &ask, wall_clock(), now, buf, FRAME_MAX);
	return build_probe(a, buf, &to, act, f->rqpn);
}

/* `len`: of the frame that was built into it; below 0: none could be. */
static struct rte_mbuf *sized(struct rte_mbuf *m, int len)
{
	if (len < 0) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	return m;
}

struct rte_mbuf *hp3d_agent_make(struct hp3d_agent *a, const struct hp3_engine *e,
	const struct hp3_act *act, uint64_t now, enum hp3_dir *dir)
{
	const struct hp3d_neighbour *n;
	struct hp3_flow_info f;
	struct rte_mbuf *m;
	int len;

	if (hp3_flow_info(e, act->flow, now, &f) < 0)
		return NULL;
	n = hp3d_neighbours_find(&a->neighbours, f.ipv6, f.vlan, f.local, f.remote);
	if (n == NULL) {
		a->c.probe_no_way++;
		return NULL;
	}
	m = rte_pktmbuf_alloc(a->pool);
	if (m == NULL) {
		a->c.probe_no_buffer++;
		return NULL;
	}
	if (act->kind == HP3_ACT_TELL)
		len = build_loads(a, e, rte_pktmbuf_mtod(m, void *), &n->a, act->flow);
	else
		len = build(a, rte_pktmbuf_mtod(m, void *), &n->a, act, &f, now);
	*dir = act->kind == HP3_ACT_NAK ? HP3_DIR_RX : HP3_DIR_TX;
	return sized(m, len);
}

/* --- what is said to us --- */

static struct rte_mbuf *answer_to(struct hp3d_agent *a, const struct hp3_engine *e,
	const struct hp3_pkt *pkt, struct hp3_answer *reply, uint32_t turn)
{
	struct hp3_path_count count[HP3_LOAD_PATHS];
	uint32_t n = hp3_load_in_names(e, count, HP3_LOAD_PATHS);
	struct rte_mbuf *m = rte_pktmbuf_alloc(a->pool);
	int len;

	if (m == NULL) {
		a->c.probe_no_buffer++;
		return NULL;
	}
	hp3_answer_tell(reply, turn, count, n);
	len = hp3_answer_build(rte_pktmbuf_mtod(m, void *), FRAME_MAX, pkt->frame, &pkt->v, reply,
		a->port, &a->key);
	return sized(m, len);
}

static bool take_probe(struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts, struct rte_mbuf **answer)
{
	const uint8_t *ip = (const uint8_t *)pkt->frame + pkt->v.l3_off;
	bool ipv6 = pkt->v.flags & HP3_VF_IPV6;
	const uint8_t *local = ip + (ipv6 ? 24 : 16), *remote = ip + (ipv6 ? 8 : 12);
	struct hp3_answer reply;
	uint32_t turn;

	switch (hp3_responder_take(
		a->responder, pkt->frame, &pkt->v, wall_clock(), now, &reply, &turn)) {
	case HP3_RESPOND_PASS:
		return false;
	case HP3_RESPOND_ANSWER:
		*answer = answer_to(a, e, pkt, &reply, turn);
		hp3_peer_seen(e, ipv6, pkt->v.vlan, local, remote, now);
		return true;
	case HP3_RESPOND_REPORT:
		hp3_peer_report(
			e, ipv6, pkt->v.vlan, local, remote, hp3_report_qpn(reply.id), now, acts);
		hp3_peer_seen(e, ipv6, pkt->v.vlan, local, remote, now);
		return true;
	default:
		return true;
	}
}

static void tell(struct hp3_engine *e, const struct hp3_trace_result *r, uint64_t now)
{
	hp3_hop_told(e, (uint32_t)r->ask.cookie, (enum hp3_trace_outcome)r->outcome, r->ipv6,
		r->hop, now);
}

/* What does not end a trace of ours goes to the host. */
static bool take_icmp(
	struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now)
{
	struct hp3_trace_result r;
	int err = hp3_trace_icmp(&a->tracer, pkt->frame, pkt->len, &pkt->v, now, &r);

	if (err == 0)
		tell(e, &r, now);
	return err == 0 || err == -ESTALE;
}

void hp3d_agent_tick(struct hp3d_agent *a, uint64_t now)
{
	struct hp3_trace_result r;

	while (hp3_trace_expire(&a->tracer, now, &r))
		; /* the engine has a time-out of its own, behind this one */
}

static bool take_answer(struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts)
{
	struct hp3_trace_result traced;
	struct hp3_answer reply;

	switch (hp3_answer_read(
		pkt->frame, pkt->len, &pkt->v, a->port, &a->key, &reply, &a->stats)) {
	case HP3_ANSWER_NONE:
		return false;
	case HP3_ANSWER_OK:
		if (hp3_trace_reached(&a->tracer, reply.id, now, &traced)) {
			tell(e, &traced, now);
			return true;
		}
		hp3_load_told_names(e, reply.id, reply.path, reply.n, now);
		hp3_probe_reply(e, reply.id, reply.ce, now, acts);
		return true;
	default:
		return true;
	}
}

static bool take_loads(
	struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now)
{
	const uint8_t *ip = (const uint8_t *)pkt->frame + pkt->v.l3_off;
	bool ipv6 = pkt->v.flags & HP3_VF_IPV6;
	struct hp3_loads r;

	switch (hp3_loads_read(pkt->frame, pkt->len, &pkt->v, a->port, &a->key, wall_clock(),
		a->clock_s, &r, &a->stats)) {
	case HP3_LOADS_NONE:
		return false;
	case HP3_LOADS_OK:
		a->c.loads_stale +=
			hp3_load_from_names(e, ipv6, pkt->v.vlan, ip + (ipv6 ? 24 : 16),
				ip + (ipv6 ? 8 : 12), r.clock_us, r.path, r.n, now) == -ESTALE;
		return true;
	default:
		return true;
	}
}

bool hp3d_agent_take(struct hp3d_agent *a, struct hp3_engine *e, const struct hp3_pkt *pkt,
	uint64_t now, struct hp3_acts *acts, struct rte_mbuf **answer)
{
	acts->n = 0;
	*answer = NULL;
	if (pkt->v.class == HP3_CLASS_RC_REQUEST)
		return take_probe(a, e, pkt, now, acts, answer);
	if (pkt->v.reason == HP3_PARSE_NOT_UDP)
		return take_icmp(a, e, pkt, now);
	return take_answer(a, e, pkt, now, acts) || take_loads(a, e, pkt, now);
}

const struct hp3d_agent_counters *hp3d_agent_counters(const struct hp3d_agent *a)
{
	return &a->c;
}

const struct hp3_probe_stats *hp3d_agent_stats(const struct hp3d_agent *a)
{
	return &a->stats;
}
