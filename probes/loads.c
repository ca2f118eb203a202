/* SPDX-License-Identifier: BSD-3-Clause */
#include "probes/loads.h"
#include "probes/datagram.h"

#define LOADS_MAGIC 0x6cu
#define LOADS_BODY  12u
#define LOADS_TAG   8u

static uint8_t in_a_byte(uint16_t count)
{
	return count < UINT8_MAX ? (uint8_t)count : UINT8_MAX;
}

int hp3_loads_build(void *buf, size_t cap, const struct hp3_addressing *a,
	const struct hp3_loads *report, uint16_t port, const struct hp3_probe_key *key)
{
	uint8_t p[LOADS_BODY + LOADS_TAG] = {LOADS_MAGIC, HP3_PROBES_VERSION << 4,
		in_a_byte(report->count.out), in_a_byte(report->count.in)};
	struct hp3_addressing from = *a;

	from.sport = port;
	hp3_put_be64(p + 4, report->clock_us);
	hp3_put_be64(p + LOADS_BODY, hp3_tag(key, HP3_TAG_LOADS, &from, port, p, LOADS_BODY));
	return hp3_build_udp(buf, cap, &from, port, p, sizeof(p));
}

static enum hp3_loads_fate drop_loads(uint64_t *counter)
{
	++*counter;
	return HP3_LOADS_DROP;
}

bool hp3_loads_counts(const struct hp3_loads_ear *ear, const struct hp3_datagram *d,
	enum hp3_tag_kind kind, uint64_t stamp)
{
	struct hp3_probe_stats *stats = ear->stats;
	uint64_t *const why[] = {[HP3_HEARD_CLOCK] = &stats->messages_bad_clock,
		[HP3_HEARD_OLD] = &stats->messages_old,
		[HP3_HEARD_AGAIN] = &stats->messages_replayed,
		[HP3_HEARD_NO_ROOM] = &stats->messages_no_room};
	const struct hp3_addressing a = hp3_datagram_addressing(d);
	enum hp3_heard_fate fate;

	fate = hp3_heard_take(ear->heard, &a, kind, stamp, &ear->time);
	if (fate != HP3_HEARD_NEW)
		++*why[fate];
	return fate == HP3_HEARD_NEW;
}

enum hp3_loads_fate hp3_loads_read(const void *frame, uint32_t len, const struct hp3_view *v,
	const struct hp3_loads_ear *ear, struct hp3_loads *report)
{
	struct hp3_probe_stats *stats = ear->stats;
	struct hp3_datagram d;
	const uint8_t *p;

	if (v->reason != HP3_PARSE_NOT_ROCE || hp3_datagram_find(frame, len, v, 17, &d) < 0 ||
		d.len < 8 + LOADS_BODY || hp3_be16(d.l4) != ear->port ||
		hp3_be16(d.l4 + 2) != ear->port || d.l4[8] != LOADS_MAGIC)
		return HP3_LOADS_NONE;
	p = d.l4 + 8;
	if (p[1] >> 4 != HP3_PROBES_VERSION)
		return drop_loads(&stats->messages_version);
	if (!hp3_datagram_is_keyed(&d, ear->keys))
		return drop_loads(&stats->messages_unkeyed);
	if ((p[1] & 15) != 0 || d.len != 8 + LOADS_BODY + LOADS_TAG ||
		hp3_be16(d.l4 + 4) != d.len || hp3_datagram_sum(&d) != 0)
		return drop_loads(&stats->messages_bad_form);
	if (!hp3_datagram_is_tagged(&d, HP3_TAG_LOADS, ear->port, LOADS_BODY, ear->keys))
		return drop_loads(&stats->messages_bad_tag);
	*report =
		(struct hp3_loads){.clock_us = hp3_be64(p + 4), .count = {.out = p[2], .in = p[3]}};
	if (!hp3_loads_counts(ear, &d, HP3_TAG_LOADS, report->clock_us))
		return HP3_LOADS_DROP;
	stats->loads++;
	return HP3_LOADS_OK;
}
