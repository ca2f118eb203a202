/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Authentication of messages between hosts: SipHash-2-4 (Aumasson and Bernstein, 2012).
 *
 * The hosts of a fabric share a secret of 128 bits, `probe_key`. SipHash-2-4-128 derives from it a
 * key for each ordered pair of sender and receiver address. Tags are computed with derived keys
 * only. An attacker who has one derived key can forge messages of its sender to its receiver, but
 * none in the opposite direction. A host may have a table of the derived keys of its own pairs
 * (pair_keys.h) in place of the secret. An attacker who breaks into such a host gets only the keys
 * in this table.
 *
 * Answers, reports and agreements have tags of 64 bits. A probe has room for a tag of 32 bits, and
 * causes one answer at most. To forge a probe, an attacker needs 2^31 attempts on average, and all
 * attempts are counted.
 *
 * Without a `probe_key`, pairs of hosts may agree on keys (keying.h). The function `agreed` then
 * returns the key of a pair, or NULL if the pair has none.
 *
 * A pair has no key if the key is the zero key, or if `agreed` returns NULL. Messages of such a
 * pair are not authenticated: hp3d ignores the clock of probes, and drops all reports. Each probe
 * of such a pair has a cookie, and the tag of the answer must cover this cookie. So only an
 * attacker who sees the probes can forge answers.
 */
#include <stddef.h>
#include "probes/pair_keys.h"
#include "roce/build.h"

/* Version of all messages between hosts. hp3d counts and drops messages of other versions. */
#define HP3_PROBES_VERSION 10u

/* The key of a sender and a receiver, HP3_KEY_LEN bytes; NULL: the pair has agreed on no key. */
typedef const uint8_t *hp3_agreed_fn(const void *table, const struct hp3_pair_ends *ends);

/*
 * A source of keys. If `pairs` is set, this table has the keys, and `bytes` identify the table. If
 * `agreed` is set, `bytes` are zero. Otherwise, `bytes` are the secret of the fabric; if they are
 * zero, there are no keys.
 */
struct hp3_probe_key {
	uint8_t bytes[HP3_KEY_LEN];
	const struct hp3_pair_keys *pairs;
	hp3_agreed_fn *agreed;
	const void *table; /* argument of `agreed` */
};

/*
 * The accepted keys. key[0] is in use. key[1] is accepted as well, while hosts change from one key
 * to another; zero: none. If key[0] is zero, so is key[1].
 */
#define HP3_PROBE_KEYS 2u
struct hp3_probe_keys {
	struct hp3_probe_key key[HP3_PROBE_KEYS];
};

/* The purpose of a tag. A tag of one kind is not valid for another. */
enum hp3_tag_kind {
	HP3_TAG_PROBE = 1,
	HP3_TAG_ANSWER,
	HP3_TAG_SOURCE,
	HP3_TAG_RANDOM,
	HP3_TAG_COOKIE,
	HP3_TAG_HELLO,
	HP3_TAG_AGREE
};

/* Do all pairs of hosts have a key? */
bool hp3_probe_keyed(const struct hp3_probe_key *key);

/* Do the sender and the receiver of *a have a key? */
bool hp3_pair_keyed(const struct hp3_probe_key *key, const struct hp3_addressing *a);

/*
 * The number of keys to try for the sender and the receiver of *a: 1 or 2. If they have no key, the
 * result is 1, for the zero key.
 */
uint32_t hp3_probe_keys(const struct hp3_probe_keys *keys, const struct hp3_addressing *a);

/* The data that a tag covers: kind, addresses, ports, and n <= HP3_TAG_MAX further bytes. */
#define HP3_TAG_MAX 236u
struct hp3_tag_input {
	enum hp3_tag_kind kind;
	const struct hp3_addressing *a; /* addresses (IPv4: four bytes each) and source port */
	uint16_t dport;
	const void *bytes;
	size_t n;
};

/*
 * SipHash over *in. The key for messages between hosts is that of the sender and the receiver of
 * in->a. The key for other purposes is key->bytes.
 */
uint64_t hp3_tag(const struct hp3_probe_key *key, const struct hp3_tag_input *in);

/* Index of the key that made the tag; -EACCES: none of the keys did. */
int hp3_tag_key(const struct hp3_probe_keys *keys, const struct hp3_tag_input *in, uint64_t tag);

/*
 * The cookie of probe `id` to the addresses of *a, for pairs without a key. `secret`: a secret of
 * this host.
 */
uint32_t hp3_probe_cookie(
	const struct hp3_probe_key *secret, const struct hp3_addressing *a, uint32_t id);
