/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_INTERNAL_H
#define HP3_ENGINE_INTERNAL_H
/* What the files of engine/ share and nobody else sees. */
#include "engine/engine.h"
#include "engine/hash.h"
#include "engine/pairs.h"
#include "engine/table.h"
#include "roce/icrc.h"

#define HP3_CM_PENDING 256u /* connection requests remembered until their REP */

/* A move in progress; its index is the hold slot. */
struct hp3_move {
	uint32_t flow;
	uint16_t from, to;
	struct hp3_closing closing;
	uint8_t cause;
	uint16_t active; /* position in the list of moves in progress */
	uint32_t held_pkts;
	uint64_t held_bytes;
	uint64_t t_ask, t_close, deadline, tag;
	bool seeking; /* `round` is under way */
	bool sought; /* by a round, not by an operator */
	uint8_t n_cycles, cycles[HP3_CYCLES_KEPT + 1]; /* what set the round off */
	struct hp3_round round;
};

struct hp3_cm_pending {
	bool used, from_local, ipv6;
	uint16_t vlan;
	uint8_t local[16], remote[16];
	uint32_t comm_id, qpn;
};

struct hp3_engine {
	/* read per packet */
	struct hp3_engine_config cfg;
	struct hp3_table table;
	struct hp3_flow *flows;
	uint64_t seed[4];
	/* written now and then */
	struct hp3_pairs pairs;
	struct hp3_move *moves;
	struct hp3_paths *paths; /* by pair */
	uint16_t *slots; /* first nmoves: in progress; the rest: free */
	uint32_t nmoves;
	uint32_t nflows, free_flow, nmoved;
	uint32_t age_hand;
	uint64_t age_due, move_due;
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
void hp3_key_hash(
	const struct hp3_engine *e, const struct hp3_key *k, uint32_t *sig, uint32_t *bucket);
uint64_t hp3_key_addr(const struct hp3_engine *e, bool ipv6, const void *local, const void *remote);
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
void hp3_flow_remove(struct hp3_engine *e, uint32_t flow);
bool hp3_flow_pair(struct hp3_engine *e, uint32_t flow, uint32_t lqpn, enum hp3_pairing how,
	uint64_t now, struct hp3_acts *acts);
void hp3_flow_unpair(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
/* New epoch: held packets discarded, unpaired, in-flight unknown (rule 16). */
void hp3_flow_epoch(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);

/* moves.c: the actions of rfr */
int hp3_move_begin(struct hp3_engine *e, uint32_t flow, const struct hp3_cmd *cmd, uint16_t to,
	uint64_t now, struct hp3_acts *acts);
/* Feeds an input to the flow's state machine and carries out what ends a move; returns the action.
 */
enum hp3_rfr_action hp3_move_input(struct hp3_engine *e, uint32_t flow, enum hp3_rfr_input input,
	uint64_t now, struct hp3_acts *acts);
void hp3_move_close(struct hp3_engine *e, uint32_t flow, uint64_t now);
bool hp3_move_hold(struct hp3_engine *e, uint32_t flow, uint32_t len);
void hp3_move_timeouts(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);

enum hp3_rfr_input hp3_move_wish(const struct hp3_flow *f);
/* A slot for the flow, or NULL: all taken. */
struct hp3_move *hp3_move_slot(struct hp3_engine *e, uint32_t flow, uint64_t now);
void hp3_move_start(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
void hp3_move_deadline(struct hp3_engine *e, struct hp3_move *m, uint64_t t);

/* seek.c: rounds of probes */
void hp3_seek(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);
void hp3_seek_timeout(
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
