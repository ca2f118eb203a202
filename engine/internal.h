/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_INTERNAL_H
#define HP3_ENGINE_INTERNAL_H
/* What the files of engine/ share and nobody else sees. */
#include "cc/pacer.h"
#include "cc/shield.h"
#include "engine/engine.h"
#include "engine/hash.h"
#include "engine/pairs.h"
#include "engine/table.h"
#include "engine/trace.h"
#include "ppp/placement.h"
#include "roce/icrc.h"

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

/*
 * What a flow needs beside its record while something is going on; its index is the slot that names
 * the flow's FIFO.
 */
struct hp3_move {
	uint32_t flow;
	uint16_t from, to;
	struct hp3_closing closing;
	uint8_t use; /* HP3_USE_* */
	uint8_t cause;
	uint16_t active; /* position in the list of slots taken */
	/* FIFO of held packets: move and pacer share it (rule 14) */
	uint32_t head, tail, held_pkts;
	uint32_t backlog; /* of these, held by a move that is over: no other move before they leave
			   */
	uint64_t held_bytes;
	uint64_t deadline; /* the earliest of the following */
	uint64_t move_at, pace_at, verify_at;
	uint64_t t_ask, t_close, tag;
	uint64_t moved_pkts, moved_bytes; /* held in all during this move */
	bool seeking; /* `round` is under way while traffic flows on */
	bool sought; /* by a round, not by an operator */
	bool ask; /* probes only behind the drain (STANDARD, NAK) */
	bool suspended; /* beside: the actuator was told to stop the queue pair */
	bool marked; /* PROBING: a CNP came, the probe in the air may have been marked */
	bool clear; /* WAKE: the path in use answered first, unmarked */
	bool watching; /* DEAD: rounds until the path in use is found dead or alive */
	uint8_t n_cycles, cycles[HP3_CYCLES_KEPT + 1]; /* what set the round off */
	uint32_t resume; /* RESUMING: the PSN with which the receiver can go on */
	uint32_t una; /* DEAD: as the stall began */
	uint64_t since; /* DEAD: no progress since */
	uint8_t silent; /* DEAD: rounds that nobody answered */
	uint8_t alive, reports; /* DEAD: rounds that the port in use survived; reports since */
	uint8_t waits; /* DEAD: for probes of the address pair's budget, since the last round */
	uint64_t hold_end; /* WAKE: what is held leaves then, at the latest */
	uint64_t again; /* DEAD, SETUP: the next round, not before; 0: one is under way */
	uint8_t rounds; /* SETUP: so far */
	bool found; /* SETUP: `to` answered an earlier round */
	struct hp3_liveness live;
	struct hp3_round round;
	struct hp3_estimates before; /* of the path in use, as the round or move began */
	uint64_t ref; /* id of the event to be judged; 0: none */
	uint64_t bytes0; /* VERIFY: bytes sent when the flow had moved */
	struct hp3_shield shield;
	struct hp3_dcqcn_snapshot rate;
};

/* An active flow, to be looked at again (active.c). */
struct hp3_active {
	uint64_t due;
	uint64_t since; /* no progress since */
	uint32_t flow;
	uint32_t una; /* oldest PSN in flight then */
};

/* Rate of a flow; cc = dcqcn only. */
struct hp3_rate {
	struct hp3_dcqcn rp;
	struct hp3_pacer pacer;
	uint64_t floor; /* that what waits was promised (rule 14); 0: nothing waits */
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

struct hp3_cm_pending {
	bool used, from_local, ipv6;
	uint16_t vlan;
	uint8_t local[16], remote[16];
	uint32_t comm_id, qpn;
	uint32_t psn; /* first one that the other side shall send */
};

struct hp3_engine {
	/* read per packet */
	struct hp3_table table;
	struct hp3_flow *flows;
	uint32_t key[4]; /* of hp3_key_mix() */
	const struct hp3_lanes *lanes; /* burst.h */
	struct hp3_engine_config cfg;
	uint64_t seed[4];
	/* written now and then */
	struct hp3_pairs pairs;
	struct hp3_move *moves;
	uint16_t *slots; /* first nmoves: taken; the rest: free */
	struct hp3_held *held; /* pool of FIFO entries, free_held first free */
	struct hp3_paths *paths; /* by pair; these five only if cfg.probing */
	struct hp3_active *active; /* ring of max_flows */
	struct hp3_reply *replies; /* by flow */
	struct hp3_peer_load *peers; /* by pair; placement */
	uint16_t *counts; /* by pair: told, from; then out, in */
	struct hp3_tracing *tracing; /* cfg.trace, else NULL */
	struct hp3_tell tell;
	struct hp3_rate *rates; /* by flow; cc = dcqcn */
	struct hp3_np *np; /* by flow; cc.notify */
	uint32_t active_head, active_n; /* of the ring */
	struct hp3_load out, in;
	uint32_t nmoves; /* slots taken */
	uint32_t nmoving; /* flows whose state is not STEADY */
	uint32_t nflows, free_flow, nmoved;
	uint32_t nreplies; /* flows whose replies are away from home */
	uint32_t age_hand, room_hand;
	uint32_t free_held;
	uint64_t age_due, move_due, active_due;
	uint64_t events; /* so far */
	uint64_t rng;
	uint64_t hold_bytes;
	uint32_t hold_packets;
	uint32_t cm_next;
	struct hp3_cm_pending cm[HP3_CM_PENDING];
	struct hp3_stats stats;
};

struct hp3_key {
	uint64_t addr;
	uint32_t qpn;
	uint16_t vlan;
	bool ipv6;
	enum hp3_dir dir;
};

/* keys.c: hashing and finding */
#define HP3_KEY_SPREAD 0x9e3779b1u
void hp3_key_hash(
	const struct hp3_engine *e, const struct hp3_key *k, uint32_t *sig, uint32_t *bucket);
uint64_t hp3_key_addr(const struct hp3_engine *e, bool ipv6, const void *local, const void *remote);
uint64_t hp3_key_addr6(const struct hp3_engine *e, const void *local, const void *remote);
/*
 * Signature and bucket of a key: a sum of two keyed products (NH of UMAC, RFC 4418 section 5.2),
 * whose halves are folded and spread for the bucket. burst.c has it for several packets at once.
 */
static inline void hp3_key_mix(const struct hp3_engine *e, uint64_t addr, uint32_t qpn,
	uint16_t vlan, enum hp3_dir dir, uint32_t *sig, uint32_t *bucket)
{
	uint64_t h, spread;

	h = (uint64_t)((uint32_t)addr + e->key[0]) * ((uint32_t)(addr >> 32) + e->key[1]);
	h += (uint64_t)((qpn | (uint32_t)dir << 31) + e->key[2]) * (vlan + e->key[3]);
	spread = (uint64_t)(uint32_t)(h ^ h >> 32) * HP3_KEY_SPREAD;
	*sig = (uint32_t)h;
	*bucket = (uint32_t)(spread ^ spread >> 32) & e->table.mask;
}

uint32_t hp3_key_find(
	const struct hp3_engine *e, const struct hp3_key *k, const void *local, const void *remote);
/* Local and remote address of a packet, in place. */
static inline void hp3_pkt_addresses(
	const struct hp3_pkt *pkt, enum hp3_dir dir, const uint8_t **local, const uint8_t **remote)
{
	const uint8_t *ip = (const uint8_t *)pkt->frame + pkt->v.l3_off;
	const uint8_t *src = ip + (pkt->v.flags & HP3_VF_IPV6 ? 8 : 12);
	const uint8_t *dst = src + (pkt->v.flags & HP3_VF_IPV6 ? 16 : 4);

	*local = dir == HP3_DIR_TX ? src : dst;
	*remote = dir == HP3_DIR_TX ? dst : src;
}

/* The flow that a packet belongs to, verified; HP3_NO_FLOW if there is none. */
static inline uint32_t hp3_pkt_flow(
	struct hp3_engine *e, const struct hp3_pkt *pkt, enum hp3_dir dir);
uint32_t hp3_pkt_flow_slow(struct hp3_engine *e, const struct hp3_pkt *pkt, enum hp3_dir dir);

/* flows.c: life of a flow */
uint32_t hp3_flow_add(struct hp3_engine *e, bool ipv6, uint16_t vlan, const void *local,
	const void *remote, uint32_t rqpn, uint64_t now);
void hp3_flow_remove(struct hp3_engine *e, uint32_t flow, uint64_t now);
bool hp3_flow_pair(struct hp3_engine *e, uint32_t flow, uint32_t lqpn, enum hp3_pairing how,
	uint64_t now, struct hp3_acts *acts);
void hp3_flow_unpair(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
/* New epoch: held packets discarded, unpaired, in-flight unknown (rule 16). */
void hp3_flow_epoch(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);

/* transmit.c: everything but the next packet of a paired, unpaced flow in steady state */
void hp3_tx_slow(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts);

/* feedback.c */
void hp3_severe(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
void hp3_cnp_seen(struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts);
void hp3_becn_seen(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_verdict *vd);
void hp3_ce_seen(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_acts *acts);
void hp3_reply_leaves(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd);

/* moves.c: the actions of rfr */
/* A slot for a new round or move; what a move before is still to be judged by is judged now. */
struct hp3_move *hp3_move_prepare(
	struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
/* Feeds an input to the flow's state machine and carries out what ends a move; returns the action.
 */
enum hp3_rfr_action hp3_move_input(struct hp3_engine *e, uint32_t flow, enum hp3_rfr_input input,
	uint64_t now, struct hp3_acts *acts);
/* A packet with this BTH PSN closes the old path; nothing from `end` on has left. */
void hp3_move_close(struct hp3_engine *e, uint32_t flow, uint32_t psn, uint32_t end, uint64_t now,
	struct hp3_acts *acts);
/* The target is known, or will be asked for (m->ask): close the old path, or go on at once. */
void hp3_move_start(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
void hp3_set_port(struct hp3_engine *e, struct hp3_flow *f, uint16_t port);

/* slots.c: slots, their deadlines, the FIFOs */
/* The flow's slot, taken if it has none, with reason `use`; NULL: all taken. */
struct hp3_move *hp3_slot_take(struct hp3_engine *e, uint32_t flow, uint8_t use);
void hp3_slot_drop(struct hp3_engine *e, uint32_t flow, uint8_t use);
void hp3_slot_timer(struct hp3_engine *e, struct hp3_move *m, uint64_t *timer, uint64_t t);
bool hp3_hold_put(struct hp3_engine *e, uint32_t flow, const struct hp3_held *h);
/* The first `count` packets of the FIFO leave, or are dropped. */
void hp3_hold_release(
	struct hp3_engine *e, uint32_t flow, uint32_t count, uint8_t flags, struct hp3_acts *acts);
void hp3_hold_discard(struct hp3_engine *e, uint32_t flow, struct hp3_acts *acts);
void hp3_slots_tick(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);

/* seek.c: rounds of probes */
void hp3_seek(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
void hp3_seek_timeout(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);
/* The old path is empty: ask where to go (STANDARD, NAK). */
void hp3_seek_drained(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
/* PROBING: a reply that may answer the probe in the air. True: it did, and is not for the RNIC. */
bool hp3_seek_reply(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint64_t now,
	struct hp3_acts *acts);
/* What kinds of rounds share. */
struct hp3_paths *hp3_paths_of(struct hp3_engine *e, uint32_t pair);
enum hp3_probe_kind hp3_probe_kind_of(struct hp3_engine *e, uint32_t pair, uint64_t now);
uint32_t hp3_probe_nonce(struct hp3_engine *e, uint16_t slot);
void hp3_send_probes(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);
void hp3_round_learn(struct hp3_engine *e, const struct hp3_move *m, uint64_t now);
struct hp3_event *hp3_round_report(
	struct hp3_engine *e, const struct hp3_move *m, uint64_t now, struct hp3_acts *acts);

/* seek_dead.c: nothing is acknowledged since `since`; is the path dead? */
void hp3_seek_dead(struct hp3_engine *e, uint32_t flow, uint32_t una, uint64_t since, uint64_t now,
	struct hp3_acts *acts);
void hp3_seek_dead_step(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);

/* setup.c: a path before the first data; placement */
void hp3_setup(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
void hp3_setup_step(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);
/* The first data comes while the round is under way: it leaves at once. */
void hp3_setup_late(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
/* The pair is new, or gone: nothing is counted for it. */
void hp3_pair_forget(struct hp3_engine *e, uint32_t pair);

/* wake.c: a path for a long message of an idle queue pair */
/* Nothing is in flight, and the next packet leaves: shall it wait? Then the state is PROBING. */
void hp3_wake(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint64_t now,
	struct hp3_acts *acts);
void hp3_wake_step(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);

/* tell.c: what hosts tell each other of their flows */
void hp3_tell_init(struct hp3_engine *e, uint32_t *ring, uint8_t *waits);
void hp3_tell_changed(struct hp3_engine *e, uint32_t pair);
/* The pair is active: is it time to say so again? */
void hp3_tell_refresh(struct hp3_engine *e, uint32_t pair, uint64_t now);
void hp3_tell_tick(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);

/* active.c: flows with something in flight */
void hp3_active_add(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_active_tick(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);
void hp3_path_enter(struct hp3_engine *e, uint32_t flow, uint64_t now);
/* What is known of the path goes into the path table. */
void hp3_path_leave(struct hp3_engine *e, uint32_t flow, uint64_t now);

/* replies.c: the responder stream on dead paths */
/* The requester stream leaves `from`: replies that leave there, too, follow. */
void hp3_replies_follow(struct hp3_engine *e, uint32_t flow, uint16_t from, uint16_t to,
	uint64_t now, struct hp3_acts *acts);
void hp3_replies_home(struct hp3_engine *e, uint32_t flow);
void hp3_reply_reroute(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd);

/* failover.c: dead paths */
/* What una says is what the RNIC knows, and it waits for nothing but acknowledgements. */
bool hp3_rnic_is_plain(const struct hp3_flow *f);
/* The path of a flow is dead: use `port`. */
void hp3_failover(
	struct hp3_engine *e, uint32_t flow, uint16_t port, uint64_t now, struct hp3_acts *acts);
/* RESUMING: a packet of the RNIC; false: it is to be held. */
bool hp3_resume_tx(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt,
	enum hp3_tx_kind kind, uint64_t now, struct hp3_acts *acts);
void hp3_resume_rx(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);

/* rate.c: congestion control (cc = dcqcn), and what a move does to the rate */
void hp3_rate_init(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_rate_marked(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_rate_suspend(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
void hp3_rate_rollback(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
void hp3_rate_raise(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
/* A packet that would leave now: may it? Else it is put into the FIFO, vd says so. */
void hp3_rate_tx(struct hp3_engine *e, uint32_t flow, const struct hp3_held *h, uint64_t now,
	struct hp3_verdict *vd, struct hp3_acts *acts);
/* The pacer's time has come: packets leave the FIFO. */
void hp3_rate_due(struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);
void hp3_rate_schedule(struct hp3_engine *e, uint32_t flow, uint64_t now);

/* outcome.c: the decision record */
struct hp3_event *hp3_event(struct hp3_engine *e, uint32_t flow, enum hp3_event_type type,
	uint64_t now, struct hp3_acts *acts);
uint8_t hp3_cause_of(const uint8_t *cycles, uint32_t n);
void hp3_outcome_watch(struct hp3_engine *e, uint32_t flow, uint64_t id, uint64_t now);
void hp3_outcome_judge(
	struct hp3_engine *e, struct hp3_move *m, uint64_t now, struct hp3_acts *acts);

/* pairing.c */
bool hp3_challenge_tx(struct hp3_engine *e, uint32_t flow, const struct hp3_pkt *pkt, uint64_t now,
	struct hp3_acts *acts); /* true: set AckReq on this packet */
void hp3_challenge_rx(
	struct hp3_engine *e, const struct hp3_pkt *pkt, uint64_t now, struct hp3_acts *acts);
/* Forgets the challenge under way: what it would prove is no longer asked or no longer sound. */
void hp3_challenge_stop(struct hp3_pair *p);
void hp3_cm_seen(struct hp3_engine *e, const struct hp3_pkt *pkt, enum hp3_dir dir, uint64_t now,
	struct hp3_acts *acts);

static inline uint16_t hp3_flow_port(const struct hp3_flow *f)
{
	return f->flags & HP3_FF_MOVED ? f->port : f->home;
}

static inline bool hp3_pkt_icrc_ok(struct hp3_engine *e, const struct hp3_pkt *pkt)
{
	if (pkt->trusted || hp3_icrc_ok(pkt->frame, &pkt->v))
		return true;
	e->stats.bad_icrc++;
	return false;
}

static inline struct hp3_act *hp3_act(struct hp3_acts *acts, enum hp3_act_kind kind, uint32_t flow)
{
	struct hp3_act *a = &acts->act[acts->n++];

	a->kind = (uint8_t)kind;
	a->flags = 0;
	a->flow = flow;
	return a;
}

static inline bool hp3_flow_is(const struct hp3_engine *e, const struct hp3_flow *f,
	const struct hp3_pkt *pkt, enum hp3_dir dir)
{
	uint32_t qpn = dir == HP3_DIR_TX ? f->rqpn : f->lqpn;
	uint16_t want = (uint16_t)(HP3_FF_USED | (dir == HP3_DIR_RX ? HP3_FF_PAIRED : 0) |
				   (pkt->v.flags & HP3_VF_IPV6 ? HP3_FF_IPV6 : 0));
	uint16_t mask =
		(uint16_t)(HP3_FF_USED | HP3_FF_IPV6 | (dir == HP3_DIR_RX ? HP3_FF_PAIRED : 0));

	return f->addr == pkt->addr && qpn == pkt->v.dest_qpn && f->vlan == pkt->v.vlan &&
	       (f->flags & mask) == want;
}

static inline uint32_t hp3_pkt_flow(
	struct hp3_engine *e, const struct hp3_pkt *pkt, enum hp3_dir dir)
{
	if (__builtin_expect(pkt->flow != HP3_NO_FLOW && !(pkt->v.flags & HP3_VF_IPV6) &&
				     hp3_flow_is(e, &e->flows[pkt->flow], pkt, dir),
		    1))
		return pkt->flow;
	return hp3_pkt_flow_slow(e, pkt, dir);
}

#endif
