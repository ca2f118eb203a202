/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Counters of a run. They are defined in docs/guide/simulate.md. */
#include <stdint.h>

/* Why packets are dropped: X(symbol, name in results). */
#define SIM_DROPS(X)                                                                               \
	X(BUFFER, "buffer") /* the switch's shared buffer is full */                               \
	X(HEADROOM, "headroom") /* the sender did not obey PFC in time */                          \
	X(THRESHOLD, "threshold") /* egress queue at its dynamic limit (lossy) */                  \
	X(LINK_DOWN, "link_down") /* on a failed link, or queued for it */                         \
	X(NO_ROUTE, "no_route")                                                                    \
	X(LOSS, "loss") /* silent, at the link's loss rate */                                      \
	X(BLACK_HOLE, "black_hole") /* silent, of flows chosen by a hash */                        \
	X(SUPERSEDED, "superseded") /* by the balancer: a copy waits, or the queue pair is gone */ \
	X(ICMP_LIMIT, "icmp_limit") /* traces that a switch did not answer */                      \
	X(LATE, "late") /* packets and replies that arrive when their flow has ended */

enum sim_drop {
#define SIM_DROP_ENUM(name, text) SIM_DROP_##name,
	SIM_DROPS(SIM_DROP_ENUM)
#undef SIM_DROP_ENUM
		SIM_DROP_N
};

struct sim_counters {
	uint64_t made, ended; /* packets made; packets that ended, including dropped ones */
	uint64_t dropped[SIM_DROP_N];
	uint64_t hops; /* packets that switches forwarded: with ACKs, without PFC frames */
	uint64_t data, data_bytes; /* sent by RNICs, with retransmissions */
	uint64_t again, again_bytes; /* retransmissions */
	uint64_t acks, naks, cnps, reads; /* reads: requests */
	uint64_t delivered; /* data packets that receivers accepted, in sequence or stored */
	uint64_t reordered; /* first transmissions that arrived behind a later one */
	uint64_t duplicates;
	uint64_t marked; /* data packets that arrived with CE */
	uint64_t pauses; /* PFC pause frames */
	uint64_t pauses_started; /* how many of these paused a sender that was not paused */
	uint64_t pause_ps; /* time for which senders were paused */
	uint64_t timeouts;
	uint64_t moves, moves_wasted; /* path changes; hp3: those that made the flow worse */
	uint64_t probes, probe_bytes; /* bytes: also traces, answers, messages between hp3ds */
	uint64_t traces, hops_reported;
	uint64_t flow_reports; /* hp3: messages about sprayed queue pairs */
	/*
	 * hp3-fleet: reports of hosts; moves that were planned, that engines were advised to make,
	 * that engines made
	 */
	uint64_t fleet_reports, fleet_moves, fleet_asked, fleet_moved;
	uint64_t ack_solicitations, reports, replies_moved; /* hp3: dead reply paths */
	uint64_t held_packets; /* by the balancer, at hosts or destination switches */
	uint64_t held_ps; /* sum of the holding times of these packets */
};

const char *sim_drop_name(enum sim_drop d);
