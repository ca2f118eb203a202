/* SPDX-License-Identifier: BSD-3-Clause */
/* Key agreement: the table of peers. */
#include "base/hash.h"
#include "probes/keying_internal.h"
#include <sodium/crypto_shorthash.h>

/* how long the RNIC's VLAN counts after the last hp3_keying_begin() with it */
#define VLAN_KEPT    (60 * HP3_KEYING_SECOND)
#define REUSE_CHECKS 16u /* records that a new peer may check for reuse */
#define INIT_TRIES   3u /* INITs before a record whose peer never replied may be reused */
#define PEERS_MIN    8u
#define PEERS_MAX    (1u << 20)
#define ALIGN        64u

_Static_assert(crypto_shorthash_siphashx24_BYTES == HP3_KEY_LEN, "a key from a key");

struct keying_layout {
	size_t due, bucket, peer, size;
};

static size_t align_table(size_t n)
{
	return (n + ALIGN - 1) / ALIGN * ALIGN;
}

static struct keying_layout keying_layout_of(const struct hp3_keying_config *cfg)
{
	struct keying_layout l = {.due = align_table(sizeof(struct hp3_keying))};

	l.bucket = l.due + align_table(cfg->peers * sizeof(uint64_t));
	l.peer = l.bucket + align_table(cfg->peers * sizeof(uint32_t));
	l.size = l.peer + align_table(cfg->peers * sizeof(struct hp3_keying_peer));
	return l;
}

size_t hp3_keying_size(const struct hp3_keying_config *cfg)
{
	if (cfg->peers < PEERS_MIN || cfg->peers > PEERS_MAX ||
		(cfg->peers & (cfg->peers - 1)) != 0 || cfg->port == 0 || cfg->jobs.rate == 0 ||
		cfg->jobs.burst == 0 || cfg->cookies.rate == 0 || cfg->cookies.burst == 0)
		return 0;
	return keying_layout_of(cfg).size;
}

/* Derives a key for one purpose. */
static void derive_purpose_key(
	uint8_t key[HP3_KEY_LEN], const uint8_t random[HP3_SEED_LEN], uint8_t purpose)
{
	uint8_t in[1 + HP3_SEED_LEN / 2] = {purpose};

	memcpy(in + 1, random + HP3_KEY_LEN, HP3_SEED_LEN / 2);
	crypto_shorthash_siphashx24(key, in, sizeof(in), random);
}

struct hp3_keying *hp3_keying_create(
	void *mem, size_t size, const struct hp3_keying_config *cfg, struct hp3_keying_stats *stats)
{
	size_t want = hp3_keying_size(cfg);
	struct keying_layout l = keying_layout_of(cfg);
	struct hp3_keying *k = mem;
	uint8_t seed[HP3_KEY_LEN];

	if (want == 0 || size < want || (uintptr_t)mem % ALIGN != 0)
		return NULL;
	memset(mem, 0, want);
	*k = (struct hp3_keying){.cfg = *cfg,
		.stats = stats,
		.next_due = HP3_KEYING_NEVER,
		.free = 1,
		.due = (uint64_t *)((uint8_t *)mem + l.due),
		.bucket = (uint32_t *)((uint8_t *)mem + l.bucket),
		.peer = (struct hp3_keying_peer *)((uint8_t *)mem + l.peer)};
	derive_purpose_key(k->cookie_key, cfg->random, 1);
	derive_purpose_key(k->nonce_key, cfg->random, 2);
	derive_purpose_key(seed, cfg->random, 3);
	memcpy(&k->seed, seed, sizeof(k->seed));
	for (uint32_t i = 0; i < cfg->peers; i++) {
		k->due[i] = HP3_KEYING_NEVER;
		k->peer[i].next = i + 1 < cfg->peers ? i + 2 : 0;
	}
	return k;
}

/* The bucket of a pair: the same for both directions. */
static uint32_t *bucket_of(const struct hp3_keying *k, const struct hp3_pair_ends *ends)
{
	struct hp3_pair_ends key = *ends;

	if (memcmp(ends->src, ends->dst, sizeof(ends->src)) > 0)
		key = hp3_pair_ends_back(ends);
	return &k->bucket[hp3_hash(k->seed, &key, sizeof(key)) & (k->cfg.peers - 1)];
}

static bool is_out(const struct hp3_keying_peer *p, const struct hp3_pair_ends *ends)
{
	return hp3_pair_ends_compare(&p->ends, ends) == 0;
}

struct hp3_keying_peer *hp3_keying_peer(
	const struct hp3_keying *k, const struct hp3_pair_ends *ends)
{
	const struct hp3_pair_ends back = hp3_pair_ends_back(ends);

	for (uint32_t i = *bucket_of(k, ends); i != 0; i = k->peer[i - 1].next) {
		struct hp3_keying_peer *p = &k->peer[i - 1];

		if (is_out(p, ends) || is_out(p, &back))
			return p;
	}
	return NULL;
}

/* Draws an unpredictable nonce. Drops the peer's cookie, which was for the old nonce. */
void hp3_keying_new_nonce(struct hp3_keying *k, struct hp3_keying_peer *p)
{
	uint8_t in[sizeof(uint64_t)], out[HP3_KEY_LEN];

	hp3_put_be64(in, ++k->nonces);
	crypto_shorthash_siphashx24(out, in, sizeof(in), k->nonce_key);
	p->nonce = hp3_be64(out);
	p->has_cookie = p->again = false;
}

static void leave_bucket(struct hp3_keying *k, struct hp3_keying_peer *p)
{
	uint32_t *at = bucket_of(k, &p->ends), number = hp3_keying_number(k, p) + 1;

	while (*at != number)
		at = &k->peer[*at - 1].next;
	*at = p->next;
}

/* --- records of peers that never replied, oldest first --- */

static void list_peer(struct hp3_keying *k, struct hp3_keying_peer *p)
{
	uint32_t number = hp3_keying_number(k, p) + 1;

	p->older = k->newest;
	p->newer = 0;
	if (k->newest != 0)
		k->peer[k->newest - 1].newer = number;
	else
		k->oldest = number;
	k->newest = number;
}

void hp3_keying_replied(struct hp3_keying *k, struct hp3_keying_peer *p)
{
	if (p->replied)
		return;
	*(p->older != 0 ? &k->peer[p->older - 1].newer : &k->oldest) = p->newer;
	*(p->newer != 0 ? &k->peer[p->newer - 1].older : &k->newest) = p->older;
	p->replied = true;
}

/* --- adding and removing records --- */

static bool may_reuse_peer(const struct hp3_keying_peer *p, uint64_t now)
{
	return now - p->talked > HP3_KEYING_IDLE && p->trial.state != HP3_TRIAL_WANTED &&
	       (!p->keyed || now - p->heard > HP3_KEYING_IDLE);
}

static struct hp3_keying_peer *unlink_peer(struct hp3_keying *k, struct hp3_keying_peer *p)
{
	leave_bucket(k, p);
	hp3_keying_replied(k, p);
	k->stats->displaced++;
	return p;
}

/*
 * Picks a record for reuse: the oldest whose peer never replied; otherwise, one of the next
 * REUSE_CHECKS.
 */
static struct hp3_keying_peer *displace_peer(struct hp3_keying *k, uint64_t now)
{
	if (k->oldest != 0 && k->peer[k->oldest - 1].tries >= INIT_TRIES)
		return unlink_peer(k, &k->peer[k->oldest - 1]);
	for (uint32_t i = 0; i < REUSE_CHECKS; i++) {
		struct hp3_keying_peer *p = &k->peer[k->hand++ & (k->cfg.peers - 1)];

		if (may_reuse_peer(p, now))
			return unlink_peer(k, p);
	}
	return NULL;
}

static struct hp3_keying_peer *new_peer(
	struct hp3_keying *k, const struct hp3_pair_ends *ends, uint32_t vlan, uint64_t now)
{
	struct hp3_keying_peer *p;
	uint32_t *bucket = bucket_of(k, ends);

	if (k->free != 0) {
		p = &k->peer[k->free - 1];
		k->free = p->next;
	} else {
		p = displace_peer(k, now);
	}
	if (p == NULL) {
		k->stats->full++;
		return NULL;
	}
	*p = (struct hp3_keying_peer){.ends = *ends,
		.used = true,
		.vlan = vlan,
		.since = now,
		.wait = HP3_KEYING_WAIT_MIN,
		.next = *bucket};
	*bucket = hp3_keying_number(k, p) + 1;
	list_peer(k, p);
	hp3_keying_new_nonce(k, p);
	k->due[hp3_keying_number(k, p)] = k->next_due = now;
	return p;
}

/* Changes the VLAN if the pair has no key, and the RNIC no longer sends in the old VLAN. */
static void talks_in(struct hp3_keying_peer *p, uint32_t vlan, uint64_t now)
{
	if (p->vlan != vlan && (p->keyed || now - p->in_vlan < VLAN_KEPT))
		return;
	p->vlan = vlan;
	p->in_vlan = now;
}

bool hp3_keying_begin(
	struct hp3_keying *k, const struct hp3_pair_ends *ends, uint32_t vlan, uint64_t now)
{
	struct hp3_keying_peer *p = hp3_keying_peer(k, ends);

	if (memcmp(ends->src, ends->dst, sizeof(ends->src)) == 0)
		return false;
	if (p == NULL)
		p = new_peer(k, ends, vlan, now);
	if (p == NULL)
		return false;
	p->talked = now;
	talks_in(p, vlan, now);
	if (k->due[hp3_keying_number(k, p)] != HP3_KEYING_NEVER)
		return true;
	if (p->keyed && p->doubted == 0)
		hp3_keying_watch(k, p);
	else
		hp3_keying_ask_soon(k, p, now);
	return true;
}

void hp3_keying_end(struct hp3_keying *k, const struct hp3_pair_ends *ends)
{
	struct hp3_keying_peer *p = hp3_keying_peer(k, ends);
	uint32_t i;

	if (p == NULL || p->replied || p->trial.state != HP3_TRIAL_FREE)
		return;
	i = hp3_keying_number(k, p);
	leave_bucket(k, p);
	hp3_keying_replied(k, p); /* removes it from the list */
	*p = (struct hp3_keying_peer){.next = k->free};
	k->free = i + 1;
	k->due[i] = HP3_KEYING_NEVER;
}

const uint8_t *hp3_keying_find(const struct hp3_keying *k, const struct hp3_pair_ends *ends)
{
	const struct hp3_keying_peer *p = hp3_keying_peer(k, ends);

	if (p == NULL || !p->keyed)
		return NULL;
	return is_out(p, ends) ? p->secrets.out.key : p->secrets.in.key;
}

void hp3_keying_become(struct hp3_keying *k, const struct hp3_identity *identity, uint64_t now)
{
	k->cfg.identity = *identity;
	k->first_job = k->last_job = 0;
	for (uint32_t i = 0; i < k->cfg.peers; i++) {
		struct hp3_keying_peer *p = &k->peer[i], old = *p;

		if (!p->used)
			continue;
		*p = (struct hp3_keying_peer){.ends = old.ends,
			.used = true,
			.replied = old.replied,
			.older = old.older,
			.newer = old.newer,
			.next = old.next,
			.vlan = old.vlan,
			.in_vlan = old.in_vlan,
			.since = now,
			.talked = old.talked};
		hp3_keying_new_nonce(k, p);
		hp3_keying_ask_soon(k, p, now);
	}
}
