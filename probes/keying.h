/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Two hosts without a configured key agree on a key (identity.h, handshake.h). There is one record
 * for each pair of a local and a remote address, if the local RNIC has a connection between these
 * addresses. States of a record:
 *
 *     none       no record
 *     asked      hp3_keying sends INITs after 0, 100, 300, 700 ms ..., at most 60 s apart
 *     computing  the peer's public key has arrived; another thread computes the pair's secrets
 *     keyed      the peer has proven that it has the secret of its public key
 *
 * Trust on first use: the first identity that proves itself at an address gets the key. An attacker
 * who sees the packets of both hosts, and can send with their addresses, can be this first
 * identity. A configured key does not have this weakness.
 *
 * Messages of another identity may arrive from an address whose identity already has a key.
 * hp3_keying then sends an INIT to the old identity, and waits. The old identity keeps the key if
 * it sends a proof or a message with a right tag within HP3_KEYING_SILENT_S. Otherwise, the new
 * identity may get the key.
 *
 * The two hosts may see different VLAN tags, because an access port of a switch strips tags. So
 * keys do not depend on the VLAN. A record has the VLAN in which the local RNIC sends to the peer.
 * hp3_keying sends INITs in this VLAN, and accepts identities only in messages from this VLAN. So a
 * host with the peer's address in another VLAN gets no key.
 *
 * Silent peers: after 15 s without a proof or a message with a right tag, hp3_keying sends INITs to
 * a peer that has a key. So a peer that has lost its key gets the key again. The peer's hp3d may
 * also have stopped, or may no longer agree on keys. So if no proof and no message with a right tag
 * arrives within another 15 s, the pair loses its key. hp3_keying continues to send INITs, and the
 * first proof restores the key.
 *
 * Clones: a peer may prove that it has the identity of this host. If the message also has this
 * host's instance, its sender is another rail of this host, and is treated as any other peer.
 * Otherwise, two hosts have the same identity (a copied disk), and the pair gets no key. hp3_keying
 * then reports the event CLONED. On the host that booted later ("born"), `change` of this event is
 * set: this host must draw a new identity (hp3_keying_become()).
 *
 * Invariants:
 *
 * - Only hp3_keying_begin() makes a record; messages do not. hp3_keying only parses a message
 *   from an address without a record.
 * - For an INIT that has no right cookie, hp3_keying computes only a cookie. The answer is no
 *   longer than the INIT.
 * - For each nonce of this host, only one proof counts. So a replayed message changes nothing.
 * - X25519 computations have a rate limit for all peers together, and another one for each peer.
 *   No X25519 computation starts for a public key whose secrets are stored or already being
 *   computed.
 * - Cookies have a rate limit for all peers together.
 * - A call takes bounded time. A call of hp3_keying_tick() reads the due time of each record at
 *   most twice.
 *
 * The caller owns the memory. One thread calls the functions of an instance; any thread may call
 * hp3_keying_compute(). `now` is monotonic, in ns.
 *
 * If the table is full, a new pair takes the record of another pair. The first choice is the oldest
 * record whose peer never replied, if at least 3 INITs were sent to this peer. The second choice is
 * the first record with an idle peer among the next 16 records. A peer is idle if no X25519 is
 * queued for the peer, and if two conditions have held for 5 minutes. The local RNIC had no
 * connection with the peer, and the peer sent no proof and no tagged message. If there is no record
 * of either kind, the new pair gets no key (counter `full`).
 */
#include "probes/handshake.h"
#include "probes/limit.h"

/*
 * X(field, help). Each message that arrives is counted in `messages`, and in exactly one of the
 * eighteen counters below `messages`.
 */
#define HP3_KEYING_STATS(X)                                                                        \
	X(messages, "messages of key agreement that arrived")                                      \
	X(other_version, "messages of key agreement dropped: of an hp3d with another "             \
			 "protocol version")                                                       \
	X(bad_form, "messages of key agreement dropped: malformed")                                \
	X(unprivileged, "messages of key agreement dropped: source port not privileged, so "       \
			"perhaps of a user of the peer's host")                                    \
	X(unknown_peers, "messages of key agreement dropped: the RNIC has no connection with "     \
			 "the address")                                                            \
	X(other_vlan, "messages of key agreement dropped: in another VLAN than the RNIC's "        \
		      "connection with the peer")                                                  \
	X(cookies, "INITs of peers answered with a cookie")                                        \
	X(cookies_refused, "INITs of peers dropped: too many cookies a second")                    \
	X(cookies_taken, "cookies of peers: the INIT was sent again with the cookie")              \
	X(stray, "messages of key agreement dropped: no such INIT is open")                        \
	X(flooded, "INITs of peers dropped: too many from one address")                            \
	X(answered, "INITs of peers answered: their secrets were computed before")                 \
	X(to_compute, "messages of peers that wait for an X25519")                                 \
	X(computing, "messages of peers that wait for an X25519 already requested")                \
	X(busy, "messages dropped: another public key of this address is under way")               \
	X(over_budget, "messages dropped: too many public keys from one address")                  \
	X(others_refused, "messages dropped: of an identity other than the one that has the "      \
			  "key")                                                                   \
	X(bad_proof, "messages dropped: wrong proof; forged")                                      \
	X(proven, "messages of peers that prove their public key")                                 \
	X(asked, "INITs sent to peers")                                                            \
	X(computed, "X25519s computed")                                                            \
	X(weak, "public keys refused: of low order")                                               \
	X(late_bad_proof, "proofs found wrong after the X25519; forged")                           \
	X(late_others, "messages dropped after the X25519: the identity that has the key is "      \
		       "active")                                                                   \
	X(keyed, "peers that got a key")                                                           \
	X(replaced, "peers whose identity has changed")                                            \
	X(silent, "keys given up: the peer did not reply for 30 s; it may no longer agree on "     \
		  "keys")                                                                          \
	X(cloned, "proofs of this host's identity by another host: a copied disk")                 \
	X(full, "attempts to begin with a peer that failed: the table is full")                    \
	X(displaced, "records given to another peer: the old peer never replied, or the RNIC "     \
		     "no longer had a connection with it")                                         \
	X(events_lost, "events that were not fetched in time")

struct hp3_keying_stats {
#define X(field, help) uint64_t field;
	HP3_KEYING_STATS(X)
#undef X
};

struct hp3_keying_config {
	struct hp3_identity identity;
	uint64_t instance; /* identifies this boot of the host: the same for all rails */
	uint64_t born_us; /* wall clock at boot, us */
	uint8_t random[HP3_SEED_LEN]; /* secret seed of cookies, nonces and hashes */
	uint16_t port; /* hp3's own port */
	uint32_t peers; /* number of records: a power of two, at least 8 */
	struct hp3_limit jobs; /* rate limit of X25519s; by default, HP3_KEYING_JOBS a second */
	/* rate limit of cookies; by default, HP3_KEYING_COOKIES a second */
	struct hp3_limit cookies;
};

#define HP3_KEYING_JOBS    200u
#define HP3_KEYING_COOKIES 10000u

#define HP3_KEYING_SILENT_S 10u

struct hp3_keying;

/*
 * Bytes of memory that hp3_keying_create() needs, aligned to 64 bytes; 0: a value is out of range.
 */
size_t hp3_keying_size(const struct hp3_keying_config *cfg);
/* NULL if `mem` is misaligned or too small, or a value is out of range. The caller owns *stats. */
struct hp3_keying *hp3_keying_create(void *mem, size_t size, const struct hp3_keying_config *cfg,
	struct hp3_keying_stats *stats);

/* A message from `to.src`, source port HP3_HANDSHAKE_PORT, to `to.dst`, hp3's own port. */
struct hp3_keying_message {
	struct hp3_pair_ends to; /* from this host to the peer */
	/* INIT: VLAN of the local RNIC's packets (roce/tags.h); others: VLAN of the message that
	 * they answer */
	uint32_t vlan;
	uint32_t len;
	uint8_t bytes[HP3_HANDSHAKE_MAX];
};

/*
 * The local RNIC has a connection with this address. *ends: from this host to the peer. Call this
 * function at least once a minute while the connection exists. 5 minutes after the last call,
 * hp3_keying stops sending INITs, and another pair may take the record.
 *
 * `vlan`: VLAN of the connection's packets. A call with another VLAN changes the VLAN of the record
 * only if two conditions hold: the peer has no key, and the last call with the record's VLAN was a
 * minute ago or more.
 *
 * False: the table is full, or both addresses are equal.
 */
bool hp3_keying_begin(
	struct hp3_keying *k, const struct hp3_pair_ends *ends, uint32_t vlan, uint64_t now);

/*
 * The local RNIC no longer has a connection with this address. If the peer never replied, its
 * record is free at once. So a process that connects to invented addresses occupies at most as many
 * records as it has connections.
 */
void hp3_keying_end(struct hp3_keying *k, const struct hp3_pair_ends *ends);

/*
 * Returns an INIT that is due; false: none is due. Call this function until it returns false, or a
 * few times per burst.
 */
bool hp3_keying_tick(struct hp3_keying *k, uint64_t now, struct hp3_keying_message *out);

enum hp3_keying_fate {
	HP3_KEYING_NONE, /* not a message of key agreement: forward it */
	HP3_KEYING_TAKEN, /* consume it */
	HP3_KEYING_ANSWER, /* consume it, and send *out */
};

/* Processes a packet from the network. */
enum hp3_keying_fate hp3_keying_take(struct hp3_keying *k, const struct hp3_parsed *f, uint64_t now,
	struct hp3_keying_message *out);

/* The input and the result of one X25519. */
struct hp3_keying_job {
	struct hp3_identity ours;
	struct hp3_pair_ends ends;
	uint8_t theirs[HP3_PUBLIC_LEN];
	struct hp3_pair_secrets secrets; /* result: the secrets of the pair */
	int err; /* result: 0 or a negative errno */
	uint32_t peer, serial;
};

/* Returns the next job; false: there is none, or the rate limit is reached. */
bool hp3_keying_job(struct hp3_keying *k, uint64_t now, struct hp3_keying_job *job);
/* Computes a job. Any thread may call it. */
void hp3_keying_compute(struct hp3_keying_job *job);
/*
 * Takes the result of a job, and wipes *job. True: send *out. The caller may also drop a job. The
 * peer then gets no key until HP3_KEYING_JOB_LOST_S have passed.
 */
bool hp3_keying_done(struct hp3_keying *k, struct hp3_keying_job *job, uint64_t now,
	struct hp3_keying_message *out);
#define HP3_KEYING_JOB_LOST_S 10u

/*
 * The key (HP3_KEY_LEN bytes) of a sender and a receiver, one of which is local. NULL: the pair has
 * no key. The result is valid until the next call of another function.
 */
const uint8_t *hp3_keying_find(const struct hp3_keying *k, const struct hp3_pair_ends *ends);

/*
 * Call this when a message with a right tag of this pair has arrived, and is no replay (heard.h,
 * window.h).
 */
void hp3_keying_heard(struct hp3_keying *k, const struct hp3_pair_ends *ends, uint64_t now);

/* Replaces the identity of this host. Deletes all keys, and sends INITs to all peers again. */
void hp3_keying_become(struct hp3_keying *k, const struct hp3_identity *identity, uint64_t now);

enum hp3_keying_event_kind {
	HP3_KEYING_KEYED, /* the pair had no key before */
	HP3_KEYING_REPLACED, /* the peer has another identity than before */
	HP3_KEYING_CLONED /* the peer has this host's identity; at most once a minute per peer */
};

struct hp3_keying_event {
	uint8_t kind; /* enum hp3_keying_event_kind */
	bool change; /* CLONED: this host must draw a new identity */
	struct hp3_pair_ends ends; /* from this host to the peer */
	uint8_t public[HP3_PUBLIC_LEN], before[HP3_PUBLIC_LEN]; /* before: only in REPLACED */
};

bool hp3_keying_event(struct hp3_keying *k, struct hp3_keying_event *event);

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

struct hp3_keying_info {
	struct hp3_pair_ends ends; /* from this host to the peer */
	uint32_t vlan; /* VLAN in which the local RNIC sends to the peer */
	uint8_t state; /* enum hp3_keying_state */
	bool we_began; /* HAS_KEY: the peer's proof was a REPLY to an INIT of this host */
	bool cloned; /* not HAS_KEY: the peer has proven the identity of this host */
	bool doubted; /* HAS_KEY: another identity sent messages; `public` has sent none since */
	uint8_t public[HP3_PUBLIC_LEN]; /* HAS_KEY */
	uint64_t since; /* start of the state; HAS_KEY: when this identity got the key */
	uint64_t heard; /* HAS_KEY: time of the last proof or message with a right tag */
};

/*
 * Lists up to n peers from record *at on, and sets *at for the next call. In the first call, *at is
 * 0. After the last call, *at is HP3_KEYING_LAST. Returns the number of listed peers. A call reads
 * at most HP3_KEYING_LISTED records, so the number may be 0 although more peers follow.
 */
#define HP3_KEYING_LISTED 1024u
#define HP3_KEYING_LAST   UINT32_MAX
uint32_t hp3_keying_list(
	const struct hp3_keying *k, uint32_t *at, struct hp3_keying_info *info, uint32_t n);
