/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled once per instruction-set level; HP3_LEVEL is its name. */
#include "base/likely.h"
#include "engine/flows/near.h"
#include "engine/pass/burst.h"
#include "engine/spray/spray.h"
#include "engine/pass/steady.h"
#include "roce/parse_wide.h"

#define PASTE(a, b) a##b
#define NAME(level) PASTE(hp3_isa_, level)
#define TEXT(x)     #x
#define STRING(x)   TEXT(x)
#define LIKELY(x)   HP3_LIKELY(!!(x))
#define UNLIKELY(x) HP3_UNLIKELY(!!(x))
#define INLINE      static inline __attribute__((always_inline))
#define AHEAD       24u /* packets between the prefetch of the bucket and the look-up */
#define NEAR        6u /* ... between the prefetch of the flow and that of its EVs */

/* The notification point will look up its flow. */
static bool is_marked(const struct hp3_engine *e, const struct hp3_view *v)
{
	return e->np != NULL && (v->flags & HP3_VF_CE);
}

/*
 * Requests that leave, and replies and CNPs that arrive, need a flow. The notification point also
 * needs one for marked requests that arrive, and for the replies to them. These replies also need
 * one while replies of any flow leave on another port than the RNIC's.
 */
static bool is_wanted(const struct hp3_engine *e, const struct hp3_pkt *pkt, enum hp3_dir dir)
{
	const struct hp3_view *v = &pkt->v;

	if (v->class == (dir == HP3_DIR_TX ? HP3_CLASS_RC_REQUEST : HP3_CLASS_RC_REPLY))
		return true;
	if (v->class == HP3_CLASS_CNP)
		return dir == HP3_DIR_RX;
	if (dir == HP3_DIR_TX)
		return (e->np != NULL || (e->nreplies | e->nspray_reads) != 0) &&
		       v->class == HP3_CLASS_RC_REPLY;
	return v->class == HP3_CLASS_RC_REQUEST &&
	       (e->nspray_in != 0 || (e->nspray_reads != 0 && (v->flags & HP3_VF_READ)) ||
		       is_marked(e, v));
}

static __attribute__((noinline)) void key_packet(
	const struct hp3_engine *e, struct hp3_pkt *p, enum hp3_dir dir)
{
	struct hp3_ends ends;

	p->bucket = HP3_NO_BUCKET;
	if (!is_wanted(e, p, dir))
		return;
	ends = hp3_ends_of(p->frame, &p->v, dir);
	p->addr = hp3_key_addr(e, &ends);
	if (dir == HP3_DIR_RX && p->v.class == HP3_CLASS_RC_REQUEST && !is_marked(e, &p->v))
		return hp3_spray_expect(e, p->addr, &p->v);
	hp3_key_mix(e, p->addr, p->v.dest_qpn, p->v.vlan, dir, &p->sig, &p->bucket);
}

/* One packet; 1 if it is not of the class that bursts are made of. */
INLINE uint32_t see_one(struct hp3_engine *e, struct hp3_pkt *p, enum hp3_dir dir, uint8_t main)
{
	const uint8_t *f = p->frame;
	bool plain;

	p->flow = HP3_NO_FLOW;
	if (UNLIKELY(f == NULL)) {
		p->v = (struct hp3_view){.class = HP3_CLASS_OTHER};
		key_packet(e, p, dir);
		return 1;
	}
	plain = hp3_parse_plain(f, p->len, &p->v);
	if (UNLIKELY(!plain || p->v.class != main)) {
		if (!plain)
			hp3_parse_any(f, p->len, &p->v);
		key_packet(e, p, dir);
		return p->v.class != main;
	}
	p->addr = hp3_be64(f + HP3_PLAIN_L3 + 12);
	if (dir == HP3_DIR_RX)
		p->addr = p->addr << 32 | p->addr >> 32;
	hp3_key_mix(e, p->addr, p->v.dest_qpn, 0, dir, &p->sig, &p->bucket);
	return 0;
}

#ifdef HP3_WIDE
_Static_assert(sizeof(struct hp3_view) == 40 && offsetof(struct hp3_pkt, v) % 8 == 0 &&
		       offsetof(struct hp3_pkt, addr) - offsetof(struct hp3_pkt, v) == 40 &&
		       offsetof(struct hp3_pkt, sig) - offsetof(struct hp3_pkt, v) == 48 &&
		       offsetof(struct hp3_pkt, bucket) == offsetof(struct hp3_pkt, sig) + 4 &&
		       offsetof(struct hp3_pkt, flow) - offsetof(struct hp3_pkt, v) == 56 &&
		       sizeof(struct hp3_pkt) - offsetof(struct hp3_pkt, v) == 64,
	"eight words that are written together");

/* hp3_key_mix() of packets without a VLAN tag: signature and bucket. */
INLINE hp3_wide mix_wide(const struct hp3_engine *e, hp3_wide addr, hp3_wide qpn, enum hp3_dir dir)
{
	hp3_wide h = hp3_wide_mul(addr + e->key[0], (addr >> 32) + e->key[1]) +
		     hp3_wide_mul((qpn | (uint64_t)dir << 31) + e->key[2], hp3_wide_set(e->key[3]));
	hp3_wide spread = hp3_wide_mul(h ^ h >> 32, hp3_wide_set(HP3_KEY_SPREAD));

	return (h & UINT32_MAX) | ((spread ^ spread >> 32) & e->table.mask) << 32;
}

/* HP3_WIDE packets; returns those that remain to be seen, one bit each. */
INLINE uint32_t see_wide(struct hp3_engine *e, struct hp3_pkt *p, enum hp3_dir dir, uint8_t main)
{
	const uint8_t *f[HP3_WIDE];
	void *to[HP3_WIDE];
	struct hp3_wide_view v;
	hp3_wide len, w[8];
	bool odd = false;
	uint32_t fit;

	for (uint32_t i = 0; i < HP3_WIDE; i++) {
		f[i] = p[i].frame;
		to[i] = &p[i].v;
		len[i] = p[i].len;
		odd |= f[i] == NULL || p[i].len - HP3_PLAIN_MIN > UINT16_MAX - HP3_PLAIN_MIN;
	}
	if (UNLIKELY(odd))
		return HP3_WIDE_ALL;
	fit = hp3_parse_wide(f, len, main, &v);
	memcpy(w, v.word, sizeof(v.word));
	w[4] = hp3_wide_set(0);
	w[5] = hp3_wide_bytes(
		v.addresses, dir == HP3_DIR_TX ? 0x0001020304050607u : 0x0405060700010203u);
	w[6] = mix_wide(e, w[5], v.word[2], dir);
	w[7] = hp3_wide_set(HP3_NO_FLOW);
	hp3_wide_store(to, w);
	for (uint32_t reth = v.reth & fit; UNLIKELY(reth != 0); reth &= reth - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(reth);

		p[i].v.dma_len = hp3_be32(f[i] + HP3_PLAIN_BTH + 24);
	}
	return ~fit & HP3_WIDE_ALL;
}

/* Requests arrive in runs: a group counts as requests if its first packet is one. */
INLINE bool looks_like_request(const struct hp3_pkt *p)
{
	return p->frame != NULL && p->len >= HP3_PLAIN_MIN &&
	       hp3_opcodes[((const uint8_t *)p->frame)[HP3_PLAIN_BTH]].class ==
		       HP3_CLASS_RC_REQUEST;
}
#endif

#ifdef HP3_WIDE
/* As see_one(), for HP3_WIDE packets, most of them requests that arrive. */
static __attribute__((noinline)) uint32_t see_requests(struct hp3_engine *e, struct hp3_pkt *p)
{
	uint32_t left = see_wide(e, p, HP3_DIR_RX, HP3_CLASS_RC_REQUEST), others = 0;

	for (uint32_t i = 0; i < HP3_WIDE; i++) {
		if (left >> i & 1) {
			others += see_one(e, &p[i], HP3_DIR_RX, HP3_CLASS_RC_REPLY);
			continue;
		}
		others++;
		if (is_marked(e, &p[i].v))
			continue;
		p[i].bucket = HP3_NO_BUCKET;
		hp3_spray_expect(e, p[i].addr, &p[i].v);
	}
	return others;
}
#endif

INLINE uint32_t see_packets(
	struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir)
{
	const uint8_t main = dir == HP3_DIR_TX ? HP3_CLASS_RC_REQUEST : HP3_CLASS_RC_REPLY;
	const bool tail = dir == HP3_DIR_TX && e->nmoved != 0;
	const bool resequences = dir == HP3_DIR_RX && e->nspray_in != 0;
	uint32_t others = 0, i = 0;

#ifdef HP3_WIDE
	for (; i + HP3_WIDE <= n; i += HP3_WIDE) {
		uint32_t left;

		if (UNLIKELY(resequences && looks_like_request(&pkts[i]))) {
			others += see_requests(e, pkts + i);
			continue;
		}
		left = UNLIKELY(dir == HP3_DIR_RX && e->nspray_reads != 0 &&
				looks_like_request(&pkts[i]))
			       ? HP3_WIDE_ALL
			       : see_wide(e, pkts + i, dir, main);
		for (; UNLIKELY(left != 0); left &= left - 1)
			others += see_one(e, pkts + i + __builtin_ctz(left), dir, main);
	}
#endif
	for (; i < n; i++)
		others += see_one(e, pkts + i, dir, main);
	for (struct hp3_pkt *p = pkts; p < pkts + n; p++) {
		if (UNLIKELY(p->bucket == HP3_NO_BUCKET))
			continue;
		__builtin_prefetch(&e->table.buckets[p->bucket]);
		if (UNLIKELY(resequences && (p->v.flags & HP3_VF_READ)))
			hp3_spray_expect(e, p->addr, &p->v);
		if (tail)
			__builtin_prefetch((const uint8_t *)p->frame + p->v.icrc_off, 1);
	}
	return others;
}

/* A hint; hp3_burst() verifies it with the record. */
INLINE void match_flow(struct hp3_engine *e, struct hp3_pkt *p, enum hp3_dir dir)
{
	const struct hp3_bucket *b;
	uint32_t hits, ref;

	p->flow = HP3_NO_FLOW;
	if (UNLIKELY(p->bucket == HP3_NO_BUCKET))
		return;
	b = &e->table.buckets[p->bucket];
	hits = hp3_bucket_match(b, p->sig);
	if (UNLIKELY(hits == 0))
		return;
	ref = b->ref[__builtin_ctz(hits)] & HP3_BUCKET_REF;
	if (UNLIKELY(ref == 0))
		return;
	p->flow = ref - 1;
	__builtin_prefetch(&e->flows[ref - 1], 1);
	if (dir == HP3_DIR_RX) /* replies feed the monitor */
		__builtin_prefetch(&e->flows[ref - 1].pair, 1);
}

INLINE void set_pass(struct hp3_verdict *vd, uint16_t sport, uint32_t flow)
{
	vd->kind = HP3_PASS;
	vd->flags = 0;
	vd->sport = sport;
	vd->held = 0;
	vd->flow = flow; /* only PASS_DELIVER uses vd->count */
}

INLINE bool is_found(const struct hp3_flow *f, const struct hp3_pkt *p, uint32_t qpn, uint32_t want)
{
	return ((f->addr ^ p->addr) | (qpn ^ p->v.dest_qpn) | (f->vlan ^ p->v.vlan) | want) == 0;
}

/*
 * The next packet of a paired, unpaced flow, without effect on a later move. `watch`: HP3_FW_SPRAY,
 * or 0.
 */
INLINE bool steady_tx(struct hp3_engine *e, const struct hp3_pkt *p, uint16_t watch, uint64_t now,
	struct hp3_verdict *vd, uint32_t *obey)
{
	const uint16_t packet = HP3_VF_IPV6 | HP3_VF_ACKREQ | HP3_VF_READ | HP3_VF_ATOMIC;
	const uint16_t flow = HP3_FF_USED | HP3_FF_IPV6 | HP3_FF_PAIRED | HP3_FF_STARTED |
			      HP3_FF_PACED | HP3_FF_FRESH | HP3_FF_IDLE_PROOF;
	const uint16_t want = HP3_FF_USED | HP3_FF_PAIRED | HP3_FF_STARTED;
	const struct hp3_view *v = &p->v;
	struct hp3_flow *f;
	uint32_t nxt;

	if (UNLIKELY(p->flow == HP3_NO_FLOW || v->class != HP3_CLASS_RC_REQUEST ||
		     (v->flags & packet) != 0))
		return false;
	f = &e->flows[p->flow];
	nxt = hp3_psn_add(v->psn, 1);
	if (UNLIKELY(!is_found(f, p, f->rqpn,
			     ((f->flags & flow) ^ want) | (f->state ^ HP3_RFR_STEADY) |
				     (f->stream.nxt ^ v->psn) | f->stream.open_len |
				     ((f->watch & (HP3_FW_ASK | HP3_FW_SPRAY | HP3_FW_READS)) ^
					     watch) |
				     (v->dma_len >= e->large)) ||
		     f->pmtu_log2 == 0 || ((nxt - f->stream.una) & HP3_PSN_MASK) > f->stream.win))
		return false;
	hp3_stream_next(&f->stream, v->psn, 1);
	f->flags &= (uint16_t)~HP3_FF_OF_NEWEST;
	f->last = (uint32_t)(now >> HP3_TICK_SHIFT);
	f->bytes += p->len - v->l3_off;
	f->home = v->sport;
	*obey |= f->flags & HP3_FF_MOVED;
	set_pass(vd, f->flags & HP3_FF_MOVED ? f->port : v->sport, p->flow);
	return true;
}

/* As steady_tx(); the queue pair may be sprayed. */
INLINE bool sprayed_tx(struct hp3_engine *e, const struct hp3_pkt *p, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts, uint32_t *obey)
{
	uint16_t watch = p->flow != HP3_NO_FLOW ? e->flows[p->flow].watch : 0;

	if (!(watch & HP3_FW_SPRAY))
		return steady_tx(e, p, 0, now, vd, obey);
	if (UNLIKELY(watch & HP3_FW_GUARD) || !steady_tx(e, p, HP3_FW_SPRAY, now, vd, obey))
		return false;
	hp3_spray_leaves(&(struct hp3_turn){e, now, acts}, p->flow, p, vd);
	*obey |= (vd->kind ^ HP3_PASS) | vd->flags | (vd->sport ^ p->v.sport);
	return true;
}

/* An unmarked ACK that advances una, and does not acknowledge all in flight. */
INLINE bool steady_rx(struct hp3_engine *e, const struct hp3_pkt *p, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts)
{
	const struct hp3_view *v = &p->v;
	struct hp3_flow *f;
	uint32_t before;

	if (UNLIKELY(p->flow == HP3_NO_FLOW || v->class != HP3_CLASS_RC_REPLY))
		return false;
	f = &e->flows[p->flow];
	before = f->stream.una;
	if (UNLIKELY(!is_found(f, p, f->lqpn, 0) || !is_plain_progress(f, v)))
		return false;
	f->stream.una = hp3_psn_add(v->psn, 1);
	f->last = (uint32_t)(now >> HP3_TICK_SHIFT);
	f->msn = v->msn;
	f->pkey = v->pkey;
	f->watch &= (uint16_t) ~(HP3_FW_SURE | HP3_FW_ASK | (p->trusted ? HP3_FW_UNREAD : 0));
	f->watch |= HP3_FW_HEARD | (p->trusted ? HP3_FW_SURE : 0);
	set_pass(vd, v->sport, p->flow);
	if (UNLIKELY(e->cfg.monitor.cycle_ns == 0))
		return true;
	if (UNLIKELY(hp3_monitor_reply(&f->monitor, &e->cfg.monitor, v->psn, false,
		    ((f->stream.una - before) & HP3_PSN_MASK) << f->pmtu_log2, now)))
		hp3_severe(&(struct hp3_turn){e, now, acts}, p->flow);
	return true;
}

/* Is this the first packet of a PSN window that is to be noted (flows/near.h)? */
INLINE bool is_noted(const struct hp3_pkt *p, bool notes)
{
	return notes && p->v.psn % HP3_NEAR_PSNS == 0;
}

/*
 * Only held packets follow the packet in hand, and `left` more packets are behind it: the burst
 * goes on. It stops if an entry with a packet to deliver could be reused before the caller has sent
 * the packet. Each packet takes at most one entry.
 */
static __attribute__((noinline)) void go_on(const struct hp3_engine *e, uint32_t left,
	uint32_t *delivered, struct hp3_verdict *vd, struct hp3_acts *acts)
{
	const struct hp3_act *a = &acts->act[0];

	if (acts->n != 1 || a->kind != HP3_ACT_DELIVER || vd->kind != HP3_PASS || left == 0)
		return;
	if (e->hold_packets + *delivered + a->count + left > e->cfg.hold_packets)
		return;
	*delivered += a->count;
	vd->kind = HP3_PASS_DELIVER;
	vd->held = a->held;
	vd->count = a->count;
	acts->n = 0;
}

/* Prefetches for a packet whose queue pair may be sprayed. */
INLINE void expect_sprayed(const struct hp3_engine *e, const struct hp3_pkt *p)
{
	const struct hp3_spray_out *o;

	if (p->flow == HP3_NO_FLOW || !(e->flows[p->flow].watch & HP3_FW_SPRAY))
		return;
	o = &e->spraying->out[e->spraying->of[p->flow].out];
	__builtin_prefetch(o, 1);
	__builtin_prefetch(&o->log.left[p->v.psn & (HP3_RESEQ_WINDOW - 1)], 1);
}

INLINE uint32_t handle_packets(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n,
	enum hp3_dir dir, bool notes, bool sprays, uint64_t now, struct hp3_verdict *verdicts,
	struct hp3_acts *acts)
{
	uint32_t ahead = n < AHEAD ? n : AHEAD, steady = 0, done = 0;
	const bool few = dir == HP3_DIR_RX && n <= HP3_FEW;
	uint32_t obey = 0, delivered = 0;

	acts->n = 0;
	/* Most packets behind one with actions were prefetched before. */
	for (uint32_t i = 0; i < ahead; i++)
		if (dir == HP3_DIR_TX || pkts[i].flow == HP3_NO_FLOW)
			match_flow(e, &pkts[i], dir);
	while (done < n && acts->n == 0) {
		struct hp3_pkt *p = &pkts[done];
		struct hp3_verdict *vd = &verdicts[done++];

		if (ahead < n)
			match_flow(e, &pkts[ahead++], dir);
		if (sprays && done + NEAR < ahead)
			expect_sprayed(e, &pkts[done + NEAR]);
		if (LIKELY(dir == HP3_DIR_TX
				    ? !is_noted(p, notes) &&
					      (sprays ? sprayed_tx(e, p, now, vd, acts, &obey)
						      : steady_tx(e, p, 0, now, vd, &obey))
				    : !few && steady_rx(e, p, now, vd, acts))) {
			steady++;
			continue;
		}
		if (dir == HP3_DIR_TX)
			hp3_tx(e, p, now, vd, acts);
		else if (few)
			hp3_rx(e, p, now, vd, acts);
		else
			hp3_rx_of_many(e, p, now, vd, acts);
		if (dir == HP3_DIR_RX && UNLIKELY(acts->n != 0))
			go_on(e, n - done, &delivered, vd, acts);
		obey |= (vd->kind ^ HP3_PASS) | (vd->flags & HP3_CHANGES) |
			(vd->sport ^ p->v.sport);
	}
	acts->obey = obey != 0;
	*(dir == HP3_DIR_TX ? &e->stats.tx_requests : &e->stats.rx_replies) += steady;
	return done;
}

static uint32_t see_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir)
{
	return dir == HP3_DIR_TX ? see_packets(e, pkts, n, HP3_DIR_TX)
				 : see_packets(e, pkts, n, HP3_DIR_RX);
}

static void find_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir)
{
	for (uint32_t i = 0; i < n; i++)
		key_packet(e, &pkts[i], dir);
	for (uint32_t i = 0; i < n; i++)
		match_flow(e, &pkts[i], dir);
}

static uint32_t handle_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n,
	enum hp3_dir dir, uint64_t now, struct hp3_verdict *verdicts, struct hp3_acts *acts)
{
	const bool notes = e->near_kept, sprays = e->spraying != NULL && e->spraying->nout != 0;

	if (dir == HP3_DIR_RX)
		return handle_packets(e, pkts, n, HP3_DIR_RX, false, false, now, verdicts, acts);
	if (UNLIKELY(sprays))
		return handle_packets(e, pkts, n, HP3_DIR_TX, notes, true, now, verdicts, acts);
	return UNLIKELY(notes)
		       ? handle_packets(e, pkts, n, HP3_DIR_TX, true, false, now, verdicts, acts)
		       : handle_packets(e, pkts, n, HP3_DIR_TX, false, false, now, verdicts, acts);
}

const struct hp3_isa NAME(HP3_LEVEL) = {
	.name = STRING(HP3_LEVEL),
	.see = see_burst,
	.find = find_burst,
	.burst = handle_burst,
};
