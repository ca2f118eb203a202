/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Monitors the path in use of one flow (HP3, section "Incumbent Path Monitoring"). The monitor
 * reports a path as severely congested if congestion remains after congestion control had time to
 * react.
 *
 * Time is cut into monitoring cycles of max(cycle_ns, base RTT). Each of three signals makes a
 * cycle congested: a CNP; a share of replies with BECN >= ecn_fraction; an RTT of an AckReq packet
 * >= rtt_factor x base RTT. `congestion_tolerance` congested cycles in a row are severe. A clean
 * cycle resets the count. Replies are sparse (coalesced ACKs), so a cycle without a reply or CNP is
 * *silent*. Silent cycles neither raise nor reset the count.
 *
 * Invariants: the monitor reports severe congestion only at the end of `congestion_tolerance`
 * congested cycles in a row, never for a silent cycle. A silent cycle changes no estimate. After
 * hp3_monitor_moved(), nothing counts until a packet on the new path has been answered. So marks of
 * the old path never count for the new path.
 *
 * RTT: one packet with AckReq is timed at a time. The RTT is the time from the packet's first
 * transmission to the first reply with its PSN or a later PSN. After a retransmission, the sample
 * does not count (Karn, RFC 6298 section 3). The base RTT is the minimum of the RTTs. In cycles
 * with replies, it rises by 1/64 per 2^base_age_log2 ns, but never above the smoothed RTT. So the
 * base RTT adapts after a route change, and the next RTT without queues lowers it at once.
 *
 * Units: nanoseconds (monotonic), bytes, percent. The first call after the end of a cycle closes
 * the cycle.
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

/* A cycle: SILENT, CLEAN, or the signals that made it congested. */
#define HP3_CYCLE_SILENT    0x0u
#define HP3_CYCLE_CNP       0x1u
#define HP3_CYCLE_ECN       0x2u
#define HP3_CYCLE_RTT       0x4u
#define HP3_CYCLE_CONGESTED (HP3_CYCLE_CNP | HP3_CYCLE_ECN | HP3_CYCLE_RTT)
#define HP3_CYCLE_CLEAN     0x8u

/* hp3_monitor.watch */
#define HP3_WATCH_TIMING 1u /* packet `psn` is being timed */
#define HP3_WATCH_FRESH  2u /* moved; no packet has left on the new path yet */
#define HP3_WATCH_GUARD  4u /* moved; packet `psn` on the new path is not answered yet */

/*
 * Parts of hp3_monitor.tally, lowest first: number of replies of the open cycle; number of replies
 * with BECN; smoothed share of BECN in 1/4000.
 */
#define HP3_TALLY_MAX          1023u /* counters saturate here */
#define HP3_TALLY_MARKED_SHIFT 10u
#define HP3_TALLY_SHARE_SHIFT  20u
#define HP3_TALLY_MARKED       (HP3_TALLY_MAX << HP3_TALLY_MARKED_SHIFT)
#define HP3_TALLY_SHARE_NONE   4095u /* no reply yet */

/*
 * Masks of hp3_monitor.state. NEWS: watch, cnp and slow; if one of these bits is set, a reply needs
 * more than counting. RUN: run.
 */
#define HP3_WATCH_NEWS (0x1fu << 24)
#define HP3_WATCH_RUN  (7u << 29)

/*
 * Values of hp3_monitor.past. SILENT: the mask of `silent`. CLEAN: `past` with a clean cycle as the
 * newest entry of `history`, and no silent cycle after it.
 */
#define HP3_PAST_SILENT 7u
#define HP3_PAST_CLEAN(past)                                                                       \
	((((past) & ~0xfu) | HP3_CYCLE_CLEAN) << 4) /* one more entry, no silent cycle after it */

/* Only the functions below access the fields. */
struct hp3_monitor {
	uint64_t cycle_end; /* ns */
	union {
		uint32_t timed_at; /* when packet `psn` left, ns modulo 2^32 */
		uint32_t beyond; /* verbs mode: set by hp3_monitor_compared(), ns */
	};
	union {
		struct {
			uint32_t psn : 24;
			uint32_t watch : 3; /* HP3_WATCH_* */
			uint32_t cnp : 1; /* signals of the open cycle */
			uint32_t slow : 1;
			uint32_t run : 3; /* congested cycles since the last clean cycle */
		};
		uint32_t state;
	};
	uint32_t base; /* base RTT, ns; 0: unknown */
	uint32_t smooth; /* smoothed RTT, ns; 0: unknown */
	uint32_t bytes; /* acknowledged in the open cycle */
	uint32_t per_cycle; /* bytes acknowledged per cycle, smoothed */
	union {
		struct {
			/* number of silent cycles since the newest cycle in `history`; up to 7 */
			uint32_t silent : 3;
			/* packet `psn` left after the end of the open cycle */
			uint32_t paused : 1;
			/* the newest HP3_CYCLES_KEPT cycles that were not silent, 4 bits each,
			 * newest lowest */
			uint32_t history : 28;
		};
		uint32_t past;
	};
	uint32_t tally;
};

_Static_assert(sizeof(struct hp3_monitor) == 40, "part of every flow record");

/* Smoothed by 1/8 per sample or cycle, except base_rtt_ns; 0: unknown. */
struct hp3_estimates {
	uint32_t base_rtt_ns;
	uint32_t rtt_ns;
	uint32_t marked_permille;
	uint32_t rate_kbps; /* acknowledged payload */
};

/* For a new flow, or a new epoch of its queue pair. */
void hp3_monitor_init(struct hp3_monitor *m, uint64_t now);

/* Is a packet being timed that has no reply yet, according to `una`? */
static inline bool hp3_monitor_waits(const struct hp3_monitor *m, uint32_t una)
{
	return (m->watch & HP3_WATCH_TIMING) && hp3_psn_diff(m->psn, una) >= 0;
}

/* The flow has moved to another path: resets everything except the time of the cycle. */
void hp3_monitor_moved(struct hp3_monitor *m);

/*
 * Another RTT of this path (of a probe, or of another flow) was measured: sets or lowers the base
 * RTT.
 */
void hp3_monitor_offer_base(struct hp3_monitor *m, uint32_t rtt_ns);

/*
 * A first transmission leaves. `ackreq`: time this packet. The packet is then a SEND or WRITE with
 * AckReq, and no READ or ATOMIC is outstanding, because their responses would delay the ACK.
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

/* A packet was retransmitted, so a reply may be to either transmission. */
static inline void hp3_monitor_retransmit(struct hp3_monitor *m)
{
	m->watch &= ~HP3_WATCH_TIMING;
}

/* `value` plus 1/8 of the difference to `sample`, rounded so that the result reaches `sample`. */
static inline uint32_t hp3_monitor_smoothed(uint32_t value, uint32_t sample)
{
	int64_t way = (int64_t)sample - value;

	return (uint32_t)(value + ((way + (7 & ~(way >> 63))) >> 3));
}

/*
 * ACKs arrive in batches: bytes that are acknowledged after silent cycles were also delivered
 * during the silent cycles. Of a longer pause, only HP3_PAST_SILENT cycles count, so that an idle
 * application does not look like a slow path.
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
 * The common case: an unmarked reply, no timed packet, and the first reply after a clean cycle.
 * Closes the clean cycle and the empty cycles after it, and opens the next cycle with this reply.
 * False: another case; nothing was changed.
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

/* The slow parts of hp3_monitor_reply(). */
bool hp3_monitor_close(struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t now);
void hp3_monitor_answered(struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t now);

/*
 * A reply arrived (ACK, NAK, READ or ATOMIC response). `marked`: the reply has BECN. bytes_acked:
 * the bytes that no earlier reply acknowledged. True: the call closed a cycle that makes the path
 * severely congested.
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
 * Verbs mode: work requests have completed. `bytes`: their bytes. took_ns: the time of one of the
 * work requests (0: none was timed). least_ns: the shortest time under the same conditions
 * (least.h). After hp3_monitor_moved(), calls are about the new path. Returns as
 * hp3_monitor_reply().
 */
bool hp3_monitor_completions(struct hp3_monitor *m, const struct hp3_monitor_params *p,
	uint32_t took_ns, uint32_t least_ns, uint32_t bytes, uint64_t now);

/*
 * Verbs mode: a flow that began on a slow path has a base RTT that is too long. Probes on the path
 * in use (used_ns) and on another path (other_ns), sent at the same time, show this. From then on,
 * the difference does not count as part of the base RTT, until the flow moves or is compared again.
 */
void hp3_monitor_compared(struct hp3_monitor *m, uint32_t used_ns, uint32_t other_ns);

/*
 * Verbs mode: the RNIC's port handled CNPs, possibly of other queue pairs. The open cycle counts as
 * a cycle with a CNP if the smoothed completion time has risen by half of what rtt_factor requires.
 */
void hp3_monitor_port_cnp(struct hp3_monitor *m, const struct hp3_monitor_params *p);

/* A CNP for the flow arrived. Returns as hp3_monitor_reply(). */
bool hp3_monitor_cnp(struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t now);

/*
 * Was the path congested after `t`? True also if none of the cycles since then was clean. Only the
 * stored cycles count.
 */
bool hp3_monitor_congested_since(
	struct hp3_monitor *m, const struct hp3_monitor_params *p, uint64_t t, uint64_t now);

/*
 * Does the open cycle have a CNP or a reply with BECN, or is the smoothed share of BECN above 0?
 * CNPs of closed cycles do not count.
 */
bool hp3_monitor_marked(const struct hp3_monitor *m);

/* Were all stored cycles clean? */
bool hp3_monitor_calm(const struct hp3_monitor *m);

/* An upper bound of the time of the newest reply in the estimates; not after `now`. */
static inline uint64_t hp3_monitor_heard(const struct hp3_monitor *m, uint64_t now)
{
	return hp3_min_u64(m->cycle_end, now);
}

void hp3_monitor_estimates(
	const struct hp3_monitor *m, const struct hp3_monitor_params *p, struct hp3_estimates *est);

/*
 * The evidence: the latest cycles that were not silent, HP3_CYCLE_* each, oldest first. One more
 * entry may follow: HP3_CYCLE_CNP if the open cycle has had a CNP, or else HP3_CYCLE_SILENT if
 * silent cycles followed. Returns the number of entries.
 */
uint32_t hp3_monitor_evidence(const struct hp3_monitor *m, uint8_t cycles[HP3_CYCLES_KEPT + 1]);
const char *hp3_cycle_name(uint8_t cycle);
