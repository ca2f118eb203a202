/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A world around one engine: - RC requesters (world_requester.c), whose RNIC completes work as real
 * RNICs do (world_rnic.c); - a poll-mode loop that passes received packets of two ports to the
 * engine, in bursts (world_burst.c, world_transmit.c, world_receive.c); - the engine with its FIFOs
 * (world_engine.c, world_life.c); - a network: paths are FIFOs with varying delay that lose
 * packets, die, or pause (world_network.c); - responders (world_responder.c), and the peer's hp3d,
 * which may not run.
 *
 * Checks (world_checks.c, world_events.c, world_rate.c): - order (rule 23): packets of a queue pair
 * reach the responder in the order in which the requester emitted them. Exception (rule 13):
 * packets that were still on a dead path when the flow left it. A crash of hp3d may reorder once
 * (rule 11); - gaps: packets enter the network without a gap in the PSNs that the responder misses,
 * also after a failover, except for the last resort that the engine reports (RESUME by time-out or
 * full hold); - completeness: every emitted packet arrives once, is lost by a path, or is dropped
 * for a reason that is counted; - truth: a requester never completes a request that the responder
 * has not executed, nor a READ without its data; the engine pairs no queue pair wrongly; -
 * liveness: no packet is held longer than allowed; held bytes stay within their limit; - evidence:
 * no probe round leads to a move, and no flow leaves a dead path, without the evidence that the
 * rules require.
 *
 * A violation ends the run with a message that names the seed. Runs with the same seed are
 * identical.
 */
#include "engine/engine.h"

/* How the peer's RNIC answers duplicates (rule 2). */
enum world_responder {
	WORLD_AT_ONCE, /* each at once, with the PSN of the latest executed request: Soft-RoCE */
	WORLD_COALESCING, /* one ACK for all duplicates of some microseconds */
	WORLD_AFTER_READ, /* READ data take some time, and the answer waits for them */
};

struct world_params {
	uint64_t seed;
	uint32_t packets; /* the run ends after this number of first transmissions */
	/* packets per poll of hp3d, 32 at most; 0, 1: each packet is processed alone, at once */
	uint32_t burst;
	uint32_t qps; /* 1..256 */
	uint32_t msg_packets; /* longest message */
	uint32_t window; /* largest number of unacknowledged PSNs */
	uint32_t gap_us; /* between packets of a queue pair, about; 0: 0.8 */
	uint32_t pause_us; /* longest pause of an application between messages; 0: 400 */
	uint32_t rto_us; /* the RNIC's retransmission time-out; 0: 8000 */
	bool lockstep; /* all queue pairs start at PSN 0 and send at the same times */
	bool resets; /* queue pairs are sometimes reset, to a PSN near the old one */
	bool rnr, reads;
	uint32_t fatal_ppm; /* requests that the responder refuses for good: NAK 1 to 3 */
	bool even; /* messages have the maximum length, READs too */
	bool sends; /* SENDs instead of WRITEs */
	uint32_t read_percent; /* with reads: share of the messages; 0: 25, and some ATOMICs */
	uint32_t mbps; /* load of all queue pairs together; 0: unlimited */
	uint32_t throttle_us; /* longest interval between packets of an RNIC after CNPs (DCQCN) */
	uint32_t ack_us; /* responder: time over which ACKs are coalesced; 0: 10 */
	uint32_t read_us; /* responder: time of a READ */
	uint32_t rnr_us; /* wait of the RNIC; 0: 700 */
	bool invalidate; /* SEND with invalidate, fenced, after READs */
	bool odd_opcodes; /* reserved request opcodes */
	bool selective; /* the RNICs repeat selectively instead of going back N */
	uint8_t responder; /* enum world_responder */

	uint32_t paths; /* number of paths of all ports */
	uint32_t loss_ppm; /* data and replies */
	uint32_t grey_paths; /* the first paths, which lose more data: */
	uint32_t grey_ppm;
	bool bear_loss; /* the engine does not detect lossy paths */
	uint32_t reply_loss_ppm; /* replies and answers to probes alone */
	uint32_t damage_ppm; /* replies that arrive with a wrong ICRC: the RNIC drops them */
	uint32_t behind_ppm; /* replies lost between hp3d and the RNIC */
	bool credits; /* ACKs carry credits, which change */
	bool news; /* it is a violation to consume a reply that is new to the RNIC (rule 24) */
	bool lose_closing; /* most closing packets and their ACKs are lost, also if repeated */
	bool kill_paths; /* a path loses everything for a while */
	bool pause_paths; /* paths deliver packets later (PFC) instead of losing them */
	bool all_paths; /* all paths die, or pause, at once */
	bool kill_back; /* the reply path dies instead */
	/* replies also take paths by their port, and paths die in both directions; after a report,
	 * the peer's hp3d sends replies on another path */
	bool both_ways;
	uint32_t dead_us; /* longest death or pause; 0: 3000 */
	uint32_t every_us; /* between deaths or pauses; 0: such that half of the paths work */
	/* number of paths that drop packets longer than 700 bytes, from 3 ms on: the last paths, or
	 * changing ones with short_paths_move */
	uint32_t short_paths;
	bool short_paths_move;
	bool advice; /* moves are advised (good and bad advice), not commanded (search/advised.c) */
	uint32_t
		hot_paths; /* number of congested paths: slower, and all their packets are marked */
	uint32_t rtt_us; /* the same for all paths; 0: each path has its own, which changes */
	uint32_t incast_us; /* longest queue at the receiver, after all paths */
	uint32_t mark_percent; /* of packets on hot paths; 0: 100 */

	const struct hp3_engine_config *shipped; /* shipped thresholds; NULL: the world's */
	bool harmless; /* a healthy network: every action of hp3d is a violation */
	uint32_t limit_ms; /* the run also ends after this time; 0: only by `packets` */
	bool near; /* queue pairs begin at PSNs near each other */
	uint32_t rewire_every_us; /* interval: two queue pairs restart with exchanged local ends */
	/* interval at which a queue pair is reconnected; watchers report this within
	 * report_late_us */
	uint32_t reconnect_every_us, report_late_us;
	uint32_t up_late_us; /* longest delay of set-up events; each is reported three times */
	uint32_t pairs; /* of addresses, 1..4; 0: 1 */
	/* all `pairs` have the same two addresses and the same QPNs; each has its own inner VLAN
	 * tag, after a common outer tag */
	bool tenants;
	bool ipv6; /* all pairs use IPv6; of several pairs, every other one */
	bool any_pmtu; /* 256 to 4096, by the seed; else 1024 */
	bool cm; /* pairings announced by set-up events instead of inferred */
	uint32_t lead_us; /* longest time from set-up event with PSN to the first data */
	uint32_t move_every_us; /* operator moves */
	uint64_t hold_bytes; /* per flow */
	/* number of hp3d's packet buffers. Other users take a varying number of them, and an eighth
	 * is never used for held packets; 0: as many as the engine may hold */
	uint32_t pool;
	bool probing; /* the engine searches for better paths; no operator moves */
	uint8_t probes; /* enum hp3_probe_choice */
	uint32_t stall_us; /* the engine detects dead paths */
	uint32_t message_start_percent; /* of long messages on idle queue pairs: wait for a path */
	bool observe;
	bool untracked; /* the table is too small by one flow */
	bool evict; /* few flows are idle long enough to be evicted */
	bool model; /* a model maps ports to paths */
	uint8_t cc; /* enum hp3_cc_mode */
	uint32_t min_rate_mbps; /* cc = dcqcn */
	uint32_t crash_every_us; /* interval: hp3d crashes and restarts without state */
	uint32_t hang_every_us; /* interval: hp3d hangs or dies, and is bypassed (world_away.c) */
	uint32_t peer_crash_every_us; /* interval: the peer's hp3d ends, and starts again later */
	bool no_peer; /* the peer never has hp3d */
	uint32_t mode_every_us; /* interval: the mode changes from on to off or observe, and back */
	uint32_t spoof_every_us; /* interval of replies with a forged source (world_spoofer.c) */
	uint32_t forge_every_us; /* interval: false reports of queue pairs (world_hostile.c) */
	bool rnic_users; /* these processes also have queue pairs to the same peers */
	uint32_t stop_every_us; /* interval: clean stop with moves home, then hp3d restarts */
};

/* X(field): sums over a run */
#define WORLD_SUMS(X)                                                                              \
	X(forged)                                                                                  \
	X(paced)                                                                                   \
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
	X(moves_requested)                                                                         \
	X(advised)                                                                                 \
	X(advice_taken)                                                                            \
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
	X(worlds_failed_over)                                                                      \
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
	X(late_answers)                                                                            \
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
};

/* Returns 0, or -1 after a violation (described on stderr). */
int world_run(const struct world_params *p, struct world_result *r);
