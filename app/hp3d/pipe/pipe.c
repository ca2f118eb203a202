/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path of a burst: prefetch, parse, engine, verdicts. All per-packet work is in this file, so
 * that the compiler optimizes it as a whole.
 */
#include <string.h>
#include <rte_ether.h>
#include <rte_prefetch.h>
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/internal.h"
#include "roce/icrc.h"

#define LEARN_EVERY 64u /* bursts of the RNIC between two times of learning, */
#define LEARN_NS    10000000ull /* or this time, for hosts that send few packets */
#define GROUP       8u /* packets, see_all() */

/* The vector is emptied before send() is called, because send() may call this function again. */
void hp3d_pipe_flush(struct hp3d_pipe *p, enum hp3_dir dir)
{
	struct hp3d_pipe_out *o = &p->out[dir];
	struct rte_mbuf *m[HP3D_OUT_VECTOR];
	uint16_t n = o->n;

	if (n == 0)
		return;
	memcpy(m, o->m, n * sizeof(m[0]));
	o->n = 0;
	p->c.sent += n;
	o->send(o->ctx, m, n);
}

static inline void pass_packet(struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf *m,
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
	hp3d_pipe_emit(p, dir, m);
}

/* The packet in hand: number `i` of p->pkts and p->verdicts, in buffer `m`. */
struct in_hand {
	enum hp3_dir dir;
	struct rte_mbuf *m;
	uint32_t i;
};

static inline void hold_packet(
	struct hp3d_pipe *p, struct rte_mbuf *m, struct hp3_pkt *pkt, const struct hp3_verdict *vd)
{
	if ((vd->flags & HP3_SET_ACKREQ) && !(pkt->v.flags & HP3_VF_ACKREQ))
		hp3_set_ackreq(rte_pktmbuf_mtod(m, void *), &pkt->v, true);
	if (unlikely(vd->flags & HP3_CLEAR_BECN))
		hp3_set_becn(rte_pktmbuf_mtod(m, void *), &pkt->v, false);
	p->held[vd->held] = m;
	if (unlikely(++p->unroomed == HP3D_ROOM_EVERY))
		hp3d_pipe_make_room(p);
}

static void obey_verdict(struct hp3d_pipe *p, const struct in_hand *hand)
{
	const struct hp3_verdict *vd = &p->verdicts[hand->i];
	struct hp3_pkt *pkt = &p->pkts[hand->i];
	struct rte_mbuf *m = hand->m;

	switch (vd->kind) {
	case HP3_PASS:
		pass_packet(p, hand->dir, m, pkt, vd);
		break;
	case HP3_HOLD:
		hold_packet(p, m, pkt, vd);
		break;
	case HP3_PASS_DELIVER:
		pass_packet(p, hand->dir, m, pkt, vd);
		hp3d_pipe_deliver(p, vd->held, vd->count);
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

/*
 * Carries out each action in p->acts of the latest engine call once: actions that come first, the
 * verdict of the packet in hand, actions that follow that packet. Without a packet in hand (NULL),
 * all actions in the order of the list. Every buffer that the engine gives back goes through here.
 */
static void carry_out(struct hp3d_pipe *p, const struct in_hand *hand, uint64_t now)
{
	for (uint32_t i = 0; i < p->acts.n; i++) {
		if (hand == NULL || !hp3_act_follows(&p->acts.act[i]))
			hp3d_pipe_act(p, &p->acts.act[i], now);
	}
	if (hand != NULL)
		obey_verdict(p, hand);
	for (uint32_t i = 0; hand != NULL && i < p->acts.n; i++) {
		if (hp3_act_follows(&p->acts.act[i]))
			hp3d_pipe_act(p, &p->acts.act[i], now);
	}
	p->acts.n = 0;
}

void hp3d_pipe_settle(struct hp3d_pipe *p, uint64_t now)
{
	carry_out(p, NULL, now);
	hp3d_pipe_flush(p, HP3_DIR_TX);
	hp3d_pipe_flush(p, HP3_DIR_RX);
}

/* One unshared buffer. A chain is joined if its first buffer has room. */
static bool is_writable(struct rte_mbuf *m)
{
	return !RTE_MBUF_CLONED(m) && rte_mbuf_refcnt_read(m) == 1 &&
	       (m->nb_segs == 1 || rte_pktmbuf_linearize(m) == 0);
}

/*
 * Drivers that strip VLAN tags (net_af_packet always does) pass them in the mbuf's header. The tag
 * is part of the flow's key and must leave with the packet, so it is put back into the frame. A
 * packet that cannot be read or written in place gets no frame.
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

static inline void show_packet(struct hp3d_pipe *p, struct rte_mbuf **m, struct hp3_pkt *pkt)
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
 * In groups, each step one group ahead of the next: prefetch buffer headers, prefetch frames, then
 * parse, which prefetches the buckets. So a load may take as long as the work on a group, and a
 * core has no more loads under way than it supports. Returns the number of packets off the fast
 * path.
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
			show_packet(p, &m[shown], &p->pkts[shown]);
			sum += p->pkts[shown].len;
		}
		end = RTE_MIN(n, seen + GROUP);
		others += hp3_see_burst(p->engine, p->pkts + seen, end - seen, dir);
		seen = end;
	}
	*bytes = sum;
	return others;
}

/* Probes and answers of peers end here: they do not reach the RNIC. */
static bool is_ours(struct hp3d_pipe *p, const struct hp3_pkt *pkt, uint64_t now)
{
	struct rte_mbuf *answer;

	if (p->agent == NULL || !hp3d_agent_take(p->agent, p->engine, pkt, now, &p->acts, &answer))
		return false;
	p->c.taken++;
	carry_out(p, NULL, now);
	if (answer != NULL)
		hp3d_pipe_emit_own(p, HP3_DIR_TX, answer, HP3_NO_FLOW);
	return true;
}

/* Cheap test before ends_here(). */
static inline bool may_end_here(enum hp3_dir dir, const struct hp3_view *v)
{
	if (dir == HP3_DIR_RX)
		return hp3d_agent_wants(v);
	return v->class == HP3_CLASS_OTHER && v->reason == HP3_PARSE_NOT_ROCE;
}

/* Packets for hp3d, and packets of the host that only hp3d may send. */
static bool ends_here(
	struct hp3d_pipe *p, enum hp3_dir dir, const struct hp3_pkt *pkt, uint64_t now)
{
	if (dir == HP3_DIR_RX)
		return is_ours(p, pkt, now);
	if (p->agent == NULL || !hp3d_agent_is_of_host(p->agent, pkt))
		return false;
	p->c.drop_host++;
	return true;
}

/*
 * Learns the addressing of hosts from packets that the local host sends. From packets of reliable
 * connections, it learns now and then, and for new flows; from all others always.
 */
static void learn_neighbours(struct hp3d_pipe *p, uint16_t n, bool all, uint64_t now)
{
	for (uint16_t i = 0; i < n; i++) {
		const struct hp3_pkt *pkt = &p->pkts[i];
		bool rc =
			pkt->v.class == HP3_CLASS_RC_REQUEST || pkt->v.class == HP3_CLASS_RC_REPLY;

		if (all || !rc)
			hp3d_agent_learn(p->agent, HP3_PARSED(pkt), now);
	}
}

/* Periodic, because a host that only replies creates no flows. */
static bool learns_all(struct hp3d_pipe *p, uint64_t now)
{
	uint64_t flows = hp3_engine_stats(p->engine)->flows_created;
	bool due = ++p->unlearnt >= LEARN_EVERY || now - p->learnt_at >= LEARN_NS;

	if (!due && flows == p->learnt)
		return false;
	p->learnt = flows;
	p->learnt_at = now;
	p->unlearnt = 0;
	return true;
}

/* Carries out the engine's verdicts on packets [from, to). */
static void obey_all(
	struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf **m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++) {
		if (likely(p->verdicts[i].kind == HP3_PASS))
			pass_packet(p, dir, m[i], &p->pkts[i], &p->verdicts[i]);
		else if (likely(p->verdicts[i].kind == HP3_HOLD))
			hold_packet(p, m[i], &p->pkts[i], &p->verdicts[i]);
		else
			obey_verdict(p, &(struct in_hand){dir, m[i], i});
	}
}

/* Packets leave unchanged. */
static void pass_all(struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf **m, uint32_t n)
{
	struct hp3d_pipe_out *o = &p->out[dir];

	hp3d_pipe_flush(p, dir);
	p->c.sent += n;
	o->send(o->ctx, m, (uint16_t)n);
}

static void note_held(struct hp3d_pipe *p)
{
	p->held_peak = RTE_MAX(p->held_peak, hp3d_pipe_held(p));
}

/* Notes by which rail each packet leaves. Before actions: the packet in hand may have changed the
 * rail of its flow. */
static void route_packets(
	struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf **m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		m[i]->port =
			dir == HP3_DIR_TX
				? hp3d_bond_sent(p->bond, &p->pkts[i].v, p->verdicts[i].flow)
				: hp3d_bond_arrived(p->bond, &p->pkts[i].v, p->verdicts[i].flags);
}

/* Packets [from, to) pass the engine; actions are carried out before the packet that caused
 * them. */
static void run_engine(struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf **m, uint32_t from,
	uint32_t to, uint64_t now)
{
	while (from < to) {
		uint32_t done = hp3_burst(p->engine, p->pkts + from, to - from, dir, now,
			p->verdicts + from, &p->acts);

		if (unlikely(p->bond != NULL))
			route_packets(p, dir, m, from, from + done);
		if (likely(p->acts.n == 0)) {
			if (likely(!p->acts.obey)) {
				pass_all(p, dir, m + from, done);
			} else {
				note_held(p);
				obey_all(p, dir, m, from, from + done);
			}
		} else {
			uint32_t last = from + done - 1;

			note_held(p);
			obey_all(p, dir, m, from, last);
			carry_out(p, &(struct in_hand){dir, m[last], last}, now);
		}
		from += done;
	}
}

static void count_burst(
	struct hp3d_pipe *p, enum hp3_dir dir, uint32_t n, uint32_t others, uint64_t bytes)
{
	const uint8_t main = dir == HP3_DIR_TX ? HP3_CLASS_RC_REQUEST : HP3_CLASS_RC_REPLY;
	uint32_t roce = n;

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
			roce -= v->class == HP3_CLASS_OTHER;
		}
	}
	*(dir == HP3_DIR_TX ? &p->c.roce_tx : &p->c.roce_rx) += roce;
}

void hp3d_pipe_burst(
	struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf **m, uint16_t n, uint64_t now)
{
	uint32_t from = 0, others, kinds;
	uint64_t bytes;

	for (uint32_t i = 0; unlikely(p->bond != NULL) && i < n; i++)
		p->pkts[i].link = p->bond->in;
	others = see_all(p, dir, m, n, &bytes);
	count_burst(p, dir, n, others, bytes);
	for (uint32_t i = 0; others != 0 && i < n; i++) {
		if (likely(!may_end_here(dir, &p->pkts[i].v)))
			continue;
		run_engine(p, dir, m, from, i, now); /* earlier packets first */
		from = i;
		kinds = hp3_seen_kinds(p->engine);
		if (ends_here(p, dir, &p->pkts[i], now)) {
			rte_pktmbuf_free(m[i]);
			from++;
		}
		if (unlikely(hp3_seen_kinds(p->engine) != kinds))
			hp3_see_burst(p->engine, &p->pkts[i + 1], n - i - 1, dir);
	}
	run_engine(p, dir, m, from, n, now);
	if (dir == HP3_DIR_TX && p->agent != NULL) {
		bool all = learns_all(p, now);

		if (all || others != 0)
			learn_neighbours(p, n, all, now);
	}
	hp3d_pipe_flush(p, HP3_DIR_TX);
	hp3d_pipe_flush(p, HP3_DIR_RX);
}
