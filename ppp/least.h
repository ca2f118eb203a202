/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The shortest time from post to completion of a work request of a queue pair, by the bytes in the
 * send queue. On the same path, a work request with a megabyte ahead in the queue takes longer than
 * a work request in an empty queue. So there is one class of queue length per power of two. The
 * stored times grow by 1/64 each second, because paths change.
 *
 * A class without samples starts with the time of the next smaller class with samples, times 1.5
 * for each step between the classes. Without this start value, the first sample of a class would be
 * its own reference, however long it took.
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
 * class, including took_ns.
 */
uint32_t hp3_least_seen(struct hp3_least *l, uint32_t queued, uint32_t took_ns);
/* The shortest time with `queued` bytes ahead; 0: no sample. */
uint32_t hp3_least_of(const struct hp3_least *l, uint32_t queued);
