/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Rails of a bond: by which member packets leave. While the port where a packet would leave has no
 * link, the packet leaves by the next member of the bond whose port has one. Packets that waited
 * for the port (link.h) leave before it. Packets with HP3D_BOND_FIXED keep their rail
 * (pipe/bond.h).
 *
 * The control thread writes whether ports have a link; lcores read it.
 */
#include <stdbool.h>
#include <stdint.h>
#include "app/hp3d/lcores/ports.h"

struct hp3d_worker;
struct rte_mbuf;

/* `dir`: as in hp3d_rail_ports, the direction of packets that arrive on the port. */
void hp3d_members_set_link(unsigned rail, enum hp3_dir dir, bool up);
/* The rail by which packets of direction `dir` leave now, if they would leave by `rail`. */
unsigned hp3d_members_way(unsigned rail, enum hp3_dir dir);

/* Output of a pipe with a bond, for one direction (hp3d_send_fn). */
struct hp3d_members_out {
	struct hp3d_worker *worker;
	enum hp3_dir dir;
};
void hp3d_members_send(void *out, struct rte_mbuf **m, uint16_t n);
/* Packets that wait for a port without a link go to another member. Returns their number. */
uint32_t hp3d_members_rescue(struct hp3d_worker *w, unsigned rail, enum hp3_dir dir);
