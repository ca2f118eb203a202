/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender's agreements: how they begin and end, and how messages and timers change them. */
#include "engine/spray/receive.h"
#include "engine/spray/send.h"

#define IDLE_INTERVALS 100u /* intervals without a large message until the agreement ends */
#define BEHIND         (1 << 15) /* PSNs that may have arrived since the receiver answered */
/*
 * Part of the longest wait until SPRAYING confirms an agreement at set-up. Before that, the
 * receiver holds packets for a quarter of the longest wait.
 */
#define CONFIRM_PARTS 8u
#define OBJECTED_NS   1000000u /* a peer's objection counts this long for other queue pairs */
#define REFUSED_NS    1000000000u /* until a peer that refused is asked again */
/*
 * The number of an agreement is the time of its beginning in units of 66 us. So a later agreement
 * has a greater number, even after a restart of hp3d. Messages carry 32 bits of it. No agreement
 * lasts so long that its number and a later one are 2^31 or more apart.
 */
#define NUMBER_SHIFT 16u
#define LONGEST_NS   (1ull << (NUMBER_SHIFT + 30)) /* 19.5 h */

static void link_read(struct hp3_engine *e, struct hp3_spray_out *o, uint16_t own)
{
	struct hp3_spraying *s = e->spraying;
	const struct hp3_flow *f = &e->flows[o->flow];
	uint16_t *head = &s->reads[hp3_spray_chain(s, f->addr, f->vlan, o->asked_of)];

	o->next_read = *head;
	*head = own;
}

static void unlink_read(struct hp3_engine *e, const struct hp3_spray_out *o)
{
	struct hp3_spraying *s = e->spraying;
	const struct hp3_flow *f = &e->flows[o->flow];
	uint16_t *link = &s->reads[hp3_spray_chain(s, f->addr, f->vlan, o->asked_of)];

	while (&s->out[*link] != o)
		link = &s->out[*link].next_read;
	*link = o->next_read;
}

static void remove_agreement(struct hp3_engine *e, struct hp3_spray_out *o)
{
	struct hp3_spraying *s = e->spraying;
	uint16_t last = s->outs[--s->nout], own = s->outs[o->at];

	hp3_out_await_no_more(e, o);
	if (o->reads)
		unlink_read(e, o);
	s->outs[o->at] = last;
	s->out[last].at = o->at;
	s->outs[s->nout] = own;
	hp3_deadline_set(&s->deadlines, own, UINT64_MAX);
	e->flows[o->flow].watch &= (uint16_t) ~(o->reads ? HP3_FW_READ : HP3_FW_SPRAY);
	e->nspray_reads -= o->reads;
	s->quotas.peer[o->quota].outs--;
	s->quotas.peer[o->quota].read_outs -= o->reads;
	hp3_quota_put(&s->quotas, o->quota);
	s->peer[o->peer].users--;
}

/* From here on, no packet takes another EV than the one in use. */
static void narrow_agreement(struct hp3_turn *t, struct hp3_spray_out *o)
{
	o->behind = hp3_stream_end(&t->e->flows[o->flow].stream);
	o->narrowed = t->now;
	o->keepalive_at = t->now; /* does the peer still answer? */
	hp3_out_wake(t->e, o, t->now);
}

void hp3_out_put_off(struct hp3_turn *t, const struct hp3_spray_out *o)
{
	struct hp3_pair *p = &t->e->pairs.pairs[t->e->flows[o->flow].pair];

	*(o->reads ? &p->reads_at : &p->spray_at) = t->now + REFUSED_NS;
}

bool hp3_out_input(struct hp3_turn *t, struct hp3_spray_out *o, enum hp3_spray_input in)
{
	struct hp3_spray_step step = hp3_spray_step((enum hp3_spray_state)o->state, in);
	bool sprayed = o->state == HP3_SPRAY_SPRAYING;

	/* An ASK at set-up may be refused only because its half of the places is full. */
	if (o->state == HP3_SPRAY_ASKING &&
		((in == HP3_SPRAY_IN_NO && o->start == HP3_NO_PSN) || in == HP3_SPRAY_IN_LOST))
		hp3_out_put_off(t, o);
	if (o->state == HP3_SPRAY_ASKING && step.next == HP3_SPRAY_SPRAYING) {
		t->e->stats.sprays++;
		o->keepalive_at = t->now; /* sends SPRAYING to the peer */
		if (o->start != HP3_NO_PSN &&
			hp3_out_presumes(t, o)) /* the message may be over soon */
			o->keepalive_at += t->e->cfg.spray.wait_ns / CONFIRM_PARTS;
		hp3_out_wake(t->e, o, t->now);
	}
	o->state = step.next;
	if (sprayed && step.next != HP3_SPRAY_SPRAYING)
		narrow_agreement(t, o);
	switch ((enum hp3_spray_action)step.action) {
	case HP3_SPRAY_DO_DRAIN:
		t->e->stats.sprays_broken += in == HP3_SPRAY_IN_NO;
		t->e->stats.sprays_full += in == HP3_SPRAY_IN_FULL;
		if (!o->reads) /* no reply shows when these have arrived (rule 12) */
			hp3_move_drain(t, o->flow);
		break;
	case HP3_SPRAY_DO_END:
		hp3_spray_send_msg_out(t, o, HP3_AGREE_OVER);
		remove_agreement(t->e, o);
		return false;
	default:
		break;
	}
	return true;
}

bool hp3_out_may_agree(const struct hp3_turn *t, const struct hp3_flow *f)
{
	const struct hp3_engine *e = t->e;

	return hp3_spray_is_allowed(e) && e->cfg.cc.mode != HP3_CC_DCQCN &&
	       hp3_out_may_compare(e) && (f->flags & HP3_FF_PAIRED) &&
	       hp3_flow_may_leave(e, f, t->now) &&
	       hp3_has_key(e, HP3_ENDS(&e->pairs.pairs[f->pair]));
}

bool hp3_out_may_begin(const struct hp3_turn *t, const struct hp3_flow *f)
{
	return t->e->pairs.pairs[f->pair].spray_at <= t->now && hp3_out_may_agree(t, f);
}

uint32_t hp3_out_number(struct hp3_spraying *s, uint64_t now)
{
	s->number = hp3_max_u64(now >> NUMBER_SHIFT, s->number + 1);
	if ((uint32_t)s->number == 0) /* 0 means: no agreement */
		s->number++;
	return (uint32_t)s->number;
}

static uint32_t own_keepalive_us(const struct hp3_engine *e)
{
	return (uint32_t)hp3_max_u64(e->cfg.spray.keepalive_ns / 1000, 1);
}

/* The index in `out`; HP3_NO_SPRAY: no place. */
static uint16_t begin_agreement(struct hp3_turn *t, uint32_t flow, uint32_t start, bool reads)
{
	struct hp3_spraying *s = t->e->spraying;
	const struct hp3_pair *pair = &t->e->pairs.pairs[t->e->flows[flow].pair];
	uint16_t peer = hp3_spray_peer_get(t->e, &t->e->flows[flow], t->now), own;

	if (peer == HP3_NO_SPRAY) {
		t->e->stats.agreements_refused++;
		return HP3_NO_SPRAY;
	}
	own = s->outs[s->nout];
	s->out[own] = (struct hp3_spray_out){.flow = flow,
		.reads = reads,
		.peer = peer,
		.at = (uint16_t)s->nout++,
		.number = hp3_out_number(s, t->now),
		.start = start,
		.run_from = HP3_NO_PSN,
		.asked_first = HP3_NO_PSN,
		.missing = HP3_NO_PSN,
		.sent = HP3_NO_PSN,
		.fence = !reads && start == HP3_NO_PSN,
		.heard = t->now,
		.large_at = t->now,
		.began = t->now,
		.keepalive_us = own_keepalive_us(t->e),
		.stated_us = own_keepalive_us(t->e),
		.quota = hp3_quota_get(&s->quotas, HP3_ENDS(pair)),
		.state = HP3_SPRAY_SINGLE};
	s->quotas.peer[s->out[own].quota].outs++;
	s->quotas.peer[s->out[own].quota].read_outs += reads;
	hp3_out_input(t, &s->out[own], HP3_SPRAY_IN_LARGE);
	s->out[own].keepalive_at = t->now;
	hp3_out_wake(t->e, &s->out[own], t->now);
	if (start == HP3_NO_PSN) /* at set-up, another round of probes may compare EVs */
		hp3_spray_rounds_want(t, &s->out[own]);
	return own;
}

/*
 * Begins an agreement about requests. `start`: first PSN of a queue pair that was just set up, else
 * HP3_NO_PSN.
 */
static void begin_requests(struct hp3_turn *t, uint32_t flow, uint32_t start)
{
	uint16_t own = begin_agreement(t, flow, start, false);

	if (own == HP3_NO_SPRAY)
		return;
	t->e->spraying->of[flow].out = own;
	t->e->flows[flow].watch |= HP3_FW_SPRAY;
}

void hp3_out_begin_read(struct hp3_turn *t, uint32_t flow, uint32_t asked_of)
{
	uint16_t own = begin_agreement(t, flow, HP3_NO_PSN, true);

	if (own == HP3_NO_SPRAY)
		return;
	t->e->spraying->out[own].asked_of = asked_of;
	link_read(t->e, &t->e->spraying->out[own], own);
	t->e->spraying->of[flow].read = own;
	t->e->flows[flow].watch |= HP3_FW_READ;
	t->e->nspray_reads++;
}

bool hp3_out_has_place(struct hp3_engine *e, const struct hp3_ends *ends, uint32_t most)
{
	const struct hp3_spraying *s = e->spraying;
	uint16_t peer = hp3_quota_find(&s->quotas, ends);
	uint32_t used = peer != HP3_NO_QUOTA ? s->quotas.peer[peer].outs : 0;
	bool place = s->nout < most && hp3_quota_allows_agreement(used, most - s->nout, most);

	e->stats.agreements_refused += !place;
	return place;
}

/* Half of the places is for queue pairs that have already sent a large message. */
void hp3_spray_setup(struct hp3_turn *t, uint32_t flow)
{
	const struct hp3_flow *f = &t->e->flows[flow];
	const struct hp3_pair *p = &t->e->pairs.pairs[f->pair];

	if (t->e->cfg.spray.setup && !(f->watch & HP3_FW_SPRAY) && hp3_out_may_begin(t, f) &&
		hp3_out_has_place(t->e, HP3_ENDS(p), t->e->cfg.spray.flows / 2))
		begin_requests(t, flow, f->stream.nxt);
}

/* After a refusal, messages of the pair request no place until REFUSED_NS have passed. */
void hp3_out_large(struct hp3_turn *t, uint32_t flow)
{
	struct hp3_pair *p = &t->e->pairs.pairs[t->e->flows[flow].pair];

	if (!hp3_out_has_place(t->e, HP3_ENDS(p), t->e->cfg.spray.flows)) {
		p->spray_at = t->now + REFUSED_NS;
		return;
	}
	begin_requests(t, flow, HP3_NO_PSN);
	if (t->e->flows[flow].watch & HP3_FW_SPRAY)
		hp3_out_of(t->e, flow)->large = true;
	else
		p->spray_at = t->now + REFUSED_NS;
}

/* If peers object, probes at set-up find paths for what is not sprayed. */
bool hp3_spray_presumes(const struct hp3_turn *t, uint32_t flow)
{
	return (t->e->flows[flow].watch & HP3_FW_SPRAY) &&
	       t->now - t->e->spraying->objected >= OBJECTED_NS &&
	       hp3_out_presumes(t, hp3_out_of(t->e, flow));
}

bool hp3_out_differ(struct hp3_turn *t, struct hp3_spray_out *o)
{
	if (t->e->cfg.spray.mode != HP3_SPRAY_AUTO || o->state != HP3_SPRAY_SPRAYING)
		return false;
	t->e->stats.sprays_differ++;
	hp3_out_late(t);
	hp3_out_put_off(t, o);
	if (o->chosen)
		hp3_out_input(t, o, HP3_SPRAY_IN_STOP);
	else /* all packets took one path */
		hp3_out_end(t, o, true);
	return true;
}

enum hp3_spray_state hp3_spray_state_of(const struct hp3_engine *e, uint32_t flow)
{
	if (!(e->flows[flow].watch & HP3_FW_SPRAY))
		return HP3_SPRAY_SINGLE;
	return (enum hp3_spray_state)e->spraying->out[e->spraying->of[flow].out].state;
}

enum hp3_spray_state hp3_spray_read_state_of(const struct hp3_engine *e, uint32_t flow)
{
	if (!(e->flows[flow].watch & HP3_FW_READ))
		return HP3_SPRAY_SINGLE;
	return (enum hp3_spray_state)e->spraying->out[e->spraying->of[flow].read].state;
}

uint32_t hp3_spray_evs_of(const struct hp3_engine *e, uint32_t flow)
{
	if (hp3_spray_state_of(e, flow) != HP3_SPRAY_SPRAYING)
		return 1;
	return hp3_spread_used(&hp3_spray_peer_of(e, flow)->spread, &e->spraying->spread);
}

bool hp3_spray_hides(const struct hp3_engine *e, uint32_t flow)
{
	enum hp3_spray_state state = hp3_spray_state_of(e, flow);

	return state == HP3_SPRAY_SPRAYING || state == HP3_SPRAY_NARROW;
}

bool hp3_spray_stalled(struct hp3_turn *t, uint32_t flow)
{
	if (hp3_spray_state_of(t->e, flow) != HP3_SPRAY_SPRAYING)
		return false;
	hp3_out_input(t, hp3_out_of(t->e, flow), HP3_SPRAY_IN_BACK);
	return true;
}

void hp3_out_end(struct hp3_turn *t, struct hp3_spray_out *o, bool over)
{
	if (over && t->acts != NULL)
		hp3_spray_send_msg_out(t, o, HP3_AGREE_OVER);
	remove_agreement(t->e, o);
}

/*
 * If QPNs are reused, packets of the earlier queue pair may have set the PSN that the receiver
 * expects. The ASK is then void, and the receiver learns the PSN again. The next ASK leaves after a
 * keep-alive interval. Otherwise, a peer that always gives this answer would get one ASK per
 * answer.
 */
static bool is_of_before(struct hp3_turn *t, struct hp3_spray_out *o, const struct hp3_agree *a)
{
	const struct hp3_stream *st = &t->e->flows[o->flow].stream;

	if (a->kind != HP3_AGREE_YES || a->next == HP3_NO_PSN || o->reads ||
		(hp3_psn_diff(a->next, st->una) > -BEHIND &&
			hp3_psn_diff(a->next, hp3_stream_end(st)) <= 0))
		return false;
	if (o->state != HP3_SPRAY_ASKING) {
		hp3_out_input(t, o, HP3_SPRAY_IN_STOP);
		return true;
	}
	o->number = hp3_out_number(t->e->spraying, t->now);
	return true;
}

/* The peer objects, maybe in a repetition of its answer. */
static void peer_objects(struct hp3_turn *t, struct hp3_spray_out *o)
{
	if (!o->objects)
		t->e->spraying->objected = t->now;
	o->objects = true;
}

/* For how long hp3d awaits an acknowledgement. */
static uint64_t await_ns(const struct hp3_engine *e)
{
	return e->cfg.spray.wait_ns / HP3_PRESUME_AWAIT;
}

static bool has_arrived(const struct hp3_turn *t, const struct hp3_spray_out *o, uint32_t psn)
{
	return hp3_psn_diff(psn, t->e->flows[o->flow].stream.una) < 0;
}

static void await_until(struct hp3_turn *t, struct hp3_spray_out *o, uint64_t end)
{
	o->await_end = end;
	hp3_out_wake(t->e, o, end);
}

/* The peer misses this PSN. No acknowledgement shows when READ responses arrive. */
static void await_missing(struct hp3_turn *t, struct hp3_spray_out *o, uint32_t psn)
{
	if (o->reads)
		hp3_out_late(t);
	if (o->reads || !hp3_spray_may_presume(t->e) || has_arrived(t, o, psn))
		return;
	t->e->spraying->sends.suspended_end = t->now + await_ns(t->e);
	if (o->await_end != 0)
		return;
	o->awaited = psn;
	o->solicits = true;
	t->e->spraying->sends.awaited++;
	t->e->stats.presumption_suspended++;
	await_until(t, o, t->now + await_ns(t->e));
}

void hp3_out_await_no_more(struct hp3_engine *e, struct hp3_spray_out *o)
{
	if (o->await_end == 0)
		return;
	o->await_end = 0;
	e->spraying->sends.awaited--;
}

/* If hp3d did not poll packets for long, the acknowledgement may lie unread. */
static void end_await(struct hp3_turn *t, struct hp3_spray_out *o)
{
	bool arrived = has_arrived(t, o, o->awaited);

	if (!arrived && (t->e->spraying->unread || t->now - o->await_end >= await_ns(t->e))) {
		await_until(t, o, t->now + await_ns(t->e));
		return;
	}
	hp3_out_await_no_more(t->e, o);
	if (!arrived)
		hp3_out_late(t);
	else if (o->missing != HP3_NO_PSN) /* the peer may have asked again since */
		await_missing(t, o, o->missing);
}

/* MISSING: from which port did this PSN leave (rfr/missing.h)? */
static void answer_missing(struct hp3_turn *t, struct hp3_spray_out *o, uint32_t psn)
{
	uint16_t port;

	if (psn == HP3_NO_PSN)
		return;
	port = hp3_port_log_find(&o->log, psn);
	if (port != 0) {
		await_missing(t, o, psn);
		o->missing = psn;
		o->missing_port = port;
	}
	hp3_spray_send_msg_left(t, o, psn, port);
}

void hp3_out_lost(struct hp3_turn *t, struct hp3_spray_out *o, uint32_t psn)
{
	struct hp3_spread_params params = hp3_spread_params_of(t->e);
	struct hp3_spray_peer *peer = &t->e->spraying->peer[o->peer];
	uint32_t ev = (uint32_t)(o->missing_port ^ peer->base);

	if (psn != o->missing)
		return;
	o->missing = HP3_NO_PSN;
	if (ev >= params.evs)
		return;
	t->e->stats.sprayed_lost++;
	hp3_spread_rest(&peer->spread, &params, 1ull << ev, t->now);
}

void hp3_spray_answer(struct hp3_turn *t, uint32_t flow, const struct hp3_agree *a)
{
	struct hp3_spread_params params;
	struct hp3_spray_peer *peer;
	struct hp3_spread *spread;
	struct hp3_spray_out *o;

	if (!(t->e->flows[flow].watch & (a->reads ? HP3_FW_READ : HP3_FW_SPRAY)))
		return;
	params = hp3_spread_params_of(t->e);
	o = a->reads ? hp3_out_of_read(t->e, flow) : hp3_out_of(t->e, flow);
	if (o->number != a->number)
		return;
	if (a->kind == HP3_AGREE_MISSING) {
		answer_missing(t, o, a->next);
		return;
	}
	peer = &t->e->spraying->peer[o->peer];
	spread = &peer->spread;
	if (a->kind == HP3_AGREE_MARKED) {
		hp3_spread_marked(spread, &params, a->slow, t->now);
		return;
	}
	if (a->kind == HP3_AGREE_SLOW) {
		hp3_spread_slow(spread, &params, a->slow, o->tried, t->now);
		if (hp3_spread_differs(spread, &params) && hp3_out_differ(t, o))
			hp3_spray_rounds_differ(peer, t->now);
		return;
	}
	if (a->kind == HP3_AGREE_YES && a->turn == o->answered && (a->slow & HP3_AGREE_OBJECTS) &&
		o->state == HP3_SPRAY_SPRAYING) {
		peer_objects(t, o);
		return;
	}
	if ((int32_t)(a->turn - o->answered) < (a->kind != HP3_AGREE_NO) ||
		(int32_t)(a->turn - o->turn) > 0)
		return; /* an old answer, or to a turn never sent. NO may follow YES */
	if (a->kind == HP3_AGREE_YES && o->turn - a->turn >= HP3_SPRAY_MSG_TIMES)
		return;
	if (is_of_before(t, o, a))
		return;
	o->answered = a->turn;
	if (a->kind == HP3_AGREE_YES) {
		o->heard = t->now;
		o->sized = a->pmtu_log2 != 0;
		o->room = a->room;
		o->objects = a->slow & HP3_AGREE_OBJECTS;
		if (o->objects)
			t->e->spraying->objected = t->now;
		if (a->keepalive_us == o->stated_us)
			o->keepalive_us = o->stated_us;
		o->yes_to = o->sent_at[a->turn % HP3_SPRAY_MSG_TIMES];
	}
	hp3_out_input(t, o, a->kind == HP3_AGREE_YES ? HP3_SPRAY_IN_YES : HP3_SPRAY_IN_NO);
}

/*
 * No large message for long, or ENDING, and no sprayed packet in flight. For READ responses, only
 * time shows that. After a long time without a large message, also for requests: the queue pair may
 * have ended with packets in flight, which are never acknowledged.
 */
static bool is_quiet(const struct hp3_turn *t, const struct hp3_spray_out *o)
{
	const struct hp3_flow *f = &t->e->flows[o->flow];
	uint64_t keepalive_ns = hp3_out_keepalive_ns(o);
	bool idle = t->now - o->large_at >= IDLE_INTERVALS * keepalive_ns,
	     ends = o->state == HP3_SPRAY_ENDING;

	if (o->reads || o->blind)
		return (idle && !o->blind) ||
		       (ends && t->now - o->narrowed >= HP3_SPRAY_TRUST * keepalive_ns);
	if (f->state != HP3_RFR_STEADY)
		return false;
	if (!hp3_stream_idle(&f->stream))
		return idle;
	return (idle || ends) && (f->watch & HP3_FW_SURE);
}

static bool is_to_stop(const struct hp3_turn *t, const struct hp3_spray_out *o)
{
	return !hp3_spray_is_allowed(t->e) || t->now - o->began >= LONGEST_NS;
}

/*
 * The receiver's lease depends on the newest interval that it has received. So hp3d sends a new
 * interval only after the one before was confirmed. Until the new one is confirmed, both count.
 */
static void send_again(struct hp3_turn *t, struct hp3_spray_out *o)
{
	if (o->stated_us == o->keepalive_us)
		o->stated_us = own_keepalive_us(t->e);
	o->sent_at[++o->turn % HP3_SPRAY_MSG_TIMES] = t->now;
	hp3_spray_send_msg_out(
		t, o, o->state == HP3_SPRAY_ASKING ? HP3_AGREE_ASK : HP3_AGREE_SPRAYING);
	o->keepalive_at = t->now + hp3_out_keepalive_ns(o);
}

uint64_t hp3_spray_out_tick(struct hp3_turn *t, struct hp3_spray_out *o)
{
	uint64_t keepalive_ns = hp3_out_keepalive_ns(o),
		 silent = t->now - hp3_min_u64(o->heard, t->now);

	if (is_to_stop(t, o) && !hp3_out_input(t, o, HP3_SPRAY_IN_STOP))
		return UINT64_MAX;
	if (silent >= HP3_SPRAY_BOUND * keepalive_ns && !hp3_out_input(t, o, HP3_SPRAY_IN_LOST))
		return UINT64_MAX;
	if (silent >= HP3_SPRAY_TRUST * keepalive_ns)
		hp3_out_input(t, o, HP3_SPRAY_IN_SILENT);
	if (is_quiet(t, o) && !hp3_out_input(t, o, HP3_SPRAY_IN_IDLE))
		return UINT64_MAX;
	if (o->keepalive_at <= t->now)
		send_again(t, o);
	if (o->await_end != 0 && o->await_end <= t->now)
		end_await(t, o);
	return o->await_end != 0 ? hp3_min_u64(o->await_end, o->keepalive_at) : o->keepalive_at;
}
