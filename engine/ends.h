/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The ends of an address pair: addresses of the local and the remote host, and the VLAN (0: none).
 * The struct points to the addresses: network order, 4 bytes (IPv4) or 16 bytes (IPv6).
 */
#include "roce/parse.h"

enum hp3_dir {
	HP3_DIR_TX, /* from the local RNIC towards the network */
	HP3_DIR_RX, /* from the network towards the local RNIC */
};

struct hp3_ends {
	bool ipv6;
	uint32_t vlan;
	const void *local, *remote;
};

/* Ends from any struct with members of these names: hp3_qp_event, hp3_flow_info, hp3_pair ... */
#define HP3_ENDS(x) (&(const struct hp3_ends){(x)->ipv6, (x)->vlan, (x)->local, (x)->remote})

/* Copies both addresses: 16 bytes each (IPv6), or 4 bytes each (IPv4). */
static inline void hp3_ends_copy(const struct hp3_ends *ends, uint8_t *local, uint8_t *remote)
{
	memcpy(local, ends->local, ends->ipv6 ? 16 : 4);
	memcpy(remote, ends->remote, ends->ipv6 ? 16 : 4);
}

/* Ends of a packet; they point into the frame. */
static inline struct hp3_ends hp3_ends_of(
	const void *frame, const struct hp3_view *v, enum hp3_dir dir)
{
	const bool ipv6 = v->flags & HP3_VF_IPV6;
	const uint8_t *src = (const uint8_t *)frame + v->l3_off + (ipv6 ? 8 : 12);
	const uint8_t *dst = src + (ipv6 ? 16 : 4);

	if (dir == HP3_DIR_TX)
		return (struct hp3_ends){ipv6, v->vlan, src, dst};
	return (struct hp3_ends){ipv6, v->vlan, dst, src};
}
