/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Counters of one engine. Only the thread that drives the engine writes them. Other threads may
 * read single values at any time (aligned 64-bit loads). One list defines the struct, the names and
 * the help texts of all counters.
 */
#include <stdint.h>

/* X(field, help) */
#define HP3_STATS(X)                                                                               \
	X(tx_requests, "request packets that left the local RNIC")                                 \
	X(rx_replies, "replies to the local RNIC")                                                 \
	X(untracked, "request packets of flows that have no record because the table is full: "    \
		     "only forwarded")                                                             \
	X(flows_created, "flows added to the table")                                               \
	X(flows_aged, "idle flows removed")                                                        \
	X(flows_full, "flows refused: table full")                                                 \
	X(announced_refused,                                                                       \
		"flows announced by peers or processes, refused: their quota is reached")          \
	X(announced_dropped,                                                                       \
		"announced flows removed for queue pairs of the local RNIC: table full")           \
	X(pairs_full, "flows refused: address pair table full")                                    \
	X(setups_ignored,                                                                          \
		"set-up and end events ignored: packets of the queue pair contradict them")        \
	X(retransmits, "request packets that the local RNIC sent again")                           \
	X(epochs, "queue pairs that started over (reset, or packets lost before hp3d)")            \
	X(paired_cm, "queue pairs paired by connection management")                                \
	X(paired_challenge, "queue pairs paired by challenge")                                     \
	X(paired_event, "queue pairs paired by a setup event")                                     \
	X(unpaired, "pairings discarded")                                                          \
	X(challenges, "challenges sent (AckReq set on a chosen packet)")                           \
	X(challenge_hits, "challenges that exactly one queue pair answered")                       \
	X(challenge_misses, "challenges without an answer, or with an ambiguous answer")           \
	X(challenge_near, "packets not used as challenges: another flow is near their PSN")        \
	X(challenge_ahead,                                                                         \
		"packets not used as challenges: another unpaired flow sent their PSN before")     \
	X(challenge_untracked, "packets not used as challenges: replies to queue pairs without a " \
			       "record may arrive")                                                \
	X(near_full, "PSNs that had no place in the table of flows near a PSN")                    \
	X(moves_requested, "moves asked for")                                                      \
	X(moves_refused, "moves refused")                                                          \
	X(moves_switched, "moves that ended on the new port, after a drain")                       \
	X(moves_idle, "moves of idle flows, without a drain")                                      \
	X(moves_unconfirmed, "better paths that a re-probe did not confirm")                       \
	X(moves_recovered, "moves that ended in fast recovery on the old port")                    \
	X(searches_fruitless, "path searches that found no better path")                           \
	X(peer_holds, "verbs mode: queue pairs held for a move of the peer's queue pair")          \
	X(peer_holds_asked, "verbs mode: moves that asked the peer to hold its queue pair")        \
	X(peer_holds_refused, "verbs mode: holds refused to a peer")                               \
	X(peer_holds_too_soon,                                                                     \
		"verbs mode: holds refused to a peer, because the queue pair still rests from "    \
		"the last hold")                                                                   \
	X(peer_holds_late,                                                                         \
		"verbs mode: holds refused to a peer, because HOLD arrived after the end of the "  \
		"same hold")                                                                       \
	X(failovers, "moves from dead paths")                                                      \
	X(resumed, "failovers after which sending went on")                                        \
	X(naks_made, "NAKs sent to the local RNIC after a failover")                               \
	X(ack_solicitations, "duplicates sent to make a peer's RNIC repeat its acknowledgement")   \
	X(reports, "reports sent to peers: no reply to a flow arrives")                            \
	X(reports_taken, "reports of peers applied: our replies do not reach them")                \
	X(replies_moved, "queue pairs whose replies moved to another port")                        \
	X(placed, "queue pairs that got a path before their first data")                           \
	X(placed_late, "queue pairs whose first data came before a path was found")                \
	X(message_start_searches, "long messages on idle queue pairs that waited for probes")      \
	X(paid_off, "moves after which the flow was better")                                       \
	X(wasted, "moves after which the flow was worse")                                          \
	X(unjudged, "moves whose result was not judged, because their slot was needed")            \
	X(moves_discarded, "moves whose queue pair ended")                                         \
	X(held_packets, "packets held, in total")                                                  \
	X(held_bytes, "bytes held, in total")                                                      \
	X(bad_icrc, "replies ignored because their ICRC is wrong")                                 \
	X(naks, "PSN sequence NAKs")                                                               \
	X(rnrs, "RNR NAKs")                                                                        \
	X(rounds, "rounds of probes")                                                              \
	X(rounds_won, "rounds that found a better path")                                           \
	X(probes, "probes sent")                                                                   \
	X(probe_replies, "replies to probes that matched a probe")                                 \
	X(probe_strays, "replies to probes that matched no probe")                                 \
	X(trace_sent, "traces sent, to find which path a port takes")                              \
	X(trace_linear, "times that a linear map of an address pair was verified")                 \
	X(trace_refused, "linear maps that did not fit")                                           \
	X(trace_nothing, "address pairs whose paths no switch named")                              \
	X(trace_wrong, "times that traces contradicted the stored paths of a pair")                \
	X(trace_by_qpn, "address pairs whose switches hash the QPN")                               \
	X(trace_by_opcode, "address pairs whose switches hash the opcode")                         \
	X(acks_consumed, "answers to probes consumed, because they would end a READ without data") \
	X(cnps, "CNPs for local queue pairs")                                                      \
	X(cnps_stale, "CNPs of the old path after a move: consumed")                               \
	X(cnps_withheld, "CNPs withheld from the RNIC during searches and drains")                 \
	X(cnps_owed, "CNPs sent to the RNIC in place of withheld CNPs, because the flow stayed")   \
	X(cnps_made, "CNPs sent for marked packets that arrived")                                  \
	X(ce_seen, "CE-marked packets that arrived (notification point)")                          \
	X(paced, "packets that waited for the pacer")                                              \
	X(unpaced, "packets that left unpaced: no slot, or no memory to hold them")                \
	X(superseded,                                                                              \
		"packets that the pacer dropped: the RNIC sent them again, and one copy leaves")   \
	X(severe, "times that a path in use became severely congested")                            \
	X(lossy, "times that a path in use was found lossy")                                       \
	X(swallowed, "times that a path passed short probes, but no probes as long as data")       \
	X(sprays, "queue pairs whose peer agreed to resequence them")                              \
	X(sprays_broken,                                                                           \
		"times that a peer stopped resequencing while packets took several paths")         \
	X(sprays_full, "times that packets were held, because the peer could not resequence more " \
		       "packets than were in flight")                                              \
	X(sprays_differ, "times that spraying ended because paths differ, in mode auto")           \
	X(presumption_suspended,                                                                   \
		"times that a packet was late, and hp3d did not presume that paths are alike "     \
		"until the packet was acknowledged")                                               \
	X(presumption_ended, "times that a packet was late for long, or lost, and hp3d no longer " \
			     "presumed that paths are alike")                                      \
	X(sprays_given_up, "times that spraying ended because the RNIC retransmitted repeatedly")  \
	X(sprayed, "packets that were sprayed")                                                    \
	X(sprayed_reads, "READ responses among these")                                             \
	X(agreements_refused, "agreements to spray refused: spray_flows, or the share of the "     \
			      "remote address, is reached")                                        \
	X(offers_refused, "offers of peers to resequence READ responses, refused for any reason")  \
	X(evs_probed, "probes of EVs, before queue pairs use several EVs")                         \
	X(evs_compared, "times that EVs to a peer were compared")                                  \
	X(reads_uncounted, "agreements about READ responses ended: more READs were outstanding "   \
			   "than can be counted")                                                  \
	X(resequenced, "queue pairs of peers that were resequenced")                               \
	X(reseq_held, "packets of peers held because they arrived out of order")                   \
	X(reseq_late, "times that packets went to the RNIC although an earlier one was missing")   \
	X(reseq_beyond,                                                                            \
		"packets of peers too far ahead: dropped if others are held, else passed on")      \
	X(reseq_full, "packets of peers not held, memory full: dropped if others are held, else "  \
		      "passed on")                                                                 \
	X(reseq_share, "packets of peers not held, share of the peer used up: dropped if others "  \
		       "are held, else passed on")                                                 \
	X(reseq_given_up, "times that all held packets went to the RNIC: missing ones did not "    \
			  "arrive in time")                                                        \
	X(reseq_wait_restarts,                                                                     \
		"times that the wait for missing packets was restarted, because hp3d was "         \
		"descheduled")                                                                     \
	X(reseq_gaps, "missing packets for which others waited")                                   \
	X(reseq_gaps_10us, "missing packets for which others waited more than 10 us")              \
	X(reseq_gaps_100us, "missing packets for which others waited more than 100 us")            \
	X(reseq_gaps_1ms, "missing packets for which others waited more than 1 ms")                \
	X(reseq_gaps_10ms, "missing packets for which others waited more than 10 ms")              \
	X(reseq_waited, "nanoseconds of waiting for missing packets, in total")                    \
	X(reseq_ahead_8, "packets of peers that arrived 8 or more PSNs ahead")                     \
	X(reseq_ahead_64, "packets of peers that arrived 64 or more PSNs ahead")                   \
	X(evs_slow, "reports of slow EVs sent to peers")                                           \
	X(reseq_asked, "requests to peers for the port that a missing packet left on")             \
	X(reseq_lost, "missing packets found lost: a later packet on their port had arrived")      \
	X(sprayed_lost, "sprayed packets of local RNICs that a peer found lost")                   \
	X(evs_marked, "reports to peers of EVs that are marked while others are not")              \
	X(contradictions, "replies that contradict a pairing")

struct hp3_stats {
#define X(field, help) uint64_t field;
	HP3_STATS(X)
#undef X
};
