/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to the peer about sprayed queue pairs, and code that both directions share. */
#include "engine/spray/spray.h"
#include "base/random.h"
#include "engine/part.h"

#define PULSES    8u /* per longest wait for a packet */
#define DIFFER    25u /* % */
#define PULSE_MIN 50000u
#define MARKED_NS 1000000u /* for so long, marks show that the last link is congested */
#define GIVE_UP   4u /* times the longest wait for a packet, until nothing is held any more */

/* Copies the policy's values that each packet needs. */
static void take_policy(struct hp3_engine *e)
{
	struct hp3_spraying *s = e->spraying;
	uint64_t most = e->cfg.spray.wait_ns;

	e->large = e->cfg.spray.bytes;
	s->pulse = hp3_max_u64(most / PULSES, PULSE_MIN);
	s->spread = (struct hp3_spread_params){.evs = e->cfg.spray.evs,
		.alike = e->cfg.spray.alike,
		.reach_ns = e->cfg.spray.mode == HP3_SPRAY_AUTO ? most / 2 : 0,
		.differ = DIFFER,
		.late_ns = e->cfg.spray.late_ns,
		.rest_ns = e->cfg.spray.rest_ns};
	s->reseq = (struct hp3_reseq_params){.window = HP3_RESEQ_WINDOW - 1,
		.least_ns = most / 2, /* hosts deschedule processes, PFC pauses links */
		.most_ns = most,
		.give_up_ns = GIVE_UP * most};
}

static void take_sprays(struct hp3_engine *e, struct hp3_arena *a)
{
	size_t n = e->cfg.spray.flows;
	struct hp3_spraying s = {0};

	HP3_TAKE(a, e->spraying, 1);
	HP3_TAKE(a, s.out, n);
	HP3_TAKE(a, s.in, n);
	HP3_TAKE(a, s.peer, hp3_spray_peers((uint32_t)n));
	HP3_TAKE(a, s.outs, n * HP3_SPRAY_LISTS);
	HP3_TAKE(a, s.quotas.peer, 2 * n);
	HP3_TAKE(a, s.of, e->cfg.max_flows);
	HP3_TAKE(a, s.deadlines.heap, 2 * n);
	HP3_TAKE(a, s.deadlines.place, 2 * n);
	if (a->memory != NULL)
		*e->spraying = s;
}

static void init_sprays(struct hp3_engine *e)
{
	struct hp3_spraying *s = e->spraying;
	uint32_t n = e->cfg.spray.flows;
	uint64_t key = e->seed[3];

	s->rounds.due = UINT64_MAX;
	hp3_incast_init(&s->incast);
	s->sets = hp3_spray_peers(n) / HP3_SPRAY_WAYS;
	s->ins = s->outs + n;
	s->heads = s->ins + n;
	s->backs = s->heads + 2 * (size_t)n;
	s->reads = s->backs + 2 * (size_t)n;
	s->quotas.heads = s->reads + 2 * (size_t)n;
	for (s->nheads = 1; s->nheads * 2 <= 2 * n;)
		s->nheads *= 2;
	s->key[0] = hp3_random(&key);
	s->key[1] = hp3_random(&key);
	hp3_quota_init(&s->quotas, 2 * n, s->nheads, hp3_random(&key));
	memset(s->of, 0, e->cfg.max_flows * sizeof(*s->of));
	memset(s->peer, 0, (size_t)s->sets * HP3_SPRAY_WAYS * sizeof(*s->peer));
	memset(s->heads, 0xff, s->nheads * sizeof(*s->heads));
	memset(s->backs, 0xff, s->nheads * sizeof(*s->backs));
	memset(s->reads, 0xff, s->nheads * sizeof(*s->reads));
	memset(s->deadlines.place, 0, 2 * (size_t)n * sizeof(*s->deadlines.place));
	for (uint32_t i = 0; i < n; i++)
		s->outs[i] = s->ins[i] = (uint16_t)i;
	take_policy(e);
	e->block_salt = hp3_random(&e->rng) | 1;
}

void hp3_out_wake(struct hp3_engine *e, const struct hp3_spray_out *o, uint64_t due)
{
	struct hp3_spraying *s = e->spraying;
	uint32_t item = (uint32_t)(o - s->out);

	if (due < hp3_deadline_of(&s->deadlines, item))
		hp3_deadline_set(&s->deadlines, item, due);
}

void hp3_in_set_due(struct hp3_engine *e, struct hp3_spray_in *in, uint64_t due)
{
	struct hp3_spraying *s = e->spraying;

	in->due = due;
	hp3_deadline_set(&s->deadlines, e->cfg.spray.flows + (uint32_t)(in - s->in), due);
}

/*
 * Visits go from the end of the lists. A record that takes the place of an ended one comes from the
 * end, so it has been visited.
 */
void hp3_spray_look_at_all(struct hp3_engine *e)
{
	e->spraying->changed_outs = e->spraying->nout;
	e->spraying->changed_ins = e->nspray_in;
}

/* A reload does not lower the limits of held packets while agreements exist. */
static void spray_reconfigured(struct hp3_engine *e)
{
	struct hp3_spraying *s = e->spraying;

	take_policy(e);
	hp3_spray_look_at_all(e);
	s->hold_bytes = hp3_max_u64(s->hold_bytes, e->cfg.hold_bytes);
	s->hold_bytes_total = hp3_max_u64(s->hold_bytes_total, e->cfg.hold_bytes_total);
}

static void add_lost_time(struct hp3_spraying *s, uint64_t since, uint64_t now)
{
	since = hp3_max_u64(since, s->lost_to);
	if (since >= now)
		return;
	s->lost_ns += now - since;
	s->lost_to = now;
}

/*
 * hp3d was not called in time, so it was descheduled, and packets may have arrived that it has not
 * polled. The waits for missing packets start again, and so do leases, a few times at most. There
 * may be thousands of records, so each is updated at its next visit (hp3_in_look()).
 */
void hp3_spray_slept(struct hp3_turn *t, uint64_t since)
{
	struct hp3_spraying *s = t->e->spraying;

	s->awake = t->now;
	s->slept++;
	if (!s->unread) /* else it is a part of the blocked time */
		add_lost_time(s, since, t->now);
}

/* While blocked, no deadline counts; hp3_in_slept() takes that time into account later. */
void hp3_rx_blocked(struct hp3_engine *e, bool blocked, uint64_t now)
{
	struct hp3_spraying *s = e->spraying;

	if (s == NULL || s->unread == blocked)
		return;
	s->unread = blocked;
	if (blocked) {
		s->unread_at = now;
		return;
	}
	s->awake = now;
	s->unread_ns += now - s->unread_at;
	add_lost_time(s, s->unread_at, now);
	s->slept++;
}

/* While blocked, a message of the sender may have arrived. */
static void add_unread(struct hp3_engine *e, struct hp3_spray_in *in, uint64_t bound)
{
	const struct hp3_spraying *s = e->spraying;
	uint64_t unread = s->unread_ns - in->unread_ns;

	in->unread_ns = s->unread_ns;
	if (unread == 0)
		return;
	in->heard = hp3_min_u64(in->heard + unread, s->awake);
	if (unread > in->keepalive_ns && s->awake - in->heard > bound)
		in->heard = s->awake - bound;
	if (in->ack.held != 0) /* the response may have arrived meanwhile */
		in->ack.at = hp3_max_u64(in->ack.at, hp3_min_u64(in->ack.at + unread, s->awake));
}

void hp3_in_slept(struct hp3_turn *t, struct hp3_spray_in *in)
{
	uint64_t bound = (HP3_SPRAY_BOUND - HP3_SPRAY_TRUST) * in->keepalive_ns;
	uint64_t awake = t->e->spraying->awake;
	uint64_t lost = t->e->spraying->lost_ns - in->lost_ns;

	in->slept = t->e->spraying->slept;
	in->lost_ns = t->e->spraying->lost_ns;
	add_unread(t->e, in, bound);
	if (in->ack.held != 0)
		in->ack.came = hp3_max_u64(in->ack.came, hp3_min_u64(in->ack.came + lost, awake));
	in->again_at = hp3_max_u64(in->again_at, hp3_min_u64(in->again_at + lost, awake));
	if (in->ready && hp3_reseq_stood(&in->reseq, lost, awake))
		t->e->stats.reseq_wait_restarts++;
	if (in->ack.held != 0 && in->ack.anew < HP3_RESEQ_AGAIN) {
		in->ack.anew++;
		in->ack.at = awake;
	}
	if (in->spared < HP3_RESEQ_AGAIN && awake - in->heard > bound) {
		in->spared++;
		in->heard = awake - bound;
	}
}

static void send_agree_message(struct hp3_turn *t, uint32_t flow, const struct hp3_ends *ends,
	const struct hp3_agree *what)
{
	struct hp3_act *a = hp3_act(t, HP3_ACT_AGREE, flow);

	a->agree = (struct hp3_act_agree){.ipv6 = ends->ipv6, .vlan = ends->vlan, .what = *what};
	hp3_ends_copy(ends, a->agree.local, a->agree.remote);
}

static struct hp3_agree of_out(
	const struct hp3_turn *t, const struct hp3_spray_out *o, enum hp3_agree_kind kind)
{
	const struct hp3_flow *f = &t->e->flows[o->flow];

	return (struct hp3_agree){.kind = (uint8_t)kind,
		.reads = o->reads,
		.pmtu_log2 = f->pmtu_log2,
		.evs = t->e->cfg.spray.evs,
		.port = t->e->spraying->peer[o->peer].base,
		.in_use = hp3_flow_port(f),
		.responder = f->rqpn,
		.requester = f->lqpn,
		.number = o->number,
		.turn = o->turn,
		.next = kind == HP3_AGREE_ASK ? o->start : HP3_NO_PSN,
		.keepalive_us = o->stated_us};
}

static void fill_out(
	struct hp3_turn *t, const struct hp3_spray_out *o, const struct hp3_agree *what)
{
	send_agree_message(
		t, o->flow, HP3_ENDS(&t->e->pairs.pairs[t->e->flows[o->flow].pair]), what);
}

void hp3_spray_send_msg_out(
	struct hp3_turn *t, const struct hp3_spray_out *o, enum hp3_agree_kind kind)
{
	const struct hp3_agree what = of_out(t, o, kind);

	fill_out(t, o, &what);
}

void hp3_spray_send_msg_left(
	struct hp3_turn *t, const struct hp3_spray_out *o, uint32_t psn, uint16_t port)
{
	struct hp3_agree what = of_out(t, o, HP3_AGREE_LEFT);

	what.next = psn;
	what.in_use = port;
	fill_out(t, o, &what);
}

/*
 * Shall the sender spray only after a comparison? If most packets are marked, or many queue pairs
 * begin at once, the last link is the bottleneck: several paths do not help, and bursts fill its
 * queue faster.
 */
static bool objects_to_presumption(const struct hp3_turn *t, const struct hp3_spray_in *in)
{
	const struct hp3_spraying *s = t->e->spraying;

	return hp3_presumption_rests(&s->receives, t->now) || t->now < in->incast_end ||
	       (s->marked > HP3_SPRAY_MARKED / 2 && t->now - s->marked_at < MARKED_NS);
}

void hp3_spray_send_msg_in(
	struct hp3_turn *t, const struct hp3_spray_in *in, enum hp3_agree_kind kind, uint64_t slow)
{
	struct hp3_agree what = {.kind = (uint8_t)kind,
		.reads = in->reads,
		.pmtu_log2 = in->pmtu_log2,
		.evs = in->evs,
		.port = in->port,
		.responder = in->responder,
		.requester = in->requester,
		.number = in->number,
		.turn = in->turn,
		.next = HP3_NO_PSN,
		.keepalive_us = (uint32_t)(in->keepalive_ns / 1000),
		.slow = slow};

	if (kind == HP3_AGREE_YES && in->ready && !in->reads)
		what.next = in->reseq.expected;
	if (kind == HP3_AGREE_MISSING)
		what.next = in->reseq.expected;
	if (kind == HP3_AGREE_YES && objects_to_presumption(t, in))
		what.slow = HP3_AGREE_OBJECTS;
	if (kind == HP3_AGREE_YES)
		what.room = hp3_spray_room(t->e->spraying->hold_bytes, in->pmtu_log2);

	send_agree_message(t, HP3_NO_FLOW, HP3_ENDS(in), &what);
}

void hp3_spray_refuse(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *asked)
{
	struct hp3_agree what = *asked;

	what.kind = HP3_AGREE_NO;
	what.next = HP3_NO_PSN;
	if (asked->kind == HP3_AGREE_OFFER) {
		what.kind = HP3_AGREE_OVER;
		what.number = 0; /* an earlier agreement goes on to its end */
	}
	send_agree_message(t, HP3_NO_FLOW, ends, &what);
}

const struct hp3_part hp3_sprays_part = {.is_on = hp3_is_spraying,
	.take = take_sprays,
	.init = init_sprays,
	.reconfigured = spray_reconfigured};
