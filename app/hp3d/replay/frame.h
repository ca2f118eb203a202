/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Reads one record of a capture, of any kind that people record, and gives an Ethernet frame that
 * hp3_parse() accepts. This module reads link types Ethernet, SLL, SLL2 and RAW. It removes
 * tunnels (ERSPAN, GRE, VXLAN, Geneve, IP in IP), and the outer of more than two VLAN tags.
 *
 * If a capture or a mirror cut a packet behind its headers, the frame gets zeros instead of the
 * missing bytes, and the ICRC that belongs to them. The functions read no byte behind the record.
 */
#include <stdbool.h>
#include "roce/parse.h"

#define HP3D_REPLAY_RECORD_MAX 9984u /* bytes of a record */
#define HP3D_REPLAY_FRAME_MAX  (HP3D_REPLAY_RECORD_MAX + 64)
#define HP3D_REPLAY_HEAD_MAX   256u
#define HP3D_REPLAY_NAME_MAX   64u

/* Values of LINKTYPE_ (tcpdump.org/linktypes.html), as pcapng files have them. */
enum hp3d_replay_link {
	HP3D_LINK_ETHERNET = 1,
	HP3D_LINK_RAW = 101,
	HP3D_LINK_SLL = 113,
	HP3D_LINK_IPV4 = 228,
	HP3D_LINK_IPV6 = 229,
	HP3D_LINK_SLL2 = 276,
};

struct hp3d_replay_frame {
	uint8_t data[HP3D_REPLAY_FRAME_MAX];
	uint32_t len; /* of `data` */
	uint32_t recorded; /* leading bytes of `data` that the record has; the rest are zeros */
	/*
	 * The record differs from `data` up to the IP header: it has `head` bytes, `data` has `l3`.
	 * Both are 0 if `data` is the record.
	 */
	uint32_t head, l3;
	bool too_long; /* RoCEv2, longer than `data`: no RNIC sends it, offloads of a NIC made it */
	bool ext_cut; /* the record has not all extended headers behind the BTH */
	struct hp3_view v;
	/* Tunnels, and what was found instead of RoCEv2. Empty: RoCEv2 without a tunnel. */
	char name[HP3D_REPLAY_NAME_MAX];
};

/* True if packets of this link type can be read. */
bool hp3d_replay_frame_link(uint32_t link);

/* `len`: recorded bytes, at most HP3D_REPLAY_RECORD_MAX. */
void hp3d_replay_frame_read(
	const void *record, uint32_t len, uint32_t link, struct hp3d_replay_frame *f);
