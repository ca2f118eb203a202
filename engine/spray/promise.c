/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver's agreements to resequence a queue pair: how they begin and end. */
#include "engine/flows/keys.h"
#include "engine/spray/receive.h"

#define KEEPALIVE_MIN 100000u
#define PUT_OFF_NS    1000000000u /* until the next OFFER */
#define INCAST_WAITS  1000u /* an incast: within this part of the longest wait for a packet, */
#define INCAST_NS     2000u /* and within this time */
#define OBJECT_NS     1000000u /* longest objection because of an incast */

struct hp3_spray_in *hp3_in_find_back(struct hp3_engine *e, uint64_t addr, uint32_t vlan, bool ipv6,
	uint32_t requester, bool reads)
{
	struct hp3_spraying *s = e->spraying;

	for (uint16_t i = s->backs[hp3_spray_chain(s, addr, vlan, requester)]; i != HP3_NO_SPRAY;
		i = s->in[i].next_back) {
		struct hp3_spray_in *in = &s->in[i];

		if (in->requester == requester && in->reads == reads &&
			hp3_in_between(in, addr, vlan, ipv6))
			return in;
	}
	return NULL;
}

/* The newest record comes first: a queue pair has one peer at a time. */
void hp3_in_link_back(struct hp3_spraying *s, struct hp3_spray_in *in, uint32_t requester)
{
	uint16_t *head = &s->backs[hp3_spray_chain(s, in->addr, in->vlan, requester)];

	in->requester = requester;
	in->next_back = *head;
	*head = s->ins[in->at];
}

static void unlink_back(struct hp3_spraying *s, const struct hp3_spray_in *in)
{
	uint16_t *link = &s->backs[hp3_spray_chain(s, in->addr, in->vlan, in->requester)];

	while (*link != s->ins[in->at])
		link = &s->in[*link].next_back;
	*link = in->next_back;
}

void hp3_spray_in_end(struct hp3_turn *t, struct hp3_spray_in *in, bool drop)
{
	struct hp3_spraying *s = t->e->spraying;
	uint16_t last, own = s->ins[in->at];
	uint16_t *link = &s->heads[hp3_spray_chain(s, in->addr, in->vlan, in->responder)];

	if (!in->reads)
		hp3_incast_ended(&s->incast, in->arrived);
	unlink_back(s, in);
	last = s->ins[--t->e->nspray_in];
	hp3_in_empty(t, in, drop ? HP3_ACT_DISCARD : HP3_ACT_DELIVER);
	s->quotas.peer[in->quota].ins--;
	s->quotas.peer[in->quota].read_ins -= in->reads;
	hp3_quota_put(&s->quotas, in->quota);
	hp3_in_set_due(t->e, in, UINT64_MAX);
	if (in->reads && in->flow != HP3_NO_FLOW)
		t->e->flows[in->flow].watch &= (uint16_t)~HP3_FW_READS;
	while (*link != own)
		link = &s->in[*link].next;
	*link = in->next;
	s->ins[in->at] = last;
	s->in[last].at = in->at;
	s->ins[t->e->nspray_in] = own;
	in->numbered = in->promised = false;
}

/*
 * Clears the record, except the slots, which are most of it: a slot is valid only if its bit is
 * set.
 */
static struct hp3_spray_in *clear_agreement(struct hp3_spray_in *in)
{
	memset(in, 0, offsetof(struct hp3_spray_in, reseq.slot));
	memset(&in->reseq.word, 0, sizeof(*in) - offsetof(struct hp3_spray_in, reseq.word));
	return in;
}

struct hp3_spray_in *hp3_in_add(struct hp3_turn *t, const struct hp3_ends *ends, uint32_t responder)
{
	struct hp3_spraying *s = t->e->spraying;
	uint32_t n = t->e->nspray_in;
	struct hp3_spray_in *in = clear_agreement(&s->in[s->ins[n]]);
	uint16_t *head;

	if (n == 0) {
		s->hold_bytes = t->e->cfg.hold_bytes;
		s->hold_bytes_total = t->e->cfg.hold_bytes_total;
	}
	in->ipv6 = ends->ipv6;
	in->vlan = ends->vlan;
	in->addr = hp3_key_addr(t->e, ends);
	in->responder = responder;
	in->at = (uint16_t)n;
	hp3_ends_copy(ends, in->local, in->remote);
	in->quota = hp3_quota_get(&s->quotas, ends);
	s->quotas.peer[in->quota].ins++;
	in->due = UINT64_MAX;
	in->slept = s->slept;
	in->unread_ns = s->unread_ns;
	in->lost_ns = s->lost_ns;
	head = &s->heads[hp3_spray_chain(s, in->addr, in->vlan, responder)];
	in->next = *head;
	*head = s->ins[n];
	t->e->nspray_in++;
	return in;
}

void hp3_in_put_off(struct hp3_turn *t, const struct hp3_spray_in *in)
{
	if (in->flow != HP3_NO_FLOW)
		t->e->pairs.pairs[t->e->flows[in->flow].pair].reads_at = t->now + PUT_OFF_NS;
}

static void take_keepalive_interval(struct hp3_spray_in *in, const struct hp3_agree *a)
{
	in->keepalive_ns = hp3_min_u64(
		hp3_max_u64(a->keepalive_us * 1000ull, KEEPALIVE_MIN), HP3_SPRAY_KEEPALIVE_MAX);
}

/* Takes the terms of a new agreement. */
static void take_terms(struct hp3_spray_in *in, const struct hp3_agree *a)
{
	in->numbered = true;
	in->promised = in->refused = false;
	in->number = a->number;
	in->turn = a->turn - 1;
	in->evs = a->evs;
	in->late = (struct hp3_lateness){0};
	hp3_missing_init(&in->missing, a->port);
	take_keepalive_interval(in, a);
}

static void accept_agreement(struct hp3_turn *t, const struct hp3_ends *ends,
	struct hp3_spray_in *in, const struct hp3_agree *a)
{
	in->ready = a->next != HP3_NO_PSN && hp3_spray_is_first(t->e, ends, a->number, t->now);
	if (in->ready) {
		hp3_reseq_init(&in->reseq, a->next);
		t->e->stats.resequenced++;
	}
	in->sure = in->unsized = in->unwanted = in->any_acked = false;
	take_terms(in, a);
}

/*
 * A queue pair of the peer sends to one local queue pair at a time, so an agreement about another
 * one is over. False: the other agreement is newer.
 */
static bool supersede_requests(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *a)
{
	struct hp3_spray_in *other = hp3_in_find_back(
		t->e, hp3_key_addr(t->e, ends), ends->vlan, ends->ipv6, a->requester, false);

	if (other == NULL || other->responder == a->responder)
		return true;
	if ((int32_t)(a->number - other->number) <= 0)
		return false;
	hp3_spray_in_end(t, other, false);
	return true;
}

bool hp3_in_has_place(const struct hp3_engine *e, const struct hp3_ends *ends, uint32_t most)
{
	const struct hp3_quotas *q = &e->spraying->quotas;
	uint16_t peer;

	if (e->nspray_in >= most)
		return false;
	peer = hp3_quota_find(q, ends);
	return hp3_quota_allows_agreement(
		peer != HP3_NO_QUOTA ? q->peer[peer].ins : 0, most - e->nspray_in, most);
}

/* Half of the places is for queue pairs that have already sent a large message. */
static bool has_room(struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *a)
{
	uint32_t most = t->e->cfg.spray.flows / (a->next == HP3_NO_PSN ? 1 : 2);
	bool room = hp3_in_has_place(t->e, ends, most);

	t->e->stats.agreements_refused += !room;
	return room;
}

/* An incast: the receiver objects to the presumption for a while. */
static void object_to_one(struct hp3_turn *t, struct hp3_spray_in *in)
{
	bool objected = t->now < in->incast_end;

	in->incast_end = t->now + hp3_min_u64(t->e->cfg.spray.wait_ns / 2, OBJECT_NS);
	if (in->promised && in->ready && !in->unwanted && !objected)
		hp3_in_answer(t, in);
}

/*
 * Counts a queue pair that was just set up. In an incast, senders that got their YES shortly before
 * get another YES, which objects. Most of these senders have sent nothing yet.
 */
static void count_begun(struct hp3_turn *t, const struct hp3_spray_in *in)
{
	struct hp3_spraying *s = t->e->spraying;
	uint64_t within = hp3_min_u64(t->e->cfg.spray.wait_ns / INCAST_WAITS, INCAST_NS);
	uint32_t at = hp3_incast_begins(&s->incast, t->now);

	s->begun[at].in = s->ins[in->at];
	s->begun[at].number = in->number;
	if (!hp3_incast_is(&s->incast, within, t->now))
		return;
	for (uint32_t i = 0; i < HP3_INCAST_RECENT; i++) {
		struct hp3_spray_in *one = &s->in[s->begun[i].in];

		if (hp3_incast_is_recent(&s->incast, i, within, t->now) && one->numbered &&
			one->number == s->begun[i].number)
			object_to_one(t, one);
	}
}

/* The record for an agreement that the peer asks for; NULL: refused. */
static struct hp3_spray_in *record_asked_for(struct hp3_turn *t, const struct hp3_ends *ends,
	struct hp3_spray_in *in, const struct hp3_agree *a)
{
	if (in != NULL && in->numbered && in->number == a->number)
		return in;
	if (a->kind != HP3_AGREE_ASK || (in == NULL && a->reads))
		return NULL;
	if (a->reads) {
		take_terms(in, a);
		return in;
	}
	if (!hp3_spray_is_allowed(t->e) || !hp3_has_key(t->e, ends) ||
		(in == NULL && !has_room(t, ends, a)))
		return NULL;
	if (in == NULL) {
		in = hp3_in_add(t, ends, a->responder);
	} else {
		hp3_in_empty(t, in, HP3_ACT_DELIVER);
		unlink_back(t->e->spraying, in);
	}
	hp3_in_link_back(t->e->spraying, in, a->requester);
	accept_agreement(t, ends, in, a);
	if (a->next != HP3_NO_PSN && t->e->cfg.spray.short_bytes != 0)
		count_begun(t, in);
	return in;
}

/* Ends a record. If no sender answered the OFFER, the next one waits. */
static void end_agreement(struct hp3_turn *t, struct hp3_spray_in *in)
{
	if (in->reads && !in->numbered)
		hp3_in_put_off(t, in);
	hp3_spray_in_end(t, in, false);
}

void hp3_in_answer(struct hp3_turn *t, struct hp3_spray_in *in)
{
	in->promised |= !in->unwanted;
	hp3_spray_send_msg_in(t, in, in->unwanted ? HP3_AGREE_NO : HP3_AGREE_YES, 0);
}

/*
 * OVER for a later agreement about the same queue pairs also ends this one: its own OVER was lost.
 */
static bool is_over(const struct hp3_spray_in *in, const struct hp3_agree *a)
{
	return in->number == a->number ||
	       (in->numbered && !in->reads && in->requester == a->requester &&
		       (int32_t)(a->number - in->number) > 0);
}

void hp3_spray_asked(struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *a)
{
	struct hp3_spray_in *in = hp3_in_find(
		t->e, hp3_key_addr(t->e, ends), ends->vlan, ends->ipv6, a->responder, a->reads);

	if (a->kind == HP3_AGREE_OVER) {
		if (in != NULL && is_over(in, a))
			end_agreement(t, in);
		return;
	}
	if (a->kind == HP3_AGREE_LEFT) {
		if (in != NULL)
			hp3_in_left(t, in, a);
		return;
	}
	if (in != NULL && in->numbered && (int32_t)(a->number - in->number) < 0)
		return; /* an old message changes nothing */
	if (a->kind == HP3_AGREE_ASK && !a->reads && !supersede_requests(t, ends, a))
		return;
	in = record_asked_for(t, ends, in, a);
	if (in == NULL) {
		hp3_spray_refuse(t, ends, a);
		return;
	}
	if ((int32_t)(a->turn - in->turn) <= 0)
		return;
	in->turn = a->turn;
	in->sure |= a->kind == HP3_AGREE_SPRAYING;
	hp3_in_look(t, in); /* before `heard`: time descheduled counts up to now */
	in->heard = t->now;
	in->spared = 0;
	in->port = a->port;
	in->in_use = a->in_use;
	take_keepalive_interval(in, a);
	if (!in->reads) /* READ responses: the flow's path MTU counts */
		in->pmtu_log2 = a->pmtu_log2;
	hp3_in_wake(t->e, in, t->now);
	if (in->ready || in->unwanted)
		hp3_in_answer(t, in);
}

/*
 * This host ends all agreements: it sends NO to a sender that got YES, and resequences until OVER.
 * False: there was no YES.
 */
static bool refuse_agreement(struct hp3_turn *t, struct hp3_spray_in *in)
{
	if (in->refused)
		return true;
	if (in->promised) {
		in->refused = in->unwanted = true;
		in->refused_at = t->now;
		in->refused_lease = hp3_in_lease(in);
	}
	if (in->numbered)
		hp3_spray_send_msg_in(t, in, HP3_AGREE_NO, 0);
	return in->promised;
}

uint64_t hp3_spray_in_tick(struct hp3_turn *t, struct hp3_spray_in *in)
{
	uint64_t until = in->heard + hp3_in_lease(in);
	bool unread = t->e->spraying->unread;

	if (in->ready && hp3_reseq_follows(&in->reseq))
		hp3_in_follow(t, in, HP3_IN_PIECE_TICK);
	if (!unread && until <= t->now) {
		hp3_spray_send_msg_in(t, in, HP3_AGREE_NO, 0);
		end_agreement(t, in);
		return UINT64_MAX;
	}
	if (!hp3_spray_is_allowed(t->e) && !refuse_agreement(t, in)) {
		end_agreement(t, in);
		return UINT64_MAX;
	}
	if (in->ready && hp3_reseq_follows(&in->reseq))
		return t->now;
	if (unread)
		return t->now + hp3_spray_pulse(t->e);
	until = hp3_min_u64(
		until, t->now + in->keepalive_ns); /* detects when hp3d is descheduled */
	if (!in->ready)
		return until;
	if (in->sure) {
		hp3_in_ask(t, in);
		hp3_in_late(t, in);
	} else if (in->reseq.held != 0 && hp3_in_due(t, in) <= t->now) {
		/* the ASK was void: the packets are in order */
		hp3_in_empty(t, in, HP3_ACT_DELIVER);
		in->ready = false;
	}
	return hp3_min_u64(until, hp3_in_due(t, in));
}
