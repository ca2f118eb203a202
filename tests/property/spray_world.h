/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_SPRAY_WORLD_H
#define HP3_TESTS_SPRAY_WORLD_H
/*
 * Two hosts, an engine in front of the RNIC of each, and several paths from the first one to the
 * second, and back. The RNIC of the first writes and reads, goes back N, and has a timer; that of
 * the second answers a gap with one NAK. Everything is drawn from one seed.
 *
 * What is checked while it runs: the RNIC gets no packet twice that left once, none is held to be
 * resequenced for more than 11.5 ms, or 13.5 where its host or that port stood still, besides that
 * time; no packet is made up; no
 * READ or ATOMIC comes again behind a SEND that invalidates its key, no RNIC runs out of retries;
 * at the end every message is complete. What the caller judges: struct spray_result.
 */
#include <stdbool.h>
#include <stdint.h>

struct spray_params {
	uint64_t seed;
	uint32_t qps, packets; /* packets: of all queue pairs together */
	uint32_t window; /* packets in flight; 0: 192 */
	uint32_t gap_ns; /* between two of a queue pair; 0: 400 */
	uint32_t paths, spread_us; /* paths differ by up to so much */
	uint32_t loss_ppm; /* of requests and replies */
	uint32_t bad_ppm; /* packets that the engine passes on, and the RNIC does not get */
	uint32_t rnr_ppm;
	uint32_t damaged_ppm; /* requests and replies that are altered on their way */
	uint32_t twice_ppm; /* that come once more, up to 100 ms later; damaged or not */
	uint32_t marked_paths, marked_ppm; /* the first ones of all mark so many requests (CE) */
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
	uint32_t stands_us; /* either host stands still, so often; 0: never */
	uint32_t receiver_stands_us; /* the receiver's host does, besides */
	uint32_t stands_ms; /* for so long at most, but for one more */
	uint32_t ports_us; /* the port to the RNIC of either host takes nothing, so often; 0: never
			    */
	uint32_t pauses_us; /* a path pauses (PFC) so often; 0: never */
	uint32_t paused_us; /* for so long at most */
	uint32_t keepalive_us; /* keep-alive interval; 0: as shipped */
	uint64_t clock[2]; /* what those of the hosts show at first; 0: drawn (epochs.h) */
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
	bool learnt; /* nobody tells where queue pairs begin, so nobody probes at set-up */
	uint32_t far_us; /* the last path takes so much longer than the others */
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

/* 0, or -1: something happened that never may; it was printed, with the seed. */
int spray_run(const struct spray_params *p, struct spray_result *r);

#endif
