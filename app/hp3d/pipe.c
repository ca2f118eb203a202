/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/pipe.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <rte_ether.h>
#include <rte_malloc.h>
#include <rte_prefetch.h>
#include "app/hp3d/agent.h"
#include "app/hp3d/engine_config.h"
#include "app/hp3d/hold.h"
#include "app/hp3d/memory.h"
#include "roce/icrc.h"

#define LEARN_EVERY 64u /* bursts */
#define OUT_VECTOR  64u
#define GROUP       8u /* packets, see_all() */

struct output {
	hp3d_send_fn *send;
	void *ctx;
	uint16_t n;
	struct rte_mbuf *m[OUT_VECTOR];
};

struct hp3d_pipe {
	struct hp3_engine *engine;
	size_t engine_size;
	struct hp3d_hold *hold;
	struct hp3d_agent *agent; /* NULL: hp3d says nothing by itself (replay) */
	uint64_t learnt; /* flows created when neighbours were learnt last */
	struct output out[2];
	hp3d_event_fn *on_event;
	void *event_ctx;
	struct hp3_flow_info leaving; /* while the engine removes that flow */
	uint16_t rail, worker;
	struct hp3d_pipe_counters c;
	struct hp3_acts acts;
	struct hp3_pkt pkts[HP3D_BURST_MAX];
	struct hp3_verdict verdicts[HP3D_BURST_MAX];
};

static void no_output(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	rte_pktmbuf_free_bulk(m, n);
}

struct hp3d_pipe *hp3d_pipe_create(
	const struct hp3_config *cfg, unsigned rail, unsigned worker, uint64_t seed, int socket)
{
	struct hp3_engine_config ec = hp3d_engine_config(cfg, seed);
	size_t size = hp3_engine_size(&ec);
	struct hp3d_pipe *p =
		rte_zmalloc_socket("hp3d pipe", sizeof(*p), RTE_CACHE_LINE_SIZE, socket);
	void *mem;

	if (p == NULL)
		return NULL;
	p->rail = (uint16_t)rail;
	p->worker = (uint16_t)worker;
	p->out[HP3_DIR_TX].send = p->out[HP3_DIR_RX].send = no_output;
	p->hold = hp3d_hold_create(cfg->rfr.max_moves, cfg->rfr.hold_packets, socket);
	p->engine_size = size;
	mem = hp3d_memory_get(cfg, HP3D_MEMORY_TABLES, size, socket);
	p->engine = hp3_engine_create(mem, size, &ec);
	if (p->hold == NULL || p->engine == NULL) {
		if (p->engine == NULL)
			hp3d_memory_put(mem, HP3D_MEMORY_TABLES, size);
		hp3d_pipe_free(p);
		return NULL;
	}
	return p;
}

void hp3d_pipe_reconfigure(struct hp3d_pipe *p, const struct hp3_config *cfg)
{
	struct hp3_engine_config ec = hp3d_engine_config(cfg, cfg->policy.seed);

	hp3_engine_reconfigure(p->engine, &ec);
	if (p->agent != NULL)
		hp3d_agent_reconfigure(p->agent, cfg);
}

void hp3d_pipe_free(struct hp3d_pipe *p)
{
	if (p == NULL)
		return;
	hp3d_hold_free(p->hold);
	hp3d_agent_free(p->agent);
	hp3d_memory_put(p->engine, HP3D_MEMORY_TABLES, p->engine_size);
	rte_free(p);
}

int hp3d_pipe_speak(struct hp3d_pipe *p, const struct hp3_config *cfg, uint64_t seed, int socket)
{
	char name[RTE_MEMPOOL_NAMESIZE];

	snprintf(name, sizeof(name), "hp3d_agent_%u_%u", p->rail, p->worker);
	p->agent = hp3d_agent_create(cfg, name, seed, socket);
	return p->agent != NULL ? 0 : -ENOMEM;
}

struct hp3d_agent *hp3d_pipe_agent(struct hp3d_pipe *p)
{
	return p->agent;
}

void hp3d_pipe_output(struct hp3d_pipe *p, enum hp3_dir dir, hp3d_send_fn *send, void *ctx)
{
	p->out[dir].send = send;
	p->out[dir].ctx = ctx;
}

void hp3d_pipe_on_event(struct hp3d_pipe *p, hp3d_event_fn *fn, void *ctx)
{
	p->on_event = fn;
	p->event_ctx = ctx;
}

/* The vector is empty before it is handed over, so that send() may lead back here. */
static void flush(struct output *o)
{
	struct rte_mbuf *m[OUT_VECTOR];
	uint16_t n = o->n;

	if (n == 0)
		return;
	memcpy(m, o->m, n * sizeof(m[0]));
	o->n = 0;
	o->send(o->ctx, m, n);
}

static inline void emit(struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf *m)
{
	struct output *o = &p->out[dir];

	o->m[o->n++] = m;
	if (o->n == OUT_VECTOR)
		flush(o);
}

/* Held packets are rewritten when they leave: only then the port is known. */
static void release(struct hp3d_pipe *p, const struct hp3_act *a)
{
	struct rte_mbuf *m;
	struct hp3_view v;

	for (uint32_t n = a->count; n > 0 && (m = hp3d_hold_get(p->hold, a->slot)) != NULL; n--) {
		void *frame = rte_pktmbuf_mtod(m, void *);
		bool ackreq = n == 1 && (a->flags & HP3_SET_ACKREQ);

		hp3_parse(frame, rte_pktmbuf_data_len(m), &v);
		if (v.sport != a->port || ackreq) {
			hp3_set_sport_ackreq(
				frame, &v, a->port, ackreq || (v.flags & HP3_VF_ACKREQ));
			p->c.changed++;
		}
		p->c.released++;
		emit(p, HP3_DIR_TX, m);
	}
}

static void discard(struct hp3d_pipe *p, const struct hp3_act *a)
{
	struct rte_mbuf *m;

	for (uint32_t n = a->count; n > 0 && (m = hp3d_hold_get(p->hold, a->slot)) != NULL; n--) {
		p->c.drop_discarded++;
		rte_pktmbuf_free(m);
	}
}

static void report(struct hp3d_pipe *p, const struct hp3_event *ev)
{
	struct hp3d_event out = {.ev = *ev, .rail = p->rail, .worker = p->worker};

	if (p->on_event == NULL)
		return;
	if (hp3_flow_info(p->engine, ev->flow, ev->t_ns, &out.flow) < 0 &&
		p->leaving.flow == ev->flow)
		out.flow = p->leaving;
	p->on_event(p->event_ctx, &out);
}

/* A packet of our own. */
static void say(struct hp3d_pipe *p, const struct hp3_act *a, uint64_t now)
{
	enum hp3_dir dir;
	struct rte_mbuf *m;

	if (p->agent == NULL)
		return;
	m = hp3d_agent_make(p->agent, p->engine, a, now, &dir);
	if (m != NULL)
		emit(p, dir, m);
}

static void carry_out(struct hp3d_pipe *p, uint64_t now)
{
	for (uint32_t i = 0; i < p->acts.n; i++) {
		const struct hp3_act *a = &p->acts.act[i];

		if (a->kind == HP3_ACT_RELEASE)
			release(p, a);
		else if (a->kind == HP3_ACT_DISCARD)
			discard(p, a);
		else if (a->kind == HP3_ACT_EVENT)
			report(p, &a->event);
		else if (a->kind == HP3_ACT_PROBE || a->kind == HP3_ACT_NAK ||
			 a->kind == HP3_ACT_CNP || a->kind == HP3_ACT_TRACE ||
			 a->kind == HP3_ACT_REPORT || a->kind == HP3_ACT_URGE ||
			 a->kind == HP3_ACT_TELL)
			say(p, a, now);
	}
}

static inline void pass(struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf *m,
	struct hp3_pkt *pkt, const struct hp3_verdict *vd)
{
	void *frame = rte_pktmbuf_mtod(m, void *);
	bool ackreq = (vd->flags & HP3_SET_ACKREQ) && !(pkt->v.flags & HP3_VF_ACKREQ);

	if (ackreq) {
		hp3_set_sport_ackreq(frame, &pkt->v, vd->sport, true);
		p->c.changed++;
	} else if (vd->sport != pkt->v.sport) {
		hp3_set_sport(frame, &pkt->v, vd->sport);
		p->c.changed++;
	}
	if (unlikely(vd->flags & (HP3_SET_BECN | HP3_CLEAR_BECN)))
		hp3_set_becn(frame, &pkt->v, vd->flags & HP3_SET_BECN);
	emit(p, dir, m);
}

static void obey(struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf *m, struct hp3_pkt *pkt,
	const struct hp3_verdict *vd)
{
	switch (vd->kind) {
	case HP3_PASS:
		pass(p, dir, m, pkt, vd);
		break;
	case HP3_HOLD:
		if ((vd->flags & HP3_SET_ACKREQ) && !(pkt->v.flags & HP3_VF_ACKREQ))
			hp3_set_ackreq(rte_pktmbuf_mtod(m, void *), &pkt->v, true);
		if (hp3d_hold_put(p->hold, vd->slot, m) < 0) {
			p->c.drop_no_node++;
			rte_pktmbuf_free(m);
		}
		break;
	case HP3_CONSUME:
		p->c.consumed++;
		rte_pktmbuf_free(m);
		break;
	default:
		p->c.drop_engine++;
		rte_pktmbuf_free(m);
		break;
	}
}

/* One buffer of our own. A chain is joined where its first buffer has room. */
static bool is_writable(struct rte_mbuf *m)
{
	return !RTE_MBUF_CLONED(m) && rte_mbuf_refcnt_read(m) == 1 &&
	       (m->nb_segs == 1 || rte_pktmbuf_linearize(m) == 0);
}

/*
 * Drivers that strip VLAN tags (net_af_packet does, unasked) hand them over beside the packet. The
 * tag belongs to the flow's key and must go out again: back into the frame with it. A packet that
 * cannot be read or written in place is shown without a frame.
 */
static __attribute__((noinline)) void show_odd(
	struct hp3d_pipe *p, struct rte_mbuf **m, struct hp3_pkt *pkt)
{
	if ((*m)->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED)
		rte_vlan_insert(m);
	pkt->len = rte_pktmbuf_pkt_len(*m);
	pkt->frame = NULL;
	if (is_writable(*m))
		pkt->frame = rte_pktmbuf_mtod(*m, void *);
	else
		p->c.not_linear++;
}

static inline void show(struct hp3d_pipe *p, struct rte_mbuf **m, struct hp3_pkt *pkt)
{
	const uint64_t odd =
		RTE_MBUF_F_RX_VLAN_STRIPPED | RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL;
	uint32_t shape; /* one segment, one reference */

	memcpy(&shape, &(*m)->refcnt, sizeof(shape));
	pkt->trusted = false;
	if (unlikely(shape != 0x10001u || ((*m)->ol_flags & odd) != 0)) {
		show_odd(p, m, pkt);
		return;
	}
	pkt->frame = rte_pktmbuf_mtod(*m, void *);
	pkt->len = rte_pktmbuf_data_len(*m);
	rte_prefetch0(pkt->frame);
}

_Static_assert(offsetof(struct rte_mbuf, nb_segs) == offsetof(struct rte_mbuf, refcnt) + 2,
	"read together");

/*
 * In groups, each step one group ahead of the next: buffer headers, frames, then parsing, which
 * itself asks for the buckets. So a load has the time of a group, and never do more than a core can
 * have under way wait for each other. Returns how many packets are not what this way is for.
 */
static uint32_t see_all(
	struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf **m, uint32_t n, uint64_t *bytes)
{
	uint32_t asked = RTE_MIN(n, 2 * GROUP), shown = 0, others = 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < asked; i++)
		rte_prefetch0(m[i]);
	for (uint32_t seen = 0; seen < n;) {
		uint32_t end = RTE_MIN(n, seen + 2 * GROUP);

		for (; shown < end; shown++) {
			if (asked < n)
				rte_prefetch0(m[asked++]);
			show(p, &m[shown], &p->pkts[shown]);
			sum += p->pkts[shown].len;
		}
		end = RTE_MIN(n, seen + GROUP);
		others += hp3_see_burst(p->engine, p->pkts + seen, end - seen, dir);
		seen = end;
	}
	*bytes = sum;
	return others;
}

/* Probes of peers and their answers end here, before the RNIC. */
static bool is_ours(struct hp3d_pipe *p, const struct hp3_pkt *pkt, uint64_t now)
{
	struct rte_mbuf *answer;

	if (p->agent == NULL || !hp3d_agent_take(p->agent, p->engine, pkt, now, &p->acts, &answer))
		return false;
	carry_out(p, now);
	if (answer != NULL)
		emit(p, HP3_DIR_TX, answer);
	return true;
}

/*
 * How hosts are addressed is learnt from what the local one sends: from packets of reliable
 * connections now and then, and where a flow is new; from others whenever the place changes.
 */
static void learn(struct hp3d_pipe *p, uint16_t n, bool all)
{
	for (uint16_t i = 0; i < n; i++) {
		const struct hp3_pkt *pkt = &p->pkts[i];
		bool rc =
			pkt->v.class == HP3_CLASS_RC_REQUEST || pkt->v.class == HP3_CLASS_RC_REPLY;

		if (all || !rc)
			hp3d_agent_learn(p->agent, pkt->frame, pkt->len, &pkt->v);
	}
}

/* The verdicts of packets [from, to) are carried out. */
static void obey_all(
	struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf **m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		if (likely(p->verdicts[i].kind == HP3_PASS))
			pass(p, dir, m[i], &p->pkts[i], &p->verdicts[i]);
		else
			obey(p, dir, m[i], &p->pkts[i], &p->verdicts[i]);
	}
}

/* Packets leave as they came. */
static void pass_all(struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf **m, uint32_t n)
{
	struct output *o = &p->out[dir];

	flush(o);
	o->send(o->ctx, m, (uint16_t)n);
}

/* Packets [from, to) go through the engine; actions leave before the packet that they came with. */
static void engage(struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf **m, uint32_t from,
	uint32_t to, uint64_t now)
{
	while (from < to) {
		uint32_t done = hp3_burst(p->engine, p->pkts + from, to - from, dir, now,
			p->verdicts + from, &p->acts);

		if (likely(p->acts.n == 0)) {
			if (likely(!p->acts.obey))
				pass_all(p, dir, m + from, done);
			else
				obey_all(p, dir, m, from, from + done);
		} else {
			obey_all(p, dir, m, from, from + done - 1);
			carry_out(p, now);
			obey_all(p, dir, m, from + done - 1, from + done);
		}
		from += done;
	}
}

static void count(
	struct hp3d_pipe *p, enum hp3_dir dir, uint32_t n, uint32_t others, uint64_t bytes)
{
	const uint8_t main = dir == HP3_DIR_TX ? HP3_CLASS_RC_REQUEST : HP3_CLASS_RC_REPLY;

	p->c.class[main] += n - others;
	p->c.reason[HP3_PARSE_OK] += n - others;
	p->c.bursts++;
	*(dir == HP3_DIR_TX ? &p->c.packets_tx : &p->c.packets_rx) += n;
	*(dir == HP3_DIR_TX ? &p->c.bytes_tx : &p->c.bytes_rx) += bytes;
	for (uint32_t i = 0; unlikely(others != 0) && i < n; i++) {
		const struct hp3_view *v = &p->pkts[i].v;

		if (v->class != main) {
			p->c.class[v->class]++;
			p->c.reason[v->reason]++;
		}
	}
}

void hp3d_pipe_burst(
	struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf **m, uint16_t n, uint64_t now)
{
	uint32_t from = 0, others;
	uint64_t bytes;

	others = see_all(p, dir, m, n, &bytes);
	count(p, dir, n, others, bytes);
	for (uint32_t i = 0; dir == HP3_DIR_RX && others != 0 && i < n; i++) {
		if (likely(!hp3d_agent_wants(&p->pkts[i].v)))
			continue;
		engage(p, dir, m, from, i, now); /* what came before it comes first */
		from = i;
		if (is_ours(p, &p->pkts[i], now)) {
			rte_pktmbuf_free(m[i]);
			from++;
		}
	}
	engage(p, dir, m, from, n, now);
	if (dir == HP3_DIR_TX && p->agent != NULL) {
		uint64_t flows = hp3_engine_stats(p->engine)->flows_created;
		bool all = flows != p->learnt || p->c.bursts % LEARN_EVERY == 0;

		if (all || others != 0)
			learn(p, n, all);
		p->learnt = flows;
	}
	flush(&p->out[HP3_DIR_TX]);
	flush(&p->out[HP3_DIR_RX]);
}

uint64_t hp3d_pipe_tick(struct hp3d_pipe *p, uint64_t now)
{
	uint64_t due;

	if (p->agent != NULL)
		hp3d_agent_tick(p->agent, now);
	do {
		p->acts.n = 0;
		due = hp3_tick(p->engine, now, &p->acts);
		carry_out(p, now);
	} while (p->acts.more);
	flush(&p->out[HP3_DIR_TX]);
	flush(&p->out[HP3_DIR_RX]);
	return due;
}

int hp3d_pipe_command(struct hp3d_pipe *p, const struct hp3_cmd *cmd, uint64_t now)
{
	int ret;

	p->acts.n = 0;
	ret = hp3_command(p->engine, cmd, now, &p->acts);
	carry_out(p, now);
	flush(&p->out[HP3_DIR_TX]);
	return ret;
}

/* The last events of a flow that goes are carried out when it is gone. */
static void note_leaving(struct hp3d_pipe *p, const struct hp3_qp_event *ev, uint64_t now)
{
	uint32_t flow =
		hp3_flow_find(p->engine, ev->ipv6, ev->vlan, ev->local, ev->remote, ev->rqpn);

	p->leaving.flow = HP3_NO_FLOW;
	if (flow != HP3_NO_FLOW)
		hp3_flow_info(p->engine, flow, now, &p->leaving);
}

int hp3d_pipe_qp(struct hp3d_pipe *p, const struct hp3_qp_event *ev, uint64_t now)
{
	int ret;

	note_leaving(p, ev, now);
	p->acts.n = 0;
	ret = hp3_qp(p->engine, ev, now, &p->acts);
	carry_out(p, now);
	p->leaving.flow = HP3_NO_FLOW;
	flush(&p->out[HP3_DIR_TX]);
	return ret;
}

static void command_all(struct hp3d_pipe *p, enum hp3_cmd_kind kind, uint64_t now)
{
	struct hp3_flow_info info;

	for (uint32_t f = hp3_flow_next(p->engine, 0); f != HP3_NO_FLOW;
		f = hp3_flow_next(p->engine, f + 1)) {
		struct hp3_cmd cmd = {.kind = (uint8_t)kind, .cause = HP3_CAUSE_STOP, .flow = f};

		if (hp3_flow_info(p->engine, f, now, &info) != 0)
			continue;
		if (kind == HP3_CMD_HOME ? info.moved : info.state != HP3_RFR_STEADY)
			hp3d_pipe_command(p, &cmd, now);
	}
}

void hp3d_pipe_cancel_all(struct hp3d_pipe *p, uint64_t now)
{
	command_all(p, HP3_CMD_CANCEL, now);
}

void hp3d_pipe_home_all(struct hp3d_pipe *p, uint64_t now)
{
	command_all(p, HP3_CMD_HOME, now);
}

struct hp3_engine *hp3d_pipe_engine(struct hp3d_pipe *p)
{
	return p->engine;
}

struct hp3d_pipe_counters *hp3d_pipe_counters(struct hp3d_pipe *p)
{
	return &p->c;
}

uint32_t hp3d_pipe_held(const struct hp3d_pipe *p)
{
	return hp3d_hold_count(p->hold);
}

uint32_t hp3d_pipe_held_peak(const struct hp3d_pipe *p)
{
	return hp3d_hold_peak(p->hold);
}
