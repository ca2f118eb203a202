/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * May hp3d presume that all paths between this host and its peers are alike? While it may, short
 * messages take several paths, and no probes compare the paths first. A message shorter than the
 * bandwidth-delay product ends before probes could return.
 *
 * The presumption begins when probes to any peer find paths alike. When a peer asks about a missing
 * packet, hp3d awaits the acknowledgement of this packet for a short time. During this time, the
 * presumption is suspended, also after the acknowledgement. If the packet is not acknowledged in
 * this time, or is lost, the presumption ends for a rest. The rest doubles each time, unless the
 * presumption has held for long since the rest before. After a rest, the presumption begins again
 * with the next such comparison.
 *
 * Sans-IO; times ns.
 */
#include <stdbool.h>
#include <stdint.h>
#include "base/minmax.h"

#define HP3_PRESUME_AWAIT   16u /* hp3d awaits it for this part of the longest wait for a packet */
#define HP3_PRESUME_REST    1000000ull /* length of the first rest */
#define HP3_PRESUME_REST_UP 12u /* most doublings: 4.1 s */
#define HP3_PRESUME_HELD    4u /* times the next rest: if it held so long, that rest is the first */

struct hp3_presumption {
	uint64_t rest_end;
	uint64_t suspended_end; /* suspended until then, and while hp3d awaits packets */
	uint32_t awaited; /* number of packets that hp3d awaits */
	uint8_t rests; /* doublings of the next rest */
	bool alike; /* a comparison since the newest late packet found paths alike */
};

static inline bool hp3_presumption_suspended(const struct hp3_presumption *p, uint64_t now)
{
	return p->awaited != 0 || now < p->suspended_end;
}

static inline bool hp3_presumption_holds(const struct hp3_presumption *p, uint64_t now)
{
	return p->alike && now >= p->rest_end && !hp3_presumption_suspended(p, now);
}

/* Does it rest, because a packet was late for long? */
static inline bool hp3_presumption_rests(const struct hp3_presumption *p, uint64_t now)
{
	return now < p->rest_end;
}

/*
 * A packet was late for long, or lost, or probes found that paths differ: a rest begins. True: the
 * presumption held, or was suspended.
 */
static inline bool hp3_presumption_late(struct hp3_presumption *p, uint64_t now)
{
	bool held = p->alike && !hp3_presumption_rests(p, now);

	p->alike = false;
	if (hp3_presumption_rests(p, now))
		return false;
	if (now - p->rest_end > HP3_PRESUME_HELD * (HP3_PRESUME_REST << p->rests))
		p->rests = 0;
	p->rest_end = now + (HP3_PRESUME_REST << p->rests);
	p->rests = (uint8_t)hp3_min_u32(p->rests + 1u, HP3_PRESUME_REST_UP);
	return held;
}
