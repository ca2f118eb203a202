/* SPDX-License-Identifier: BSD-3-Clause */
#include "probes/hello.h"
#include <errno.h>

#define HELLO_MAGIC 0x70u
#define QKEY        4u
#define CLOCK       8u
#define HELLO_NONCE 16u
#define QPNS        24u
#define HELLO_TAG   (QPNS + 4u * HP3_HELLO_QPNS)

_Static_assert(HELLO_TAG + 8 == HP3_HELLO_LEN, "the tag ends it");
_Static_assert(HELLO_TAG <= HP3_TAG_MAX, "one tag over all of it");

void hp3_hello_build(void *buf, const struct hp3_addressing *a, uint16_t dport,
	const struct hp3_hello *h, const struct hp3_probe_key *key)
{
	uint8_t *p = buf;

	memset(p, 0, HP3_HELLO_LEN);
	p[0] = HELLO_MAGIC;
	p[1] = (uint8_t)(HP3_PROBES_VERSION << 4 | h->kind);
	p[2] = h->n;
	hp3_put_be32(p + QKEY, h->qkey);
	hp3_put_be64(p + CLOCK, h->clock_us);
	hp3_put_be64(p + HELLO_NONCE, h->nonce);
	for (uint32_t i = 0; i < h->n; i++)
		hp3_put_be32(p + QPNS + 4 * i, h->qpn[i]);
	hp3_put_be64(p + HELLO_TAG,
		hp3_tag(key, &(struct hp3_tag_input){HP3_TAG_HELLO, a, dport, p, HELLO_TAG}));
}

static bool is_sound_hello(const struct hp3_hello *h)
{
	for (uint32_t i = 0; i < HP3_HELLO_QPNS; i++)
		if (h->qpn[i] > HP3_QPN_MASK || (i < h->n) != (h->qpn[i] != 0))
			return false;
	return h->kind == HP3_HELLO_ASK ? h->n == 0 : h->kind == HP3_HELLO_ANSWER && h->n != 0;
}

int hp3_hello_read(
	const struct hp3_hello_datagram *d, const struct hp3_probe_keys *keys, struct hp3_hello *h)
{
	const struct hp3_tag_input in = {HP3_TAG_HELLO, d->a, d->dport, d->bytes, HELLO_TAG};
	const uint8_t *p = d->bytes;
	int key;

	if (d->n != HP3_HELLO_LEN || p[0] != HELLO_MAGIC)
		return -EBADMSG;
	if (p[1] >> 4 != HP3_PROBES_VERSION)
		return -EPROTONOSUPPORT;
	*h = (struct hp3_hello){.kind = p[1] & 15,
		.n = p[2],
		.qkey = hp3_be32(p + QKEY),
		.clock_us = hp3_be64(p + CLOCK),
		.nonce = hp3_be64(p + HELLO_NONCE)};
	for (uint32_t i = 0; i < HP3_HELLO_QPNS; i++)
		h->qpn[i] = hp3_be32(p + QPNS + 4 * i);
	if (p[3] != 0 || h->n > HP3_HELLO_QPNS || !is_sound_hello(h))
		return -EBADMSG;
	h->hash = hp3_be64(p + HELLO_TAG);
	key = hp3_tag_key(keys, &in, h->hash);
	if (key < 0)
		return key;
	h->key = (uint8_t)key;
	return 0;
}
