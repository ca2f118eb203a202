/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_STATE_H
#define HP3_ENGINE_STATE_H
/*
 * What an engine holds between two packets, beside the records of its flows (flow.h) and address
 * pairs (pairs.h): slots with their FIFOs, flows with something in flight, rates, and the engine
 * itself. All of it lies in the memory that hp3_engine_create() is given; engine.c lays it out.
 */
#include "cc/pacer.h"
#include "cc/share.h"
#include "cc/shield.h"
#include "engine/engine.h"
#include "engine/moves/errand.h"
#include "engine/flows/deadlines.h"
#include "engine/flows/pairs.h"
#include "engine/flows/table.h"
#include "engine/paths/trace.h"
#include "ppp/placement.h"

struct hp3_spraying; /* spray/spray.h */
struct hp3_pending; /* flows/pending.h */

#define HP3_CM_PENDING 256u /* connection requests remembered until their REP */

/* What a packet in a FIFO is to the engine; the caller has the packet. 0 is never a free index. */
struct hp3_held {
	uint32_t next; /* behind it in the FIFO, or free list */
	uint32_t psn;
	uint32_t end; /* exclusive bound of the PSNs emitted with and before it */
	uint16_t len;
	uint8_t opcode;
	uint8_t flags; /* HP3_HELD_* */
};

#define HP3_HELD_AGAIN 0x01u /* a retransmission */
#define HP3_HELD_ASKS  0x02u /* will be answered by itself: AckReq, READ, ATOMIC */
#define HP3_HELD_READ  0x04u /* READ or ATOMIC */

/* Why a slot is taken; free when no reason is left. */
#define HP3_USE_MOVE   0x01u /* a round or a move is under way */
#define HP3_USE_PACE   0x02u /* packets wait for the pacer */
#define HP3_USE_VERIFY 0x04u /* moved; to be judged, and stale CNPs are to be known */
#define HP3_USE_GUARD  0x08u /* an RNIC may answer a duplicate of ours */
#define HP3_USE_LOOK   0x10u /* a better path is asked about again, later (looks.c) */

#define HP3_GUARD_READS 16u /* an RNIC has no more READs and ATOMICs outstanding, as a rule */

/* READs and ATOMICs emitted while an RNIC may answer a duplicate of ours (guard.c). */
struct hp3_guard {
	uint32_t psn[HP3_GUARD_READS], end[HP3_GUARD_READS]; /* end: first PSN behind it */
	uint8_t n;
};

/*
 * What a flow needs beside its record while something is going on: its errand, the move that comes
 * of it, the FIFO, timers, and what outlives the move. Its index is the slot that names the flow's
 * FIFO.
 */
struct hp3_move {
	uint32_t flow;
	uint8_t use; /* HP3_USE_* */
	uint16_t active; /* position in the list of slots taken */
	/* FIFO of held packets: move and pacer share it (rule 14) */
	uint32_t head, tail, held_pkts;
	/* of these, held by a move that is over: no other move before they leave */
	uint32_t backlog;
	uint64_t held_bytes;
	/* The earliest of these is in hp3_engine.deadlines. */
	uint64_t move_at, pace_at, verify_at, guard_at, cnp_at, look_at;
	/* the move: from the wish for it on */
	uint16_t from, to;
	struct hp3_closing closing;
	uint64_t t_ask, t_close; /* wished for; the closing packet left, 0: none did */
	uint64_t moved_pkts, moved_bytes; /* held in all */
	bool suspended; /* beside: the actuator was told to stop the queue pair */
	struct hp3_errand errand;
	struct hp3_put_off put_off; /* HP3_USE_LOOK */
	/* behind it */
	uint64_t ref; /* id of the event to be judged; 0: none */
	uint64_t bytes0; /* bytes sent when the flow had moved */
	struct hp3_shield shield;
	struct hp3_withheld withheld;
	struct hp3_guard guard;
	struct hp3_dcqcn_snapshot rate;
};

/* An active flow, to be looked at again (active.c). */
struct hp3_active {
	uint64_t due;
	uint64_t since; /* an answer is due, and none came, since */
	uint32_t flow;
	uint32_t una; /* oldest PSN in flight then */
	uint16_t retransmits; /* of the flow, then */
	bool asked; /* an answer was due at the last look already */
};

/* Rate of a flow; cc = dcqcn only. */
struct hp3_rate {
	struct hp3_dcqcn rp;
	struct hp3_pacer pacer;
	uint64_t floor; /* that what waits was promised (rule 14); 0: nothing waits */
	uint32_t again_to, again_end; /* emitted again up to here, of all emitted so far */
	bool again; /* the newest packet was a retransmission */
	bool selective; /* the RNIC once left out what a going back would have brought */
};

/* A flow while one of its messages is long (paths/longs.c). */
struct hp3_long {
	struct hp3_share share;
	uint32_t sent; /* bytes of the message under way, up to what makes it long */
	uint32_t end; /* PSN behind the newest long WRITE or SEND */
	uint32_t left; /* bytes of the newest message still to be sent; UINT32_MAX: of a SEND */
	bool out; /* it counts as a long flow that leaves this host */
	bool open; /* `end` is not known yet: it goes on */
	bool in; /* ... that comes in: data of a READ, until all is answered */
	bool counted; /* by `way` (paths/ways.h) */
	uint16_t way;
	uint64_t look_at; /* for a way with fewer of them, not before */
};

/* Where a flow's replies leave (replies.c). */
struct hp3_reply {
	uint64_t moved; /* when */
	uint16_t port; /* 0: where the RNIC sends them */
};

/* Pairs whose peer is to be told of our flows; ring NULL: nobody is. */
struct hp3_tell {
	uint32_t *ring; /* of max_pairs */
	uint8_t *waits; /* by pair: it is in the ring */
	uint32_t head, n;
	uint64_t due;
};

/* Replies that contradict a pairing (life/refuted.c): those without progress in between, and all
 * that count. When the first one came, una of the flow then, and how many. */
struct hp3_refutation {
	uint32_t since, first; /* in units of HP3_REFUTATION_SHIFT */
	uint32_t una : 24;
	uint32_t stuck : 8;
	uint32_t first_una : 24;
	uint32_t all : 8;
};

#define HP3_REFUTATION_SHIFT 16u /* 2^16 ns = 66 us */

/* What the network says of a flow, and anybody may have said; by flow. */
struct hp3_hearsay {
	uint32_t cm_local,
		cm_remote; /* communication ids, as REQ and REP had them; both 0: unknown */
	struct hp3_refutation refutation;
};

struct hp3_cm_pending {
	bool used, from_local, ipv6;
	uint32_t vlan;
	uint8_t local[16], remote[16];
	uint32_t comm_id, qpn;
	uint32_t psn; /* first one that the other side shall send */
	/* A REP has answered it, but its queue pair's number is that of a flow: not believed yet */
	bool answered;
	uint32_t answer_id, answer_qpn, answer_psn; /* as comm_id, qpn, psn, of the REP */
};

/* What a flow's retransmissions tell of the path in use (seek/loss.c). Few flows lose packets at a
 * time: those that did last have a record (flows/losses.h). */
struct hp3_losses {
	uint32_t flow; /* HP3_NO_FLOW: free */
	uint32_t nxt : 24; /* of the flow, at the newest loss */
	uint32_t level : 8; /* of the bucket, in HP3_LOSS */
	uint32_t again : 24; /* newest PSN that was sent again */
	uint32_t cycles : 8; /* of the monitor with a loss, since the bucket was empty; up to 255 */
	uint64_t at; /* ns: newest loss */
	uint64_t until; /* ns: nothing is done about it before */
	uint16_t to; /* port that was found better; 0: none was */
	uint16_t home; /* where it was before trials began; 0: there are none */
	uint16_t gap; /* first transmissions from one loss to the next, there */
	uint8_t tries; /* to get there, left */
	uint8_t searches; /* one soon after the other */
	uint8_t trials; /* that failed, since home */
	uint32_t since : 24; /* of the flow, at the first loss since the bucket was empty */
	uint32_t gaps : 8; /* losses since then; up to 255 */
	/* the RNIC went back more than once while this was the oldest PSN in flight (stuck.c) */
	uint32_t una : 24;
	uint32_t stuck : 8; /* una is valid */
	uint64_t stuck_at; /* ns: the first time */
};

#define HP3_LOSS      8u /* level of one; so 31 fit */
#define HP3_LOSS_SETS 256u
#define HP3_LOSS_WAYS 4u

/* How a queue pair began: the first request of a flow. */
struct hp3_began {
	uint32_t psn : 25; /* announced or seen; HP3_NO_PSN */
	uint32_t dscp : 7; /* seen; HP3_NO_DSCP */
};

/* PSNs of one address pair that follow each other, and who sent some of them (flows/near.h). Times
 * in HP3_TICK_SHIFT units; 0: never. */
struct hp3_near {
	uint32_t key; /* signature of pair and window */
	uint32_t last, last_at; /* which flow sent there last, and when */
	uint32_t other_at; /* when another one than `last` did */
	uint32_t leader, lead_at; /* the unpaired flow that came furthest */
	uint32_t follow_at; /* when another unpaired one was there */
	uint16_t follow_to; /* ... and how far these came, from the first PSN of the window */
};

struct hp3_near_index {
	struct hp3_near *entries;
	uint32_t mask; /* of sets */
	uint32_t unpaired; /* flows of the engine that are */
	uint64_t since, until; /* kept from, and at least to */
	bool whole; /* entries are missing of nothing that counts */
};

_Static_assert(sizeof(struct hp3_near) == 32, "two per cache line");

struct hp3_engine {
	/* read per packet */
	struct hp3_table table;
	struct hp3_flow *flows;
	uint32_t key[4]; /* of hp3_key_mix() */
	const struct hp3_lanes *lanes; /* burst.h */
	uint32_t large; /* bytes of a message that may be sprayed; UINT32_MAX: none is */
	uint32_t nspray_in; /* queue pairs of peers that are put in order, and READs of ours */
	uint32_t nspray_reads; /* queue pairs whose READ responses may leave by several paths */
	bool near_kept; /* which flow was near which PSN is noted (flows/near.h) */
	struct hp3_engine_config cfg;
	uint64_t seed[4];
	/* written now and then */
	struct hp3_pairs pairs;
	struct hp3_move *moves;
	uint16_t *slots; /* first nmoves: taken; the rest: free */
	struct hp3_held *held; /* FIFO entries 1 to HP3_HELD(hold_packets) */
	struct hp3_paths *paths; /* by pair; these five, and `comparing`, only if cfg.probing */
	struct hp3_active *active; /* ring of max_flows */
	struct hp3_reply *replies; /* by flow */
	struct hp3_peer_load *peers; /* by pair; placement */
	uint16_t *counts; /* by pair: told, from; then out, in */
	struct hp3_tracing *tracing; /* cfg.trace, else NULL */
	struct hp3_comparing *comparing;
	struct hp3_tell tell;
	struct hp3_spraying *spraying; /* rfr.mode = spray or auto, else NULL */
	uint64_t block_salt; /* of the ports of lanes, which are the only ones then; 0: ports are
				any */
	struct hp3_rate *rates; /* by flow; cc = dcqcn */
	bool pacing_ended; /* hp3_pacing_stop() */
	bool forgetting; /* hp3_missed() has begun, and not ended */
	uint64_t untracked_until; /* as hp3_pair.untracked_until, of all pairs */
	struct hp3_long *longs; /* by flow; cc.share */
	struct hp3_rack *rack; /* cc.share_moves, else NULL */
	struct hp3_np *np; /* by flow; cc.notify */
	struct hp3_began *began; /* by flow */
	struct hp3_hearsay *hearsay; /* by flow */
	struct hp3_pending *pending; /* npending places (flows/pending.h) */
	uint32_t npending;
	struct hp3_losses *losses; /* sets of HP3_LOSS_WAYS, by flow */
	struct hp3_near_index near;
	uint32_t *asked; /* flows whose natural challenge is under way, by pair and PSN */
	uint32_t asked_mask;
	uint32_t active_head, active_n; /* of the ring */
	struct hp3_load out, in;
	uint32_t long_out, long_in; /* long flows that leave this host; that come in, as told */
	uint32_t long_hand; /* the next pair whose report may be too old */
	uint32_t nmoves; /* slots taken */
	uint32_t nmoving; /* flows whose state is not STEADY */
	uint32_t nflows, free_flow, nmoved;
	uint32_t announced, nannounced; /* oldest flow (flows/announced.h), and how many */
	uint32_t nreplies; /* flows whose replies are away from home */
	uint32_t age_hand, room_hand;
	uint32_t age_left; /* records that this step of ageing has still to look at */
	uint8_t tick_hand; /* piece of a tick that comes first; hp3_tick() */
	uint64_t tick_at; /* when it was called last */
	uint32_t free_held,
		last_free; /* entries of `held`, oldest first; never the last one in use */
	uint64_t age_due, active_due;
	struct hp3_deadlines deadlines; /* of slots that are taken */
	/* since then this lcore was never late: what it did not hear was not there */
	uint64_t awake;
	uint64_t events; /* so far */
	uint64_t strays_until; /* looks at flows for strangers are booked (life.h) */
	uint64_t rng;
	uint8_t setup_late; /* set-ups in a row whose data came before any answer */
	uint8_t setup_skip; /* the next ones that do not ask */
	uint64_t hold_bytes;
	uint32_t hold_packets, hold_rx; /* all; of them, those from the network */
	uint32_t hold_most; /* of hold_packets, as the caller last had room */
	uint32_t cm_next[2]; /* asked for by the network, by the local host */
	struct hp3_cm_pending cm[HP3_CM_PENDING];
	struct hp3_stats stats;
};

#endif
