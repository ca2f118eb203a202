/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Do queue pairs of peers begin to send to this host faster than its link can take their data? The
 * link is then the bottleneck, and all paths share it. With several paths, no message ends earlier,
 * and most messages end later, because all end together.
 *
 * A queue pair that begins does not say how many bytes it will send. It is expected to send as many
 * bytes as earlier queue pairs did, on average. Only the last HP3_INCAST_RECENT queue pairs count.
 * So an incast of queue pairs that send less than 48 KiB on average is not found.
 *
 * Sans-IO; times ns.
 */
#include <stdbool.h>
#include <stdint.h>
#include "base/minmax.h"

#define HP3_INCAST_RECENT 4u /* queue pairs that began last */
#define HP3_INCAST_LEAST  2u /* queue pairs */
#define HP3_INCAST_BYTES  196608u /* so many expected bytes are an incast */
#define HP3_INCAST_FIRST  65536u /* expected bytes of a queue pair at first */
#define HP3_INCAST_MOST   1048576u /* most bytes that count of a queue pair */
#define HP3_INCAST_MEAN   16u /* queue pairs in the moving average */

struct hp3_incast {
	uint64_t began[HP3_INCAST_RECENT]; /* times; 0: none */
	uint32_t n; /* of the newest in `began`, modulo HP3_INCAST_RECENT */
	uint32_t mean; /* expected bytes of a queue pair */
};

static inline void hp3_incast_init(struct hp3_incast *i)
{
	*i = (struct hp3_incast){.mean = HP3_INCAST_FIRST};
}

/* A queue pair of a peer begins. Returns its place in `began`. */
static inline uint32_t hp3_incast_begins(struct hp3_incast *i, uint64_t now)
{
	i->n = (i->n + 1) % HP3_INCAST_RECENT;
	i->began[i->n] = now;
	return i->n;
}

/* A queue pair has ended after this many bytes. One that sent nothing does not count. */
static inline void hp3_incast_ended(struct hp3_incast *i, uint64_t bytes)
{
	uint32_t counted = (uint32_t)hp3_min_u64(bytes, HP3_INCAST_MOST);

	if (bytes != 0)
		i->mean += counted / HP3_INCAST_MEAN - i->mean / HP3_INCAST_MEAN;
}

/* Did the queue pair at this place begin within `ns`? */
static inline bool hp3_incast_is_recent(
	const struct hp3_incast *i, uint32_t place, uint64_t ns, uint64_t now)
{
	return i->began[place] != 0 && now - i->began[place] <= ns;
}

/* Is there an incast, by the queue pairs that began within `ns`? */
static inline bool hp3_incast_is(const struct hp3_incast *i, uint64_t ns, uint64_t now)
{
	uint32_t n = 0;

	for (uint32_t place = 0; place < HP3_INCAST_RECENT; place++)
		n += hp3_incast_is_recent(i, place, ns, now);
	return n >= HP3_INCAST_LEAST && (uint64_t)n * i->mean >= HP3_INCAST_BYTES;
}
