/* SPDX-License-Identifier: BSD-3-Clause */
#include "probes/handshake.h"
#include <errno.h>
#include <sodium/crypto_generichash.h>
#include <sodium/crypto_shorthash.h>
#include <sodium/crypto_verify_16.h>
#include "probes/tag.h"

#define HANDSHAKE_MAGIC 0x6bu
#define HANDSHAKE_ASKED 4u
/* INIT */
#define INIT_PUBLIC   12u
#define INIT_INSTANCE 44u
#define INIT_BORN     52u
#define INIT_COOKIE   60u
#define INIT_PAD      76u
#define INIT_LEN      96u
/* COOKIE */
#define COOKIE_COOKIE 12u
#define COOKIE_LEN    28u
/* REPLY, CONFIRM */
#define PROOF_NONCE 12u
#define PUBLIC      20u
#define INSTANCE    52u
#define BORN        60u
#define PROOF       68u
#define PROOF_LEN   84u

_Static_assert(INIT_LEN == HP3_HANDSHAKE_MAX && PROOF_LEN <= INIT_LEN && COOKIE_LEN <= INIT_LEN,
	"no message that an INIT brings about is longer");
_Static_assert(crypto_shorthash_siphashx24_BYTES == HP3_COOKIE_LEN &&
		       crypto_shorthash_siphashx24_KEYBYTES == HP3_KEY_LEN,
	"a cookie is a tag");
_Static_assert(crypto_generichash_BYTES_MIN <= HP3_PROOF_LEN &&
		       crypto_generichash_KEYBYTES_MIN <= HP3_KEY_LEN &&
		       crypto_verify_16_BYTES == HP3_PROOF_LEN,
	"a proof is a MAC");

static uint32_t length_of(unsigned kind)
{
	switch (kind) {
	case HP3_HANDSHAKE_INIT:
		return INIT_LEN;
	case HP3_HANDSHAKE_COOKIE:
		return COOKIE_LEN;
	case HP3_HANDSHAKE_REPLY:
	case HP3_HANDSHAKE_CONFIRM:
		return PROOF_LEN;
	default:
		return 0;
	}
}

uint32_t hp3_handshake_write(uint8_t buf[HP3_HANDSHAKE_MAX], const struct hp3_handshake *h)
{
	memset(buf, 0, HP3_HANDSHAKE_MAX);
	buf[0] = HANDSHAKE_MAGIC;
	buf[1] = (uint8_t)(HP3_PROBES_VERSION << 4 | h->kind);
	hp3_put_be64(buf + HANDSHAKE_ASKED, h->asked);
	if (h->kind == HP3_HANDSHAKE_COOKIE) {
		memcpy(buf + COOKIE_COOKIE, h->cookie, HP3_COOKIE_LEN);
	} else if (h->kind == HP3_HANDSHAKE_INIT) {
		memcpy(buf + INIT_PUBLIC, h->public, HP3_PUBLIC_LEN);
		hp3_put_be64(buf + INIT_INSTANCE, h->instance);
		hp3_put_be64(buf + INIT_BORN, h->born_us);
		memcpy(buf + INIT_COOKIE, h->cookie, HP3_COOKIE_LEN);
	} else {
		hp3_put_be64(buf + PROOF_NONCE, h->nonce);
		memcpy(buf + PUBLIC, h->public, HP3_PUBLIC_LEN);
		hp3_put_be64(buf + INSTANCE, h->instance);
		hp3_put_be64(buf + BORN, h->born_us);
		memcpy(buf + PROOF, h->proof, HP3_PROOF_LEN);
	}
	return length_of(h->kind);
}

static void fields_of(const uint8_t *p, struct hp3_handshake *h)
{
	*h = (struct hp3_handshake){.kind = p[1] & 15, .asked = hp3_be64(p + HANDSHAKE_ASKED)};
	if (h->kind == HP3_HANDSHAKE_COOKIE) {
		memcpy(h->cookie, p + COOKIE_COOKIE, HP3_COOKIE_LEN);
	} else if (h->kind == HP3_HANDSHAKE_INIT) {
		memcpy(h->public, p + INIT_PUBLIC, HP3_PUBLIC_LEN);
		h->instance = hp3_be64(p + INIT_INSTANCE);
		h->born_us = hp3_be64(p + INIT_BORN);
		memcpy(h->cookie, p + INIT_COOKIE, HP3_COOKIE_LEN);
	} else {
		h->nonce = hp3_be64(p + PROOF_NONCE);
		memcpy(h->public, p + PUBLIC, HP3_PUBLIC_LEN);
		h->instance = hp3_be64(p + INSTANCE);
		h->born_us = hp3_be64(p + BORN);
		memcpy(h->proof, p + PROOF, HP3_PROOF_LEN);
	}
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
	if (d.len != 8 + length_of(p[1] & 15) || hp3_be16(d.l4 + 4) != d.len ||
		hp3_be16(p + 2) != 0 || hp3_datagram_sum(&d) != 0)
		return -EBADMSG;
	fields_of(p, h);
	memset(ends, 0, sizeof(*ends));
	hp3_pair_ends_set(ends, d.ipv6, d.src, d.dst);
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

	hp3_handshake_write(in, h);
	memcpy(in + PROOF, receiver, HP3_PUBLIC_LEN);
	crypto_generichash(proof, HP3_PROOF_LEN, in, PROOF + HP3_PUBLIC_LEN, key, HP3_KEY_LEN);
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
