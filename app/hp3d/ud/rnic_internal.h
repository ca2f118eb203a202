/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_UD_RNIC_INTERNAL_H
#define HP3D_UD_RNIC_INTERNAL_H
/* Shared by rnic.c (open, close, addresses) and traffic.c (sends and receives). */
#include <string.h>
#include "app/hp3d/ud/rnic.h"

/* Posts a slot of the memory as a receive of the slot's queue pair. */
int hp3d_ud_rnic_receive(struct hp3d_ud_rnic *r, uint32_t slot);
/* Writes an address as a GID; IPv4: as an IPv4-mapped IPv6 address. */
static inline void hp3d_ud_as_gid(uint8_t gid[16], bool ipv6, const uint8_t *ip)
{
	memset(gid, 0, 16);
	memset(gid + 10, 0xff, 2);
	memcpy(ipv6 ? gid : gid + 12, ip, ipv6 ? 16 : 4);
}

#endif
