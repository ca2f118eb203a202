/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Finds the TTL of the switch that names a path. Traces of one TTL show one level of the fabric.
 * The first switch is the same for all ports. The second switch is the spine in a leaf-spine
 * fabric; the third is the core in a fabric of three tiers. Behind the spine or core, the paths
 * join again. So hp3d traces a sample of ports level by level, until the peer answers, or no switch
 * answers any more. A name is the address of the switch that answered. The level with the most
 * names is the result; of equal levels, the nearest.
 *
 * Invariants: a level counts only if at most HP3_DEPTH_MISSING sample ports have no name. If no
 * level has two names, the result is NOTHING. This includes the case that all ports have the same
 * name, because a tunnel may hide the path. There are at most HP3_DEPTH_TRIES traces per port and
 * level.
 *
 * The caller traces what hp3_depth_next() returns, one trace at a time, and passes each result
 * back.
 */
#include <stdbool.h>
#include <stdint.h>

/* with two paths, all ports take the same path with probability 2^-15 */
#define HP3_DEPTH_PORTS   16u
#define HP3_DEPTH_MISSING 2u
#define HP3_DEPTH_TRIES   3u
#define HP3_DEPTH_MAX     8u /* most levels */
#define HP3_DEPTH_SILENT  2u /* unusable levels in a row that end the search */

#define HP3_LABEL_NONE UINT32_MAX /* no answer, or no valid answer */

enum hp3_depth_state {
	HP3_DEPTH_SCANNING,
	HP3_DEPTH_FOUND, /* ttl and label[] are valid */
	HP3_DEPTH_NOTHING,
};

struct hp3_depth {
	uint32_t now[HP3_DEPTH_PORTS]; /* labels of the current level */
	uint32_t label[HP3_DEPTH_PORTS]; /* FOUND: labels of the best level */
	uint16_t port[HP3_DEPTH_PORTS]; /* the sample */
	uint8_t tries; /* traces of the current port */
	uint8_t at; /* index of the current port */
	uint8_t missing; /* ports of this level without a label */
	uint8_t level; /* current level */
	uint8_t hint; /* level to try first; 0: none, or already tried */
	uint8_t unused; /* unusable levels in a row */
	uint8_t ttl, names; /* TTL of the best level so far; number of names of this level */
	uint8_t state; /* enum hp3_depth_state */
};

/*
 * `hint`: the level that other pairs found; 0: none. The hint is tried first, and is the result if
 * it has two names.
 */
void hp3_depth_init(struct hp3_depth *d, uint8_t hint, uint64_t *rng);

/* The next trace; only in state SCANNING. */
static inline uint16_t hp3_depth_next(const struct hp3_depth *d, uint8_t *ttl)
{
	*ttl = d->level;
	return d->port[d->at];
}

/*
 * Take the result of the trace that hp3_depth_next() returned. _reported: a label, or
 * HP3_LABEL_NONE. _reached: the peer itself answered.
 */
enum hp3_depth_state hp3_depth_reported(struct hp3_depth *d, uint32_t label);
enum hp3_depth_state hp3_depth_reached(struct hp3_depth *d);
