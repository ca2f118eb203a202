/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A hash table of counters. Applications choose keys, and cause any number of look-ups, so the hash
 * has a random seed. Single-threaded.
 */
#include <stdint.h>

struct hp3d_count {
	uint64_t key[3];
	uint32_t n; /* 0: the bucket is free */
};

struct hp3d_counts {
	struct hp3d_count *at;
	uint32_t buckets; /* a power of two, at least twice the number of counters */
	uint64_t seed;
};

/* Room for `most` counters that are not 0. Returns 0, or -ENOMEM. */
int hp3d_counts_open(struct hp3d_counts *c, uint32_t most, uint64_t seed);
void hp3d_counts_close(struct hp3d_counts *c);
/* The counter of the key. If it is 0, it is free for the key: the caller may set key and n. */
struct hp3d_count *hp3d_counts_find(const struct hp3d_counts *c, const uint64_t key[3]);
/* Frees the bucket of this counter. Pointers to other counters are then invalid. */
void hp3d_counts_free(struct hp3d_counts *c, const struct hp3d_count *count);
