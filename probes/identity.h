/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The identity of a host: an X25519 key pair (RFC 7748). From its own identity and the public key
 * of a peer, a host computes the secrets of the pair. The peer computes the same secrets.
 *
 *     session keys   crypto_kx of libsodium: BLAKE2b-512 of the shared point and both public keys,
 *                    one half for each direction. The host with the lesser public key is the
 *                    client. If the keys are equal (two rails of one host), the rail with the
 *                    lesser address is the client.
 *     pair secret    BLAKE2b-256 over a constant, and the public keys and addresses of sender and
 *                    receiver. Its key is the session key of the direction. The first half of the
 *                    result is the key of tags (tag.h), the second half that of proofs
 *                    (handshake.h).
 *
 * Both key pairs are static, so restarts do not change the secrets. The replay protection (heard.h)
 * refuses messages that an attacker recorded earlier. An attacker who has the secret key of one
 * host can forge messages between this host and its peers, in both directions. The attacker cannot
 * forge messages between other hosts.
 *
 * All functions are pure, and do not need sodium_init(). hp3_identity_pair() takes tens of
 * microseconds.
 */
#include <stdbool.h>
#include "probes/pair_keys.h"

#define HP3_PUBLIC_LEN      32u
#define HP3_SEED_LEN        32u
#define HP3_FINGERPRINT_LEN sizeof("0123-4567-89ab-cdef")

struct hp3_identity {
	uint8_t public[HP3_PUBLIC_LEN], secret[HP3_SEED_LEN];
};

/* Secrets of one direction. key: of tags (tag.h); proof: of proofs (handshake.h). */
struct hp3_pair_secret {
	uint8_t key[HP3_KEY_LEN], proof[HP3_KEY_LEN];
};

struct hp3_pair_secrets {
	struct hp3_pair_secret out, in; /* out: to the peer; in: from the peer */
};

/* `seed`: random bytes. A host has to store only the seed of its identity. */
void hp3_identity_from_seed(struct hp3_identity *id, const uint8_t seed[HP3_SEED_LEN]);

/* The first 64 bits of the BLAKE2b-256 hash of a public key, in hexadecimal; shown to operators. */
void hp3_fingerprint(char text[HP3_FINGERPRINT_LEN], const uint8_t public[HP3_PUBLIC_LEN]);

/*
 * *ends: from this host to the peer. -EINVAL: `theirs` has low order, so the shared point is no
 * secret.
 */
int hp3_identity_pair(struct hp3_pair_secrets *secrets, const struct hp3_identity *ours,
	const uint8_t theirs[HP3_PUBLIC_LEN], const struct hp3_pair_ends *ends);
