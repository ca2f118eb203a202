/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The rails of a bond, in one pipe. A packet leaves by the rail on which it arrived, as the bonds
 * of the RNIC and of the switches chose. There are three exceptions:
 *
 * - Packets that hp3d made, and packets of the RNIC that a move or the pacer held, leave by the
 * rail on which the RNIC last sent a packet of the flow. So packets of a flow do not take two
 * members if the RNIC's bond changes the member meanwhile.
 * - Packets of a queue pair that hp3d resequences go to the RNIC by one rail (HP3_IN_ORDER): on two
 *   members, they could overtake each other.
 * - With mode = active-backup, both use the rail on which the RNIC last sent any packet: the RNIC
 *   ignores its other ports, and a switch would send there what it sees from there.
 *
 * If the port where a packet would leave has no link, the caller takes another member
 * (lcores/members.h), except for packets with HP3D_BOND_FIXED.
 */
#include <stdbool.h>
#include <stdint.h>
#include "config/config.h"
#include "engine/engine.h"

/* In mbuf.port, besides the rail: not RoCEv2, so the packet may be about this port (LACP, LLDP). */
#define HP3D_BOND_FIXED 0x8000u

struct hp3d_bond {
	uint8_t in; /* rail of the packets in hand */
	uint8_t latest; /* rail on which the RNIC last sent a packet of a reliable connection */
	bool active_backup;
	uint32_t flows; /* size of of_flow[] */
	uint8_t of_flow[]; /* rail on which the RNIC last sent a packet of the flow */
};

/* NULL: no memory. */
struct hp3d_bond *hp3d_bond_create(const struct hp3_config *cfg, unsigned lead, int socket);
void hp3d_bond_free(struct hp3d_bond *b);

_Static_assert(HP3_CONFIG_RAILS_MAX <= 16, "rails as links of struct hp3_pkt");

/* The packets in hand arrived on this rail. */
static inline void hp3d_bond_set_rail(struct hp3d_bond *b, unsigned rail)
{
	b->in = (uint8_t)rail;
}

/* The rail of packets that hp3d makes or has held; HP3_NO_FLOW: they belong to no flow. */
static inline uint16_t hp3d_bond_of_flow(const struct hp3d_bond *b, uint32_t flow)
{
	return b->active_backup || flow >= b->flows ? b->latest : b->of_flow[flow];
}

/* mbuf.port of a packet that the RNIC sent. */
static inline uint16_t hp3d_bond_sent(struct hp3d_bond *b, const struct hp3_view *v, uint32_t flow)
{
	if (v->class == HP3_CLASS_OTHER)
		return b->in | HP3D_BOND_FIXED;
	if (v->class == HP3_CLASS_RC_REQUEST || v->class == HP3_CLASS_RC_REPLY) {
		b->latest = b->in;
		if (flow < b->flows)
			b->of_flow[flow] = b->in;
	}
	return b->in;
}

/* mbuf.port of a packet for the RNIC; `flags`: of the engine's verdict. */
static inline uint16_t hp3d_bond_arrived(
	const struct hp3d_bond *b, const struct hp3_view *v, uint8_t flags)
{
	if (v->class == HP3_CLASS_OTHER)
		return b->in | HP3D_BOND_FIXED;
	if (!(flags & HP3_IN_ORDER))
		return b->in;
	return b->active_backup ? b->latest : flags >> HP3_LINK_SHIFT;
}
