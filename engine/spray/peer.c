/* SPDX-License-Identifier: BSD-3-Clause */
/* What is remembered of the lanes to each peer. */
#include "engine/spray/spray.h"

uint32_t hp3_spray_peers(uint32_t flows)
{
	uint32_t sets = 1;

	while (sets * 2 < flows)
		sets *= 2;
	return sets * HP3_SPRAY_WAYS;
}

#define PORT_MIN 0xc000u
#define BLOCKS   ((0x10000u - PORT_MIN) / HP3_LANES)

static uint64_t mixed(uint64_t x)
{
	return (x ^ x >> 32) * 0x9e3779b97f4a7c15u;
}

uint16_t hp3_spray_base(const struct hp3_engine *e, uint64_t addr)
{
	uint64_t h = mixed(mixed(addr ^ e->spraying->salt));

	return (uint16_t)(PORT_MIN + (h >> 48) % BLOCKS * HP3_LANES);
}

static bool is_of(const struct hp3_spray_peer *p, const struct hp3_flow *f)
{
	return p->used != 0 && p->addr == f->addr && p->vlan == f->vlan &&
	       p->ipv6 == ((f->flags & HP3_FF_IPV6) != 0);
}

static uint32_t set_of(const struct hp3_spraying *s, const struct hp3_flow *f)
{
	return (uint32_t)(mixed(f->addr ^ (uint64_t)f->vlan << 48) >> 40) & (s->sets - 1);
}

static struct hp3_spray_peer *find(const struct hp3_spraying *s, const struct hp3_flow *f)
{
	struct hp3_spray_peer *set = &s->peer[set_of(s, f) * HP3_SPRAY_WAYS];

	for (uint32_t i = 0; i < HP3_SPRAY_WAYS; i++)
		if (is_of(&set[i], f))
			return &set[i];
	return NULL;
}

/* One that nobody uses, for longest; NULL: there is none. */
static struct hp3_spray_peer *oldest(const struct hp3_spraying *s, const struct hp3_flow *f)
{
	struct hp3_spray_peer *set = &s->peer[set_of(s, f) * HP3_SPRAY_WAYS], *best = NULL;

	for (uint32_t i = 0; i < HP3_SPRAY_WAYS; i++)
		if (set[i].users == 0 && (best == NULL || set[i].used < best->used))
			best = &set[i];
	return best;
}

uint16_t hp3_spray_peer_get(struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	struct hp3_spray_peer *p = find(e->spraying, f);

	if (p == NULL) {
		p = oldest(e->spraying, f);
		if (p == NULL)
			return HP3_NO_SPRAY;
		*p = (struct hp3_spray_peer){.addr = f->addr,
			.vlan = f->vlan,
			.ipv6 = (f->flags & HP3_FF_IPV6) != 0,
			.base = hp3_spray_base(e, f->addr)};
	}
	p->used = now | 1;
	p->users++;
	return (uint16_t)(p - e->spraying->peer);
}

/* Whose lane it is; NULL: nobody's. */
static struct hp3_spray_peer *with(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port)
{
	struct hp3_spray_peer *p = find(e->spraying, f);

	return p != NULL && (uint32_t)(port ^ p->base) < e->cfg.spray.lanes ? p : NULL;
}

void hp3_spray_probes(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now)
{
	struct hp3_spread_params params = hp3_spread_params_of(e);
	struct hp3_spray_peer *p = with(e, f, port);

	if (p != NULL)
		hp3_spread_asked(&p->spread, &params, port ^ p->base, now);
}

void hp3_spray_probed(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port,
	uint32_t rtt_ns, bool marked, uint64_t now)
{
	struct hp3_spread_params params = hp3_spread_params_of(e);
	struct hp3_spray_peer *p = with(e, f, port);

	if (p != NULL)
		hp3_spread_answered(
			&p->spread, &params, port ^ p->base, marked ? UINT32_MAX : rtt_ns, now);
}
