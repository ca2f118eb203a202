/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_STATS_H
#define HP3_ENGINE_STATS_H
/*
 * Counters of one engine. Only the thread that drives the engine writes them. Other threads may
 * read single values at any time (aligned 64-bit loads). One list defines struct, names and help
 * texts.
 */
#include <stdint.h>

/* X(field, help) */
#define HP3_STATS(X)                                                                               \
	X(tx_requests, "request packets that left the local RNIC")                                 \
	X(rx_replies, "replies to the local RNIC")                                                 \
	X(untracked, "request packets of flows that have no room in the table: plainly forwarded") \
	X(flows_created, "flows added to the table")                                               \
	X(flows_aged, "idle flows removed")                                                        \
	X(flows_full, "flows refused: table full")                                                 \
	X(announced_refused,                                                                       \
		"flows that peers or processes announced, refused: their share of the table is "   \
		"full")                                                                            \
	X(announced_dropped,                                                                       \
		"announced flows removed for queue pairs of the local RNIC: table full")           \
	X(pairs_full, "flows refused: address pair table full")                                    \
	X(setups_ignored,                                                                          \
		"set-ups and ends reported of queue pairs whose own packets say otherwise")        \
	X(retransmits, "request packets emitted again by the local RNIC")                          \
	X(epochs, "queue pairs started over (reset, or packets lost before hp3)")                  \
	X(paired_cm, "queue pairs paired by connection management")                                \
	X(paired_challenge, "queue pairs paired by challenge")                                     \
	X(paired_event, "queue pairs paired by a setup event")                                     \
	X(unpaired, "pairings given up")                                                           \
	X(challenges, "challenges sent (AckReq set on a chosen packet)")                           \
	X(challenge_hits, "challenges answered by exactly one queue pair")                         \
	X(challenge_misses, "challenges without an answer or with an ambiguous one")               \
	X(challenge_near, "packets that could be no challenge: another flow is near their PSN")    \
	X(challenge_ahead, "challenges put off: another unpaired flow sent their PSN before")      \
	X(challenge_untracked, "packets that could be no challenge: packets of queue pairs "       \
			       "without a record may be "                                          \
			       "answered")                                                         \
	X(near_full, "PSNs that found no room in the table of who was near which")                 \
	X(moves_asked, "moves asked for")                                                          \
	X(moves_refused, "moves refused")                                                          \
	X(moves_switched, "moves that ended on the new port behind a drain")                       \
	X(moves_idle, "moves of idle flows, without a drain")                                      \
	X(moves_called_off, "better paths found that were no better when asked about once more")   \
	X(moves_recovered, "moves that ended in fast recovery on the old port")                    \
	X(failovers, "moves off a dead path")                                                      \
	X(resumed, "failovers after which sending went on")                                        \
	X(naks_made, "NAKs handed to the local RNIC after a failover")                             \
	X(ack_solicitations, "duplicates sent to make a peer's RNIC repeat its acknowledgement")   \
	X(reports, "reports sent: no reply comes through")                                         \
	X(reports_taken, "reports of peers: no reply of ours comes through")                       \
	X(replies_moved, "queue pairs whose replies left for another port")                        \
	X(placed, "queue pairs that got a path before their first data")                           \
	X(placed_late, "queue pairs whose first data came before a path was found")                \
	X(message_start_searches,                                                                  \
		"long messages of idle queue pairs that waited while paths were asked")            \
	X(paid_off, "moves after which the flow was better off")                                   \
	X(wasted, "moves after which the flow was worse off")                                      \
	X(unjudged, "moves that were not judged: their slot was needed")                           \
	X(moves_discarded, "moves whose queue pair went away")                                     \
	X(held_packets, "packets held, in all")                                                    \
	X(held_bytes, "bytes held, in all")                                                        \
	X(bad_icrc, "replies ignored because their ICRC is wrong")                                 \
	X(naks, "PSN sequence NAKs")                                                               \
	X(rnrs, "RNR NAKs")                                                                        \
	X(rounds, "rounds of probes")                                                              \
	X(rounds_won, "rounds that found a better path")                                           \
	X(probes, "probes sent")                                                                   \
	X(probe_replies, "replies to probes that named one of ours")                               \
	X(probe_strays, "replies to probes that named none")                                       \
	X(trace_asks, "traces asked for, to learn which path a port draws")                        \
	X(trace_linear, "times that a linear map was believed of an address pair")                 \
	X(trace_refused, "linear maps that did not fit")                                           \
	X(trace_nothing, "address pairs for which no switch named the paths")                      \
	X(trace_wrong, "times that traces contradicted what was believed of a pair")               \
	X(trace_by_qpn, "address pairs whose switches hash the queue pair number")                 \
	X(trace_by_opcode, "address pairs whose switches hash the opcode")                         \
	X(acks_consumed,                                                                           \
		"answers to probes of ours that would end a READ without data, or to NAK probes")  \
	X(cnps, "CNPs for local queue pairs")                                                      \
	X(cnps_stale, "CNPs of the old path after a move: consumed")                               \
	X(cnps_withheld, "CNPs kept from the RNIC in searches and in drains")                      \
	X(cnps_owed, "CNPs handed to the RNIC in place of those, where the flow stayed")           \
	X(cnps_shared, "CNPs kept from the RNIC: the flow had less than its share of a free path") \
	X(share_lifts, "times that a rate was lifted to what the path would give")                 \
	X(share_losses, "times that a flow was granted less: it was congested with what it had")   \
	X(share_unknown, "replies to long flows whose peer's counts are not known, or too old")    \
	X(cnps_made, "CNPs sent for marked packets that arrived")                                  \
	X(ce_seen, "marked packets that arrived (notification point)")                             \
	X(paced, "packets that waited for the pacer")                                              \
	X(unpaced, "packets that the pacer let go for want of room")                               \
	X(superseded, "packets dropped by the pacer: the RNIC sent them again, one copy leaves")   \
	X(severe, "times that a path in use became severely congested")                            \
	X(lossy, "times that a path in use was found to lose packets")                             \
	X(swallowed,                                                                               \
		"times that a path in use, or one looked at, answered short probes, and none as "  \
		"long as data")                                                                    \
	X(sprays, "queue pairs whose peer agreed to resequence them")                              \
	X(sprays_broken, "times that a peer did so no more, while packets took several paths")     \
	X(sprays_full,                                                                             \
		"times that packets were held because the peer can resequence no more than was "   \
		"in flight")                                                                       \
	X(sprays_differ, "times that spraying ended because paths differ, in mode auto")           \
	X(sprays_given_up, "times that spraying ended because the RNIC kept going back")           \
	X(sprayed, "packets that left by one of several paths")                                    \
	X(sprayed_reads, "READ responses among these")                                             \
	X(agreements_refused, "agreements to spray refused: spray_flows, or the share of the "     \
			      "remote address, is reached")                                        \
	X(offers_refused, "offers of peers to resequence READ responses refused, for whatever "    \
			  "reason")                                                                \
	X(evs_probed, "probes of EVs, before queue pairs take several of them")                    \
	X(evs_compared, "times that EVs to a peer were compared")                                  \
	X(reads_uncounted, "agreements about READ responses ended: more READs were outstanding "   \
			   "than can be counted")                                                  \
	X(resequenced, "queue pairs of peers that were resequenced")                               \
	X(reseq_held, "packets of peers held because they arrived out of order")                   \
	X(reseq_late, "times that packets went to the RNIC although an earlier one was missing")   \
	X(reseq_beyond,                                                                            \
		"packets of peers too far ahead: dropped if some are held, else passed on")        \
	X(reseq_full,                                                                              \
		"packets of peers not held, no room: dropped if some are held, else passed on")    \
	X(reseq_share, "packets of peers not held, their peer holds its share of the room: "       \
		       "dropped if some are held, else passed on")                                 \
	X(reseq_given_up,                                                                          \
		"times that all was handed over: the missing ones did not arrive for long")        \
	X(reseq_stood, "times that packets were waited for anew: hp3d itself had stood still")     \
	X(reseq_gaps, "packets of peers for which others waited")                                  \
	X(reseq_gaps_10us, "packets of peers so waited for, for more than 10 us")                  \
	X(reseq_gaps_100us, "packets of peers so waited for, for more than 100 us")                \
	X(reseq_gaps_1ms, "packets of peers so waited for, for more than 1 ms")                    \
	X(reseq_gaps_10ms, "packets of peers so waited for, for more than 10 ms")                  \
	X(reseq_waited, "nanoseconds for which packets of peers were so waited for, in all")       \
	X(reseq_ahead_8, "packets of peers that arrived 8 or more PSNs ahead")                     \
	X(reseq_ahead_64, "packets of peers that arrived 64 or more PSNs ahead")                   \
	X(evs_slow, "times that slow paths were reported to a peer")                               \
	X(reseq_asked, "questions to peers: from which port a missing packet left")                \
	X(reseq_lost,                                                                              \
		"missing packets of peers found lost: a later packet from their port had arrived") \
	X(evs_lost,                                                                                \
		"packets of local RNICs lost on a path of several, after a question of the peer")  \
	X(evs_marked,                                                                              \
		"times that a peer got a report of paths that are marked while others are not")    \
	X(contradictions, "replies that contradict a pairing")

struct hp3_stats {
#define X(field, help) uint64_t field;
	HP3_STATS(X)
#undef X
};

struct hp3_stat_info {
	const char *name, *help;
	uint16_t offset; /* in struct hp3_stats */
};

extern const struct hp3_stat_info hp3_stat_info[];
extern const unsigned hp3_stat_count;

#endif
