/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Life of a flow: adds it at its first request packet or set-up event, pairs and unpairs it, begins
 * new epochs of it, and removes it.
 */
#include "engine/life/life.h"
#include "engine/flows/announced.h"
#include "engine/flows/pending.h"
#include "engine/spray/spray.h"

#define REST_NS 200000000u /* without a packet, after all was acknowledged */

static struct hp3_key key_of_flow(const struct hp3_flow *f, enum hp3_dir dir)
{
	return (struct hp3_key){.addr = f->addr,
		.qpn = dir == HP3_DIR_TX ? f->rqpn : f->lqpn,
		.vlan = f->vlan,
		.ipv6 = f->flags & HP3_FF_IPV6,
		.dir = dir};
}

static bool index_add(struct hp3_engine *e, uint32_t flow, enum hp3_dir dir)
{
	struct hp3_key k = key_of_flow(&e->flows[flow], dir);
	uint32_t sig, bucket;

	hp3_key_hash(e, &k, &sig, &bucket);
	return hp3_table_insert(&e->table, bucket, sig, flow);
}

static void index_remove(struct hp3_engine *e, uint32_t flow, enum hp3_dir dir)
{
	struct hp3_key k = key_of_flow(&e->flows[flow], dir);
	uint32_t sig, bucket;

	hp3_key_hash(e, &k, &sig, &bucket);
	hp3_table_remove(&e->table, bucket, sig, flow);
}

static void link_to_pair(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_pair *p = &e->pairs.pairs[f->pair];

	f->prev = HP3_NO_FLOW;
	f->next = p->flows;
	if (p->flows != HP3_NO_FLOW)
		e->flows[p->flows].prev = flow;
	p->flows = flow;
	p->nflows++;
}

static void count_unpaired(struct hp3_engine *e, uint32_t flow, int n)
{
	e->near.unpaired += (uint32_t)n;
	e->pairs.pairs[e->flows[flow].pair].nunpaired += (uint32_t)n;
}

/* An answer to an earlier challenge shows nothing about the flow any more. */
static void stop_challenge(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_flow *f = &e->flows[flow];

	hp3_natural_drop(f);
	hp3_challenge_stop(f);
}

static void unlink_from_pair(struct hp3_engine *e, uint32_t flow)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_pair *p = &e->pairs.pairs[f->pair];

	stop_challenge(e, flow);
	if (f->prev != HP3_NO_FLOW)
		e->flows[f->prev].next = f->next;
	else
		p->flows = f->next;
	if (f->next != HP3_NO_FLOW)
		e->flows[f->next].prev = f->prev;
	if (--p->nflows == 0) {
		hp3_pair_forget(e, f->pair);
		hp3_pairs_free(&e->pairs, f->pair);
	}
}

/*
 * The tables are full for a queue pair of the local RNIC: drops an announced flow, which never
 * sent.
 */
static bool drop_announced(struct hp3_turn *t, bool with_pair)
{
	uint32_t flow = hp3_announced_spare(t->e, with_pair);

	if (flow == HP3_NO_FLOW)
		return false;
	t->e->stats.announced_dropped++;
	hp3_flow_remove(t, flow);
	return true;
}

static uint32_t get_pair(struct hp3_turn *t, const struct hp3_ends *ends, bool urgent)
{
	uint32_t pair = hp3_pairs_get(&t->e->pairs, ends);

	if (pair == HP3_NO_PAIR && urgent && drop_announced(t, true))
		pair = hp3_pairs_get(&t->e->pairs, ends);
	return pair;
}

/* `urgent`: drops announced flows if the tables are full. */
static uint32_t add_flow(
	struct hp3_turn *t, const struct hp3_ends *ends, uint32_t rqpn, bool urgent)
{
	struct hp3_engine *e = t->e;
	uint32_t pair = get_pair(t, ends, urgent), flow;
	struct hp3_flow *f;

	if (pair == HP3_NO_PAIR) {
		e->stats.pairs_full++;
		return HP3_NO_FLOW;
	}
	if (e->free_flow == HP3_NO_FLOW && urgent && drop_announced(t, false))
		pair = hp3_pairs_get(&e->pairs, ends); /* the dropped flow may have freed it */
	flow = e->free_flow;
	if (flow == HP3_NO_FLOW)
		goto full;
	f = &e->flows[flow];
	e->free_flow = f->pair;
	*f = (struct hp3_flow){
		.addr = hp3_key_addr(e, ends),
		.rqpn = rqpn,
		.vlan = ends->vlan,
		.flags = (uint16_t)(HP3_FF_USED | (ends->ipv6 ? HP3_FF_IPV6 : 0)),
		.slot = HP3_NO_SLOT,
		.pair = pair,
		.path = HP3_NO_PATH,
		.watch = f->watch & HP3_FW_ARMED, /* the ring may still have its entry */
		.last = (uint32_t)(t->now >> HP3_TICK_SHIFT),
	};
	if (!index_add(e, flow, HP3_DIR_TX)) {
		f->flags = 0;
		f->pair = e->free_flow;
		e->free_flow = flow;
		goto full;
	}
	if (e->np != NULL)
		e->np[flow] = (struct hp3_np){0};
	if (e->rests != NULL)
		e->rests[flow] = (struct hp3_peer_rest){0};
	e->began[flow] = (struct hp3_began){HP3_NO_PSN, HP3_NO_DSCP};
	e->unauth_state[flow] = (struct hp3_unauth_state){0};
	if (e->pairs.pairs[pair].nflows == 0) /* hp3d may have missed requests */
		hp3_challenge_quiet(t, flow, true);
	link_to_pair(e, flow);
	e->pairs.pairs[pair].began = t->now;
	count_unpaired(e, flow, 1);
	hp3_near_keep(e, t->now);
	e->nflows++;
	e->stats.flows_created++;
	if (e->nspray_in != 0)
		hp3_spray_added(t, flow);
	return flow;
full:
	e->stats.flows_full++;
	if (e->pairs.pairs[pair].nflows == 0)
		hp3_pairs_free(&e->pairs, pair);
	return HP3_NO_FLOW;
}

uint32_t hp3_flow_add(struct hp3_turn *t, const struct hp3_ends *ends, uint32_t rqpn)
{
	return add_flow(t, ends, rqpn, true);
}

uint32_t hp3_flow_announce(
	struct hp3_turn *t, const struct hp3_ends *ends, uint32_t rqpn, enum hp3_announcer who)
{
	uint32_t flow;

	if (!hp3_announced_fits(t->e, ends, who)) {
		t->e->stats.announced_refused++;
		return HP3_NO_FLOW;
	}
	flow = add_flow(t, ends, rqpn, false);
	if (flow != HP3_NO_FLOW)
		hp3_announced_add(t->e, flow, who);
	return flow;
}

void hp3_flow_remove(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_engine *e = t->e;
	struct hp3_flow *f = &e->flows[flow];

	hp3_spray_gone(t, flow);
	index_remove(e, flow, HP3_DIR_TX);
	if (f->flags & HP3_FF_PAIRED)
		index_remove(e, flow, HP3_DIR_RX);
	else
		count_unpaired(e, flow, -1);
	hp3_challenge_quiet(t, flow, false);
	if (f->flags & HP3_FF_MOVED)
		e->nmoved--;
	if (f->slot != HP3_NO_SLOT)
		hp3_slot_drop(
			e, flow, HP3_USE_PACE | HP3_USE_VERIFY | HP3_USE_GUARD | HP3_USE_REPROBE);
	hp3_path_leave(e, flow, t->now);
	hp3_losses_forget(e, flow);
	hp3_replies_home(e, flow);
	hp3_announced_end(e, flow);
	unlink_from_pair(e, flow);
	f->pending = false;
	f->flags = 0;
	f->pair = e->free_flow;
	e->free_flow = flow;
	e->nflows--;
}

/*
 * A flow that waits for replies counts as busy until it would be aged. So does one that sent while
 * una is not known.
 */
enum hp3_traffic hp3_flow_traffic(const struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	const struct hp3_flow *f = &e->flows[flow];
	uint64_t idle = (uint64_t)((uint32_t)(now >> HP3_TICK_SHIFT) - f->last) << HP3_TICK_SHIFT;
	bool done = (f->flags & HP3_FF_PAIRED) && hp3_stream_idle(&f->stream) &&
		    f->state == HP3_RFR_STEADY;

	if (!(f->flags & HP3_FF_STARTED))
		return HP3_TRAFFIC_NONE;
	return idle < (done ? REST_NS : e->cfg.idle_age_ns) ? HP3_TRAFFIC_BUSY : HP3_TRAFFIC_RESTS;
}

static bool may_hold_packets(const struct hp3_engine *e, const struct hp3_flow *f)
{
	return f->state > HP3_RFR_SEARCHING ||
	       (f->slot != HP3_NO_SLOT && e->moves[f->slot].held_pkts != 0);
}

/*
 * Its READ responses leave on a port of their own; without the record, on the RNIC's (replies.c).
 */
static bool has_replies_away(const struct hp3_engine *e, uint32_t flow)
{
	return e->replies != NULL && e->replies[flow].port != 0;
}

/* A retransmission may be in flight behind acknowledged packets (rule 7). */
bool hp3_flow_is_under_way(const struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	const struct hp3_flow *f = &e->flows[flow];

	if (hp3_flow_has_paused(e, flow, now))
		return false;
	if (!(f->flags & HP3_FF_STARTED) && f->bytes != 0)
		return true; /* packets of the earlier epoch */
	return has_replies_away(e, flow) ||
	       ((f->flags & HP3_FF_STARTED) &&
		       (may_hold_packets(e, f) || !hp3_stream_idle(&f->stream) ||
			       (f->flags & HP3_FF_WENT_BACK)));
}

bool hp3_flow_has_paused(const struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	const struct hp3_flow *f = &e->flows[flow];
	uint64_t idle = (uint64_t)((uint32_t)(now >> HP3_TICK_SHIFT) - f->last) << HP3_TICK_SHIFT;

	return !may_hold_packets(e, f) && idle >= REST_NS;
}

bool hp3_flow_keeps_its_place(const struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_flow *f = &e->flows[flow];

	return (f->flags & HP3_FF_MOVED) || may_hold_packets(e, f) || has_replies_away(e, flow);
}

/*
 * Injective (rule 15): a local QPN belongs to one flow. CM and set-up events win over challenges.
 * Of two challenges that disagree, both are wrong.
 */
bool hp3_flow_pair(struct hp3_turn *t, uint32_t flow, uint32_t lqpn, enum hp3_pairing how)
{
	struct hp3_engine *e = t->e;
	struct hp3_flow *f = &e->flows[flow];
	/* The same pairing as before: its congestion state stays. */
	bool again = how == HP3_PAIRING_CHALLENGE && f->lqpn == lqpn, was;
	uint32_t other = hp3_flow_at(e, HP3_ENDS(&e->pairs.pairs[f->pair]), lqpn, HP3_DIR_RX);

	if (other != HP3_NO_FLOW && other != flow && how == HP3_PAIRING_CM &&
		e->flows[other].pairing > HP3_PAIRING_CHALLENGE &&
		hp3_flow_traffic(e, other, t->now) == HP3_TRAFFIC_BUSY &&
		!hp3_pending_end(e, other, 0))
		return false; /* its own packets contradict that */
	if (other != HP3_NO_FLOW && other != flow) {
		if (e->flows[other].pairing == HP3_PAIRING_CHALLENGE ||
			how != HP3_PAIRING_CHALLENGE) {
			e->stats.contradictions++;
			hp3_flow_unpair(t, other);
		}
		if (how == HP3_PAIRING_CHALLENGE)
			return false;
	}
	stop_challenge(e, flow);
	hp3_announced_end(e, flow);
	was = f->flags & HP3_FF_PAIRED;
	if (was)
		index_remove(e, flow, HP3_DIR_RX);
	f->lqpn = lqpn;
	f->flags |= HP3_FF_PAIRED;
	if (!index_add(e, flow, HP3_DIR_RX)) {
		count_unpaired(e, flow, was);
		f->flags &= (uint16_t)~HP3_FF_PAIRED;
		f->pairing = HP3_PAIRING_NONE;
		f->unpaired = (struct hp3_unpaired){0};
		return false;
	}
	count_unpaired(e, flow, -!was);
	f->pairing = (uint8_t)how;
	e->unauth_state[flow].refutation = (struct hp3_refutation){0};
	if (how == HP3_PAIRING_CHALLENGE)
		e->stats.paired_challenge++;
	else if (how == HP3_PAIRING_CM)
		e->stats.paired_cm++;
	else
		e->stats.paired_event++;
	f->flags &= (uint16_t)~HP3_FF_SEVERE;
	if (f->flags & HP3_FF_STARTED)
		f->flags &= (uint16_t)~HP3_FF_FRESH;
	/* No reply of this queue pair yet, and the ring's entry is about the earlier one. */
	hp3_spray_paired(t, flow, lqpn);
	f->watch &= HP3_FW_ARMED | HP3_FW_AGREED | HP3_FW_DOUBT;
	f->watch |= f->watch & HP3_FW_ARMED ? HP3_FW_ANEW : 0;
	hp3_monitor_init(&f->monitor, t->now);
	if (!again)
		hp3_rate_init(t, flow);
	hp3_event(t, flow, HP3_EVENT_PAIR);
	return true;
}

void hp3_flow_unpair(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];

	hp3_move_input(t, flow, HP3_RFR_IN_CONTRADICTION);
	stop_challenge(t->e, flow);
	hp3_announced_end(t->e, flow);
	if (!(f->flags & HP3_FF_PAIRED)) {
		f->unpaired.cand_hits = 0;
		return;
	}
	hp3_spray_unpaired(t, flow);
	hp3_event(t, flow, HP3_EVENT_UNPAIR);
	index_remove(t->e, flow, HP3_DIR_RX);
	f->flags &= (uint16_t) ~(HP3_FF_PAIRED | HP3_FF_IDLE_PROOF | HP3_FF_LAST_CLOSE);
	f->pairing = HP3_PAIRING_NONE;
	f->unpaired = (struct hp3_unpaired){0};
	count_unpaired(t->e, flow, 1);
	hp3_near_keep(t->e, t->now);
	t->e->stats.unpaired++;
}

/*
 * A moved flow keeps its port, because packets may be in flight there. So do its replies, a stream
 * of their own (rule 12): the requester's epoch shows nothing about READ responses in flight.
 */
static void begin_anew(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_flow *f = &t->e->flows[flow];

	if (f->slot != HP3_NO_SLOT)
		hp3_slot_drop(t->e, flow, HP3_USE_PACE);
	hp3_flow_unpair(t, flow);
	hp3_challenge_quiet(t, flow, false);
	f->flags &= (uint16_t)(HP3_FF_USED | HP3_FF_IPV6 | HP3_FF_MOVED);
	f->watch &= (uint16_t)~HP3_FW_DOUBT;
	f->unpaired = (struct hp3_unpaired){0}; /* and f->unsent */
	f->pmtu_log2 = 0;
	f->lqpn = 0;
	t->e->began[flow] = (struct hp3_began){HP3_NO_PSN, HP3_NO_DSCP};
	t->e->unauth_state[flow] = (struct hp3_unauth_state){0};
	hp3_losses_forget(t->e, flow);
	hp3_pending_end_done(t->e, flow);
	t->e->stats.epochs++;
}

void hp3_flow_epoch(struct hp3_turn *t, uint32_t flow, bool reported)
{
	hp3_move_input(t, flow, HP3_RFR_IN_TX_EPOCH);
	if (t->e->flows[flow].slot != HP3_NO_SLOT)
		/* packets that wait for the pacer are of the old epoch */
		hp3_hold_discard(t, flow);
	hp3_spray_anew(t, flow, reported);
	begin_anew(t, flow);
}

void hp3_flow_over(struct hp3_turn *t, uint32_t flow)
{
	hp3_move_input(t, flow, HP3_RFR_IN_CANCEL);
	if (t->e->flows[flow].slot != HP3_NO_SLOT)
		hp3_hold_release(t, flow, UINT32_MAX, 0);
	hp3_spray_anew(t, flow, true);
	begin_anew(t, flow);
}
