/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The headers of a captured record, from the outermost one to the IP header of a RoCEv2 packet:
 * link.c passes the link layer and VLAN tags; tunnels.c passes IP headers and tunnels. frame.c
 * makes the frame (frame.h).
 */
#include "app/hp3d/replay/frame.h"

#define HP3D_REPLAY_TAGS_SEEN 8u

/* Ethertypes */
#define HP3D_TYPE_IPV4 0x0800u
#define HP3D_TYPE_TEB  0x6558u /* transparent Ethernet bridging: a frame in GRE or Geneve */
#define HP3D_TYPE_IPV6 0x86ddu

/* A walk from the outermost header inwards. */
struct hp3d_replay_walk {
	const uint8_t *p;
	uint32_t len, at; /* `at` never exceeds `len` */
	const uint8_t *macs; /* destination and source of the innermost frame; NULL: none */
	struct hp3_tag tag[HP3D_REPLAY_TAGS_SEEN];
	uint32_t tags;
	bool bridged; /* at `at` begins an Ethernet header, not the header of `type` */
	uint32_t type; /* Ethertype of what begins at `at` */
	char *name;
};

/* An IP header at `at`. Its payload begins `header` bytes later, and has the protocol `proto`. */
struct hp3d_replay_ip {
	uint32_t header, total;
	uint8_t proto;
	bool fragment;
};

/* Appends to the name of what was found. */
__attribute__((format(printf, 2, 3))) void hp3d_replay_add_name(
	struct hp3d_replay_walk *w, const char *fmt, ...);
/* False after a name: the record ends within the next `n` bytes. */
bool hp3d_replay_needs_bytes(struct hp3d_replay_walk *w, uint32_t n);

/*
 * link.c: passes an Ethernet header, or the header of a link type, and the VLAN tags behind it.
 * Returns false after a name: what follows cannot be read.
 */
bool hp3d_replay_pass_ethernet(struct hp3d_replay_walk *w);
bool hp3d_replay_pass_link(struct hp3d_replay_walk *w, uint32_t link);

/* tunnels.c: reads the IP header at `at`. Returns false after a name if the header has errors. */
bool hp3d_replay_read_ip(struct hp3d_replay_walk *w, struct hp3d_replay_ip *ip);
/*
 * Passes one IP header and the tunnel behind it. 1: a packet to the port of RoCEv2 begins at `at`;
 * 0: at `at` begins the content of a tunnel; -1: neither, and the name tells what was found.
 */
int hp3d_replay_pass_ip(struct hp3d_replay_walk *w);
