/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_WORLD_H
#define HP3_TESTS_WORLD_H
/*
 * A world around one engine: RC requesters (messages, window, AckReq, go-back-N, time-outs, RNR,
 * resets), the engine with its hold queues, a network whose paths are FIFOs of different and
 * changing delay that lose and cut, and responders that behave like RNICs (one NAK per gap,
 * duplicates acknowledged again, READ responses).
 *
 * What it watches, at every packet:
 *  - order: packets of a queue pair reach the responder in the order in which the requester emitted
 * them;
 *  - completeness: every emitted packet arrives once, is lost by a path, or is discarded with its
 * epoch;
 *  - truth: a requester never completes a request that the responder has not executed; no wrong
 * pairing;
 *  - liveness: no packet is held longer than max_hold, held bytes stay in bounds;
 *  - the closing packet asks for an acknowledgement.
 *
 * A violation ends the run with a message that names the seed. Same seed, same run, to the byte.
 */
#include "engine/engine.h"

struct world_params {
	uint64_t seed;
	uint32_t packets; /* stop after so many emitted packets */
	uint32_t qps; /* 1..32 */
	bool lockstep; /* all queue pairs start at PSN 0 and send alike */
	bool resets; /* queue pairs are reset now and then, PSN near the old one */
	bool rnr;
	bool reads;
	uint32_t loss_ppm; /* data and replies */
	uint32_t paths; /* ports are spread over so many */
	bool kill_paths; /* a path loses everything for a while */
	uint32_t move_every_us;
	uint32_t msg_packets; /* longest message */
	uint32_t window; /* unacknowledged PSNs that a requester allows itself */
	uint64_t hold_bytes; /* per flow */
	uint32_t hot_paths; /* so many paths are congested: slower, and all they carry is marked */
	bool probing; /* the engine looks for better paths by itself; no operator moves */
	bool cm; /* pairings announced by set-up events instead of inferred */
};

struct world_result {
	uint64_t emitted, arrived, lost, discarded, held, retransmitted;
	uint64_t moves_asked, switched, idle, recovered, timeouts, epochs, paired;
	uint64_t completed_msgs;
	uint64_t severe, rounds, rounds_won, probes, on_hot; /* on_hot: arrivals by a hot path */
	uint64_t ports_used; /* arrivals on a port other than home */
	uint64_t max_drain_ns; /* last: the others add up */
};

/* Returns 0, or -1 after a violation (described on stderr). */
int world_run(const struct world_params *p, struct world_result *r);

#endif
