/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Reports, plans and keep-alives for tests: random ones, with values over the whole ranges; and
 * reports of the hosts of a leaf-spine fabric. */
#include "fleet/fleet.h"

struct hp3_fleet_report any_report(uint64_t *rng);
struct hp3_fleet_plan any_plan(uint64_t *rng);

struct hp3_fleet_addr host_addr(unsigned host); /* 10.1.x.y */
struct hp3_fleet_addr spine_addr(unsigned spine); /* 10.255.0.x */

/* A report of host `host` below leaf `leaf`, in a fabric with `spines` spines; without flows. */
struct hp3_fleet_report host_report(unsigned host, unsigned leaf, unsigned spines);
/* Adds a flow of this host to host `to`, on a spine. It can be moved to any other spine; the port
 * for spine i is 0xc000 + i. */
struct hp3_fleet_flow *add_flow(
	struct hp3_fleet_report *r, unsigned to, uint32_t qpn, unsigned spine, uint64_t rate_kbps);

/* The shipped parameters, for a small fabric. */
struct hp3_fleet_params small_fleet(void);
struct hp3_fleet *make_fleet(const struct hp3_fleet_params *p); /* to be freed by free() */
