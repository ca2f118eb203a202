/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_MONITOR_H
#define HP3_PPP_MONITOR_H
/*
 * Watches the path that one flow uses (HP3, section "Incumbent Path Monitoring") and says when it
 * is severely congested, that is, when congestion control had its chance and did not cure it.
 *
 * Time is cut into monitoring cycles of max(cycle_ns, base RTT). Each of three signals makes a
 * cycle congested by itself: a CNP; a share of replies with BECN >= ecn_fraction; a round trip of
 * an AckReq packet >= rtt_factor x base RTT. `congestion_tolerance` congested cycles in a row are
 * severe; a clean cycle starts the count anew. Replies are sparse (coalesced ACKs), so a cycle
 * without reply or CNP is *silent*: it says nothing, neither raises nor resets.
 *
 * Invariants: SEVERE is told only at the end of such a run, never on a silent cycle; a silent cycle
 * changes no estimate; after hp3_monitor_moved() nothing counts until a packet of the new path has
 * been answered, so that what was marked on the old path is never charged to the new one.
 *
 * Round trips: one packet is timed at a time, from the first transmission of a packet with AckReq
 * to the first reply at or behind its PSN; any retransmission voids it (Karn, RFC 6298 section 3).
 * Base RTT is the minimum seen, and rises by 1/64 per 2^base_age_log2 ns, in cycles with replies
 * and never above the smoothed RTT: a route change does not leave it too small for ever, and the
 * next undisturbed round trip pulls it down at once.
 *
 * Units: nanoseconds (monotonic), bytes, percent. A cycle is closed by the first call after its
 * end.
 */
#include <stdbool.h>
#include <stdint.h>
#include "base/likely.h"
#include "base/minmax.h"
#include "roce/wire.h"

struct hp3_monitor_params {
	uint32_t cycle_ns; /* shortest cycle, 1..HP3_CYCLE_NS_MAX */
	uint16_t rtt_factor; /* percent of base RTT, > 100 */
	uint8_t ecn_fraction; /* percent of replies, 1..100 */
	uint8_t congestion_tolerance; /* cycles, 1..HP3_TOLERANCE_MAX */
	uint8_t base_age_log2; /* base RTT rises by 1/64 per 2^this ns; 30 is a good value */
};

#define HP3_CYCLE_NS_MAX  (1u << 30)
#define HP3_TOLERANCE_MAX 7u
#define HP3_CYCLES_KEPT   7u

/* What one cycle was: SILENT, CLEAN, or the signals that made it congested. */
#define HP3_CYCLE_SILENT    0x0u
#define HP3_CYCLE_CNP       0x1u
#define HP3_CYCLE_ECN       0x2u
#define HP3_CYCLE_RTT       0x4u
#define HP3_CYCLE_CONGESTED (HP3_CYCLE_CNP | HP3_CYCLE_ECN | HP3_CYCLE_RTT)
#define HP3_CYCLE_CLEAN     0x8u

/* hp3_monitor.watch */
#define HP3_WATCH_TIMING 1u /* packet `psn` is being timed */
#define HP3_WATCH_FRESH  2u /* moved, and nothing left on the new path yet */
#define HP3_WATCH_GUARD  4u /* moved, and no answer yet to packet `psn` of the new path */

/* hp3_monitor.tally: replies of the open cycle, those with BECN; smoothed marked share, 1/4000 */
#define HP3_TALLY_MAX          1023u /* where counting ends */
#define HP3_TALLY_MARKED_SHIFT 10u
#define HP3_TALLY_SHARE_SHIFT  20u
#define HP3_TALLY_MARKED       (HP3_TALLY_MAX << HP3_TALLY_MARKED_SHIFT)
#define HP3_TALLY_SHARE_NONE   4095u /* no reply yet */

/* hp3_monitor.state: what says more of the open cycle than its replies (watch, cnp, slow); run */
#define HP3_WATCH_NEWS (0x1fu << 24)
#define HP3_WATCH_RUN  (7u << 29)

/* hp3_monitor.past: silent cycles; history, with CLEAN as the newest of it */
#define HP3_PAST_SILENT 7u
#define HP3_PAST_CLEAN(past)                                                                       \
	((((past) & ~0xfu) | HP3_CYCLE_CLEAN) << 4) /* one entry more, no silent ones behind it */

/* All fields belong to the calls below. */
struct hp3_monitor {
	uint64_t cycle_end; /* ns */
	union {
		uint32_t timed_at; /* when packet `psn` left, ns modulo 2^32 */
		uint32_t beyond; /* told by completions: hp3_monitor_compared(), ns */
	};
	union {
		struct {
			uint32_t psn : 24;
			uint32_t watch : 3; /* HP3_WATCH_* */
			uint32_t cnp : 1; /* signals of the open cycle */
			uint32_t slow : 1;
			uint32_t run : 3; /* congested cycles since the last clean one */
		};
		uint32_t state;
	};
	uint32_t base; /* RTT, ns; 0: unknown */
	uint32_t smooth; /* RTT, ns; 0: unknown */
	uint32_t bytes; /* acknowledged in the open cycle */
	uint32_t per_cycle; /* bytes acknowledged per cycle, smoothed */
	union {
		struct {
			/* silent cycles since the newest in history; counting ends at 7 */
			uint32_t silent : 3;
			/* packet `psn` left when the open cycle was over already */
			uint32_t paused : 1;
			/* HP3_CYCLES_KEPT cycles that were not, 4 bits each, newest lowest */
			uint32_t history : 28;
		};
		uint32_t past;
	};
	uint32_t tally;
};

_Static_assert(sizeof(struct hp3_monitor) == 40, "part of every flow record");

/* Smoothed with 1/8 per sample or cycle; 0 while unknown. */
struct hp3_estimates {
	uint32_t base_rtt_ns;
	uint32_t rtt_ns;
	uint32_t marked_permille;
	uint32_t rate_kbps; /* acknowledged payload */
};

/* A new flow, or a new epoch of its queue pair. */
void hp3_monitor_init(struct hp3_monitor *m, uint64_t now);

/* True while a packet is timed that has asked for an answer, and una says that none came. */
static inline bool hp3_monitor_waits(const struct hp3_monitor *m, uint32_t una)
{
	return (m->watch & HP3_WATCH_TIMING) && hp3_psn_diff(m->psn, una) >= 0;
}

/* The flow was moved to another path: all but the clock starts anew. */
void hp3_monitor_moved(struct hp3_monitor *m);

/* A round trip of this path known from elsewhere (probe, other flow): lowers or sets the base RTT.
 */
void hp3_monitor_offer_base(struct hp3_monitor *m, uint32_t rtt_ns);

/*
 * A first transmission leaves. `ackreq`: it is to be timed, i.e. a SEND or WRITE with AckReq that
 * has no READ or ATOMIC outstanding before it (their responses would delay its ACK).
 */
static inline void hp3_monitor_sent(struct hp3_monitor *m, uint32_t psn, bool ackreq, uint64_t now)
{
	if (HP3_LIKELY((!ackreq || (m->watch & HP3_WATCH_TIMING)) && !(m->watch & HP3_WATCH_FRESH)))
		return;
	if (m->watch & HP3_WATCH_GUARD)
		return;
	m->watch = (m->watch & HP3_WATCH_FRESH ? HP3_WATCH_GUARD : 0) |
		   (ackreq ? HP3_WATCH_TIMING : 0);
	m->psn = psn & HP3_PSN_MASK;
	m->timed_at = (uint32_t)now;
	m->paused = now >= m->cycle_end;
}

/* A packet was retransmitted: answers cannot be told apart any more. */
static inline void hp3_monitor_retransmit(struct hp3_monitor *m)
{
	m->watch &= ~HP3_WATCH_TIMING;
}

/* An eighth of the way to `sample`, rounded towards it so that it is reached; without a branch. */
static inline uint32_t hp3_monitor_smoothed(uint32_t value, uint32_t sample)
{
	int64_t way = (int64_t)sample - value;

	return (uint32_t)(value + ((way + (7 & ~(way >> 63))) >> 3));
}

/*
 * Bytes are acknowledged in lumps: what arrives after silent cycles was delivered during them too.
 * Of a pause only HP3_PAST_SILENT cycles count, lest the application's idling reads as a slow path.
 */
static inline uint32_t hp3_monitor_per_cycle(const struct hp3_monitor *m)
{
	uint32_t sample = m->bytes / ((m->past & HP3_PAST_SILENT) + 1u);

	return m->per_cycle == 0 ? sample : hp3_monitor_smoothed(m->per_cycle, sample);
}

static inline uint32_t hp3_monitor_cycle(
	const struct hp3_monitor *m, const struct hp3_monitor_params *p)
{
	uint32_t len = hp3_max_u32(m->base, p->cycle_ns);

	len |= len == 0;
	return hp3_min_u32(len, HP3_CYCLE_NS_MAX);
}

/*
 * What most replies are: unmarked, to a flow that waits for no answer, and the first one behind a
 * clean cycle. Closes that cycle, and the empty ones behind it, and opens the next with this reply.
 * False: it is not so; nothing was changed.
 */
static inline bool hp3_monitor_turn(struct hp3_monitor *m, const struct hp3_monitor_params *p,
	uint32_t bytes_acked, uint64_t now)
{
	uint64_t late = now - m->cycle_end, end;
	uint32_t len = hp3_monitor_cycle(m, p), share = m->tally >> HP3_TALLY_SHARE_SHIFT, over = 0;

	if ((m->state & HP3_WATCH_NEWS) != 0 || (m->tally & HP3_TALLY_MARKED) != 0 ||
		(m->tally & HP3_TALLY_MAX) == 0 || late > UINT32_MAX)
		return false;
	if (late >= len)
		over = (uint32_t)late / len;
	end = m->cycle_end + (uint64_t)len * over + len;
	if (((m->cycle_end ^ end) >> (p->base_age_log2 & 63u)) != 0 && m->base != 0)
		return false;
	if (HP3_UNLIKELY(share != 0))
		share = share == HP3_TALLY_SHARE_NONE ? 0 : hp3_monitor_smoothed(share, 0);
	m->per_cycle = hp3_monitor_per_cycle(m);
	m->past = HP3_PAST_CLEAN(m->past) | hp3_min_u32(over, HP3_PAST_SILENT);
	m->state &= ~HP3_WATCH_RUN;
	m->tally = share << HP3_TALLY_SHARE_SHIFT | 1;
	m->cycle_end = end;
	m->bytes = bytes_acked;
	return true;
}

/*
 * The round trip of the packet that is timed, if an answer to `psn` ends it; ns. 0: it does not, or
 * what is kept of the time cannot tell after a pause.
 */
uint32_t hp3_monitor_times(const struct hp3_monitor *m, uint32_t psn, uint64_t now);

/* The slow parts of hp3_monitor_reply(). */
bool hp3_monitor_close(struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t now);
void hp3_monitor_answered(struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t now);

/*
 * A reply arrived (ACK, NAK, READ or ATOMIC response): its PSN, whether it bears BECN, and the
 * bytes that it newly acknowledges. True if it closed a cycle after which the path is severely
 * congested: time to act.
 */
static inline bool hp3_monitor_reply(struct hp3_monitor *m, const struct hp3_monitor_params *p,
	uint32_t psn, bool marked, uint32_t bytes_acked, uint64_t now)
{
	bool severe = false;

	if (now >= m->cycle_end) {
		if (!marked && hp3_monitor_turn(m, p, bytes_acked, now))
			return false;
		severe = hp3_monitor_close(m, p, now);
	}
	if (HP3_UNLIKELY((m->state & HP3_WATCH_NEWS) != 0) && m->watch != 0) {
		if (!(m->watch & HP3_WATCH_FRESH) && hp3_psn_diff(psn, m->psn) >= 0)
			hp3_monitor_answered(m, p, now);
		else if (m->watch & (HP3_WATCH_FRESH | HP3_WATCH_GUARD))
			return severe;
	}
	if (__builtin_add_overflow(m->bytes, bytes_acked, &m->bytes))
		m->bytes = UINT32_MAX;
	if (HP3_LIKELY((m->tally & HP3_TALLY_MAX) != HP3_TALLY_MAX))
		m->tally += 1 + ((uint32_t)marked << HP3_TALLY_MARKED_SHIFT);
	return severe;
}

/*
 * Instead of packets: so many bytes completed, and a work request took so long, of which the least
 * ever seen under its conditions is known (0: none was timed). What is told after
 * hp3_monitor_moved() is of the new path. Result as of hp3_monitor_reply().
 */
bool hp3_monitor_felt(struct hp3_monitor *m, const struct hp3_monitor_params *p, uint32_t took_ns,
	uint32_t least_ns, uint32_t bytes, uint64_t now);

/*
 * Told so, a flow that began on a slow path has never been quicker there. Probes know: the one of
 * the path in use took used_ns, the one of another path other_ns at the same moment. What it took
 * longer is from now on no part of the least, until the flow is moved, or compared again.
 */
void hp3_monitor_compared(struct hp3_monitor *m, uint32_t used_ns, uint32_t other_ns);

/*
 * After that: the RNIC's port handled CNPs, maybe of others. The open cycle has had a CNP if
 * completions take longer at all: smoothed, by half of what rtt_factor asks of a round trip.
 */
void hp3_monitor_port_cnp(struct hp3_monitor *m, const struct hp3_monitor_params *p);

/* A CNP for the flow arrived. Result as of hp3_monitor_reply(). */
bool hp3_monitor_cnp(struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t now);

/*
 * Was it congested after `t`? True if one of the cycles since then was, as far back as they are
 * kept, or if none that was not silent has been closed since.
 */
bool hp3_monitor_congested_since(
	struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t t, uint64_t now);

/* True after a clean spell: all cycles kept were clean. */
bool hp3_monitor_calm(const struct hp3_monitor *m);

/* When the newest reply that the estimates know of came, at the latest; not after `now`. */
static inline uint64_t hp3_monitor_heard(const struct hp3_monitor *m, uint64_t now)
{
	return hp3_min_u64(m->cycle_end, now);
}

void hp3_monitor_estimates(
	const struct hp3_monitor *m, const struct hp3_monitor_params *p, struct hp3_estimates *est);

/*
 * Why: the latest cycles that were not silent, oldest first, HP3_CYCLE_* each, and behind them
 * HP3_CYCLE_CNP if the open cycle has had a CNP, or else HP3_CYCLE_SILENT if silence followed.
 * Returns how many.
 */
uint32_t hp3_monitor_evidence(const struct hp3_monitor *m, uint8_t cycles[HP3_CYCLES_KEPT + 1]);
const char *hp3_cycle_name(uint8_t cycle);

#endif
