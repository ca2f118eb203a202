/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include "probes/answer.h"
#include "probes/datagram.h"
#include "probes/peer.h"

#define ANSWER_MAGIC 0x68u
#define FLAG_CE      0x01u
#define ANSWER_TAG   24u

static uint64_t tag_of(const uint8_t *p, const struct hp3_addressing *a, uint16_t port,
	const struct hp3_probe_key *key, uint32_t cookie)
{
	uint8_t in[ANSWER_TAG + sizeof(cookie)];

	memcpy(in, p, ANSWER_TAG);
	hp3_put_be32(in + ANSWER_TAG, hp3_pair_keyed(key, a) ? 0 : cookie);
	return hp3_tag(key, &(struct hp3_tag_input){HP3_TAG_ANSWER, a, port, in, sizeof(in)});
}

int hp3_answer_build(void *buf, size_t cap, const struct hp3_parsed *probe,
	const struct hp3_answer *answer, const struct hp3_receiver *rx)
{
	const struct hp3_probe_key *key = &rx->keys->key[answer->key];
	uint32_t cookie = hp3_peer_cookie(probe->bytes, probe->v);
	uint8_t p[HP3_ANSWER_LEN] = {ANSWER_MAGIC};
	struct hp3_addressing a;

	hp3_addressing_reply(probe->bytes, probe->v, probe->v->sport, &a);
	hp3_addressing_class(&a, answer->dscp);
	p[1] = (uint8_t)(HP3_PROBES_VERSION << 4 | (answer->ce ? FLAG_CE : 0));
	hp3_put_be32(p + 4, answer->id);
	p[2] = (uint8_t)(answer->clock_us >> 32);
	hp3_put_be32(p + 8, (uint32_t)answer->clock_us);
	hp3_put_be64(p + ANSWER_TAG, tag_of(p, &a, rx->port, key, cookie));
	return hp3_build_udp(buf, cap, &a, rx->port, p, sizeof(p));
}

static enum hp3_answer_fate drop_answer(uint64_t *counter)
{
	++*counter;
	return HP3_ANSWER_DROP;
}

/* The cookie of the probe that *d answers. */
static uint32_t cookie_of(
	const struct hp3_datagram *d, uint32_t id, const struct hp3_probe_key *secret)
{
	struct hp3_addressing to = {.ipv6 = d->ipv6, .sport = hp3_be16(d->l4)};

	memcpy(to.src_ip, d->dst, d->ipv6 ? 16 : 4);
	memcpy(to.dst_ip, d->src, d->ipv6 ? 16 : 4);
	return hp3_probe_cookie(secret, &to, id);
}

/* Index of the key that made the tag, or -EACCES. */
static int key_of_answer(const struct hp3_datagram *d, const struct hp3_receiver *rx)
{
	const struct hp3_addressing a = hp3_datagram_addressing(d);
	const uint8_t *p = d->l4 + 8;
	uint32_t cookie = cookie_of(d, hp3_be32(p + 4), rx->secret);

	for (uint32_t i = 0; i < hp3_probe_keys(rx->keys, &a); i++) {
		if (hp3_be64(p + ANSWER_TAG) == tag_of(p, &a, rx->port, &rx->keys->key[i], cookie))
			return (int)i;
	}
	return -EACCES;
}

enum hp3_answer_fate hp3_answer_read(
	const struct hp3_parsed *f, const struct hp3_receiver *rx, struct hp3_answer *answer)
{
	struct hp3_probe_stats *stats = rx->stats;
	struct hp3_datagram d;
	const uint8_t *p;
	int key;

	if (hp3_datagram_to(f, rx->port, &d) < 0 || d.len != 8 + HP3_ANSWER_LEN ||
		d.l4[8] != ANSWER_MAGIC)
		return HP3_ANSWER_NONE;
	p = d.l4 + 8;
	if (hp3_be16(d.l4 + 4) != d.len || hp3_datagram_sum(&d) != 0)
		return drop_answer(&stats->answers_bad_sum);
	if (p[1] >> 4 != HP3_PROBES_VERSION)
		return drop_answer(&stats->answers_version);

	key = key_of_answer(&d, rx);
	if (key < 0)
		return drop_answer(&stats->answers_bad_tag);
	*answer = (struct hp3_answer){.id = hp3_be32(p + 4),
		.ce = p[1] & FLAG_CE,
		.key = (uint8_t)key,
		.clock_us = (uint64_t)p[2] << 32 | hp3_be32(p + 8)};
	stats->answers++;
	stats->old_key += (uint64_t)key;
	return HP3_ANSWER_OK;
}
