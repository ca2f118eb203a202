/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include "ppp/placement.h"
#include "base/minmax.h"
#include "base/random.h"

int hp3_load_init(struct hp3_load *l, uint16_t *count, uint32_t paths)
{
	if (paths == 0 || paths > HP3_LOAD_PATHS)
		return -EINVAL;
	memset(count, 0, paths * sizeof(*count));
	l->count = count;
	l->paths = (uint16_t)paths;
	return 0;
}

void hp3_load_start(struct hp3_load *l, uint32_t path)
{
	if (path < l->paths && l->count[path] < UINT16_MAX)
		l->count[path]++;
}

void hp3_load_end(struct hp3_load *l, uint32_t path)
{
	if (path < l->paths && l->count[path] > 0)
		l->count[path]--;
}

int hp3_peer_load_init(struct hp3_peer_load *p, uint16_t *count, uint32_t paths)
{
	p->reported = 0;
	return hp3_load_init(&p->in, count, paths);
}

void hp3_peer_load_received(
	struct hp3_peer_load *p, const uint16_t *count, uint32_t n, uint64_t now)
{
	if (n > p->in.paths)
		n = p->in.paths;
	memset(p->in.count, 0, p->in.paths * sizeof(*count));
	memcpy(p->in.count, count, n * sizeof(*count));
	p->reported = now;
}

void hp3_peer_load_received_part(struct hp3_peer_load *p, uint32_t first, const uint16_t *count,
	uint32_t n, uint64_t max_age, uint64_t now)
{
	if (p->reported == 0 || now - p->reported > max_age)
		memset(p->in.count, 0, p->in.paths * sizeof(*count));
	for (uint32_t i = 0; i < n && first < p->in.paths; i++, first++)
		p->in.count[first] = count[i];
	p->reported = now;
}

uint32_t hp3_load_copy(const struct hp3_load *in, uint16_t *count, uint32_t max)
{
	uint32_t n = hp3_min_u32(in->paths, max);

	memcpy(count, in->count, n * sizeof(*count));
	return n;
}

void hp3_peer_load_placed(struct hp3_peer_load *p, uint32_t path)
{
	hp3_load_start(&p->in, path);
}

int hp3_place(const struct hp3_load *out, const struct hp3_peer_load *peer, const uint64_t *usable,
	uint64_t max_age, uint64_t now, uint64_t *rng)
{
	bool reported = peer && peer->reported && now - peer->reported <= max_age;
	uint64_t best = UINT64_MAX;
	uint32_t ties = 0;
	int path = -ENOENT;

	for (uint32_t i = 0; i < out->paths; i++) {
		uint32_t here = out->count[i], there = 0;
		uint64_t cost;

		if (usable && !(usable[i / 64] >> i % 64 & 1))
			continue;
		if (reported && i < peer->in.paths)
			there = peer->in.count[i];
		cost = (uint64_t)hp3_max_u32(here, there) << 32 | (here + there);
		if (cost < best) {
			best = cost;
			ties = 0;
		}
		/* takes each of n equal paths with probability 1 / n */
		if (cost == best && hp3_random_below(rng, ++ties) == 0)
			path = (int)i;
	}
	return path;
}
