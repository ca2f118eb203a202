/* SPDX-License-Identifier: BSD-3-Clause */
#include "probes/handshake.h"
#include <errno.h>
#include <sodium/crypto_generichash.h>
#include <sodium/crypto_shorthash.h>
#include <sodium/crypto_verify_16.h>
#include "probes/tag.h"

#define HANDSHAKE_MAGIC 0x6bu
#define HANDSHAKE_ASKED 4u
#define INIT_LEN        96u
#define COOKIE_LEN      28u
#define PROOF_LEN       84u /* REPLY, CONFIRM */
#define KIND_MASK       15u

_Static_assert(INIT_LEN == HP3_HANDSHAKE_MAX && PROOF_LEN <= INIT_LEN && COOKIE_LEN <= INIT_LEN,
	"no message that an INIT brings about is longer");
_Static_assert(crypto_shorthash_siphashx24_BYTES == HP3_COOKIE_LEN &&
		       crypto_shorthash_siphashx24_KEYBYTES == HP3_KEY_LEN,
	"a cookie is a tag");
_Static_assert(crypto_generichash_BYTES_MIN <= HP3_PROOF_LEN &&
		       crypto_generichash_KEYBYTES_MIN <= HP3_KEY_LEN &&
		       crypto_verify_16_BYTES == HP3_PROOF_LEN,
	"a proof is a MAC");

/* Where a kind has its fields, and its length; 0: it has no such field. All 0: no such kind. */
static const struct layout {
	uint8_t nonce, public, instance, born, cookie, proof, len;
} layouts[KIND_MASK + 1] = {
	[HP3_HANDSHAKE_INIT] = {0, 12, 44, 52, 60, 0, INIT_LEN},
	[HP3_HANDSHAKE_COOKIE] = {0, 0, 0, 0, 12, 0, COOKIE_LEN},
	[HP3_HANDSHAKE_REPLY] = {12, 20, 52, 60, 0, 68, PROOF_LEN},
	[HP3_HANDSHAKE_CONFIRM] = {12, 20, 52, 60, 0, 68, PROOF_LEN},
};

uint32_t hp3_handshake_write(uint8_t buf[HP3_HANDSHAKE_MAX], const struct hp3_handshake *h)
{
	const struct layout *l = &layouts[h->kind & KIND_MASK];

	memset(buf, 0, HP3_HANDSHAKE_MAX);
	buf[0] = HANDSHAKE_MAGIC;
	buf[1] = (uint8_t)(HP3_PROBES_VERSION << 4 | h->kind);
	hp3_put_be64(buf + HANDSHAKE_ASKED, h->asked);
	if (l->nonce != 0)
		hp3_put_be64(buf + l->nonce, h->nonce);
	if (l->public != 0) {
		memcpy(buf + l->public, h->public, HP3_PUBLIC_LEN);
		hp3_put_be64(buf + l->instance, h->instance);
		hp3_put_be64(buf + l->born, h->born_us);
	}
	if (l->cookie != 0)
		memcpy(buf + l->cookie, h->cookie, HP3_COOKIE_LEN);
	if (l->proof != 0)
		memcpy(buf + l->proof, h->proof, HP3_PROOF_LEN);
	return l->len;
}

static void fields_of(const uint8_t *p, struct hp3_handshake *h)
{
	const struct layout *l = &layouts[p[1] & KIND_MASK];

	*h = (struct hp3_handshake){
		.kind = p[1] & KIND_MASK, .asked = hp3_be64(p + HANDSHAKE_ASKED)};
	if (l->nonce != 0)
		h->nonce = hp3_be64(p + l->nonce);
	if (l->public != 0) {
		memcpy(h->public, p + l->public, HP3_PUBLIC_LEN);
		h->instance = hp3_be64(p + l->instance);
		h->born_us = hp3_be64(p + l->born);
	}
	if (l->cookie != 0)
		memcpy(h->cookie, p + l->cookie, HP3_COOKIE_LEN);
	if (l->proof != 0)
		memcpy(h->proof, p + l->proof, HP3_PROOF_LEN);
}

int hp3_handshake_read(const struct hp3_parsed *f, uint16_t port, struct hp3_pair_ends *ends,
	struct hp3_handshake *h)
{
	struct hp3_datagram d;
	const uint8_t *p;

	if (hp3_datagram_to(f, port, &d) < 0 || d.len < 8 + COOKIE_LEN ||
		d.l4[8] != HANDSHAKE_MAGIC)
		return -ENOMSG;
	if (hp3_be16(d.l4) >= HP3_PRIVILEGED)
		return -EACCES;
	p = d.l4 + 8;
	if (p[1] >> 4 != HP3_PROBES_VERSION)
		return -EPROTONOSUPPORT;
	if (d.len != 8u + layouts[p[1] & KIND_MASK].len || hp3_be16(d.l4 + 4) != d.len ||
		hp3_be16(p + 2) != 0 || hp3_datagram_sum(&d) != 0)
		return -EBADMSG;
	fields_of(p, h);
	*ends = hp3_pair_ends_of(d.ipv6, d.src, d.dst);
	return 0;
}

void hp3_handshake_cookie(uint8_t cookie[HP3_COOKIE_LEN], const uint8_t secret[HP3_KEY_LEN],
	const struct hp3_pair_ends *ends, const struct hp3_handshake *init, uint64_t slot)
{
	uint8_t in[sizeof(*ends) + HP3_PUBLIC_LEN + 2 * sizeof(uint64_t)], *p = in;

	memcpy(p, ends, sizeof(*ends));
	p += sizeof(*ends);
	memcpy(p, init->public, HP3_PUBLIC_LEN);
	p += HP3_PUBLIC_LEN;
	hp3_put_be64(p, init->asked);
	hp3_put_be64(p + sizeof(uint64_t), slot);
	crypto_shorthash_siphashx24(cookie, in, sizeof(in), secret);
}

static void proof_of(uint8_t proof[HP3_PROOF_LEN], const struct hp3_handshake *h,
	const uint8_t key[HP3_KEY_LEN], const uint8_t receiver[HP3_PUBLIC_LEN])
{
	uint8_t in[HP3_HANDSHAKE_MAX + HP3_PUBLIC_LEN];
	size_t n = layouts[h->kind & KIND_MASK].proof;

	hp3_handshake_write(in, h);
	memcpy(in + n, receiver, HP3_PUBLIC_LEN);
	crypto_generichash(proof, HP3_PROOF_LEN, in, n + HP3_PUBLIC_LEN, key, HP3_KEY_LEN);
}

void hp3_handshake_prove(struct hp3_handshake *h, const uint8_t key[HP3_KEY_LEN],
	const uint8_t receiver[HP3_PUBLIC_LEN])
{
	proof_of(h->proof, h, key, receiver);
}

bool hp3_handshake_is_proven(const struct hp3_handshake *h, const uint8_t key[HP3_KEY_LEN],
	const uint8_t receiver[HP3_PUBLIC_LEN])
{
	uint8_t proof[HP3_PROOF_LEN];

	proof_of(proof, h, key, receiver);
	return crypto_verify_16(proof, h->proof) == 0;
}
