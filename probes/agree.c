/* SPDX-License-Identifier: BSD-3-Clause */
#include "probes/agree.h"
#include "base/minmax.h"
#include "probes/datagram.h"

#define AGREE_MAGIC 0x73u
#define AGREE_BODY  48u
#define AGREE_TAG   8u
#define EVS_MAX     64u
#define PMTU_MIN    8u
#define PMTU_MAX    12u
#define KNOWN       (1u << 24) /* next */
#define ROOM        16u /* packets */

int hp3_agree_build(void *buf, size_t cap, const struct hp3_addressing *a,
	const struct hp3_agree *what, const struct hp3_probe_key *key)
{
	uint8_t p[AGREE_BODY + AGREE_TAG] = {AGREE_MAGIC,
		(uint8_t)(HP3_PROBES_VERSION << 4 | what->kind), what->pmtu_log2, what->evs};
	const struct hp3_tag_input in = {HP3_TAG_AGREE, a, a->sport, p, AGREE_BODY};

	hp3_put_be64(p + 4, what->stamp_us);
	hp3_put_be16(p + 12, what->port);
	hp3_put_be16(p + 14, what->in_use);
	hp3_put_be32(p + 16, what->keepalive_us);
	hp3_put_be32(p + 20, what->responder << 8 | what->reads);
	hp3_put_be32(p + 24, what->requester << 8 | hp3_min_u32(what->room / ROOM, UINT8_MAX));
	hp3_put_be32(p + 28, what->number);
	hp3_put_be32(p + 32, what->turn);
	hp3_put_be64(p + 36, what->slow);
	hp3_put_be32(p + 44, what->next == HP3_NO_PSN ? 0 : KNOWN | what->next);
	hp3_put_be64(p + AGREE_BODY, hp3_tag(key, &in));
	return hp3_build_udp(buf, cap, a, a->sport, p, sizeof(p));
}

/* Are the values of an authentic message in range? */
static bool has_right_values(const struct hp3_agree *a)
{
	return a->kind < HP3_AGREE_KIND_MAX &&
	       (a->pmtu_log2 == 0 || (a->pmtu_log2 >= PMTU_MIN && a->pmtu_log2 <= PMTU_MAX)) &&
	       a->evs != 0 && a->evs <= EVS_MAX;
}

/* Does this authentic message count, by its stamp (heard.h)? If not, the reason is counted. */
static bool is_new(const struct hp3_receiver *rx, const struct hp3_addressing *a, uint64_t stamp)
{
	struct hp3_probe_stats *stats = rx->stats;
	uint64_t *const why[] = {[HP3_HEARD_CLOCK] = &stats->messages_bad_clock,
		[HP3_HEARD_OLD] = &stats->messages_old,
		[HP3_HEARD_AGAIN] = &stats->messages_replayed,
		[HP3_HEARD_NO_ROOM] = &stats->messages_no_room};
	enum hp3_heard_fate fate;

	fate = hp3_heard_take(rx->heard, a, HP3_TAG_AGREE, stamp, &rx->time);
	if (fate != HP3_HEARD_NEW)
		++*why[fate];
	return fate == HP3_HEARD_NEW;
}

enum hp3_message_fate hp3_agree_read(
	const struct hp3_parsed *f, const struct hp3_receiver *rx, struct hp3_agree *what)
{
	struct hp3_probe_stats *stats = rx->stats;
	struct hp3_addressing a;
	struct hp3_tag_input in;
	struct hp3_datagram d;
	const uint8_t *p;
	uint32_t next;

	if (hp3_datagram_to(f, rx->port, &d) < 0 || d.len != 8 + AGREE_BODY + AGREE_TAG ||
		hp3_be16(d.l4) != rx->port || d.l4[8] != AGREE_MAGIC)
		return HP3_MESSAGE_NONE;
	p = d.l4 + 8;
	if (p[1] >> 4 != HP3_PROBES_VERSION)
		return hp3_message_drop(&stats->messages_version);
	a = hp3_datagram_addressing(&d);
	if (!hp3_pair_keyed(&rx->keys->key[0], &a))
		return hp3_message_drop(&stats->messages_unkeyed);
	if (hp3_be16(d.l4 + 4) != d.len || hp3_datagram_sum(&d) != 0)
		return hp3_message_drop(&stats->messages_bad_form);
	in = (struct hp3_tag_input){HP3_TAG_AGREE, &a, rx->port, p, AGREE_BODY};
	if (hp3_tag_key(rx->keys, &in, hp3_be64(p + AGREE_BODY)) < 0)
		return hp3_message_drop(&stats->messages_bad_tag);
	next = hp3_be32(p + 44);
	*what = (struct hp3_agree){.kind = p[1] & 15,
		.pmtu_log2 = p[2],
		.evs = p[3],
		.port = hp3_be16(p + 12),
		.in_use = hp3_be16(p + 14),
		.reads = (p[23] & 1) != 0,
		.responder = hp3_be32(p + 20) >> 8,
		.requester = hp3_be32(p + 24) >> 8,
		.room = (uint16_t)(p[27] * ROOM),
		.number = hp3_be32(p + 28),
		.turn = hp3_be32(p + 32),
		.keepalive_us = hp3_be32(p + 16),
		.stamp_us = hp3_be64(p + 4),
		.slow = hp3_be64(p + 36),
		.next = next & KNOWN ? next & HP3_PSN_MASK : HP3_NO_PSN};
	if (!has_right_values(what))
		return hp3_message_drop(&stats->messages_bad_form);
	if (!is_new(rx, &a, what->stamp_us))
		return HP3_MESSAGE_DROP;
	stats->agreements++;
	return HP3_MESSAGE_OK;
}
