/* SPDX-License-Identifier: BSD-3-Clause */
/* Key agreement: which identity gets the key. */
#include "probes/keying_internal.h"

#define CLONED_FOR (60 * HP3_KEYING_SECOND) /* least time between two events */

const struct hp3_pair_secrets *hp3_keying_secrets(
	const struct hp3_keying_peer *p, const uint8_t public[HP3_PUBLIC_LEN])
{
	if (p->keyed && memcmp(p->public, public, HP3_PUBLIC_LEN) == 0)
		return &p->secrets;
	if (p->trial.state == HP3_TRIAL_READY &&
		memcmp(p->trial.public, public, HP3_PUBLIC_LEN) == 0)
		return &p->trial.secrets;
	return NULL;
}

bool hp3_keying_may_have_key(const struct hp3_keying_turn *t, const uint8_t public[HP3_PUBLIC_LEN])
{
	struct hp3_keying_peer *p = t->p;

	if (!p->keyed || memcmp(p->public, public, sizeof(p->public)) == 0)
		return true;
	if (p->doubted == 0) {
		p->doubted = t->now;
		hp3_keying_ask_soon(t->k, p, t->now);
	}
	return t->now - hp3_max_u64(p->heard, p->doubted) >= HP3_KEYING_SILENT;
}

/* Both hosts get the same result. */
static bool are_we_younger(const struct hp3_keying_config *cfg, const struct hp3_handshake *h)
{
	if (cfg->born_us != h->born_us)
		return cfg->born_us > h->born_us;
	return cfg->instance > h->instance;
}

static void report_clone(const struct hp3_keying_turn *t, const struct hp3_handshake *h)
{
	struct hp3_keying_peer *p = t->p;
	struct hp3_keying_event event = {.kind = HP3_KEYING_CLONED,
		.ends = p->ends,
		.change = are_we_younger(&t->k->cfg, h)};

	t->k->stats->cloned++;
	if (p->cloned != 0 && t->now - p->cloned < CLONED_FOR)
		return;
	p->cloned = t->now;
	memcpy(event.public, h->public, sizeof(event.public));
	hp3_keying_report(t->k, &event);
}

static void adopt_key(const struct hp3_keying_turn *t, const struct hp3_handshake *h)
{
	struct hp3_keying_peer *p = t->p;
	bool replaces =
		(p->keyed || p->had_key) && memcmp(p->public, h->public, sizeof(p->public)) != 0;
	struct hp3_keying_event event = {
		.kind = replaces ? HP3_KEYING_REPLACED : HP3_KEYING_KEYED, .ends = p->ends};

	memcpy(event.before, p->public, sizeof(event.before));
	memcpy(event.public, h->public, sizeof(event.public));
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
	hp3_keying_report(t->k, &event);
}

/* The peer has proven its public key. */
static void believe_peer(const struct hp3_keying_turn *t, const struct hp3_handshake *h)
{
	const struct hp3_keying_config *cfg = &t->k->cfg;
	struct hp3_keying_peer *p = t->p;

	if (memcmp(h->public, cfg->identity.public, sizeof(h->public)) == 0 &&
		h->instance != cfg->instance) {
		report_clone(t, h);
		return;
	}
	if (!p->keyed || memcmp(p->public, h->public, sizeof(p->public)) != 0)
		adopt_key(t, h);
	p->heard = t->now;
	p->doubted = 0;
	hp3_keying_watch(t->k, p);
}

bool hp3_keying_is_proven(const struct hp3_keying_turn *t, const struct hp3_handshake *h,
	const struct hp3_pair_secrets *s)
{
	return hp3_handshake_is_proven(h, s->in.proof, t->k->cfg.identity.public);
}

bool hp3_keying_take_proven(const struct hp3_keying_turn *t, const struct hp3_handshake *h,
	const struct hp3_pair_secrets *s)
{
	bool confirm = h->kind == HP3_HANDSHAKE_REPLY;

	if (confirm)
		hp3_keying_write_proof(t, h, s);
	hp3_keying_new_nonce(t->k, t->p);
	believe_peer(t, h);
	return confirm;
}
