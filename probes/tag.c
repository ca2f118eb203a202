/* SPDX-License-Identifier: BSD-3-Clause */
/* crypto_shorthash() needs no sodium_init(): it keeps no state and picks no implementation. */
#include <sodium/crypto_shorthash.h>
#include "probes/tag.h"

#define HEAD_LEN 38u /* kind, family, two addresses, two ports */

_Static_assert(crypto_shorthash_KEYBYTES == sizeof(struct hp3_probe_key), "128-bit key");
_Static_assert(crypto_shorthash_BYTES == sizeof(uint64_t), "64-bit hash");

bool hp3_probe_keyed(const struct hp3_probe_key *key)
{
	static const struct hp3_probe_key none;

	return memcmp(key, &none, sizeof(none)) != 0;
}

uint64_t hp3_tag(const struct hp3_probe_key *key, enum hp3_tag_kind kind,
	const struct hp3_addressing *a, uint16_t dport, const void *bytes, size_t n)
{
	uint8_t in[HEAD_LEN + HP3_TAG_MAX] = {(uint8_t)kind, a->ipv6}, out[sizeof(uint64_t)];
	size_t address = a->ipv6 ? 16 : 4;

	memcpy(in + 2, a->src_ip, address);
	memcpy(in + 18, a->dst_ip, address);
	hp3_put_be16(in + 34, a->sport);
	hp3_put_be16(in + 36, dport);
	memcpy(in + HEAD_LEN, bytes, n);
	crypto_shorthash(out, in, HEAD_LEN + n, key->bytes);
	return hp3_be64(out);
}
