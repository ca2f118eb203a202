/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Two hosts, each with an engine in front of its RNIC, and several paths between them in both
 * directions. The first RNIC is the requester: it posts WRITEs and READs, retransmits with
 * go-back-N, and has a timer. The second answers a gap with one NAK. All random choices depend on
 * one seed.
 *
 * Checks while it runs: an RNIC gets no packet twice that was sent once; no packet is held to be
 * resequenced for more than 11.5 ms (with a stall of its host or port, 13.5 ms plus the stall); an
 * RNIC gets no packet that nobody sent; no READ or ATOMIC is repeated after a SEND that invalidates
 * its key; no RNIC runs out of retries. At the end, every message is complete. The caller checks
 * struct spray_result.
 */
#include <stdbool.h>
#include <stdint.h>

struct spray_params {
	uint64_t seed;
	uint32_t qps, packets; /* packets: of all queue pairs together */
	uint32_t window; /* packets in flight; 0: 192 */
	uint32_t gap_ns; /* between packets of a queue pair; 0: 400 */
	uint32_t paths, spread_us; /* largest difference of the paths' delays */
	uint32_t loss_ppm; /* of requests and replies */
	uint32_t bad_ppm; /* packets lost between the engine and the RNIC */
	uint32_t rnr_ppm;
	uint32_t damaged_ppm; /* requests and replies damaged by the network */
	uint32_t twice_ppm; /* packets copied, up to 100 ms later; damaged or not */
	uint32_t marked_paths, marked_ppm; /* how many paths mark requests (CE); share marked */
	uint32_t message_fault_percent; /* messages between the engines lost; as many come twice, or
					   late */
	uint32_t reads_percent, small_percent; /* of messages: READs up to 8 KiB; small messages */
	uint32_t large_reads_percent; /* large enough to be sprayed */
	uint32_t atomics_percent;
	uint32_t restart_us; /* interval of restarts of the receiver's engine; 0: never */
	uint32_t asker_restart_us; /* the same for the sender's engine */
	uint32_t move_us; /* interval of moves by an operator; 0: never */
	uint32_t hold_packets; /* 0: as shipped */
	uint32_t receiver_hold_bytes; /* 0: as shipped */
	uint32_t stands_us; /* interval of stalls of either host; 0: never */
	uint32_t receiver_stands_us; /* interval of additional stalls of the receiver's host */
	uint32_t stands_ms; /* longest stall, except for one */
	uint32_t ports_us; /* interval of stalls of a host's port; 0: never
			    */
	uint32_t pauses_us; /* interval of pauses (PFC) of a path; 0: never */
	uint32_t paused_us; /* longest pause */
	uint32_t keepalive_us; /* keep-alive interval; 0: as shipped */
	uint64_t clock[2]; /* the hosts' clocks at the start; 0: drawn (epochs.h) */
	uint32_t dies_us; /* interval of deaths of a path, for 5 ms each; 0: never */
	uint32_t operator_us; /* interval of actions of the sender's operator; 0: never */
	uint32_t receiver_operator_us;
	uint32_t keys_us; /* interval of reloads that change a host's keys; 0: never */
	uint32_t returns_us; /* interval of ends of queue pairs whose QPNs are reused; 0: never
			      */
	uint32_t untold_percent; /* ends and set-ups not reported to hosts; as many are late
				  */
	uint32_t report_delay_us; /* longest delay of reports of ends and set-ups */
	uint32_t most_naks; /* NAKs and repeated READs per queue pair, at most; 0: no limit */
	uint32_t bytes; /* spray_bytes; 0: as shipped */
	uint32_t short_bytes; /* spray_short_bytes */
	uint32_t rnic_us; /* longest delay between an engine and its RNIC, each way; 0: none */
	uint32_t ones_percent; /* messages of one packet */
	uint32_t inv_percent; /* SENDs that invalidate the R_Keys of earlier READs */
	uint16_t flows; /* spray_flows; 0: as shipped */
	uint16_t max_flows; /* 0: 256 */
	bool patient; /* RNICs that never run out of retries */
	bool selective; /* selective repeat: RNICs retransmit only missing packets */
	bool off; /* rfr.mode = move */
	bool receiver_off; /* rfr.mode = move at the receiver only */
	bool automatic; /* rfr.mode = auto; probes are answered */
	bool learnt; /* engines get no first PSNs, so they do not probe at set-up */
	uint32_t far_us; /* additional delay of the last path */
};

/* X(field) */
#define SPRAY_RESULT(X)                                                                            \
	X(sent)                                                                                    \
	X(arrived)                                                                                 \
	X(atomics)                                                                                 \
	X(gaps)                                                                                    \
	X(overtaken)                                                                               \
	X(passed)                                                                                  \
	X(read_gaps)                                                                               \
	X(read_naks)                                                                               \
	X(naks_possible)                                                                           \
	X(naks)                                                                                    \
	X(rnrs)                                                                                    \
	X(timeouts)                                                                                \
	X(again)                                                                                   \
	X(lost)                                                                                    \
	X(bad)                                                                                     \
	X(damaged)                                                                                 \
	X(dropped)                                                                                 \
	X(by_marked)                                                                               \
	X(reported_marked)                                                                         \
	X(ghosts)                                                                                  \
	X(sprayed)                                                                                 \
	X(sprayed_reads)                                                                           \
	X(agreed)                                                                                  \
	X(held)                                                                                    \
	X(late)                                                                                    \
	X(asked)                                                                                   \
	X(known_lost)                                                                              \
	X(sprayed_lost)                                                                            \
	X(given_up)                                                                                \
	X(anew)                                                                                    \
	X(beyond)                                                                                  \
	X(full)                                                                                    \
	X(broken)                                                                                  \
	X(stopped)                                                                                 \
	X(differ)                                                                                  \
	X(presumed_no_more)                                                                        \
	X(compared)                                                                                \
	X(returned)                                                                                \
	X(stale)                                                                                   \
	X(restarts)                                                                                \
	X(stood)                                                                                   \
	X(ports)                                                                                   \
	X(moves)                                                                                   \
	X(modes)                                                                                   \
	X(reloads)                                                                                 \
	X(stops)                                                                                   \
	X(bypasses)                                                                                \
	X(rekeyed)                                                                                 \
	X(unbelieved)                                                                              \
	X(took_us)                                                                                 \
	X(done_us) /* sum over queue pairs: when its last message was complete */

struct spray_result {
#define X(field) uint64_t field;
	SPRAY_RESULT(X)
#undef X
};

/* Returns 0, or -1 after a violation, which is printed with the seed. */
int spray_run(const struct spray_params *p, struct spray_result *r);
