/* SPDX-License-Identifier: BSD-3-Clause */
#include "probes/loads.h"
#include "probes/datagram.h"

#define MAGIC 0x6cu
#define HEAD  12u
#define ITEM  3u
#define TAG   8u

_Static_assert(HEAD + ITEM * HP3_LOADS_PATHS <= HP3_TAG_MAX, "one tag over all of it");

int hp3_loads_build(void *buf, size_t cap, const struct hp3_addressing *a,
	const struct hp3_loads *report, uint16_t port, const struct hp3_probe_key *key)
{
	uint8_t p[HEAD + ITEM * HP3_LOADS_PATHS + TAG] = {
		MAGIC, HP3_PROBES_VERSION << 4, report->n};
	struct hp3_addressing from = *a;
	uint32_t len = HEAD;

	from.sport = port;
	hp3_put_be64(p + 4, report->clock_us);
	for (uint32_t i = 0; i < report->n; i++, len += ITEM) {
		uint16_t count = report->path[i].count;

		hp3_put_be16(p + len, report->path[i].name);
		p[len + 2] = count < UINT8_MAX ? (uint8_t)count : UINT8_MAX;
	}
	hp3_put_be64(p + len, hp3_tag(key, HP3_TAG_LOADS, &from, port, p, len));
	return hp3_build_udp(buf, cap, &from, port, p, (uint16_t)(len + TAG));
}

static enum hp3_loads_fate drop(uint64_t *counter)
{
	++*counter;
	return HP3_LOADS_DROP;
}

enum hp3_loads_fate hp3_loads_read(const void *frame, uint32_t len, const struct hp3_view *v,
	uint16_t port, const struct hp3_probe_keys *keys, const struct hp3_loads_time *time,
	struct hp3_loads *report, struct hp3_probe_stats *stats)
{
	struct hp3_datagram d;
	const uint8_t *p;
	uint32_t body;

	if (v->reason != HP3_PARSE_NOT_ROCE || hp3_datagram_find(frame, len, v, 17, &d) < 0 ||
		d.len < 8 + HEAD || hp3_be16(d.l4) != port || hp3_be16(d.l4 + 2) != port ||
		d.l4[8] != MAGIC)
		return HP3_LOADS_NONE;
	p = d.l4 + 8;
	if (p[1] >> 4 != HP3_PROBES_VERSION)
		return drop(&stats->loads_version);
	if (!hp3_probe_keyed(&keys->key[0]))
		return drop(&stats->loads_unkeyed);
	body = HEAD + ITEM * p[2];
	if (p[2] > HP3_LOADS_PATHS || d.len != 8 + body + TAG || hp3_be16(d.l4 + 4) != d.len ||
		hp3_datagram_sum(&d) != 0)
		return drop(&stats->loads_bad_form);
	if (!hp3_datagram_is_tagged(&d, HP3_TAG_LOADS, port, body, keys))
		return drop(&stats->loads_bad_tag);
	*report = (struct hp3_loads){.clock_us = hp3_be64(p + 4), .n = p[2]};
	if (!hp3_loads_on_time(report->clock_us, time))
		return drop(&stats->loads_bad_clock);
	if (report->clock_us <= time->born)
		return drop(&stats->loads_old);
	for (uint32_t i = 0; i < report->n; i++)
		report->path[i] = (struct hp3_path_count){
			.name = hp3_be16(p + HEAD + ITEM * i), .count = p[HEAD + ITEM * i + 2]};
	stats->loads++;
	return HP3_LOADS_OK;
}
