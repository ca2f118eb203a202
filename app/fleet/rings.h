/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_RINGS_H
#define HP3_APP_FLEET_RINGS_H
/* Source ports for the rings of `order`, so that each ring has its own switches. They come from the
 * hosts' reports in a running hp3-fleet. */
#include "app/fleet/keys.h"

/* The path of a ring from one host to the next, if these are below different leaves. */
struct fleet_spine_path {
	uint16_t port; /* 0: not known */
	char by[46]; /* the switch */
};

/*
 * hosts: n names in the order of the ring; the first follows the last. crosses[i]: the step from
 * host i leaves a leaf. spine_path[i * rings + k]: of ring k at that step, zero if it does not
 * leave the leaf. Returns an exit code; prints errors.
 */
int fleet_rings(const struct fleet_config *cfg, const char *const *hosts, const bool *crosses,
	uint32_t n, unsigned rings, struct fleet_spine_path *spine_path);

#endif
