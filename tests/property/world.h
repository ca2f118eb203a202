/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_WORLD_H
#define HP3_TESTS_WORLD_H
/*
 * A world around one engine: RC requesters (world_requester.c) whose RNIC completes work as real
 * ones do (world_rnic.c), a poll-mode loop that hands the engine what its two ports have received,
 * in bursts (world_burst.c, world_transmit.c, world_receive.c), the engine with its FIFOs
 * (world_engine.c, world_life.c), a network whose paths are FIFOs of different and changing delay
 * that lose, die, or pause and deliver later (world_network.c), responders (world_responder.c), and
 * hp3d on the other side, which may be gone.
 *
 * What it watches (world_checks.c, world_events.c, world_rate.c):
 *  - order (rule 23): packets of a queue pair reach the responder in the order in which the
 *    requester emitted them. Rule 13 names the exception: what a dead path still held when a flow
 *    left it. A crash of hp3d may reorder once (rule 11);
 *  - gaps: what enters the network leaves out no PSN that the responder lacks, after a failover
 *    too, but for the last resort that the engine reports (RESUME by time-out or full hold);
 *  - completeness: every emitted packet arrives once, is lost by a path, or is dropped for a reason
 *    that is counted;
 *  - truth: a requester never completes a request that the responder has not executed, nor a READ
 *    without its data; no wrong pairing;
 *  - liveness: no packet is held longer than its bound, held bytes stay in bounds;
 *  - evidence: no round wins, no path is left for dead, without what the rules ask for.
 *
 * A violation ends the run with a message that names the seed. Same seed, same run, to the byte.
 */
#include "engine/engine.h"
#include "ppp/placement.h"

/* How the peer's RNIC answers duplicates (rule 2). */
enum world_responder {
	WORLD_AT_ONCE, /* each one, with the PSN of the latest executed request: Soft-RoCE */
	WORLD_COALESCING, /* one ACK for all that came within some microseconds */
	WORLD_AFTER_READ, /* READ data takes its time, and the answer queues behind it */
};

struct world_params {
	uint64_t seed;
	uint32_t packets; /* stop after so many first transmissions */
	/* hp3d polls, and takes up to so many packets at once, 32 at most; 0, 1: each packet goes
	 * through it at once, by itself */
	uint32_t burst;
	uint32_t qps; /* 1..256 */
	uint32_t msg_packets; /* longest message */
	uint32_t window; /* unacknowledged PSNs that a requester allows itself */
	uint32_t gap_us; /* between packets of a queue pair, about; 0: 0.8 */
	uint32_t pause_us; /* longest pause of an application between messages; 0: 400 */
	uint32_t rto_us; /* the RNIC's retransmission time-out; 0: 8000 */
	bool lockstep; /* all queue pairs start at PSN 0 and send alike */
	bool resets; /* queue pairs are reset now and then, PSN near the old one */
	bool rnr, reads;
	uint32_t fatal_ppm; /* requests that the responder refuses for good: NAK 1 to 3 */
	bool even; /* messages are as long as they may be, READs too */
	bool sends; /* SENDs instead of WRITEs */
	uint32_t read_percent; /* reads: of the messages; 0: 25, and some ATOMICs */
	uint32_t mbps; /* all queue pairs together are given so much to send; 0: all they can */
	uint32_t throttle_us; /* CNPs slow an RNIC down to a packet in so long (DCQCN) */
	uint32_t ack_us; /* responder: an ACK speaks for all that came within so long; 0: 10 */
	uint32_t read_us; /* responder: a READ takes so long */
	uint32_t rnr_us; /* the RNIC waits so long; 0: 700 */
	bool invalidate; /* SEND with invalidate, fenced, behind READs */
	bool odd_opcodes; /* request opcodes that nobody knows */
	bool selective; /* the RNICs repeat selectively instead of going back N */
	uint8_t responder; /* enum world_responder */

	uint32_t paths; /* ports are spread over so many */
	uint32_t loss_ppm; /* data and replies */
	uint32_t grey_paths; /* the first so many lose data in excess of that: */
	uint32_t grey_ppm;
	bool bear_loss; /* the engine has no eye for that */
	uint32_t reply_loss_ppm; /* replies and answers to probes alone */
	uint32_t damage_ppm; /* replies that arrive with a wrong ICRC: the RNIC drops them */
	uint32_t behind_ppm; /* replies lost between hp3d and the RNIC */
	bool credits; /* ACKs tell of credits, which change */
	bool news; /* to consume what the RNIC has not seen is a violation (rule 24) */
	bool lose_closing; /* most closing packets, and their ACKs, sent again or not */
	bool kill_paths; /* a path loses everything for a while */
	bool pause_paths; /* it delivers what it held when the while is over (PFC) */
	bool all_paths; /* they die, or pause, all at once */
	bool kill_back; /* the way back dies instead */
	/* replies take paths by their port, too, which die both ways; the peer's hp3d sends them
	 * elsewhere when it is told */
	bool both_ways;
	uint32_t dead_us; /* longest such while; 0: 3000 */
	uint32_t every_us; /* between deaths and pauses; 0: so that half of the paths work */
	/* the last so many swallow packets longer than 700 bytes, from 3 ms on; which ones changes,
	 * if they move */
	uint32_t short_paths;
	bool short_paths_move;
	bool advice; /* moves are not asked for but advised, well or badly (search/advised.c) */
	uint32_t hot_paths; /* so many paths are congested: slower, and all they carry is marked */
	uint32_t rtt_us; /* of all paths alike; 0: each has its own, which changes */
	uint32_t incast_us; /* longest queue at the receiver, behind all paths */
	uint32_t mark_percent; /* of what hot paths carry; 0: 100 */

	const struct hp3_engine_config *shipped; /* thresholds as they ship; NULL: the world's */
	bool harmless; /* a healthy network: whatever hp3d does to it is a violation */
	uint32_t limit_ms; /* the run ends then, too; 0: by packets alone */
	bool near; /* queue pairs begin at PSNs near each other */
	uint32_t rewire_every_us; /* two queue pairs begin anew, each at the other's local end */
	/* a queue pair is connected anew; what watchers tell of that comes within so long */
	uint32_t reconnect_every_us, report_late_us;
	uint32_t up_late_us; /* set-up events come within so long, three of each */
	uint32_t pairs; /* of addresses, 1..4; 0: 1 */
	/* ... all of the same two addresses, and of the same queue pair numbers: each has an inner
	 * VLAN tag of its own behind one outer tag */
	bool tenants;
	bool ipv6; /* all of them, or every other one of several */
	bool any_pmtu; /* 256 to 4096, by the seed; else 1024 */
	bool cm; /* pairings announced by set-up events instead of inferred */
	uint32_t lead_us; /* set-up event with PSN; the first data follows within so long */
	uint32_t move_every_us; /* operator moves */
	uint64_t hold_bytes; /* per flow */
	/* buffers of hp3d, of which others take some, now more, now fewer, and an eighth is never
	 * held; 0: as many as the engine may hold */
	uint32_t pool;
	bool probing; /* the engine looks for better paths by itself; no operator moves */
	uint8_t probes; /* enum hp3_probe_choice */
	uint32_t stall_us; /* dead paths are looked for */
	uint32_t message_start_percent; /* long messages on idle queue pairs wait for a path */
	bool observe;
	bool untracked; /* the table has room for all flows but one */
	bool evict; /* few flows idle long enough to be forgotten */
	bool model; /* placement by model and counts */
	uint8_t cc; /* enum hp3_cc_mode */
	uint32_t min_rate_mbps; /* cc = dcqcn */
	/* peers advertise how many long flows there are, so many percent of the truth; 0: cc.share
	 * is off */
	uint32_t share_percent;
	uint32_t share_lost_ppm; /* reports that do not come */
	uint16_t share_rtt; /* % of the base round trip; 0: as it ships */
	/* with share and model: flows move by counts of them, and all that is told of other hosts'
	 * is made up */
	bool spine_paths;
	uint32_t crash_every_us; /* hp3d crashes and starts again without memory */
	uint32_t hang_every_us; /* hp3d hangs or dies, somebody stands in (world_away.c) */
	uint32_t peer_crash_every_us; /* the peer's hp3d is gone for a while */
	bool no_peer; /* it was never there */
	uint32_t mode_every_us; /* the mode changes: on, then off or observe, and on again */
	uint32_t spoof_every_us; /* replies in the peer's name come (world_spoofer.c) */
	uint32_t forge_every_us; /* processes tell of queue pairs of others (world_hostile.c) */
	bool rnic_users; /* ... and make queue pairs of their own to the same peers */
	uint32_t stop_every_us; /* clean stop: flows are moved home, then hp3d starts again */
};

/* X(field): sums over a run */
#define WORLD_SUMS(X)                                                                              \
	X(forged)                                                                                  \
	X(paced)                                                                                   \
	X(lifts)                                                                                   \
	X(shared)                                                                                  \
	X(share_losses)                                                                            \
	X(sent)                                                                                    \
	X(emitted)                                                                                 \
	X(arrived)                                                                                 \
	X(lost)                                                                                    \
	X(discarded)                                                                               \
	X(held)                                                                                    \
	X(retransmitted)                                                                           \
	X(damaged)                                                                                 \
	X(lost_behind)                                                                             \
	X(consumed)                                                                                \
	X(rtos)                                                                                    \
	X(superseded)                                                                              \
	X(given_up)                                                                                \
	X(moves_asked)                                                                             \
	X(advised)                                                                                 \
	X(advice_taken)                                                                            \
	X(by_counts)                                                                               \
	X(switched)                                                                                \
	X(idle)                                                                                    \
	X(recovered)                                                                               \
	X(timeouts)                                                                                \
	X(epochs)                                                                                  \
	X(paired)                                                                                  \
	X(unpaired)                                                                                \
	X(rewired)                                                                                 \
	X(reconnected)                                                                             \
	X(unpaired_long)                                                                           \
	X(foreign_qps)                                                                             \
	X(announced)                                                                               \
	X(completed)                                                                               \
	X(severe)                                                                                  \
	X(rounds)                                                                                  \
	X(rounds_won)                                                                              \
	X(probes)                                                                                  \
	X(probes_standard)                                                                         \
	X(probes_nak)                                                                              \
	X(probes_at_rnic)                                                                          \
	X(on_hot)                                                                                  \
	X(on_grey)                                                                                 \
	X(lossy)                                                                                   \
	X(too_long)                                                                                \
	X(no_room)                                                                                 \
	X(probes_as_data)                                                                          \
	X(went_home)                                                                               \
	X(left_for_loss)                                                                           \
	X(ports_used)                                                                              \
	X(failovers)                                                                               \
	X(resumed)                                                                                 \
	X(last_resort)                                                                             \
	X(naks_made)                                                                               \
	X(would)                                                                                   \
	X(progress_ns)                                                                             \
	X(progressed)                                                                              \
	X(crashes)                                                                                 \
	X(hangs)                                                                                   \
	X(restored)                                                                                \
	X(peer_crashes)                                                                            \
	X(mode_changes)                                                                            \
	X(off_searching)                                                                           \
	X(off_closing)                                                                             \
	X(off_draining)                                                                            \
	X(off_probing)                                                                             \
	X(off_resuming)                                                                            \
	X(restless)                                                                                \
	X(stops)                                                                                   \
	X(forced_stops)                                                                            \
	X(aged)                                                                                    \
	X(setups)                                                                                  \
	X(placed)                                                                                  \
	X(placed_late)                                                                             \
	X(message_start_searches)                                                                  \
	X(moved_at_message_start)                                                                  \
	X(first_elsewhere)                                                                         \
	X(died)                                                                                    \
	X(fatal)                                                                                   \
	X(gave_up)                                                                                 \
	X(unfair)                                                                                  \
	X(duplicates)                                                                              \
	X(rnrs)                                                                                    \
	X(rounds_dead)                                                                             \
	X(simulated_ms)                                                                            \
	X(stale_cnps)                                                                              \
	X(cnps)                                                                                    \
	X(cnps_withheld)                                                                           \
	X(cnps_owed)                                                                               \
	X(rollbacks)                                                                               \
	X(raises)                                                                                  \
	X(outcomes)                                                                                \
	X(odd_moved)                                                                               \
	X(invalidations)                                                                           \
	X(false_dead)                                                                              \
	X(ack_solicitations)                                                                       \
	X(reports)                                                                                 \
	X(replies_moved)                                                                           \
	X(bursts)                                                                                  \
	X(bursts_rx)                                                                               \
	X(long_rx)                                                                                 \
	X(unseen)                                                                                  \
	X(interrupted)
#define WORLD_MAXES(X)                                                                             \
	X(max_drain_ns)                                                                            \
	X(max_progress_ns)                                                                         \
	X(max_acts)

struct world_result {
#define X(field) uint64_t field;
	WORLD_SUMS(X)
	WORLD_MAXES(X)
#undef X
	uint32_t per_path[HP3_LOAD_PATHS]; /* queue pairs whose first packet took this path */
};

/* Returns 0, or -1 after a violation (described on stderr). */
int world_run(const struct world_params *p, struct world_result *r);

#endif
