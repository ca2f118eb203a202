/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_KEYING_H
#define HP3_PROBES_KEYING_H
/*
 * Two hosts without a configured key agree on one (identity.h, handshake.h). One record for each
 * pair of addresses: a local one, and a remote one that the local RNIC has a connection with.
 *
 *     none       no record
 *     asked      INITs leave after 0, 100, 300, 700 ms ..., at most 60 s apart
 *     computing  the peer's public key is here; another thread computes the secrets of the pair
 *     keyed      the peer has proven that it has the secret of its public key
 *
 * Trust on first use: the first identity that proves itself at an address gets the key. Whoever
 * sees the packets of both hosts, and sends with their addresses, can be the first one. A
 * configured key has no such beginning.
 *
 * Another identity at an address that has a key: hp3_keying asks the old one (INIT) and waits. It
 * takes the new one only after HP3_KEYING_SILENT_S without a proof or a message with a right tag
 * from the old one.
 *
 * The two hosts may see different VLAN tags, because an access port strips them, and keys know no
 * VLAN. A record has the VLAN in which the local RNIC talks to the peer. There hp3_keying asks, and
 * only from there it takes identities: whoever has the address in another VLAN gets no key.
 *
 * A peer that has a key, and is silent: after 15 s without a proof or a message with a right tag
 * hp3_keying asks it again. A peer that gave its record up makes one again that way. If no proof
 * comes within 15 s more, the pair has no key any more: the peer's hp3d may have none, or agree on
 * none. INITs go on, and the first proof brings the key back.
 *
 * A peer that proves OUR public key: if it has our instance too, it is another rail of this host,
 * a peer as any other. Else two hosts have one identity (a copied disk). They get no key. The one
 * that was born later is asked to draw a new identity (event CLONED, hp3_keying_become()).
 *
 * Invariants:
 *
 *     Only hp3_keying_begin() makes a record. Messages make none, and cost nothing but the reading
 *     if they come from an address without one.
 *     Before the cookie is right, nothing is computed, and no more bytes leave than came.
 *     A nonce of ours brings about one proof that counts: a replayed message changes nothing.
 *     The X25519s of all peers are limited together, those of each peer apart. Same public key,
 *     same result: it is computed once. Cookies of all peers are limited together.
 *     A call takes bounded time. hp3_keying_tick() looks at each due time once per INIT that is
 *     due.
 *
 * Memory is the caller's; one instance is driven by one thread, except hp3_keying_compute(). `now`
 * is monotonic, ns. If the table is full, the oldest record whose peer has never replied gives way,
 * once 3 INITs have left. If there is none, a peer that the local RNIC has not talked to for 5
 * minutes gives way; if there is none, the new pair gets no key (counted).
 */
#include "probes/handshake.h"
#include "probes/limit.h"

/* X(field, help). Each message that arrives is counted in `messages` and in exactly one of the
 * eighteen below it. */
#define HP3_KEYING_STATS(X)                                                                        \
	X(messages, "messages of key agreement that arrived")                                      \
	X(other_version, "messages of key agreement dropped: of an hp3d that speaks another "      \
			 "version")                                                                \
	X(bad_form, "messages of key agreement dropped: malformed")                                \
	X(unprivileged, "messages of key agreement dropped: of a user of the peer's host, by "     \
			"their source port")                                                       \
	X(strangers, "messages of key agreement dropped: the RNIC talks to no such address")       \
	X(other_vlan, "messages of key agreement dropped: in another VLAN than that in which the " \
		      "RNIC talks to the peer")                                                    \
	X(cookies, "questions of peers answered with a cookie")                                    \
	X(cookies_refused, "questions of peers dropped: too many cookies a second")                \
	X(cookies_taken, "cookies of peers: the question left once more")                          \
	X(stray, "messages of key agreement dropped: to no question under way")                    \
	X(flooded, "questions of peers dropped: too many from one address")                        \
	X(answered, "questions of peers answered: their key was known")                            \
	X(to_compute, "messages of peers that wait for an X25519")                                 \
	X(computing, "messages of peers that wait for an X25519 that was wanted before")           \
	X(busy, "messages dropped: another public key of this address is under way")               \
	X(over_budget, "messages dropped: too many public keys from one address")                  \
	X(others_refused, "messages dropped: another identity than the one that has the key")      \
	X(bad_proof, "messages dropped: wrong proof; forged")                                      \
	X(proven, "messages of peers that prove their public key")                                 \
	X(asked, "questions for a key sent to peers")                                              \
	X(computed, "X25519s done")                                                                \
	X(weak, "public keys refused: of low order")                                               \
	X(late_bad_proof, "proofs found wrong after the X25519; forged")                           \
	X(late_others, "messages dropped after the X25519: the identity that has the key is "      \
		       "there")                                                                    \
	X(keyed, "peers that got a key")                                                           \
	X(replaced, "peers whose identity is another one than before")                             \
	X(silent, "keys given up: the peer did not reply for 30 s; it may agree on keys no more")  \
	X(cloned, "proofs of our own identity by another host: a copied disk")                     \
	X(full, "attempts to begin with a peer that failed: the table is full")                    \
	X(displaced, "records given to another peer: theirs never replied, or the RNIC no "        \
		     "longer talked to it")                                                        \
	X(events_lost, "events that nobody fetched in time")

struct hp3_keying_stats {
#define X(field, help) uint64_t field;
	HP3_KEYING_STATS(X)
#undef X
};

struct hp3_keying_config {
	struct hp3_identity identity;
	uint64_t instance; /* of this host since it booted: the same for all rails */
	uint64_t born_us; /* wall clock when the instance began */
	uint8_t random[HP3_SEED_LEN]; /* known to nobody else: cookies, nonces, hashes */
	uint16_t port; /* hp3's own */
	uint32_t peers; /* records: a power of two, at least 8 */
	struct hp3_limit jobs; /* X25519s; HP3_KEYING_JOBS a second by default */
	struct hp3_limit cookies; /* likewise HP3_KEYING_COOKIES */
};

#define HP3_KEYING_JOBS    200u
#define HP3_KEYING_COOKIES 10000u

#define HP3_KEYING_SILENT_S 10u

struct hp3_keying;

/* Bytes of memory (64-byte aligned) wanted; 0: a value is out of range. */
size_t hp3_keying_size(const struct hp3_keying_config *cfg);
/* NULL if `mem` is misaligned or too small, or a value is out of range. *stats stays the caller's.
 */
struct hp3_keying *hp3_keying_create(void *mem, size_t size, const struct hp3_keying_config *cfg,
	struct hp3_keying_stats *stats);

/* Not known in which. */
#define HP3_KEYING_ANY_VLAN UINT32_MAX

/* A message for hp3's port of `to.dst`, from HP3_HANDSHAKE_PORT of `to.src`. */
struct hp3_keying_message {
	struct hp3_pair_ends to; /* from here to there */
	uint32_t vlan; /* as the local RNIC's packets (roce/tags.h), or HP3_KEYING_ANY_VLAN */
	uint32_t len;
	uint8_t bytes[HP3_HANDSHAKE_MAX];
};

/*
 * The local RNIC has a connection with this address. Cheap, to be called again at least once a
 * minute while it goes on: INITs end, and the record may be given away, 5 minutes after the last
 * call. *ends: from here to there. `vlan`: of its packets, or HP3_KEYING_ANY_VLAN; that of the
 * first call stays while the peer has a key, and while a call with it was within a minute. False:
 * no room.
 */
bool hp3_keying_begin(
	struct hp3_keying *k, const struct hp3_pair_ends *ends, uint32_t vlan, uint64_t now);

/* The local RNIC has no connection with this address any more. A record whose peer never replied is
 * free at once, so whoever makes up addresses has no more records than connections. */
void hp3_keying_end(struct hp3_keying *k, const struct hp3_pair_ends *ends);

/* An INIT that is due; false: none is. To be called until it is false, or some at a time. */
bool hp3_keying_tick(struct hp3_keying *k, uint64_t now, struct hp3_keying_message *out);

enum hp3_keying_fate {
	HP3_KEYING_NONE, /* not a message of these: goes on its way */
	HP3_KEYING_TAKEN, /* consume it */
	HP3_KEYING_ANSWER, /* consume it, and send *out */
};

/* A packet from the network. */
enum hp3_keying_fate hp3_keying_take(struct hp3_keying *k, const void *frame, uint32_t len,
	const struct hp3_view *v, uint64_t now, struct hp3_keying_message *out);

/* One X25519, with a copy of our identity. */
struct hp3_keying_job {
	struct hp3_identity ours;
	struct hp3_pair_ends ends;
	uint8_t theirs[HP3_PUBLIC_LEN];
	struct hp3_pair_secrets secrets; /* the result */
	int err; /* likewise */
	uint32_t peer, serial;
};

/* The next job; false: none, or the budget is spent for now. */
bool hp3_keying_job(struct hp3_keying *k, uint64_t now, struct hp3_keying_job *job);
/* In any thread. */
void hp3_keying_compute(struct hp3_keying_job *job);
/* True: *out is to be sent. Wipes *job. A job may be given up instead, but its peer then gets no
 * key until HP3_KEYING_JOB_LOST_S have passed. */
bool hp3_keying_done(struct hp3_keying *k, struct hp3_keying_job *job, uint64_t now,
	struct hp3_keying_message *out);
#define HP3_KEYING_JOB_LOST_S 10u

/* The HP3_KEY_LEN bytes of key of a sender and a receiver, one of which is local; NULL: this pair
 * has none. Until the next call that is no find. */
const uint8_t *hp3_keying_find(const struct hp3_keying *k, const struct hp3_pair_ends *ends);

/* A message with a right tag of this pair arrived, and heard.h or window.h did not refuse it. */
void hp3_keying_heard(struct hp3_keying *k, const struct hp3_pair_ends *ends, uint64_t now);

/* This host has another identity: all keys are forgotten, and agreed on anew. */
void hp3_keying_become(struct hp3_keying *k, const struct hp3_identity *identity, uint64_t now);

/* X(symbol, text) */
#define HP3_KEYING_EVENTS(X)                                                                       \
	X(KEYED, "keyed") /* this pair had no key until now */                                     \
	X(REPLACED, "replaced") /* the peer has another identity than before */                    \
	X(CLONED, "cloned") /* the peer has our identity; at most once a minute for each peer */

enum hp3_keying_event_kind {
#define X(sym, text) HP3_KEYING_##sym,
	HP3_KEYING_EVENTS(X)
#undef X
		HP3_KEYING_EVENT_MAX
};

struct hp3_keying_event {
	uint8_t kind; /* enum hp3_keying_event_kind */
	bool change; /* CLONED: this host is the one to draw a new identity */
	struct hp3_pair_ends ends; /* from here to there */
	uint8_t public[HP3_PUBLIC_LEN], before[HP3_PUBLIC_LEN]; /* before: REPLACED */
};

bool hp3_keying_event(struct hp3_keying *k, struct hp3_keying_event *ev);

/* X(symbol, text) */
#define HP3_KEYING_STATES(X)                                                                       \
	X(NO_PEER, "none")                                                                         \
	X(ASKED, "asked")                                                                          \
	X(COMPUTING, "computing")                                                                  \
	X(HAS_KEY, "keyed")

enum hp3_keying_state {
#define X(sym, text) HP3_KEYING_##sym,
	HP3_KEYING_STATES(X)
#undef X
		HP3_KEYING_STATE_MAX
};

const char *hp3_keying_state_name(enum hp3_keying_state s);
const char *hp3_keying_event_name(enum hp3_keying_event_kind kind);

struct hp3_keying_info {
	struct hp3_pair_ends ends; /* from here to there */
	uint32_t vlan; /* in which the local RNIC talks to the peer, or HP3_KEYING_ANY_VLAN */
	uint8_t state; /* enum hp3_keying_state */
	bool we_began; /* HAS_KEY: the peer proved itself in a REPLY */
	bool cloned; /* not HAS_KEY: the peer has proven our own identity */
	bool doubted; /* HAS_KEY: another identity showed itself, and the old one was not heard
		       * since
		       */
	uint8_t public[HP3_PUBLIC_LEN]; /* HAS_KEY */
	uint64_t since; /* begin of the state, but HAS_KEY: since when the identity has the key */
	uint64_t heard; /* HAS_KEY: last proof or message with a right tag */
};

/* Up to n peers from the *at-th place on (0: the first); *at: where the next call goes on. Fewer
 * than n: these were the last ones. */
uint32_t hp3_keying_list(
	const struct hp3_keying *k, uint32_t *at, struct hp3_keying_info *info, uint32_t n);

#endif
