/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CC_SHARE_H
#define HP3_CC_SHARE_H
/*
 * The share of a long flow on its path, and how hp3 helps the flow to reach this rate. After
 * congestion, DCQCN raises the rate by a few Mb/s in hundreds of microseconds. So the rate of a
 * long flow is too low for milliseconds after the queue has drained. The share of each long flow is
 * the link rate over the number of long flows on the link. hp3 helps a flow whose rate is below its
 * share, if the flow's round trips show that the path is free:
 *
 * - hp3 lifts the flow's rate to `floor` percent of the earned part of the share, by an eighth of
 *   that value per round trip. All flows of a link find it free at the same time, so congestion has
 *   to show after each step, before the next one. The first CNP undoes a step (hp3_dcqcn_lift()).
 *
 * The numbers of flows may be too low: hosts without hp3d advertise none, and no host counts flows
 * on links above the leaves. So there are limits:
 *
 * - No help while the last round trip is longer than `rtt` percent of the base round trip. DCQCN
 *   handles queues that persist.
 * - A flow earns its share. After `cycles` congested cycles with help (marks, or long round trips),
 *   and no clean cycle between them, the flow loses a quarter of the earned part. Each clean cycle
 *   adds 1/64 of the share.
 * - No help without fresh numbers of flows, or without a base round trip.
 * - No help if the receiver's link is the bottleneck: all paths lead to its queue (incast).
 *
 * A cycle takes HP3_SHARE_CYCLE base round trips. The module reads no clock, and sees no packets.
 * Times are ns, rates bit/s.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_SHARE_ONE   1024u /* the whole share */
#define HP3_SHARE_CYCLE 4u /* length of a cycle in base round trips */

struct hp3_share_params {
	bool on;
	uint8_t floor; /* %, of the earned part of the share */
	uint8_t cycles; /* >= 1 */
	uint16_t rtt; /* %, of the base round trip, > 100 */
	uint32_t long_bytes; /* flows with messages of this length or more are long flows */
	uint64_t advertise_ns; /* interval of the reports of long flows to a peer */
};

/* One long flow. All 0 when it begins. */
struct hp3_share {
	uint64_t cycle_end;
	uint32_t rtt; /* the newest round trip, ns; 0: none yet */
	uint16_t lost; /* part of HP3_SHARE_ONE that is not earned */
	uint8_t bad; /* congested cycles with help since the last clean one */
	uint8_t marked : 1; /* marked, slow, helped: in the current cycle */
	uint8_t slow : 1;
	uint8_t helped : 1;
	uint8_t fresh : 1; /* a round trip was measured since the last lift */
};

/*
 * The share of one flow of a link, bit/s. `flows` = 0: the number of flows is unknown, and the
 * share is 0.
 */
static inline uint64_t hp3_share_of(uint64_t bps, uint32_t flows)
{
	return flows == 0 ? 0 : bps / flows;
}

/* Data were acknowledged. True: a cycle ended, and the flow lost a quarter of the earned part. */
bool hp3_share_acked(
	struct hp3_share *s, const struct hp3_share_params *p, uint32_t base_rtt, uint64_t now);
/* A round trip of `rtt` ns was measured. */
void hp3_share_timed(
	struct hp3_share *s, const struct hp3_share_params *p, uint32_t rtt, uint32_t base_rtt);
/* A CNP, or an ACK with BECN, arrived. */
void hp3_share_marked(struct hp3_share *s);

/* The rate up to which hp3 helps a flow with this `share`, bit/s; 0: no help. */
uint64_t hp3_share_granted(const struct hp3_share *s, const struct hp3_share_params *p,
	uint64_t share, uint32_t base_rtt);

/* The rate to which the next step lifts a flow with `rate`; 0: no lift. */
uint64_t hp3_share_lift(struct hp3_share *s, const struct hp3_share_params *p, uint64_t share,
	uint64_t rate, uint32_t base_rtt);

#endif
