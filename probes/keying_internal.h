/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Declarations for the files of keying.h. Other files do not include this header. The files are
 * keying.c (the table), keying_take.c (received messages), keying_trust.c (which identity gets the
 * key), keying_jobs.c (X25519 secrets), keying_send.c (sent messages), keying_info.c (events and
 * lists).
 */
#include "probes/keying.h"

#define HP3_KEYING_NEVER    UINT64_MAX
#define HP3_KEYING_SECOND   1000000000ull
#define HP3_KEYING_WAIT_MIN (HP3_KEYING_SECOND / 10) /* from the first INIT to the second */
/* For this time after hp3_keying_begin(), INITs are sent and the record stays, ns. */
#define HP3_KEYING_IDLE (300 * HP3_KEYING_SECOND)
/*
 * After this time without a message of the identity that has the key, another identity may get the
 * key, ns.
 */
#define HP3_KEYING_SILENT      (HP3_KEYING_SILENT_S * HP3_KEYING_SECOND)
#define HP3_KEYING_EVENTS_KEPT 16u
/*
 * QUIET: a peer that has the key gets an INIT after this time without a proof or a tagged message.
 * GIVE_UP: the peer loses the key after this time since the INIT, if no proof and no tagged message
 * arrived. Both in ns.
 */
#define HP3_KEYING_QUIET   15000000000ull
#define HP3_KEYING_GIVE_UP 15000000000ull

/*
 * An identity that has not proven itself yet, and the message that waits for its secrets. WANTED:
 * the job waits in the queue. AWAY: another thread computes the job. READY: the secrets are
 * computed.
 */
enum hp3_keying_trial_state { HP3_TRIAL_FREE, HP3_TRIAL_WANTED, HP3_TRIAL_AWAY, HP3_TRIAL_READY };

struct hp3_keying_trial {
	uint8_t state; /* enum hp3_keying_trial_state */
	uint32_t serial; /* number of the job */
	uint32_t vlan; /* VLAN of the message that waits */
	uint64_t since; /* start of the state */
	uint8_t public[HP3_PUBLIC_LEN];
	struct hp3_pair_secrets secrets; /* READY */
	struct hp3_handshake waits; /* WANTED, AWAY */
};

struct hp3_keying_peer {
	struct hp3_pair_ends ends; /* from this host to the peer; valid if `used` */
	/* again: the last due INIT was sent a second time, with the cookie */
	bool used, keyed, we_began, has_cookie, again;
	/*
	 * the peer replied at some time; otherwise, the record is in the list oldest..newest, from
	 * which records are reused first
	 */
	bool replied;
	/* not keyed: the identity `public` lost the key, because it became silent */
	bool had_key;
	uint8_t tries; /* not replied: number of INITs, at most UINT8_MAX */
	uint32_t vlan; /* VLAN in which the local RNIC sends to the peer */
	uint32_t older, newer; /* not replied: neighbours in the list: record + 1, or 0 */
	uint32_t next; /* next record in the bucket, or in the list of free records */
	uint32_t next_job; /* next record in the queue of jobs */
	uint64_t nonce; /* this host's nonce: only a proof over it counts */
	uint8_t cookie[HP3_COOKIE_LEN]; /* the cookie of the peer for this nonce */
	uint64_t wait; /* time between the last INIT and the next one */
	uint64_t talked, in_vlan; /* last hp3_keying_begin(); last call with this VLAN */
	/* since: start of the state. heard: keyed: last proof or message with a right tag */
	uint64_t since, heard;
	uint64_t asking; /* keyed: time of the first INIT since `heard`; 0: none was sent */
	/*
	 * doubted: time at which another identity claimed the key; 0: no claim since the last
	 * message of `public`. roused: last time at which an INIT of the peer made this host send
	 * its next INIT earlier; 0: never. cloned: last report that another host proved this host's
	 * identity; 0: none
	 */
	uint64_t doubted, roused, cloned;
	uint64_t jobs, replies; /* states of rate limits */
	uint8_t public[HP3_PUBLIC_LEN]; /* keyed, had_key */
	struct hp3_pair_secrets secrets; /* keyed */
	struct hp3_keying_trial trial;
};

struct hp3_keying {
	struct hp3_keying_config cfg;
	struct hp3_keying_stats *stats;
	uint8_t cookie_key[HP3_KEY_LEN], nonce_key[HP3_KEY_LEN];
	uint64_t seed, nonces;
	uint64_t jobs, cookies; /* states of the rate limits of all peers */
	uint64_t next_due; /* no INIT is due before this time */
	uint32_t at; /* the next record that hp3_keying_tick() checks */
	uint32_t hand; /* the next record that displace_peer() checks */
	uint32_t oldest, newest; /* list of peers that never replied: record + 1, or 0 */
	uint32_t serial; /* number of the last job */
	/* record + 1, or 0; links between records have the same form */
	uint32_t free, first_job, last_job;
	uint32_t first_event, n_events;
	struct hp3_keying_event event[HP3_KEYING_EVENTS_KEPT];
	uint64_t *due; /* for each record: when the next INIT leaves */
	uint32_t *bucket; /* record + 1, or 0 */
	struct hp3_keying_peer *peer;
};

/* The arguments that most functions need, for one call about one record. */
struct hp3_keying_turn {
	struct hp3_keying *k;
	struct hp3_keying_peer *p;
	uint32_t vlan; /* VLAN of the message */
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

/* The record of the pair with these ends, in either order; NULL: there is none. */
struct hp3_keying_peer *hp3_keying_peer(
	const struct hp3_keying *k, const struct hp3_pair_ends *ends);
/*
 * The peer replied, so its hp3d takes part in key agreement. Removes the peer's record from the
 * list of records that are reused first.
 */
void hp3_keying_replied(struct hp3_keying *k, struct hp3_keying_peer *p);
void hp3_keying_new_nonce(struct hp3_keying *k, struct hp3_keying_peer *p);

/* --- sent messages --- */

/*
 * The next INIT is sent within HP3_KEYING_WAIT_MIN. The intervals between INITs start again at
 * their minimum.
 */
void hp3_keying_ask_soon(struct hp3_keying *k, struct hp3_keying_peer *p, uint64_t now);
/*
 * The peer has the key, and sent a proof or a tagged message. The next INIT is sent when the peer
 * has been silent for HP3_KEYING_QUIET.
 */
void hp3_keying_watch(struct hp3_keying *k, struct hp3_keying_peer *p);
void hp3_keying_write(const struct hp3_keying_peer *p, uint32_t vlan, const struct hp3_handshake *h,
	struct hp3_keying_message *out);
void hp3_keying_write_init(const struct hp3_keying *k, const struct hp3_keying_peer *p,
	struct hp3_keying_message *out);
/* Writes the REPLY to an INIT, or the CONFIRM to a REPLY, to t->out. */
void hp3_keying_write_proof(const struct hp3_keying_turn *t, const struct hp3_handshake *to,
	const struct hp3_pair_secrets *secrets);

/* --- which identity gets the key --- */

/* The secrets of the peer with this public key; NULL: they must be computed first. */
const struct hp3_pair_secrets *hp3_keying_secrets(
	const struct hp3_keying_peer *p, const uint8_t public[HP3_PUBLIC_LEN]);
/*
 * True: this identity may get the key at this address, because no other identity has the key, or
 * the identity that has the key is silent. The first call for another identity makes hp3_keying
 * send INITs to the identity that has the key.
 */
bool hp3_keying_may_have_key(const struct hp3_keying_turn *t, const uint8_t public[HP3_PUBLIC_LEN]);
bool hp3_keying_is_proven(const struct hp3_keying_turn *t, const struct hp3_handshake *h,
	const struct hp3_pair_secrets *s);
/*
 * Accepts a valid proof over this host's nonce. No other proof over this nonce counts from now on.
 * True: t->out is a CONFIRM.
 */
bool hp3_keying_take_proven(const struct hp3_keying_turn *t, const struct hp3_handshake *h,
	const struct hp3_pair_secrets *s);

/* --- X25519 secrets --- */

/*
 * Stores the message until another thread has computed the X25519 secret, or drops the message. A
 * newer message replaces a stored one that waits for the same secret. Exception: an INIT never
 * replaces a proof.
 */
enum hp3_keying_fate hp3_keying_want(
	const struct hp3_keying_turn *t, const struct hp3_handshake *h);

/* --- events and lists --- */

void hp3_keying_report(struct hp3_keying *k, const struct hp3_keying_event *event);
