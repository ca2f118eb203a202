/* SPDX-License-Identifier: BSD-3-Clause */
/* What messages of peers, and the secrets that were computed for them, bring about. */
#include "probes/keying_internal.h"
#include <errno.h>
#include <sodium/crypto_verify_16.h>

#define SECOND       1000000000ull
#define SLOT_SHIFT   36u /* slots of cookies: 69 s */
#define PROVE_WITHIN SECOND /* before another public key may take the place of one */
#define ROUSED_FOR   (60 * SECOND)
#define CLONED_FOR   (60 * SECOND) /* from one event to the next */

/* New public keys of one peer, and answers to it. */
static const struct hp3_limit peer_jobs = {1, 4}, peer_replies = {100, 16};

/* What a message leads to. */
struct turn {
	struct hp3_keying *k;
	struct hp3_keying_peer *p;
	uint32_t vlan; /* of the message */
	uint64_t now;
	struct hp3_keying_message *out;
};

static enum hp3_keying_fate drop(uint64_t *counter)
{
	++*counter;
	return HP3_KEYING_TAKEN;
}

static void write_message(const struct hp3_keying_peer *p, uint32_t vlan,
	const struct hp3_handshake *h, struct hp3_keying_message *out)
{
	out->to = p->ends;
	out->vlan = vlan;
	out->len = hp3_handshake_write(out->bytes, h);
}

void hp3_keying_write_init(
	const struct hp3_keying *k, const struct hp3_keying_peer *p, struct hp3_keying_message *out)
{
	struct hp3_handshake h = {.kind = HP3_HANDSHAKE_INIT,
		.asked = p->nonce,
		.instance = k->cfg.instance,
		.born_us = k->cfg.born_us};

	memcpy(h.public, k->cfg.identity.public, sizeof(h.public));
	if (p->has_cookie)
		memcpy(h.cookie, p->cookie, sizeof(h.cookie));
	k->stats->asked++;
	write_message(p, p->vlan, &h, out);
}

/* REPLY or CONFIRM: `asked` is the receiver's nonce, `nonce` ours. */
static void write_proof(const struct turn *t, enum hp3_handshake_kind kind, uint64_t asked,
	uint64_t nonce, const struct hp3_pair_secrets *secrets, const uint8_t *receiver)
{
	const struct hp3_keying_config *cfg = &t->k->cfg;
	struct hp3_handshake h = {.kind = (uint8_t)kind,
		.asked = asked,
		.nonce = nonce,
		.instance = cfg->instance,
		.born_us = cfg->born_us};

	memcpy(h.public, cfg->identity.public, sizeof(h.public));
	hp3_handshake_prove(&h, secrets->out.proof, receiver);
	write_message(t->p, t->vlan, &h, t->out);
}

/* NULL: they have to be computed. */
static const struct hp3_pair_secrets *secrets_of(
	const struct hp3_keying_peer *p, const uint8_t public[HP3_PUBLIC_LEN])
{
	if (p->keyed && memcmp(p->public, public, HP3_PUBLIC_LEN) == 0)
		return &p->secrets;
	if (p->trial.state == HP3_TRIAL_READY &&
		memcmp(p->trial.public, public, HP3_PUBLIC_LEN) == 0)
		return &p->trial.secrets;
	return NULL;
}

/*
 * The identity may have the key at this address: nobody else has it, or who has it is silent. While
 * that is open, the old one is asked whether it is there.
 */
static bool may_have_key(const struct turn *t, const uint8_t public[HP3_PUBLIC_LEN])
{
	struct hp3_keying_peer *p = t->p;

	if (!p->keyed || memcmp(p->public, public, sizeof(p->public)) == 0)
		return true;
	if (p->doubted == 0) {
		p->doubted = t->now;
		hp3_keying_ask_soon(t->k, p, t->now);
	}
#ifdef HP3_BREAK_KEYING_QUIET
	return t->now - p->heard >= HP3_KEYING_SILENT;
#else
	return t->now - hp3_max_u64(p->heard, p->doubted) >= HP3_KEYING_SILENT;
#endif
}

/* Both hosts decide alike. */
static bool are_we_younger(const struct hp3_keying_config *cfg, const struct hp3_handshake *h)
{
	if (cfg->born_us != h->born_us)
		return cfg->born_us > h->born_us;
	return cfg->instance > h->instance;
}

static void tell_clone(const struct turn *t, const struct hp3_handshake *h)
{
	struct hp3_keying_peer *p = t->p;
	struct hp3_keying_event ev = {.kind = HP3_KEYING_CLONED,
		.ends = p->ends,
		.change = are_we_younger(&t->k->cfg, h)};

	t->k->stats->cloned++;
	if (p->cloned != 0 && t->now - p->cloned < CLONED_FOR)
		return;
	p->cloned = t->now;
	memcpy(ev.public, h->public, sizeof(ev.public));
	hp3_keying_tell(t->k, &ev);
}

static void adopt(const struct turn *t, const struct hp3_handshake *h)
{
	struct hp3_keying_peer *p = t->p;
	bool replaces =
		(p->keyed || p->had_key) && memcmp(p->public, h->public, sizeof(p->public)) != 0;
	struct hp3_keying_event ev = {
		.kind = replaces ? HP3_KEYING_REPLACED : HP3_KEYING_KEYED, .ends = p->ends};

	memcpy(ev.before, p->public, sizeof(ev.before));
	memcpy(ev.public, h->public, sizeof(ev.public));
	t->k->stats->keyed += !replaces;
	t->k->stats->replaced += replaces;
	p->keyed = true;
	p->had_key = false;
	p->vlan = t->vlan;
	p->since = t->now;
	p->cloned = 0;
	p->we_began = h->kind == HP3_HANDSHAKE_REPLY;
	p->secrets = p->trial.secrets;
	memcpy(p->public, h->public, sizeof(p->public));
	explicit_bzero(&p->trial, sizeof(p->trial));
	hp3_keying_tell(t->k, &ev);
}

/* The peer has the secret of the public key that it showed. */
static void believe(const struct turn *t, const struct hp3_handshake *h)
{
	const struct hp3_keying_config *cfg = &t->k->cfg;
	struct hp3_keying_peer *p = t->p;

	if (memcmp(h->public, cfg->identity.public, sizeof(h->public)) == 0 &&
#ifdef HP3_BREAK_KEYING_CLONE
		false &&
#endif
		h->instance != cfg->instance) {
		tell_clone(t, h);
		return;
	}
	if (!p->keyed || memcmp(p->public, h->public, sizeof(p->public)) != 0)
		adopt(t, h);
	p->heard = t->now;
	p->doubted = 0;
	hp3_keying_watch(t->k, p);
}

/* A proof over our nonce that counts, which no other one does from now on. True: *out is a CONFIRM.
 */
static bool take_proven(
	const struct turn *t, const struct hp3_handshake *h, const struct hp3_pair_secrets *s)
{
	bool confirm = h->kind == HP3_HANDSHAKE_REPLY;

	if (confirm)
		write_proof(t, HP3_HANDSHAKE_CONFIRM, h->nonce, h->asked, s, h->public);
#ifndef HP3_BREAK_KEYING_NONCE
	hp3_keying_new_nonce(t->k, t->p);
#endif
	believe(t, h);
	return confirm;
}

static bool is_proven(
	const struct turn *t, const struct hp3_handshake *h, const struct hp3_pair_secrets *s)
{
#ifdef HP3_BREAK_KEYING_PROOF
	return true;
#else
	return hp3_handshake_is_proven(h, s->in.proof, t->k->cfg.identity.public);
#endif
}

static void enqueue(const struct turn *t, const struct hp3_handshake *h)
{
	struct hp3_keying *k = t->k;
	struct hp3_keying_trial *trial = &t->p->trial;
	uint32_t number = (uint32_t)(t->p - k->peer) + 1;

	*trial = (struct hp3_keying_trial){.state = HP3_TRIAL_WANTED,
		.serial = ++k->serial,
		.vlan = t->vlan,
		.since = t->now,
		.waits = *h};
	memcpy(trial->public, h->public, sizeof(trial->public));
	t->p->next_job = 0;
	if (k->last_job != 0)
		k->peer[k->last_job - 1].next_job = number;
	else
		k->first_job = number;
	k->last_job = number;
}

/* Another public key may not take its place yet. */
static bool is_under_way(const struct turn *t)
{
	const struct hp3_keying_trial *trial = &t->p->trial;

	switch (trial->state) {
	case HP3_TRIAL_WANTED:
		return true;
	case HP3_TRIAL_AWAY:
#ifdef HP3_BREAK_KEYING_LOST
		return true;
#endif
		return t->now - trial->since <= HP3_KEYING_JOB_LOST_S * SECOND;
	case HP3_TRIAL_READY:
		return t->now - trial->since < PROVE_WITHIN;
	default:
		return false;
	}
}

/* The message waits for the secrets, or it does not count. A proof waits rather than an INIT. */
static enum hp3_keying_fate want(const struct turn *t, const struct hp3_handshake *h)
{
	struct hp3_keying_trial *trial = &t->p->trial;
	struct hp3_keying_stats *stats = t->k->stats;

	if (is_under_way(t)) {
		if (memcmp(trial->public, h->public, sizeof(trial->public)) != 0)
			return drop(&stats->busy);
		if (h->kind != HP3_HANDSHAKE_INIT || trial->waits.kind == HP3_HANDSHAKE_INIT) {
			trial->waits = *h;
			trial->vlan = t->vlan;
		}
		return drop(&stats->computing);
	}
#ifndef HP3_BREAK_KEYING_BUDGET
	if (!hp3_limit_ready(&peer_jobs, t->p->jobs, t->now))
		return drop(&stats->over_budget);
#endif
	hp3_limit_spend(&peer_jobs, &t->p->jobs, t->now);
	enqueue(t, h);
	return drop(&stats->to_compute);
}

static bool has_cookie(
	const struct turn *t, const struct hp3_pair_ends *ends, const struct hp3_handshake *h)
{
	uint64_t slot = t->now >> SLOT_SHIFT;
	uint8_t is[HP3_COOKIE_LEN];

	for (uint64_t s = slot + 1; s-- > 0 && slot - s < 2;) {
#ifdef HP3_BREAK_KEYING_COOKIE
		return true;
#endif
		hp3_handshake_cookie(is, t->k->cookie_key, ends, h, s);
		if (crypto_verify_16(is, h->cookie) == 0)
			return true;
	}
	return false;
}

/* The peer is there, and our next INIT may be a minute away. */
static void rouse(const struct turn *t)
{
	struct hp3_keying_peer *p = t->p;

	if (p->keyed || (p->roused != 0 && t->now - p->roused < ROUSED_FOR))
		return;
	p->roused = t->now;
	hp3_keying_ask_soon(t->k, p, t->now);
}

static enum hp3_keying_fate give_cookie(
	const struct turn *t, const struct hp3_pair_ends *ends, const struct hp3_handshake *h)
{
	struct hp3_handshake cookie = {.kind = HP3_HANDSHAKE_COOKIE, .asked = h->asked};
	struct hp3_keying *k = t->k;

#ifndef HP3_BREAK_KEYING_FLOOD
	if (!hp3_limit_ready(&k->cfg.cookies, k->cookies, t->now))
		return drop(&k->stats->cookies_refused);
#endif
	hp3_limit_spend(&k->cfg.cookies, &k->cookies, t->now);
	hp3_handshake_cookie(cookie.cookie, k->cookie_key, ends, h, t->now >> SLOT_SHIFT);
	write_message(t->p, t->vlan, &cookie, t->out);
	k->stats->cookies++;
	return HP3_KEYING_ANSWER;
}

static enum hp3_keying_fate take_init(
	const struct turn *t, const struct hp3_pair_ends *ends, const struct hp3_handshake *h)
{
	const struct hp3_pair_secrets *s = secrets_of(t->p, h->public);

	if (!has_cookie(t, ends, h))
		return give_cookie(t, ends, h);
	hp3_keying_replied(t->k, t->p);
	if (!hp3_limit_ready(&peer_replies, t->p->replies, t->now))
		return drop(&t->k->stats->flooded);
	hp3_limit_spend(&peer_replies, &t->p->replies, t->now);
	if (!may_have_key(t, h->public))
		return drop(&t->k->stats->others_refused);
	rouse(t);
	if (s == NULL)
		return want(t, h);
	write_proof(t, HP3_HANDSHAKE_REPLY, h->asked, t->p->nonce, s, h->public);
	t->k->stats->answered++;
	return HP3_KEYING_ANSWER;
}

/* At most one further INIT for each that left by itself. */
static enum hp3_keying_fate take_cookie(const struct turn *t, const struct hp3_handshake *h)
{
	struct hp3_keying_peer *p = t->p;

	if (h->asked != p->nonce || p->again || (p->keyed && p->doubted == 0 && p->asking == 0))
		return drop(&t->k->stats->stray);
	hp3_keying_replied(t->k, p);
	p->again = p->has_cookie = true;
	memcpy(p->cookie, h->cookie, sizeof(p->cookie));
	hp3_keying_write_init(t->k, p, t->out);
	t->k->stats->cookies_taken++;
	return HP3_KEYING_ANSWER;
}

static enum hp3_keying_fate take_proof(const struct turn *t, const struct hp3_handshake *h)
{
	const struct hp3_pair_secrets *s = secrets_of(t->p, h->public);

	if (h->asked != t->p->nonce)
		return drop(&t->k->stats->stray);
	hp3_keying_replied(t->k, t->p);
	if (!may_have_key(t, h->public))
		return drop(&t->k->stats->others_refused);
	if (s == NULL)
		return want(t, h);
	if (!is_proven(t, h, s))
		return drop(&t->k->stats->bad_proof);
	t->k->stats->proven++;
	return take_proven(t, h, s) ? HP3_KEYING_ANSWER : HP3_KEYING_TAKEN;
}

/* A cookie shows no identity, and who has the key already changes nothing. */
static bool is_in_other_vlan(const struct turn *t, const struct hp3_handshake *h)
{
	const struct hp3_keying_peer *p = t->p;

#ifdef HP3_BREAK_KEYING_VLAN
	return false;
#endif
	return p->vlan != HP3_KEYING_ANY_VLAN && p->vlan != t->vlan &&
	       h->kind != HP3_HANDSHAKE_COOKIE &&
	       !(p->keyed && memcmp(p->public, h->public, sizeof(p->public)) == 0);
}

enum hp3_keying_fate hp3_keying_take(struct hp3_keying *k, const void *frame, uint32_t len,
	const struct hp3_view *v, uint64_t now, struct hp3_keying_message *out)
{
	struct turn t = {.k = k, .vlan = v->vlan, .now = now, .out = out};
	struct hp3_pair_ends ends;
	struct hp3_handshake h;
	int err = hp3_handshake_read(frame, len, v, k->cfg.port, &ends, &h);

	if (err == -ENOMSG)
		return HP3_KEYING_NONE;
	k->stats->messages++;
	if (err == -EACCES)
		return drop(&k->stats->unprivileged);
	if (err < 0)
		return drop(
			err == -EPROTONOSUPPORT ? &k->stats->other_version : &k->stats->bad_form);
	t.p = hp3_keying_peer(k, &ends);
	if (t.p == NULL || hp3_pair_ends_compare(&t.p->ends, &ends) == 0)
		return drop(&k->stats->strangers); /* or what we sent */
	if (is_in_other_vlan(&t, &h))
		return drop(&k->stats->other_vlan);
	switch (h.kind) {
	case HP3_HANDSHAKE_INIT:
		return take_init(&t, &ends, &h);
	case HP3_HANDSHAKE_COOKIE:
		return take_cookie(&t, &h);
	default:
		return take_proof(&t, &h);
	}
}

bool hp3_keying_job(struct hp3_keying *k, uint64_t now, struct hp3_keying_job *job)
{
	struct hp3_keying_peer *p;

	if (k->first_job == 0 || !hp3_limit_ready(&k->cfg.jobs, k->jobs, now))
		return false;
	hp3_limit_spend(&k->cfg.jobs, &k->jobs, now);
	p = &k->peer[k->first_job - 1];
	*job = (struct hp3_keying_job){.ours = k->cfg.identity,
		.ends = p->ends,
		.peer = k->first_job - 1,
		.serial = p->trial.serial};
	memcpy(job->theirs, p->trial.public, sizeof(job->theirs));
	k->first_job = p->next_job;
	if (k->first_job == 0)
		k->last_job = 0;
	p->trial.state = HP3_TRIAL_AWAY;
	p->trial.since = now;
	return true;
}

void hp3_keying_compute(struct hp3_keying_job *job)
{
	job->err = hp3_identity_pair(&job->secrets, &job->ours, job->theirs, &job->ends);
}

/* What waited for the secrets goes on. */
static bool go_on(const struct turn *t, const struct hp3_handshake *h)
{
	const struct hp3_pair_secrets *s = &t->p->trial.secrets;

	if (!may_have_key(t, h->public)) {
		t->k->stats->late_others++;
		return false;
	}
	if (h->kind == HP3_HANDSHAKE_INIT) {
		write_proof(t, HP3_HANDSHAKE_REPLY, h->asked, t->p->nonce, s, h->public);
		return true;
	}
	if (h->asked != t->p->nonce)
		return false; /* another proof came first */
	if (!is_proven(t, h, s)) {
		t->k->stats->late_bad_proof++;
		return false;
	}
	return take_proven(t, h, s);
}

bool hp3_keying_done(struct hp3_keying *k, struct hp3_keying_job *job, uint64_t now,
	struct hp3_keying_message *out)
{
	struct turn t = {.k = k, .p = &k->peer[job->peer], .now = now, .out = out};
	struct hp3_keying_trial *trial = &t.p->trial;
	bool ours = trial->state == HP3_TRIAL_AWAY && trial->serial == job->serial;
	struct hp3_handshake waits = trial->waits;

	t.vlan = trial->vlan;
	if (ours && job->err == 0) {
		trial->state = HP3_TRIAL_READY;
		trial->since = now;
		trial->secrets = job->secrets;
		k->stats->computed++;
	} else if (ours) {
		trial->state = HP3_TRIAL_FREE;
		k->stats->weak++;
		ours = false;
	}
	explicit_bzero(job, sizeof(*job));
	return ours && go_on(&t, &waits);
}
