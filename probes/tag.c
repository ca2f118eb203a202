/* SPDX-License-Identifier: BSD-3-Clause */
/* crypto_shorthash() needs no sodium_init(): it keeps no state and picks no implementation. */
#include <sodium/crypto_shorthash.h>
#include "probes/tag.h"

#define ENDS_LEN 34u /* kind, family, two addresses */
#define HEAD_LEN 38u /* and two ports */
#define DERIVE   0u /* no kind: input of a derivation is never that of a tag */

_Static_assert(crypto_shorthash_KEYBYTES == sizeof(struct hp3_probe_key), "128-bit key");
_Static_assert(crypto_shorthash_BYTES == sizeof(uint64_t), "64-bit hash");
_Static_assert(crypto_shorthash_siphashx24_KEYBYTES == sizeof(struct hp3_probe_key) &&
		       crypto_shorthash_siphashx24_BYTES == sizeof(struct hp3_probe_key),
	"a key from a key");

bool hp3_probe_keyed(const struct hp3_probe_key *key)
{
	static const struct hp3_probe_key none;

	return memcmp(key, &none, sizeof(none)) != 0;
}

uint32_t hp3_probe_keys(const struct hp3_probe_keys *keys)
{
	return hp3_probe_keyed(&keys->key[0]) && hp3_probe_keyed(&keys->key[1]) ? 2 : 1;
}

static struct hp3_probe_key between(const struct hp3_probe_key *key, const uint8_t ends[ENDS_LEN])
{
	struct hp3_probe_key pair;
	uint8_t in[ENDS_LEN];

	memcpy(in, ends, ENDS_LEN);
	in[0] = DERIVE;
	crypto_shorthash_siphashx24(pair.bytes, in, sizeof(in), key->bytes);
	return pair;
}

static bool is_between_hosts(enum hp3_tag_kind kind)
{
	return kind == HP3_TAG_PROBE || kind == HP3_TAG_ANSWER || kind == HP3_TAG_LOADS;
}

uint64_t hp3_tag(const struct hp3_probe_key *key, enum hp3_tag_kind kind,
	const struct hp3_addressing *a, uint16_t dport, const void *bytes, size_t n)
{
	uint8_t in[HEAD_LEN + HP3_TAG_MAX] = {(uint8_t)kind, a->ipv6}, out[sizeof(uint64_t)];
	size_t address = a->ipv6 ? 16 : 4;
	struct hp3_probe_key use = *key;

	memcpy(in + 2, a->src_ip, address);
	memcpy(in + 18, a->dst_ip, address);
	if (is_between_hosts(kind) && hp3_probe_keyed(key))
		use = between(key, in);
	hp3_put_be16(in + 34, a->sport);
	hp3_put_be16(in + 36, dport);
	memcpy(in + HEAD_LEN, bytes, n);
	crypto_shorthash(out, in, HEAD_LEN + n, use.bytes);
	return hp3_be64(out);
}

uint32_t hp3_probe_cookie(
	const struct hp3_probe_key *secret, const struct hp3_addressing *a, uint32_t id)
{
	return (uint32_t)hp3_tag(secret, HP3_TAG_COOKIE, a, HP3_ROCE_UDP_PORT, &id, sizeof(id));
}
