/* SPDX-License-Identifier: BSD-3-Clause */
/* Key agreement: sent messages, and when INITs are due. */
#include "probes/keying_internal.h"

#define WAIT_MAX (60 * HP3_KEYING_SECOND)
#define SLOT     (1ull << 26) /* ns: granularity of due times of silent peers */

void hp3_keying_write(const struct hp3_keying_peer *p, uint32_t vlan, const struct hp3_handshake *h,
	struct hp3_keying_message *out)
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
	hp3_keying_write(p, p->vlan, &h, out);
}

void hp3_keying_write_proof(const struct hp3_keying_turn *t, const struct hp3_handshake *to,
	const struct hp3_pair_secrets *secrets)
{
	const struct hp3_keying_config *cfg = &t->k->cfg;
	const bool init = to->kind == HP3_HANDSHAKE_INIT;
	struct hp3_handshake h = {.kind = init ? HP3_HANDSHAKE_REPLY : HP3_HANDSHAKE_CONFIRM,
		.asked = init ? to->asked : to->nonce,
		.nonce = t->p->nonce,
		.instance = cfg->instance,
		.born_us = cfg->born_us};

	memcpy(h.public, cfg->identity.public, sizeof(h.public));
	hp3_handshake_prove(&h, secrets->out.proof, to->public);
	hp3_keying_write(t->p, t->vlan, &h, t->out);
}

void hp3_keying_ask_soon(struct hp3_keying *k, struct hp3_keying_peer *p, uint64_t now)
{
	uint64_t *due = &k->due[hp3_keying_number(k, p)];

	p->wait = HP3_KEYING_WAIT_MIN;
	*due = hp3_min_u64(*due, now + HP3_KEYING_WAIT_MIN);
	k->next_due = hp3_min_u64(k->next_due, *due);
}

void hp3_keying_watch(struct hp3_keying *k, struct hp3_keying_peer *p)
{
	uint64_t *due = &k->due[hp3_keying_number(k, p)];

	p->asking = 0;
	*due = (p->heard + HP3_KEYING_QUIET) | (SLOT - 1);
	k->next_due = hp3_min_u64(k->next_due, *due);
}

/*
 * Deletes the key. The peer's next proof restores it without another X25519, unless another public
 * key arrives meanwhile.
 */
static void give_up_key(struct hp3_keying *k, struct hp3_keying_peer *p, uint64_t now)
{
	struct hp3_keying_trial *trial = &p->trial;

	if (trial->state == HP3_TRIAL_FREE || trial->state == HP3_TRIAL_READY) {
		*trial = (struct hp3_keying_trial){
			.state = HP3_TRIAL_READY, .since = now, .secrets = p->secrets};
		memcpy(trial->public, p->public, sizeof(trial->public));
	}
	explicit_bzero(&p->secrets, sizeof(p->secrets));
	p->keyed = false;
	p->had_key = true;
	p->since = now;
	p->doubted = p->asking = 0;
	k->stats->silent++;
}

/*
 * True: the peer has the key, and sent a message recently. False: send an INIT. Deletes the key if
 * the peer has been silent for too long.
 */
static bool is_heard(struct hp3_keying *k, struct hp3_keying_peer *p, uint64_t now)
{
	if (!p->keyed)
		return false;
	if (p->doubted == 0 && now - p->heard < HP3_KEYING_QUIET) {
		hp3_keying_watch(k, p);
		return true;
	}
	if (p->asking == 0) {
		p->asking = now;
		p->wait = HP3_KEYING_WAIT_MIN;
	} else if (now - p->asking >= HP3_KEYING_GIVE_UP) {
		give_up_key(k, p, now);
	}
	return false;
}

static bool ask_for_key(
	struct hp3_keying *k, uint32_t i, uint64_t now, struct hp3_keying_message *out)
{
	struct hp3_keying_peer *p = &k->peer[i];

	if (now - p->talked > HP3_KEYING_IDLE) {
		k->due[i] = HP3_KEYING_NEVER;
		p->asking = 0;
		return false;
	}
	if (is_heard(k, p, now))
		return false;
	p->tries += p->tries < UINT8_MAX;
	k->due[i] = now + p->wait;
	if (p->doubted + HP3_KEYING_SILENT > now)
		k->due[i] = hp3_min_u64(k->due[i], p->doubted + HP3_KEYING_SILENT);
	if (p->asking != 0)
		k->due[i] = hp3_min_u64(k->due[i], p->asking + HP3_KEYING_GIVE_UP);
	p->wait = hp3_min_u64(2 * p->wait, WAIT_MAX);
	p->again = false;
	hp3_keying_write_init(k, p, out);
	return true;
}

bool hp3_keying_tick(struct hp3_keying *k, uint64_t now, struct hp3_keying_message *out)
{
	if (now < k->next_due)
		return false;
	for (uint32_t n = 0; n < k->cfg.peers; n++) {
		uint32_t i = k->at++ & (k->cfg.peers - 1);

		if (k->due[i] <= now && ask_for_key(k, i, now, out))
			return true;
	}
	k->next_due = HP3_KEYING_NEVER;
	for (uint32_t i = 0; i < k->cfg.peers; i++)
		k->next_due = hp3_min_u64(k->next_due, k->due[i]);
	return false;
}

void hp3_keying_heard(struct hp3_keying *k, const struct hp3_pair_ends *ends, uint64_t now)
{
	struct hp3_keying_peer *p = hp3_keying_peer(k, ends);

	if (p == NULL || !p->keyed)
		return;
	p->heard = now;
	if (p->doubted == 0 && p->asking == 0)
		return;
	p->doubted = 0;
	hp3_keying_watch(k, p);
}
