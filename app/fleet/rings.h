/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_RINGS_H
#define HP3_APP_FLEET_RINGS_H
/* Source ports that keep the rings of `order` on switches of their own, from what an hp3-fleet that
 * runs has heard of the hosts. */
#include "app/fleet/keys.h"

/* The step of a ring from one host to the next one, where they are under different leaves. */
struct fleet_spine_path {
	uint16_t port; /* 0: none is known */
	char by[46]; /* the switch */
};

/*
 * hosts: n names in the order of the ring, of which the last one is followed by the first; crosses
 * [i]: whether the step from host i leaves a leaf. way[i * rings + k]: of ring k at that step, zero
 * where it crosses nothing. An exit code; the user was told.
 */
int fleet_rings(const struct fleet_config *cfg, const char *const *hosts, const bool *crosses,
	uint32_t n, unsigned rings, struct fleet_spine_path *spine_path);

#endif
