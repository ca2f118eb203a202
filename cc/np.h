/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * DCQCN notification point (SIGCOMM 2015, section 3.1; IBTA annex A17.9): a receiver that gets data
 * packets with CE notifies the sender. The engine is the notification point for RNICs that send no
 * CNPs themselves. The functions return the action; the caller builds the packet.
 *
 * Invariants: CNPs of one flow are at least min_time_between_cnps apart. At most one ACK carries
 * BECN for all packets with CE since the previous ACK. A peer whose hp3d did not answer recently
 * gets neither CNPs nor BECN (rule 5): without hp3d, CNPs and BECN would reach the peer's RNIC.
 *
 * BECN costs no packet, but waits for the RNIC's next ACK. The ICRC does not cover BECN (resv8a).
 * BECN has no rate limit: the reaction point has its own period.
 */
#include <stdbool.h>
#include <stdint.h>

enum hp3_np_mode { HP3_NP_CNP, HP3_NP_BECN };

struct hp3_np_params {
	uint32_t min_time_between_cnps; /* us; 0: hp3 sends one CNP for each packet with CE */
	uint8_t mode; /* enum hp3_np_mode */
};

/* State of a flow; all 0 at first. */
struct hp3_np {
	uint64_t next; /* no CNP before this time, ns */
	bool becn; /* a packet with CE arrived since the last ACK */
};

enum hp3_np_do { HP3_NP_NONE, HP3_NP_SEND_CNP, HP3_NP_SET_BECN };

/* A data packet of the flow arrived with CE. `peer_hp3d`: the sender's hp3d answered recently. */
enum hp3_np_do hp3_np_ce(
	struct hp3_np *flow, const struct hp3_np_params *p, bool peer_hp3d, uint64_t now);

/* The local RNIC sends an ACK for the flow. */
enum hp3_np_do hp3_np_ack(struct hp3_np *flow, const struct hp3_np_params *p, bool peer_hp3d);
