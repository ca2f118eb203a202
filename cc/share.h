/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CC_SHARE_H
#define HP3_CC_SHARE_H
/*
 * What a path would give. DCQCN climbs by some Mb/s in hundreds of microseconds, so what a long
 * flow lost to a queue that is long gone it lacks for milliseconds. Who knows how many long flows
 * a link carries knows what it would give each of them: its rate over their number. A flow that
 * has less, and whose round trips say that its path is free, gets it back:
 *
 *     cc = dcqcn    its rate is lifted to `floor` percent of what it has earned of the share, by an
 *                   eighth of that with each round trip: all who share a link find it empty at the
 *                   same moment, and the answer to one step is heard before the next. The first CNP
 *                   takes the step back (hp3_dcqcn_lift())
 *     cc = native   CNPs do not reach its RNIC while its measured rate is below that
 *
 * Never a licence to flood, for counts may be too low: hosts without hp3d tell nothing, and nobody
 * counts what links above the leaves carry.
 *
 * - A round trip longer than `rtt` percent of the base one ends all help until a shorter one was
 *   seen: a queue that stands is DCQCN's.
 * - What is granted has to be earned: `cycles` cycles in a row in which the flow was helped and
 *   was marked, or slow, take a quarter of it; each clean one gives 1/64 of the share back.
 * - Without counts that are fresh nothing is granted, nor is anything without a base round trip.
 * - Where the link of the receiver is the narrower one there is no help: no path leads round its
 *   queue (incast).
 *
 * The rate is measured from bytes that were acknowledged, over a cycle of HP3_SHARE_CYCLE base
 * round trips. Nothing here reads a clock, or knows packets. Time is ns, rates bit/s.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_SHARE_ONE   1024u /* all of it */
#define HP3_SHARE_CYCLE 4u /* base round trips */

struct hp3_share_params {
	bool on;
	bool moves; /* long flows are moved by counts of them (engine/paths/ways.h) */
	uint8_t floor; /* % of what is granted */
	uint8_t cycles; /* >= 1 */
	uint16_t rtt; /* % of the base round trip, > 100 */
	uint32_t long_bytes; /* messages as long as this are counted, and helped */
	uint64_t tell_ns; /* between two reports of long flows to a peer */
};

/* One long flow. All 0 when it begins. */
struct hp3_share {
	uint64_t cycle_end;
	uint64_t rate; /* of the last cycle that was closed; 0: none was */
	uint32_t acked; /* bytes of the open cycle */
	uint32_t rtt; /* the newest round trip, ns; 0: none was seen */
	uint16_t lost; /* of HP3_SHARE_ONE: what it has to earn again */
	uint8_t bad; /* congested cycles in a row in which it was helped */
	uint8_t marked : 1; /* in the open cycle */
	uint8_t slow : 1;
	uint8_t helped : 1;
	uint8_t fresh : 1; /* a round trip was measured since the last step */
};

/* What a link gives one of its flows. `flows` = 0: unknown, so nothing. */
static inline uint64_t hp3_share_of(uint64_t bps, uint32_t flows)
{
	return flows == 0 ? 0 : bps / flows;
}

/* So many bytes were acknowledged. True: this closed a cycle after which less is granted. */
bool hp3_share_acked(struct hp3_share *s, const struct hp3_share_params *p, uint32_t bytes,
	uint32_t base_rtt, uint64_t now);
/* A round trip was measured. */
void hp3_share_timed(
	struct hp3_share *s, const struct hp3_share_params *p, uint32_t rtt, uint32_t base_rtt);
/* A CNP, or an acknowledgement with BECN. */
void hp3_share_marked(struct hp3_share *s);

/* What a flow is granted of `share`, as long as its path is free; 0: no help. */
uint64_t hp3_share_granted(const struct hp3_share *s, const struct hp3_share_params *p,
	uint64_t share, uint32_t base_rtt);

/* dcqcn: the rate to lift the flow to that has `rate`, a step; 0: it stays. */
uint64_t hp3_share_lift(struct hp3_share *s, const struct hp3_share_params *p, uint64_t share,
	uint64_t rate, uint32_t base_rtt);
/* native: this CNP does not reach the RNIC. */
bool hp3_share_consumes(
	struct hp3_share *s, const struct hp3_share_params *p, uint64_t share, uint32_t base_rtt);

#endif
