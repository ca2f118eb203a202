/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * State of an engine between two packets: slots with their FIFOs, active flows, rates, and the
 * engine itself. Flow records are in flow.h, address pairs in pairs.h. All this state is in the
 * memory that the caller passes to hp3_engine_create(). Each part takes a block of it (part.h).
 */
#include "cc/pacer.h"
#include "cc/shield.h"
#include "engine/engine.h"
#include "engine/moves/peer_hold.h"
#include "engine/search/search_state.h"
#include "engine/flows/deadlines.h"
#include "engine/flows/pairs.h"
#include "engine/flows/table.h"
#include "engine/paths/trace.h"

struct hp3_spraying; /* spray/spray.h */
struct hp3_part; /* part.h */
struct hp3_pending; /* flows/pending.h */

/* most connection requests that wait for their REP, or for the confirmation of the REP */
#define HP3_CM_PENDING 256u

/* A held packet as the engine sees it; the caller has the packet itself. Index 0 is never used. */
struct hp3_held {
	uint32_t next; /* next in the FIFO, or in the free list */
	uint32_t psn;
	uint32_t end; /* PSN after all packets that the RNIC had emitted up to this packet */
	uint16_t len;
	uint8_t opcode;
	uint8_t flags; /* HP3_HELD_* */
};

#define HP3_HELD_AGAIN 0x01u /* a retransmission */
#define HP3_HELD_ASKS  0x02u /* requests a reply: AckReq, READ or ATOMIC */
#define HP3_HELD_READ  0x04u /* READ or ATOMIC */

/* Reasons for which a slot is in use. The slot becomes free when no reason is left. */
#define HP3_USE_MOVE 0x01u /* a search or a move is under way */
#define HP3_USE_PACE 0x02u /* packets wait for the pacer */
/* the flow has moved: the move's result is to be judged, and stale CNPs are to be consumed */
#define HP3_USE_VERIFY  0x04u
#define HP3_USE_GUARD   0x08u /* an RNIC may reply to a duplicate from hp3d */
#define HP3_USE_REPROBE 0x10u /* a re-probe of a better path is due later (reprobe.c) */

/* most requests of a guard; an RNIC rarely has more READs and ATOMICs outstanding */
#define HP3_GUARD_READS 16u

/*
 * A guard drops late ACKs with which a peer's RNIC answers a duplicate from hp3d. The local RNIC
 * would take such an ACK for an answer to a READ (moves/guard.c). The guard has the READs and
 * ATOMICs that left since the duplicate.
 */
struct hp3_guard {
	uint32_t psn[HP3_GUARD_READS], end[HP3_GUARD_READS]; /* end: PSN after the request */
	uint8_t n;
};

/*
 * State of a flow during a search or move, besides its record: the search, the resulting move, the
 * FIFO, timers, and state that outlives the move. The index of this record is the flow's slot.
 */
struct hp3_move {
	uint32_t flow;
	uint8_t use; /* HP3_USE_* */
	uint16_t active; /* position in hp3_engine.slots */
	/* FIFO of held packets, shared by move and pacer (rule 14) */
	uint32_t head, tail, held_pkts;
	/* packets that were in the FIFO when the last move ended; no move begins before they have
	 * left */
	uint32_t backlog;
	uint64_t held_bytes;
	/* Timers; hp3_engine.deadlines has the earliest timer. */
	uint64_t move_at, pace_at, verify_at, guard_at, cnp_at, search_at;
	/* valid from the request of a move on */
	uint16_t from, to;
	struct hp3_closing closing;
	/* time of the request; time when the closing packet left, 0: not yet */
	uint64_t t_ask, t_close;
	uint64_t moved_pkts, moved_bytes; /* packets and bytes that were held during the move */
	/* verbs mode: the engine has asked the actuator to suspend the queue pair */
	bool suspended;
	uint16_t error; /* verbs mode: errno of the step that ended the move; 0: none */
	struct hp3_peer_hold peer_hold; /* verbs mode */
	struct hp3_search search;
	struct hp3_put_off put_off; /* HP3_USE_REPROBE */
	/* the old path when the closing packet left; of an idle flow: when the port changed */
	struct hp3_estimates was;
	/* after the move */
	uint64_t ref; /* id of the event to be judged; 0: none */
	uint64_t bytes0; /* bytes sent until the move */
	struct hp3_shield shield;
	struct hp3_withheld withheld;
	struct hp3_guard guard;
	struct hp3_dcqcn_snapshot rate;
};

/* An active flow, to be checked again (active.c). */
struct hp3_active {
	uint64_t due;
	uint64_t since; /* time since which a reply is due */
	uint32_t flow;
	uint32_t una; /* oldest PSN in flight at the time `since` */
	uint16_t retransmits; /* the flow's number of retransmissions at the time `since` */
	bool asked; /* a reply was already due at the last check */
};

/* Rate of a flow; cc = dcqcn only. */
struct hp3_rate {
	struct hp3_dcqcn rp;
	struct hp3_pacer pacer;
	/* lowest rate (bit/s) that sends all waiting packets in time (rule 14); 0: no packet
	 * waits */
	uint64_t floor;
	/* PSN after the newest retransmission; PSN after all packets that the RNIC had emitted at
	 * that time */
	uint32_t again_to, again_end;
	bool again; /* the newest packet was a retransmission */
	/* the RNIC retransmits selectively: it once skipped packets that go-back-N would have
	 * repeated */
	bool selective;
};

/* Port on which replies to the peer leave (moves/replies.c). */
struct hp3_reply {
	uint64_t moved; /* time when the replies moved to `port` */
	uint16_t port; /* 0: the RNIC's port */
};

/*
 * Two series of replies that contradict a pairing (life/refuted.c). Of each series, the record has
 * the time of the first reply, una at that time, and the number of replies. `since`, `una` and
 * `stuck` are about the replies since una last advanced; `first`, `first_una` and `all` are about
 * all replies that contradict the pairing.
 */
struct hp3_refutation {
	uint32_t since, first; /* in units of 2^HP3_REFUTATION_SHIFT ns */
	uint32_t una : 24;
	uint32_t stuck : 8;
	uint32_t first_una : 24;
	uint32_t all : 8;
};

#define HP3_REFUTATION_SHIFT 16u /* 2^16 ns = 66 us */

/*
 * Unauthenticated state: facts about a flow from packets of the network, which anyone could forge.
 * One record per flow.
 */
struct hp3_unauth_state {
	uint32_t cm_local, cm_remote; /* communication ids of REQ and REP; both 0: unknown */
	struct hp3_refutation refutation;
};

struct hp3_cm_pending {
	bool used, from_local, ipv6;
	uint32_t vlan;
	uint8_t local[16], remote[16];
	uint32_t comm_id, qpn;
	uint32_t psn; /* first PSN of the other side */
	/* a REP has arrived, but nothing has confirmed the connection yet (rule 16) */
	bool answered;
	uint32_t answer_id, answer_qpn, answer_psn; /* comm_id, qpn and psn of the REP */
};

/*
 * Record of a flow's retransmissions, as evidence about the path in use (search/loss.c). Few flows
 * lose packets at the same time, so only those with the newest losses have a record
 * (flows/losses.h).
 */
struct hp3_losses {
	uint32_t flow; /* HP3_NO_FLOW: free */
	uint32_t nxt : 24; /* the flow's nxt at the newest loss */
	uint32_t level : 8; /* level of the leaky bucket, in units of 1 / HP3_LOSS */
	uint32_t again : 24; /* newest PSN that was retransmitted */
	/* monitoring cycles with a loss since the bucket was empty; up to 255 */
	uint32_t cycles : 8;
	uint64_t at; /* ns: first loss of the newest of these cycles */
	uint64_t until; /* ns: the engine does not react to losses before this time */
	uint16_t to; /* port that was found to be better; 0: none */
	/* port before the engine began to try other ports; 0: it tries no other port */
	uint16_t home;
	uint16_t gap; /* number of first transmissions between two losses on `home` */
	uint8_t tries; /* tries left to move to port `to` */
	uint8_t searches; /* number of searches in a row */
	uint8_t trials; /* ports tried without success since `home` */
	uint32_t since : 24; /* the flow's nxt at the first loss since the bucket was empty */
	uint32_t gaps : 8; /* losses after the loss at `since`; up to 255 */
	/* oldest PSN in flight, if the RNIC retransmitted from it more than once
	 * (search/stuck.c) */
	uint32_t una : 24;
	uint32_t stuck : 8; /* una is valid */
	uint64_t stuck_at; /* ns: when the RNIC first retransmitted from `una` */
};

#define HP3_LOSS      8u /* each loss adds this to `level`, which has room for 31 losses */
#define HP3_LOSS_SETS 256u
#define HP3_LOSS_WAYS 4u

/* The first request of a queue pair. */
struct hp3_began {
	uint32_t psn : 25; /* its PSN, from an event or a packet; HP3_NO_PSN: unknown */
	uint32_t dscp : 7; /* its DSCP; HP3_NO_DSCP: no packet has left yet */
};

/*
 * A window of PSNs of one address pair, and the flows that sent PSNs of this window (flows/near.h).
 * Times are in units of 2^HP3_TICK_SHIFT ns; 0: never.
 */
struct hp3_near {
	uint32_t key; /* signature of pair and window */
	uint32_t last, last_at; /* the flow that last sent in this window; time when it did */
	uint32_t other_at; /* time when a flow other than `last` sent in this window */
	/* the unpaired flow that sent the highest PSN of the window; time of its newest packet
	 * there */
	uint32_t leader, lead_at;
	uint32_t follow_at; /* time when another unpaired flow sent in this window */
	/* the PSNs that the other unpaired flows have sent are below offset follow_to of the
	 * window */
	uint16_t follow_to;
};

struct hp3_near_index {
	struct hp3_near *entries;
	uint32_t mask; /* number of sets - 1 */
	uint32_t unpaired; /* unpaired flows of the engine */
	/* the table is kept up to date since `since`, and at least until `until` */
	uint64_t since, until;
	bool whole; /* entries cover all packets of the last challenge_timeout_ns */
};

_Static_assert(sizeof(struct hp3_near) == 32, "two per cache line");

/*
 * Number of unpaired flows by reason. Ageing visits all flows in turn, and counts them in `next`.
 * When it begins anew, `next` becomes `last`.
 */
struct hp3_unpaired_counts {
	uint32_t next[HP3_UNPAIRED_MAX], last[HP3_UNPAIRED_MAX];
};

/* All parts. `init` and `tick` are called in this order. */
#define HP3_PARTS(X)                                                                               \
	X(flows)                                                                                   \
	X(pending)                                                                                 \
	X(losses)                                                                                  \
	X(near)                                                                                    \
	X(pairs)                                                                                   \
	X(challenges)                                                                              \
	X(paths)                                                                                   \
	X(slots)                                                                                   \
	X(rests)                                                                                   \
	X(rates)                                                                                   \
	X(replies)                                                                                 \
	X(np)                                                                                      \
	X(deadlines)                                                                               \
	X(active)                                                                                  \
	X(traces)                                                                                  \
	X(comparisons)                                                                             \
	X(sprays)                                                                                  \
	X(rounds)                                                                                  \
	X(agreements)                                                                              \
	X(ageing)

enum {
#define X(name) +1
	HP3_NPARTS = 0 HP3_PARTS(X)
#undef X
};

struct hp3_engine {
	/* read for each packet */
	struct hp3_table table;
	struct hp3_flow *flows;
	uint32_t key[4]; /* of hp3_key_mix() */
	const struct hp3_isa *isa; /* burst.h */
	uint32_t large; /* shortest message that may be sprayed, bytes; UINT32_MAX: none */
	/* number of hp3_spray_in records in use: requests of peers, and READ responses for local
	 * queue pairs */
	uint32_t nspray_in;
	uint32_t nspray_reads; /* queue pairs whose READ responses may be sprayed */
	bool near_kept; /* near.entries is kept up to date (flows/near.h) */
	struct hp3_engine_config cfg;
	uint64_t seed[5];
	/* parts with a `tick` in this configuration (engine/part.h) */
	const struct hp3_part *ticking[HP3_NPARTS];
	uint8_t nticking;
	/* read or written less often */
	struct hp3_pairs pairs;
	struct hp3_move *moves;
	uint16_t *slots; /* the first nmoves are in use, the rest are free */
	struct hp3_held *held; /* entries of FIFOs, at index 1 and above */
	/* by pair; paths, active, replies and comparing exist only with cfg.probing */
	struct hp3_paths *paths;
	struct hp3_active *active; /* ring of max_flows */
	struct hp3_reply *replies; /* by flow */
	struct hp3_tracing *tracing; /* cfg.trace, else NULL */
	struct hp3_comparing *comparing;
	struct hp3_spraying *spraying; /* rfr.mode = spray or auto, else NULL */
	/* rfr.mode spray, auto: each pair uses one block of ports only; this number selects the
	 * block; 0: a pair uses any port */
	uint64_t block_salt;
	struct hp3_rate *rates; /* by flow; cc = dcqcn */
	bool pacing_ended; /* hp3_pacing_stop() */
	bool forgetting; /* hp3_missed() was called and has not returned HP3_NO_FLOW yet */
	uint64_t untracked_until; /* like hp3_pair.untracked_until, for all pairs */
	struct hp3_np *np; /* by flow; cc.notify */
	struct hp3_began *began; /* by flow */
	struct hp3_peer_rest *rests; /* by flow; verbs mode, else NULL */
	struct hp3_unauth_state *unauth_state; /* by flow */
	struct hp3_pending *pending; /* npending places (flows/pending.h) */
	uint32_t npending;
	struct hp3_losses *losses; /* sets of HP3_LOSS_WAYS, by flow */
	struct hp3_near_index near;
	struct hp3_unpaired_counts unpaired_counts;
	uint32_t *asked; /* flows with an outstanding challenge, by hash of pair and PSN */
	uint32_t asked_mask;
	uint32_t active_head, active_n; /* head and length of the ring */
	uint32_t nmoves; /* slots in use */
	uint32_t nmoving; /* flows whose state is not STEADY */
	uint32_t nflows, free_flow, nmoved;
	/* oldest announced flow (flows/announced.h); number of announced flows */
	uint32_t announced, nannounced;
	uint32_t nreplies; /* flows whose replies do not leave on the RNIC's port */
	uint32_t age_hand, room_hand;
	uint32_t age_left; /* flow records left in this step of ageing */
	uint8_t tick_hand; /* index in `ticking`: this part runs first */
	uint64_t tick_at; /* time of the last hp3_tick() */
	/* free entries of `held`, longest free first; the last entry always stays free */
	uint32_t free_held, last_free;
	uint64_t age_due, active_due;
	struct hp3_deadlines deadlines; /* of slots in use */
	/* since this time, hp3_tick() was always called in time, so hp3d is not the cause of a
	 * missing reply */
	uint64_t awake;
	uint64_t events; /* number of events */
	/* limits the rate of checks after unauthenticated replies (life/life.h) */
	uint64_t strays_until;
	uint64_t rng;
	uint8_t setup_late; /* set-ups in a row whose first data came before any answer */
	uint8_t setup_skip; /* number of the next set-ups that send no probes */
	uint64_t hold_bytes;
	/* number of held packets: in both directions; from the network */
	uint32_t hold_packets, hold_rx;
	uint32_t hold_most; /* upper limit of hold_packets, from hp3_hold_room() */
	/* next entry of `cm`: for requests from the network; for requests from the local host */
	uint32_t cm_next[2];
	struct hp3_cm_pending cm[HP3_CM_PENDING];
	struct hp3_stats stats;
};
