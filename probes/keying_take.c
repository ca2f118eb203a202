/* SPDX-License-Identifier: BSD-3-Clause */
/* Key agreement: received messages. */
#include "probes/keying_internal.h"
#include <errno.h>
#include <sodium/crypto_verify_16.h>

#define SLOT_SHIFT 36u /* slots of cookies: 69 s */
#define ROUSED_FOR (60 * HP3_KEYING_SECOND)

/* Rate limit: answers to one peer. */
static const struct hp3_limit peer_replies = {100, 16};

static bool has_cookie(const struct hp3_keying_turn *t, const struct hp3_pair_ends *ends,
	const struct hp3_handshake *h)
{
	uint64_t slot = t->now >> SLOT_SHIFT;
	uint8_t is[HP3_COOKIE_LEN];

	for (uint64_t s = slot + 1; s-- > 0 && slot - s < 2;) {
		hp3_handshake_cookie(is, t->k->cookie_key, ends, h, s);
		if (crypto_verify_16(is, h->cookie) == 0)
			return true;
	}
	return false;
}

/*
 * The peer sent an INIT, so it would reply to an INIT now. Sends this host's next INIT soon, which
 * may otherwise be due in a minute.
 */
static void rouse_peer(const struct hp3_keying_turn *t)
{
	struct hp3_keying_peer *p = t->p;

	if (p->keyed || (p->roused != 0 && t->now - p->roused < ROUSED_FOR))
		return;
	p->roused = t->now;
	hp3_keying_ask_soon(t->k, p, t->now);
}

static enum hp3_keying_fate give_cookie(const struct hp3_keying_turn *t,
	const struct hp3_pair_ends *ends, const struct hp3_handshake *h)
{
	struct hp3_handshake cookie = {.kind = HP3_HANDSHAKE_COOKIE, .asked = h->asked};
	struct hp3_keying *k = t->k;

	if (!hp3_limit_take(&k->cfg.cookies, &k->cookies, t->now))
		return hp3_keying_drop(&k->stats->cookies_refused);
	hp3_handshake_cookie(cookie.cookie, k->cookie_key, ends, h, t->now >> SLOT_SHIFT);
	hp3_keying_write(t->p, t->vlan, &cookie, t->out);
	k->stats->cookies++;
	return HP3_KEYING_ANSWER;
}

static enum hp3_keying_fate take_init(const struct hp3_keying_turn *t,
	const struct hp3_pair_ends *ends, const struct hp3_handshake *h)
{
	const struct hp3_pair_secrets *s = hp3_keying_secrets(t->p, h->public);

	if (!has_cookie(t, ends, h))
		return give_cookie(t, ends, h);
	hp3_keying_replied(t->k, t->p);
	if (!hp3_limit_take(&peer_replies, &t->p->replies, t->now))
		return hp3_keying_drop(&t->k->stats->flooded);
	if (!hp3_keying_may_have_key(t, h->public))
		return hp3_keying_drop(&t->k->stats->others_refused);
	rouse_peer(t);
	if (s == NULL)
		return hp3_keying_want(t, h);
	hp3_keying_write_proof(t, h, s);
	t->k->stats->answered++;
	return HP3_KEYING_ANSWER;
}

/* Sends the INIT again with the cookie: at most once for each INIT that was due. */
static enum hp3_keying_fate take_cookie(
	const struct hp3_keying_turn *t, const struct hp3_handshake *h)
{
	struct hp3_keying_peer *p = t->p;

	if (h->asked != p->nonce || p->again || (p->keyed && p->doubted == 0 && p->asking == 0))
		return hp3_keying_drop(&t->k->stats->stray);
	hp3_keying_replied(t->k, p);
	p->again = p->has_cookie = true;
	memcpy(p->cookie, h->cookie, sizeof(p->cookie));
	hp3_keying_write_init(t->k, p, t->out);
	t->k->stats->cookies_taken++;
	return HP3_KEYING_ANSWER;
}

static enum hp3_keying_fate take_proof(
	const struct hp3_keying_turn *t, const struct hp3_handshake *h)
{
	const struct hp3_pair_secrets *s = hp3_keying_secrets(t->p, h->public);

	if (h->asked != t->p->nonce)
		return hp3_keying_drop(&t->k->stats->stray);
	hp3_keying_replied(t->k, t->p);
	if (!hp3_keying_may_have_key(t, h->public))
		return hp3_keying_drop(&t->k->stats->others_refused);
	if (s == NULL)
		return hp3_keying_want(t, h);
	if (!hp3_keying_is_proven(t, h, s))
		return hp3_keying_drop(&t->k->stats->bad_proof);
	t->k->stats->proven++;
	return hp3_keying_take_proven(t, h, s) ? HP3_KEYING_ANSWER : HP3_KEYING_TAKEN;
}

/*
 * Is this a message with a new identity from another VLAN? Messages with cookies carry no identity,
 * and messages of the identity that has the key change nothing.
 */
static bool is_in_other_vlan(const struct hp3_keying_turn *t, const struct hp3_handshake *h)
{
	const struct hp3_keying_peer *p = t->p;

	return p->vlan != t->vlan && h->kind != HP3_HANDSHAKE_COOKIE &&
	       !(p->keyed && memcmp(p->public, h->public, sizeof(p->public)) == 0);
}

enum hp3_keying_fate hp3_keying_take(struct hp3_keying *k, const struct hp3_parsed *f, uint64_t now,
	struct hp3_keying_message *out)
{
	struct hp3_keying_turn t = {.k = k, .vlan = f->v->vlan, .now = now, .out = out};
	struct hp3_pair_ends ends;
	struct hp3_handshake h;
	int err = hp3_handshake_read(f, k->cfg.port, &ends, &h);

	if (err == -ENOMSG)
		return HP3_KEYING_NONE;
	k->stats->messages++;
	if (err == -EACCES)
		return hp3_keying_drop(&k->stats->unprivileged);
	if (err < 0)
		return hp3_keying_drop(
			err == -EPROTONOSUPPORT ? &k->stats->other_version : &k->stats->bad_form);
	t.p = hp3_keying_peer(k, &ends);
	if (t.p == NULL || hp3_pair_ends_compare(&t.p->ends, &ends) == 0)
		return hp3_keying_drop(
			/* or a message of this host that was reflected */
			&k->stats->unknown_peers);
	if (is_in_other_vlan(&t, &h))
		return hp3_keying_drop(&k->stats->other_vlan);
	switch (h.kind) {
	case HP3_HANDSHAKE_INIT:
		return take_init(&t, &ends, &h);
	case HP3_HANDSHAKE_COOKIE:
		return take_cookie(&t, &h);
	default:
		return take_proof(&t, &h);
	}
}
