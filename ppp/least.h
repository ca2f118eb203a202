/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_LEAST_H
#define HP3_PPP_LEAST_H
/*
 * The shortest time from post to completion of a queue pair, by the bytes in its send queue. A work
 * request behind a megabyte takes longer than a single one, on the same path. There is one class
 * per power of two. The times grow by 1/64 each second, because paths change.
 *
 * A class without samples starts from the next smaller class that has some, half as long again for
 * each class between. Otherwise, work that takes longer would define its own reference.
 *
 * Units: nanoseconds, bytes.
 */
#include <stdint.h>

#define HP3_LEAST_SIZES 33u

struct hp3_least {
	uint64_t aged; /* when the times last grew */
	uint32_t ns[HP3_LEAST_SIZES]; /* 0: no sample */
};

void hp3_least_init(struct hp3_least *l, uint64_t now);
/* Call it at least every second. */
void hp3_least_age(struct hp3_least *l, uint64_t now);
/*
 * A work request took took_ns (not 0), with `queued` bytes ahead. Returns the shortest time of the
 * class, this one included.
 */
uint32_t hp3_least_seen(struct hp3_least *l, uint32_t queued, uint32_t took_ns);
/* The shortest time with `queued` bytes ahead; 0: no sample. */
uint32_t hp3_least_of(const struct hp3_least *l, uint32_t queued);

#endif
