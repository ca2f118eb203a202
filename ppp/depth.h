/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_DEPTH_H
#define HP3_PPP_DEPTH_H
/*
 * How far away is the switch that names a path? Traces of one TTL show one level of the fabric: the
 * first switch is the same for all ports, in a leaf-spine fabric the second one is the spine, in a
 * fabric of three tiers the third one is the core, and behind it the ways join again. So a sample
 * of ports is traced level by level, until the peer answers or nobody does, and the level with the
 * most names wins, of equals the nearest: up to there ports part, and from there on they follow.
 *
 * Invariants: a level counts only if all but HP3_DEPTH_MISSING ports of the sample were told a
 * name; where no level shows two names the result is NONE, also if all ports show the same one,
 * because a tunnel hides what is inside it. At most HP3_DEPTH_TRIES traces of a port and level.
 *
 * The caller traces what hp3_depth_next() names, one at a time, and hands in what came of it.
 */
#include <stdbool.h>
#include <stdint.h>

#define HP3_DEPTH_PORTS   16u /* with two paths all take one of them with 2^-15 */
#define HP3_DEPTH_MISSING 2u
#define HP3_DEPTH_TRIES   3u
#define HP3_DEPTH_MAX     8u /* levels */
#define HP3_DEPTH_SILENT  2u /* levels in a row that cannot be used: there is nothing behind */

#define HP3_LABEL_NONE UINT32_MAX /* nobody answered, or nobody who is to be believed */

enum hp3_depth_state {
	HP3_DEPTH_SEEKING,
	HP3_DEPTH_FOUND, /* ttl, and the label of each port there */
	HP3_DEPTH_NOTHING,
};

struct hp3_depth {
	uint32_t now[HP3_DEPTH_PORTS]; /* labels of the level in hand */
	uint32_t label[HP3_DEPTH_PORTS]; /* FOUND: labels of the level that won */
	uint16_t port[HP3_DEPTH_PORTS]; /* the sample */
	uint8_t tries; /* of the port in hand */
	uint8_t at; /* the port in hand */
	uint8_t missing; /* ports of this level that were told nothing */
	uint8_t level; /* in hand */
	uint8_t hint; /* level looked at first; 0: none, or done */
	uint8_t unused; /* levels in a row */
	uint8_t ttl, names; /* of the best level so far */
	uint8_t state; /* enum hp3_depth_state */
};

/* `hint`: where other pairs found it, looked at first and taken if two names show; 0: unknown. */
void hp3_depth_init(struct hp3_depth *d, uint8_t hint, uint64_t *rng);

/* What to trace next; only while SEEKING. */
static inline uint16_t hp3_depth_next(const struct hp3_depth *d, uint8_t *ttl)
{
	*ttl = d->level;
	return d->port[d->at];
}

/* What the trace of it showed: a label, HP3_LABEL_NONE, or that the peer itself answered. */
enum hp3_depth_state hp3_depth_told(struct hp3_depth *d, uint32_t label);
enum hp3_depth_state hp3_depth_reached(struct hp3_depth *d);

#endif
