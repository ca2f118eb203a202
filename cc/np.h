/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CC_NP_H
#define HP3_CC_NP_H
/*
 * DCQCN notification point (SIGCOMM 2015, section 3.1; IBTA annex A17.9): a receiver that saw CE
 * on data packets tells the sender, for RNICs that do not. Says only what to do; the caller builds
 * it.
 *
 * Invariants: CNPs of one flow are at least min_time_between_cnps apart;
 * one ACK at most carries BECN for the marks since the ACK before; nothing at all goes to a peer
 * whose hp3d did not answer recently (rule 5): an RNIC must never get what only hp3d understands.
 *
 * BECN costs no packet but waits for the RNIC's next ACK, and resv8a is outside the ICRC. It is not
 * rate limited: it counts ACKs that saw congestion, and the reaction point has its own period.
 */
#include <stdbool.h>
#include <stdint.h>

enum hp3_np_mode { HP3_NP_CNP, HP3_NP_BECN };

struct hp3_np_params {
	uint32_t min_time_between_cnps; /* us; 0: with every mark */
	uint8_t mode; /* enum hp3_np_mode */
};

/* All 0 to begin with. */
struct hp3_np {
	uint64_t next; /* no CNP before */
	bool becn; /* marked since the last ACK */
};

enum hp3_np_do { HP3_NP_NONE, HP3_NP_SEND_CNP, HP3_NP_SET_BECN };

/* A data packet of the flow arrived with CE. `peer_hp3d`: the sender's hp3d answered recently. */
enum hp3_np_do hp3_np_ce(
	struct hp3_np *flow, const struct hp3_np_params *p, bool peer_hp3d, uint64_t now);

/* The local RNIC emits an ACK for the flow. */
enum hp3_np_do hp3_np_ack(struct hp3_np *flow, const struct hp3_np_params *p, bool peer_hp3d);

#endif
