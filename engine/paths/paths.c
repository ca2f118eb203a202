/* SPDX-License-Identifier: BSD-3-Clause */
/* Path tables of address pairs. */
#include "engine/paths/paths.h"
#include "engine/flows/keys.h"
#include "engine/part.h"
#include "ppp/ports.h"

struct hp3_paths *hp3_paths_of(struct hp3_engine *e, uint32_t pair)
{
	struct hp3_pair *p = &e->pairs.pairs[pair];
	struct hp3_paths *t = &e->paths[pair];
	struct hp3_tuple tuple = {.dport = HP3_ROCE_UDP_PORT, .ipv6 = p->ipv6};

	if (p->paths_ready)
		return t;
	hp3_paths_init(t, &e->cfg.paths, hp3_random(&e->rng));
	memcpy(tuple.src, p->local, 16);
	memcpy(tuple.dst, p->remote, 16);
	if (e->cfg.model != NULL)
		hp3_paths_identity_model(t, e->cfg.model, &tuple);
	if (e->block_salt != 0) /* then probes of a port also measure an EV */
		t->block = hp3_port_block(
			hp3_key_addr(e, HP3_ENDS(p)), e->block_salt, HP3_PATHS_BLOCK);
	p->paths_ready = true;
	return t;
}

static bool has_quality(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port,
	enum hp3_quality quality, uint64_t now)
{
	struct hp3_paths *t = hp3_paths_of(e, f->pair);
	int at = hp3_paths_get(t, port, f->rqpn, now);

	return at >= 0 && hp3_paths_quality(t, at, now) == quality;
}

bool hp3_path_has_failed(
	struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now)
{
	return has_quality(e, f, port, HP3_QUALITY_FAILED, now);
}

bool hp3_path_is_lossy(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now)
{
	return has_quality(e, f, port, HP3_QUALITY_LOSSY, now);
}

static void take_paths(struct hp3_engine *e, struct hp3_arena *a)
{
	HP3_TAKE(a, e->paths, e->cfg.max_pairs);
}

const struct hp3_part hp3_paths_part = {.is_on = hp3_is_probing, .take = take_paths};
