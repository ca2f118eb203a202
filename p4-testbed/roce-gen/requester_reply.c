/* SPDX-License-Identifier: BSD-3-Clause */
/* Replies and the timer advance una, or set nxt back to it. */
#include "requester.h"

/* Everything before PSN `to` is acknowledged; no READ without its answers lies before it. */
static void advance_una(struct gen_requester *r, uint32_t to, uint64_t now)
{
	if (hp3_psn_diff(to, r->una) <= 0)
		return;
	while (r->head != r->tail) {
		struct gen_message *m = gen_requester_message(r, r->head);
		uint32_t before = (uint32_t)hp3_psn_diff(r->una, m->psn) * r->p->mtu;
		bool whole = hp3_psn_diff(to, gen_message_end(m)) >= 0;
		uint32_t reach = whole ? m->len : (uint32_t)hp3_psn_diff(to, m->psn) * r->p->mtu;

		r->n.acked_bytes += reach - before;
		if (!whole)
			break;
		r->una = gen_message_end(m);
		m->completed = now;
		r->reads -= m->op == GEN_READ && r->at - r->head >= 1 && r->reads > 0;
		if (r->at == r->head)
			r->at++;
		r->head++;
		if (r->una == to)
			break;
	}
	r->una = to;
	if (hp3_psn_diff(r->nxt, to) < 0) {
		r->nxt = to;
		r->read_psns = 0;
	}
	r->retries = 0;
	r->rnr_retries = 0;
	r->implied = false;
	r->armed = r->armed && hp3_psn_diff(r->must_end, to) > 0;
	if (r->armed)
		r->deadline = now + gen_timeout_ns(r->p->timeout);
}

static void go_back(struct gen_requester *r)
{
	r->nxt = r->una;
	r->at = r->head;
	r->read_psns = 0;
	r->reads = 0;
	r->since = 0;
	r->must_end = r->una;
	r->armed = false;
	r->sampled = r->samples; /* answers may be to either copy (Karn) */
}

/* false: too often. */
static bool retry_from_una(struct gen_requester *r)
{
	if (++r->retries > r->p->retry_count) {
		r->failure = GEN_RETRY_EXCEEDED;
		return false;
	}
	go_back(r);
	return true;
}

static void implied_nak(struct gen_requester *r)
{
	if (r->implied && r->implied_una == r->una)
		return;
	r->n.implied_naks++;
	if (!retry_from_una(r))
		return;
	r->implied = true;
	r->implied_una = r->una;
}

/* The first READ without all its answers that begins before PSN `to`; NULL: none. */
static const struct gen_message *read_before(const struct gen_requester *r, uint32_t to)
{
	for (uint32_t i = r->head; i != r->tail; i++) {
		const struct gen_message *m = gen_requester_message(r, i);

		if (hp3_psn_diff(m->psn, to) >= 0)
			return NULL;
		if (m->op == GEN_READ)
			return m;
	}
	return NULL;
}

/* Acknowledges all before `to`; false if READ responses are missing on the way (9.7.5.1.1). */
static bool acknowledge_before(struct gen_requester *r, uint32_t to, uint64_t now)
{
	const struct gen_message *m = read_before(r, to);

	if (m == NULL) {
		advance_una(r, to, now);
		return true;
	}
	advance_una(r, m->psn, now);
	implied_nak(r);
	return false;
}

static uint64_t round_trip(struct gen_requester *r, uint32_t psn, uint64_t now)
{
	while (r->sampled != r->samples) {
		uint32_t i = r->sampled % GEN_RTT_SAMPLES;
		int32_t ahead = hp3_psn_diff(r->sample[i].psn, psn);

		if (ahead > 0)
			break;
		r->sampled++;
		if (ahead == 0)
			return now - r->sample[i].sent;
	}
	return 0;
}

static void take_nak(struct gen_requester *r, const struct hp3_view *v, uint64_t now)
{
	if (HP3_SYN_KIND(v->syndrome) == HP3_SYN_RNR) {
		r->n.rnr_naks++;
		if (!acknowledge_before(r, v->psn, now))
			return;
		if (r->p->rnr_retry != GEN_RETRY_EVER && ++r->rnr_retries > r->p->rnr_retry) {
			r->failure = GEN_RNR_EXCEEDED;
			return;
		}
		go_back(r);
		r->rnr_until = now + gen_rnr_ns(HP3_SYN_VALUE(v->syndrome));
		return;
	}
	r->n.naks++;
	if (HP3_SYN_KIND(v->syndrome) != HP3_SYN_NAK ||
		HP3_SYN_VALUE(v->syndrome) != HP3_NAK_PSN_SEQUENCE)
		r->failure = GEN_REMOTE_ERROR;
	else if (acknowledge_before(r, v->psn, now))
		retry_from_una(r);
}

static void take_response(
	struct gen_requester *r, const struct hp3_view *v, uint64_t now, struct gen_reply *out)
{
	const struct gen_message *m = read_before(r, hp3_psn_add(v->psn, 1));
	uint32_t at;

	if (m == NULL) {
		r->n.stale++;
		return;
	}
	advance_una(r, m->psn, now);
	if (v->psn != r->una) {
		implied_nak(r);
		return;
	}
	at = (uint32_t)hp3_psn_diff(v->psn, m->psn) * r->p->mtu;
	if (v->payload_len != gen_piece(m->len, at, r->p->mtu)) {
		r->failure = GEN_BAD_RESPONSE;
		return;
	}
	out->data = true;
	out->va = m->va + at;
	if (r->read_psns > 0 && hp3_psn_diff(r->nxt, v->psn) > 0)
		r->read_psns--;
	advance_una(r, hp3_psn_add(v->psn, 1), now);
}

void gen_requester_reply(
	struct gen_requester *r, const struct hp3_view *v, uint64_t now, struct gen_reply *out)
{
	uint32_t una = r->una;

	*out = (struct gen_reply){0};
	if (r->failure != GEN_FINE || hp3_psn_diff(v->psn, r->una) < 0 ||
		hp3_psn_diff(v->psn, r->hi) >= 0) {
		r->n.stale++;
		return;
	}
	if (v->flags & HP3_VF_READ) {
		take_response(r, v, now, out);
	} else if (v->opcode == HP3_OP_RC_ACK && HP3_SYN_KIND(v->syndrome) == HP3_SYN_ACK) {
		out->rtt = round_trip(r, v->psn, now);
		acknowledge_before(r, hp3_psn_add(v->psn, 1), now);
	} else if (v->opcode == HP3_OP_RC_ACK) {
		take_nak(r, v, now);
	} else {
		r->n.stale++;
	}
	out->progress = r->una != una;
}

uint64_t gen_requester_deadline(const struct gen_requester *r)
{
	uint64_t when = r->armed ? r->deadline : UINT64_MAX;

	if (r->failure != GEN_FINE)
		return UINT64_MAX;
	return r->rnr_until != 0 && r->rnr_until < when ? r->rnr_until : when;
}

void gen_requester_timer(struct gen_requester *r, uint64_t now)
{
	if (now >= r->rnr_until)
		r->rnr_until = 0;
	if (!r->armed || r->failure != GEN_FINE || now < r->deadline)
		return;
	r->n.timeouts++;
	r->implied = false;
	retry_from_una(r);
}
