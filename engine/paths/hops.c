/* SPDX-License-Identifier: BSD-3-Clause */
/* Switches that traces found, and their names, which all hosts share. */
#include "engine/paths/paths.h"
#include <errno.h>

/* FNV-1a, folded. No seed, because all hosts need the same result. */
uint16_t hp3_hop_name_of(bool ipv6, const uint8_t addr[16])
{
	uint32_t h = 2166136261u;

	for (unsigned i = 0; i < (ipv6 ? 16u : 4u); i++)
		h = (h ^ addr[i]) * 16777619u;
	h = (uint16_t)(h ^ h >> 16);
	return (uint16_t)(hp3_is_long_name((uint16_t)h) ? h - 2u : h);
}

/*
 * A free entry, or one that only peers have named and no flow is counted on: such names may be
 * forged.
 */
static int free_hop(struct hp3_tracing *t, const struct hp3_engine *e)
{
	int reported = -ENOSPC;

	for (int i = 0; i < (int)HP3_HOPS; i++) {
		if (!t->hop[i].used)
			return i;
		if (t->hop[i].seen == 0 &&
			(e->cfg.load_paths <= (unsigned)i || e->in.count[i] == 0))
			reported = i;
	}
	return reported;
}

/* Its entry; else the entry of a hop with this name from a peer; else a free one. */
static int entry_of(const struct hp3_engine *e, bool ipv6, const uint8_t addr[16], uint16_t name)
{
	const struct hp3_hop *hop = e->tracing->hop;
	int reported = -ENOENT;

	for (int i = 0; i < (int)HP3_HOPS; i++) {
		if (!hop[i].used || hop[i].name != name)
			continue;
		if (hop[i].seen == 0)
			reported = i;
		else if (hop[i].ipv6 == ipv6 && memcmp(hop[i].addr, addr, ipv6 ? 16 : 4) == 0)
			return i;
	}
	return reported >= 0 ? reported : free_hop(e->tracing, e);
}

int hp3_hop_met(struct hp3_engine *e, bool ipv6, const uint8_t addr[16])
{
	uint16_t name = hp3_hop_name_of(ipv6, addr);
	int at = entry_of(e, ipv6, addr, name);
	struct hp3_hop *h;

	if (at < 0)
		return at;
	h = &e->tracing->hop[at];
	if (h->seen == 0) {
		*h = (struct hp3_hop){.used = true,
			.ipv6 = ipv6,
			.name = name,
			.reported = h->used && h->reported};
		memcpy(h->addr, addr, ipv6 ? 16 : 4);
	}
	if (h->seen < UINT8_MAX)
		h->seen++;
	return at;
}

int hp3_path_number(struct hp3_engine *e, uint16_t name, bool add)
{
	struct hp3_tracing *t = e->tracing;
	int at;

	if (t == NULL)
		return name < e->cfg.load_paths ? name : -ENOENT;
	for (at = 0; at < (int)HP3_HOPS && !(t->hop[at].used && t->hop[at].name == name); at++)
		;
	if (at == (int)HP3_HOPS) {
		at = add ? free_hop(t, e) : -ENOENT;
		if (at >= 0)
			t->hop[at] = (struct hp3_hop){.used = true, .name = name};
	}
	if (at >= 0)
		t->hop[at].reported |= add;
	return at;
}

int hp3_path_name(const struct hp3_engine *e, uint32_t path)
{
	const struct hp3_tracing *t = e->tracing;

	if (t == NULL)
		return path < e->cfg.load_paths ? (int)path : -ENOENT;
	return path < HP3_HOPS && t->hop[path].used ? t->hop[path].name : -ENOENT;
}
