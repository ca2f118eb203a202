/* SPDX-License-Identifier: BSD-3-Clause */
#include "probes/identity.h"
#include <errno.h>
#include <sodium/crypto_generichash.h>
#include <sodium/crypto_kx.h>
#include <string.h>

#define FINGERPRINT 8u /* bytes */

_Static_assert(crypto_kx_PUBLICKEYBYTES == HP3_PUBLIC_LEN &&
		       crypto_kx_SECRETKEYBYTES == HP3_SEED_LEN &&
		       crypto_kx_SEEDBYTES == HP3_SEED_LEN,
	"X25519");
_Static_assert(crypto_generichash_KEYBYTES_MAX >= crypto_kx_SESSIONKEYBYTES &&
		       crypto_generichash_KEYBYTES_MIN <= crypto_kx_SESSIONKEYBYTES,
	"a session key is a key of BLAKE2b");

void hp3_identity_from_seed(struct hp3_identity *id, const uint8_t seed[HP3_SEED_LEN])
{
	crypto_kx_seed_keypair(id->public, id->secret, seed);
}

void hp3_fingerprint(char text[HP3_FINGERPRINT_LEN], const uint8_t public[HP3_PUBLIC_LEN])
{
	static const char digits[] = "0123456789abcdef";
	uint8_t hash[crypto_generichash_BYTES];

	crypto_generichash(hash, sizeof(hash), public, HP3_PUBLIC_LEN, NULL, 0);
	for (unsigned i = 0; i < FINGERPRINT; i++) {
		if (i != 0 && i % 2 == 0)
			*text++ = '-';
		*text++ = digits[hash[i] >> 4];
		*text++ = digits[hash[i] & 15];
	}
	*text = '\0';
}

/* *ends: from the sender to the receiver. */
static void derive_pair_secret(struct hp3_pair_secret *secret, const uint8_t *session,
	const uint8_t *sender, const uint8_t *receiver, const struct hp3_pair_ends *ends)
{
	static const uint8_t purpose[] = {'h', 'p', '3', ' ', 'p', 'a', 'i', 'r'};
	uint8_t in[sizeof(purpose) + 2 * HP3_PUBLIC_LEN + sizeof(*ends)], *p = in;

	memcpy(p, purpose, sizeof(purpose));
	p += sizeof(purpose);
	memcpy(p, sender, HP3_PUBLIC_LEN);
	p += HP3_PUBLIC_LEN;
	memcpy(p, receiver, HP3_PUBLIC_LEN);
	p += HP3_PUBLIC_LEN;
	memcpy(p, ends, sizeof(*ends));
	crypto_generichash((uint8_t *)secret, sizeof(*secret), in, sizeof(in), session,
		crypto_kx_SESSIONKEYBYTES);
}

int hp3_identity_pair(struct hp3_pair_secrets *secrets, const struct hp3_identity *ours,
	const uint8_t theirs[HP3_PUBLIC_LEN], const struct hp3_pair_ends *ends)
{
	const struct hp3_pair_ends back = hp3_pair_ends_back(ends);
	uint8_t in[crypto_kx_SESSIONKEYBYTES], out[crypto_kx_SESSIONKEYBYTES];
	int order = memcmp(ours->public, theirs, HP3_PUBLIC_LEN), err;

	if (order == 0)
		order = memcmp(ends->src, ends->dst, sizeof(ends->src));
	if (order < 0)
		err = crypto_kx_client_session_keys(in, out, ours->public, ours->secret, theirs);
	else
		err = crypto_kx_server_session_keys(in, out, ours->public, ours->secret, theirs);
	if (err != 0)
		return -EINVAL;
	derive_pair_secret(&secrets->out, out, ours->public, theirs, ends);
	derive_pair_secret(&secrets->in, in, theirs, ours->public, &back);
	explicit_bzero(in, sizeof(in));
	explicit_bzero(out, sizeof(out));
	return 0;
}
