/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_KEYING_INTERNAL_H
#define HP3_PROBES_KEYING_INTERNAL_H
/*
 * For the files of keying.h alone: the table (keying.c), what arrives (keying_take.c), which
 * identity gets the key (keying_trust.c), X25519s (keying_jobs.c), what leaves (keying_say.c), what
 * is reported (keying_info.c).
 */
#include "probes/keying.h"

#define HP3_KEYING_NEVER    UINT64_MAX
#define HP3_KEYING_SECOND   1000000000ull
#define HP3_KEYING_WAIT_MIN (HP3_KEYING_SECOND / 10) /* from the first INIT to the second one */
/* So long after hp3_keying_begin() INITs leave, and the record stays, ns. */
#define HP3_KEYING_IDLE (300 * HP3_KEYING_SECOND)
/* So long nobody may have heard the identity that has the key, ns. */
#define HP3_KEYING_SILENT      (HP3_KEYING_SILENT_S * HP3_KEYING_SECOND)
#define HP3_KEYING_EVENTS_KEPT 16u
/* A peer that has the key is asked after so long without a sign of life, and loses it after so long
 * without a reply, ns. */
#define HP3_KEYING_QUIET   15000000000ull
#define HP3_KEYING_GIVE_UP 15000000000ull

/* An identity that has not proven itself yet, and the message that waits for its secrets. */
enum hp3_keying_trial_state { HP3_TRIAL_FREE, HP3_TRIAL_WANTED, HP3_TRIAL_AWAY, HP3_TRIAL_READY };

struct hp3_keying_trial {
	uint8_t state; /* enum hp3_keying_trial_state */
	uint32_t serial; /* of the job */
	uint32_t vlan; /* of the message that waits */
	uint64_t since; /* begin of the state */
	uint8_t public[HP3_PUBLIC_LEN];
	struct hp3_pair_secrets secrets; /* READY */
	struct hp3_handshake waits; /* WANTED, AWAY */
};

struct hp3_keying_peer {
	struct hp3_pair_ends ends; /* from here to there; used: below */
	bool used, keyed, we_began, has_cookie, again;
	bool replied; /* ever: it is not in the list of `newest` */
	bool had_key; /* not keyed: `public` had the key until the peer fell silent */
	uint8_t tries; /* not replied: INITs, at most UINT8_MAX */
	uint32_t vlan; /* in which the local RNIC talks to it, or HP3_KEYING_ANY_VLAN */
	uint32_t older, newer; /* not replied: record + 1, or 0 */
	uint32_t next; /* of the same bucket, or of the free ones */
	uint32_t next_job; /* in the queue of jobs */
	uint64_t nonce; /* ours: of the next proof that counts */
	uint8_t cookie[HP3_COOKIE_LEN]; /* the peer's, for this nonce */
	uint64_t wait; /* between the last INIT and the next one */
	uint64_t talked, in_vlan; /* hp3_keying_begin(); in this VLAN */
	uint64_t since, heard;
	uint64_t asking; /* keyed: the first INIT since it was heard; 0: none left */
	uint64_t doubted, roused, cloned; /* the last time; 0: not, or never */
	uint64_t jobs, replies; /* limits */
	uint8_t public[HP3_PUBLIC_LEN]; /* keyed, had_key */
	struct hp3_pair_secrets secrets; /* keyed */
	struct hp3_keying_trial trial;
};

struct hp3_keying {
	struct hp3_keying_config cfg;
	struct hp3_keying_stats *stats;
	uint8_t cookie_key[HP3_KEY_LEN], nonce_key[HP3_KEY_LEN];
	uint64_t seed, nonces;
	uint64_t jobs, cookies; /* limits of all */
	uint64_t next_due; /* no INIT is due before */
	uint32_t at; /* the next record that hp3_keying_tick() looks at */
	uint32_t hand; /* the next record that may give way */
	uint32_t oldest, newest; /* records whose peers never replied: record + 1, or 0 */
	uint32_t serial; /* of the last job */
	uint32_t free, first_job,
		last_job; /* record + 1, or 0; so are links from record to record */
	uint32_t first_event, n_events;
	struct hp3_keying_event event[HP3_KEYING_EVENTS_KEPT];
	uint64_t *due; /* of each record: when the next INIT leaves */
	uint32_t *bucket; /* as `free` */
	struct hp3_keying_peer *peer;
};

/* What a message leads to. */
struct hp3_keying_turn {
	struct hp3_keying *k;
	struct hp3_keying_peer *p;
	uint32_t vlan; /* of the message */
	uint64_t now;
	struct hp3_keying_message *out;
};

static inline uint32_t hp3_keying_number(
	const struct hp3_keying *k, const struct hp3_keying_peer *p)
{
	return (uint32_t)(p - k->peer);
}

static inline enum hp3_keying_fate hp3_keying_drop(uint64_t *counter)
{
	++*counter;
	return HP3_KEYING_TAKEN;
}

/* --- the table --- */

/* In either direction; NULL: no record. */
struct hp3_keying_peer *hp3_keying_peer(
	const struct hp3_keying *k, const struct hp3_pair_ends *ends);
/* Somebody is there who agrees on keys: the record is none of the first to give way. */
void hp3_keying_replied(struct hp3_keying *k, struct hp3_keying_peer *p);
void hp3_keying_new_nonce(struct hp3_keying *k, struct hp3_keying_peer *p);

/* --- what leaves --- */

/* INITs leave from soon on, in short intervals at first. */
void hp3_keying_ask_soon(struct hp3_keying *k, struct hp3_keying_peer *p, uint64_t now);
/* The peer has the key, and was heard: INITs leave when it has been silent for long enough. */
void hp3_keying_watch(struct hp3_keying *k, struct hp3_keying_peer *p);
void hp3_keying_write(const struct hp3_keying_peer *p, uint32_t vlan, const struct hp3_handshake *h,
	struct hp3_keying_message *out);
void hp3_keying_write_init(const struct hp3_keying *k, const struct hp3_keying_peer *p,
	struct hp3_keying_message *out);
/* The REPLY to an INIT, or the CONFIRM to a REPLY, as the turn's message. */
void hp3_keying_write_proof(const struct hp3_keying_turn *t, const struct hp3_handshake *to,
	const struct hp3_pair_secrets *secrets);

/* --- which identity gets the key --- */

/* NULL: they have to be computed. */
const struct hp3_pair_secrets *hp3_keying_secrets(
	const struct hp3_keying_peer *p, const uint8_t public[HP3_PUBLIC_LEN]);
/*
 * The identity may have the key at this address: nobody else has it, or who has it is silent. While
 * that is open, the old one is asked whether it is there.
 */
bool hp3_keying_may_have_key(const struct hp3_keying_turn *t, const uint8_t public[HP3_PUBLIC_LEN]);
bool hp3_keying_is_proven(const struct hp3_keying_turn *t, const struct hp3_handshake *h,
	const struct hp3_pair_secrets *s);
/* A proof over our nonce that counts, which no other one does from now on. True: the turn's message
 * is a CONFIRM. */
bool hp3_keying_take_proven(const struct hp3_keying_turn *t, const struct hp3_handshake *h,
	const struct hp3_pair_secrets *s);

/* --- X25519s --- */

/* The message waits for the secrets, or it does not count. A proof waits rather than an INIT. */
enum hp3_keying_fate hp3_keying_want(
	const struct hp3_keying_turn *t, const struct hp3_handshake *h);

/* --- what is reported --- */

void hp3_keying_tell(struct hp3_keying *k, const struct hp3_keying_event *ev);

#endif
