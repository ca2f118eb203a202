/* SPDX-License-Identifier: BSD-3-Clause */
#include "probes/answer.h"
#include "probes/datagram.h"
#include "probes/peer.h"

#define ANSWER_MAGIC 0x68u
#define FLAG_CE      0x01u
#define ANSWER_TAG   24u
#define COVERED      (ANSWER_TAG + 4u) /* bytes that the tag covers: at its own place, a cookie or 0 */

int hp3_answer_build(void *buf, size_t cap, const struct hp3_parsed *probe,
	const struct hp3_answer *answer, const struct hp3_receiver *rx)
{
	const struct hp3_probe_key *key = &rx->keys->key[answer->key];
	uint8_t p[HP3_ANSWER_LEN] = {ANSWER_MAGIC};
	struct hp3_addressing a;
	const struct hp3_tag_input in = {HP3_TAG_ANSWER, &a, rx->port, p, COVERED};

	hp3_addressing_reply(probe->bytes, probe->v, probe->v->sport, &a);
	hp3_addressing_class(&a, answer->dscp);
	p[1] = (uint8_t)(HP3_PROBES_VERSION << 4 | (answer->ce ? FLAG_CE : 0));
	hp3_put_be32(p + 4, answer->id);
	p[2] = (uint8_t)(answer->clock_us >> 32);
	hp3_put_be32(p + 8, (uint32_t)answer->clock_us);
	if (!hp3_pair_keyed(key, &a))
		hp3_put_be32(p + ANSWER_TAG, hp3_peer_cookie(probe->bytes, probe->v));
	hp3_put_be64(p + ANSWER_TAG, hp3_tag(key, &in));
	return hp3_build_udp(buf, cap, &a, rx->port, p, sizeof(p));
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
	uint8_t covered[COVERED] = {0};
	const struct hp3_tag_input in = {HP3_TAG_ANSWER, &a, rx->port, covered, COVERED};

	memcpy(covered, p, ANSWER_TAG);
	if (!hp3_pair_keyed(&rx->keys->key[0], &a))
		hp3_put_be32(covered + ANSWER_TAG, cookie_of(d, hp3_be32(p + 4), rx->secret));
	return hp3_tag_key(rx->keys, &in, hp3_be64(p + ANSWER_TAG));
}

enum hp3_message_fate hp3_answer_read(
	const struct hp3_parsed *f, const struct hp3_receiver *rx, struct hp3_answer *answer)
{
	struct hp3_probe_stats *stats = rx->stats;
	struct hp3_datagram d;
	const uint8_t *p;
	int key;

	if (hp3_datagram_to(f, rx->port, &d) < 0 || d.len != 8 + HP3_ANSWER_LEN ||
		d.l4[8] != ANSWER_MAGIC)
		return HP3_MESSAGE_NONE;
	p = d.l4 + 8;
	if (hp3_be16(d.l4 + 4) != d.len || hp3_datagram_sum(&d) != 0)
		return hp3_message_drop(&stats->answers_bad_sum);
	if (p[1] >> 4 != HP3_PROBES_VERSION)
		return hp3_message_drop(&stats->answers_version);

	key = key_of_answer(&d, rx);
	if (key < 0)
		return hp3_message_drop(&stats->answers_bad_tag);
	*answer = (struct hp3_answer){.id = hp3_be32(p + 4),
		.ce = p[1] & FLAG_CE,
		.key = (uint8_t)key,
		.clock_us = (uint64_t)p[2] << 32 | hp3_be32(p + 8)};
	stats->answers++;
	stats->old_key += (uint64_t)key;
	return HP3_MESSAGE_OK;
}
