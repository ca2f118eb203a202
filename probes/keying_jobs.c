/* SPDX-License-Identifier: BSD-3-Clause */
/* Key agreement: the queue of X25519s, and the steps after one is done. */
#include "probes/keying_internal.h"

/* time after which another public key may replace one that is not proven */
#define PROVE_WITHIN HP3_KEYING_SECOND

/* Rate limit: new public keys of one peer. */
static const struct hp3_limit peer_jobs = {1, 4};

static void enqueue_job(const struct hp3_keying_turn *t, const struct hp3_handshake *h)
{
	struct hp3_keying *k = t->k;
	struct hp3_keying_trial *trial = &t->p->trial;
	uint32_t number = hp3_keying_number(k, t->p) + 1;

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

/* Is a public key being checked that another one may not replace yet? */
static bool is_trial_under_way(const struct hp3_keying_turn *t)
{
	const struct hp3_keying_trial *trial = &t->p->trial;

	switch (trial->state) {
	case HP3_TRIAL_WANTED:
		return true;
	case HP3_TRIAL_AWAY:
		return t->now - trial->since <= HP3_KEYING_JOB_LOST_S * HP3_KEYING_SECOND;
	case HP3_TRIAL_READY:
		return t->now - trial->since < PROVE_WITHIN;
	default:
		return false;
	}
}

enum hp3_keying_fate hp3_keying_want(const struct hp3_keying_turn *t, const struct hp3_handshake *h)
{
	struct hp3_keying_trial *trial = &t->p->trial;
	struct hp3_keying_stats *stats = t->k->stats;

	if (is_trial_under_way(t)) {
		if (memcmp(trial->public, h->public, sizeof(trial->public)) != 0)
			return hp3_keying_drop(&stats->busy);
		if (h->kind != HP3_HANDSHAKE_INIT || trial->waits.kind == HP3_HANDSHAKE_INIT) {
			trial->waits = *h;
			trial->vlan = t->vlan;
		}
		return hp3_keying_drop(&stats->computing);
	}
	if (!hp3_limit_take(&peer_jobs, &t->p->jobs, t->now))
		return hp3_keying_drop(&stats->over_budget);
	enqueue_job(t, h);
	return hp3_keying_drop(&stats->to_compute);
}

bool hp3_keying_job(struct hp3_keying *k, uint64_t now, struct hp3_keying_job *job)
{
	struct hp3_keying_peer *p;

	if (k->first_job == 0 || !hp3_limit_take(&k->cfg.jobs, &k->jobs, now))
		return false;
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

/* The secrets are computed: processes the message that waited for them. */
static bool process_waiting(const struct hp3_keying_turn *t, const struct hp3_handshake *h)
{
	const struct hp3_pair_secrets *s = &t->p->trial.secrets;

	if (!hp3_keying_may_have_key(t, h->public)) {
		t->k->stats->late_others++;
		return false;
	}
	if (h->kind == HP3_HANDSHAKE_INIT) {
		hp3_keying_write_proof(t, h, s);
		return true;
	}
	if (h->asked != t->p->nonce)
		return false; /* another proof came first */
	if (!hp3_keying_is_proven(t, h, s)) {
		t->k->stats->late_bad_proof++;
		return false;
	}
	return hp3_keying_take_proven(t, h, s);
}

bool hp3_keying_done(struct hp3_keying *k, struct hp3_keying_job *job, uint64_t now,
	struct hp3_keying_message *out)
{
	struct hp3_keying_turn t = {.k = k, .p = &k->peer[job->peer], .now = now, .out = out};
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
	return ours && process_waiting(&t, &waits);
}
