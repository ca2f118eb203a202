/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_SPRAY_WORLD_H
#define HP3_TESTS_SPRAY_WORLD_H
/*
 * Two hosts, each with an engine in front of its RNIC, and several paths between them in both
 * directions. The first RNIC writes and reads, goes back N, and has a timer; the second answers a
 * gap with one NAK. All is drawn from one seed.
 *
 * Checks while it runs: the RNIC gets no packet twice that left once; no packet is held to be
 * resequenced for more than 11.5 ms (with a stall of its host or port, 13.5 ms plus the stall); no
 * packet is invented; no READ or ATOMIC is repeated after a SEND that invalidates its key; no RNIC
 * runs out of retries. At the end, every message is complete. The caller checks struct
 * spray_result.
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
	uint32_t marked_paths, marked_ppm; /* first paths that mark requests (CE); share marked */
	uint32_t message_fault_percent; /* messages between the engines lost; as many come twice, or
					   late */
	uint32_t reads_percent, small_percent; /* of messages; READs of up to 8 KiB, and ... */
	uint32_t large_reads_percent; /* as large as what is sprayed */
	uint32_t atomics_percent;
	uint32_t restart_us; /* the receiver's engine, so often; 0: never */
	uint32_t asker_restart_us; /* the sender's */
	uint32_t move_us; /* an operator moves a queue pair so often; 0: never */
	uint32_t hold_packets; /* 0: as shipped */
	uint32_t receiver_hold_bytes; /* likewise */
	uint32_t stands_us; /* interval of stalls of either host; 0: never */
	uint32_t receiver_stands_us; /* interval of additional stalls of the receiver's host */
	uint32_t stands_ms; /* longest stall, except for one */
	uint32_t ports_us; /* the port to the RNIC of either host takes nothing, so often; 0: never
			    */
	uint32_t pauses_us; /* a path pauses (PFC) so often; 0: never */
	uint32_t paused_us; /* for so long at most */
	uint32_t keepalive_us; /* keep-alive interval; 0: as shipped */
	uint64_t clock[2]; /* the hosts' clocks at the start; 0: drawn (epochs.h) */
	uint32_t dies_us; /* a path dies for 5 ms so often; 0: never */
	uint32_t operator_us; /* the sender's does something so often; 0: never */
	uint32_t receiver_operator_us;
	uint32_t keys_us; /* a reload of either host brings other keys, so often; 0: never */
	uint32_t returns_us; /* a queue pair ends so often, and another one gets its QPNs; 0: never
			      */
	uint32_t untold_percent; /* of ends and set-ups, of which hosts are not told; as many: late
				  */
	uint32_t report_delay_us; /* hosts are told of all ends and set-ups, so late at most */
	uint32_t most_naks; /* of a queue pair until it ends, READs asked for again among them; 0:
			     * any number */
	uint32_t bytes; /* spray_bytes; 0: as shipped */
	uint32_t rnic_us; /* from an engine to its RNIC and back, at most; 0: no time */
	uint32_t ones_percent; /* messages of one packet */
	uint32_t inv_percent; /* SENDs that invalidate the keys of READs before */
	uint16_t flows; /* spray_flows; 0: as shipped */
	uint16_t max_flows; /* 0: 256 */
	bool patient; /* RNICs that never run out of retries */
	bool selective; /* RNICs that keep what arrives out of order, and repeat only what is
			   missing */
	bool off; /* rfr.mode = move */
	bool receiver_off; /* the receiver's only */
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
	X(evs_lost)                                                                                \
	X(given_up)                                                                                \
	X(anew)                                                                                    \
	X(beyond)                                                                                  \
	X(full)                                                                                    \
	X(broken)                                                                                  \
	X(stopped)                                                                                 \
	X(differ)                                                                                  \
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

/* 0, or -1 after a violation, which is printed with the seed. */
int spray_run(const struct spray_params *p, struct spray_result *r);

#endif
