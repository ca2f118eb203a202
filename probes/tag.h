/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PROBES_TAG_H
#define HP3_PROBES_TAG_H
/*
 * What hosts tell each other is authenticated with: SipHash-2-4 (Aumasson and Bernstein, 2012). The
 * hosts of a fabric share 128 bits, `probe_key`. No tag is made with these, but with a key of the
 * sender's and the receiver's addresses in this order, which SipHash-2-4-128 derives from them:
 * what is known of one such key speaks for one host towards one other, and not back. A host needs
 * not have the 128 bits themselves: a table of the derived keys in which it is one of the two ends
 * (pair_keys.h) does as well, and whoever breaks into it learns no others. Of what acts
 * (answers, reports, loads) the tag has 64 bits on the wire; of a probe, which has no room for more
 * and gets an answer at most, 32: a forger needs 2^31 attempts on average, all of which are
 * counted.
 *
 * Without such a secret, pairs of hosts may agree on keys: `agreed` knows those of some senders and
 * receivers. To a pair that it knows applies all that is said of a key, to others all that is said
 * of none.
 *
 * Without a key (the zero key, or a pair that `agreed` does not know) nothing is authenticated. The
 * clock is not looked at, because nothing would follow from it, and neither reports nor loads are
 * believed. A probe then bears a cookie, which its answer has to prove that it knows: who does not
 * see the probes cannot forge answers.
 */
#include <stddef.h>
#include "probes/pair_keys.h"
#include "roce/build.h"

/* Of probes, reports, answers and loads together: what hosts of different ones say to each other is
 * counted by this name and dropped. */
#define HP3_PROBES_VERSION 8u

/* The key of a sender and a receiver, HP3_KEY_LEN bytes; NULL: these have agreed on none. */
typedef const uint8_t *hp3_agreed_fn(const void *table, const struct hp3_pair_ends *ends);

/*
 * With `pairs` the keys are those of the table, and bytes tell one table from another. With
 * `agreed` bytes are zero.
 */
struct hp3_probe_key {
	uint8_t bytes[HP3_KEY_LEN];
	const struct hp3_pair_keys *pairs;
	hp3_agreed_fn *agreed;
	const void *table; /* that `agreed` looks keys up in */
};

/*
 * What is believed: the key in use and, while hosts change from one to the other, a second one
 * (zero: none). Without the first there is no second.
 */
#define HP3_PROBE_KEYS 2u
struct hp3_probe_keys {
	struct hp3_probe_key key[HP3_PROBE_KEYS];
};

/* What a tag speaks for: a tag of one kind is worth nothing in another. */
enum hp3_tag_kind {
	HP3_TAG_PROBE = 1,
	HP3_TAG_ANSWER,
	HP3_TAG_SOURCE,
	HP3_TAG_RANDOM,
	HP3_TAG_LOADS,
	HP3_TAG_COOKIE,
	HP3_TAG_HELLO,
	HP3_TAG_AGREE
};

/* All hosts have it. */
bool hp3_probe_keyed(const struct hp3_probe_key *key);

/* The sender and the receiver of *a have one. */
bool hp3_pair_keyed(const struct hp3_probe_key *key, const struct hp3_addressing *a);

/* How many of the keys the sender and the receiver of *a have: the zero key alone is one. */
uint32_t hp3_probe_keys(const struct hp3_probe_keys *keys, const struct hp3_addressing *a);

/*
 * SipHash over kind, addresses and source port of *a (IPv4: four bytes each), destination port, and
 * n <= HP3_TAG_MAX further bytes; of what hosts tell each other under the key of these addresses.
 */
#define HP3_TAG_MAX 236u
uint64_t hp3_tag(const struct hp3_probe_key *key, enum hp3_tag_kind kind,
	const struct hp3_addressing *a, uint16_t dport, const void *bytes, size_t n);

/* Without a key: the cookie of the probe `id` that leaves as *a says. `secret`: the host's own. */
uint32_t hp3_probe_cookie(
	const struct hp3_probe_key *secret, const struct hp3_addressing *a, uint32_t id);

#endif
