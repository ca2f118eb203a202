/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/names.h"
#include "engine/info.h"
#include <errno.h>
#include "engine/flows/barred.h"
#include "engine/paths/paths.h"
#include "engine/spray/spray.h"

bool hp3_pair_is_used(const struct hp3_engine *e, uint32_t pair)
{
	return pair < e->cfg.max_pairs && e->pairs.pairs[pair].nflows != 0;
}

uint32_t hp3_engine_sprayed(const struct hp3_engine *e)
{
	const struct hp3_spraying *s = e->spraying;
	uint32_t n = 0;

	for (uint32_t i = 0; s != NULL && i < s->nout; i++) {
		const struct hp3_spray_out *o = &s->out[s->outs[i]];

		n += o->state == HP3_SPRAY_SPRAYING && !o->reads;
	}
	return n;
}

uint32_t hp3_pair_of(const struct hp3_engine *e, uint32_t flow)
{
	const struct hp3_flow *f = flow < e->cfg.max_flows ? &e->flows[flow] : NULL;

	return f != NULL && (f->flags & HP3_FF_USED) ? f->pair : HP3_NO_PAIR;
}

uint32_t hp3_pair_find(const struct hp3_engine *e, const struct hp3_ends *ends)
{
	return hp3_pairs_find(&e->pairs, ends);
}

static enum hp3_presumed presumed_of(
	const struct hp3_engine *e, const struct hp3_ends *ends, uint64_t now)
{
	const struct hp3_spray_params *p = &e->cfg.spray;
	const struct hp3_spray_peer *peer;

	if (e->spraying == NULL || p->mode != HP3_SPRAY_AUTO || p->short_bytes == 0 ||
		!hp3_has_key(e, ends))
		return HP3_PRESUMED_OFF;
	peer = hp3_spray_peer_find(e, ends);
	if (peer != NULL && peer->differs)
		return HP3_PRESUMED_DIFFER;
	if (hp3_presumption_rests(&e->spraying->sends, now) ||
		hp3_presumption_suspended(&e->spraying->sends, now))
		return HP3_PRESUMED_LATE;
	return e->spraying->sends.alike ? HP3_PRESUMED_ALIKE : HP3_PRESUMED_UNKNOWN;
}

static void agreed_of(const struct hp3_engine *e, const struct hp3_ends *ends, uint64_t now,
	struct hp3_pair_info *info)
{
	const struct hp3_quota *peer;
	uint16_t quota;

	info->keyed = hp3_has_key(e, ends);
	info->presumed = (uint8_t)presumed_of(e, ends, now);
	if (e->spraying == NULL)
		return;
	quota = hp3_quota_find(&e->spraying->quotas, ends);
	if (quota == HP3_NO_QUOTA)
		return;
	peer = &e->spraying->quotas.peer[quota];
	info->sprays_out = peer->outs;
	info->sprays_in = peer->ins;
	info->reads_out = peer->read_outs;
	info->reads_in = peer->read_ins;
}

void hp3_pair_info_without_flow(const struct hp3_engine *e, const struct hp3_ends *ends,
	uint64_t now, struct hp3_pair_info *info)
{
	*info = (struct hp3_pair_info){.pair = HP3_NO_PAIR,
		.ipv6 = ends->ipv6,
		.vlan = ends->vlan,
		.peer = HP3_PEER_UNKNOWN};
	hp3_ends_copy(ends, info->local, info->remote);
	agreed_of(e, ends, now, info);
}

int hp3_pair_info(
	const struct hp3_engine *e, uint32_t pair, uint64_t now, struct hp3_pair_info *info)
{
	const struct hp3_pair *p;

	if (!hp3_pair_is_used(e, pair))
		return -ENOENT;
	p = &e->pairs.pairs[pair];
	*info = (struct hp3_pair_info){.pair = pair,
		.ipv6 = p->ipv6,
		.vlan = p->vlan,
		.flows = p->nflows,
		.rounds = p->nmoves,
		.pinned = hp3_is_pinned(p, now),
		.peer = HP3_PEER_UNKNOWN,
		.peer_seen_ns = p->peer_seen != 0 ? now - p->peer_seen : 0};
	if (p->peer_plain)
		info->peer = HP3_PEER_PLAIN;
	else if (p->peer_seen != 0)
		info->peer = HP3_PEER_HP3D;
	agreed_of(e, HP3_ENDS(p), now, info);
	if (p->paths_ready)
		info->identity = e->paths[pair].identity;
	if (e->tracing != NULL) {
		info->tracing = e->tracing->pair[pair].state;
		info->ttl = e->tracing->pair[pair].ttl;
		info->reason = e->tracing->pair[pair].reason;
	}
	memcpy(info->local, p->local, 16);
	memcpy(info->remote, p->remote, 16);
	return 0;
}

bool hp3_path_of_port(
	const struct hp3_engine *e, uint32_t flow, uint16_t port, uint32_t *id, struct hp3_hop *hop)
{
	uint32_t pair = hp3_pair_of(e, flow);

	*id = HP3_PATH_BY_PORT | port;
	if (pair != HP3_NO_PAIR && e->paths != NULL && e->pairs.pairs[pair].paths_ready)
		*id = hp3_paths_id(&e->paths[pair], port, e->flows[flow].rqpn);
	return hp3_hop_of(e, *id, hop);
}

uint32_t hp3_pair_paths(const struct hp3_engine *e, uint32_t pair, uint64_t now,
	struct hp3_path_info *info, uint32_t max)
{
	const struct hp3_paths *t;
	uint32_t n = 0;

	if (e->paths == NULL || !hp3_pair_is_used(e, pair) || !e->pairs.pairs[pair].paths_ready)
		return 0;
	t = &e->paths[pair];
	for (uint32_t i = 0; i < HP3_PATHS && n < max; i++) {
		const struct hp3_path *p = &t->path[i];

		if (p->id == HP3_PATH_NONE)
			continue;
		info[n] = (struct hp3_path_info){.port = p->port,
			.id = p->id,
			.rtt_ns = p->rtt,
			.base_rtt_ns = p->min_rtt,
			.marked_permille = (uint16_t)(p->marked / (HP3_MARKED_ALL / 1000)),
			.flows = p->flows,
			.losses = p->losses,
			.quality = (uint8_t)hp3_paths_quality(t, (int)i, now),
			.age_ns = p->seen != 0 ? now - p->seen : 0};
		info[n].named = hp3_hop_of(e, p->id, &info[n].hop);
		n++;
	}
	return n;
}

const char *hp3_path_identity_name(enum hp3_path_identity i)
{
	static const char *const names[] = {[HP3_IDENTITY_NONE] = "none",
		[HP3_IDENTITY_TRACE] = "trace",
		[HP3_IDENTITY_MODEL] = "model"};

	return HP3_NAME(names, i);
}

const char *hp3_trace_state_name(enum hp3_trace_state s)
{
	static const char *const names[] = {[HP3_TRACE_REST] = "rest",
		[HP3_TRACE_FIND_TTL] = "find-ttl",
		[HP3_TRACE_MAP] = "map",
		[HP3_TRACE_LINEAR] = "linear",
		[HP3_TRACE_TRACES] = "traces",
		[HP3_TRACE_BY_QPN] = "by-qpn",
		[HP3_TRACE_BY_OPCODE] = "by-opcode"};

	return HP3_NAME(names, s);
}

const char *hp3_peer_name(enum hp3_peer p)
{
	static const char *const names[] = {[HP3_PEER_UNKNOWN] = "unknown",
		[HP3_PEER_HP3D] = "hp3d",
		[HP3_PEER_PLAIN] = "plain"};

	return HP3_NAME(names, p);
}

const char *hp3_presumed_name(enum hp3_presumed p)
{
	static const char *const names[] = {[HP3_PRESUMED_OFF] = "off",
		[HP3_PRESUMED_UNKNOWN] = "unknown",
		[HP3_PRESUMED_ALIKE] = "alike",
		[HP3_PRESUMED_LATE] = "late",
		[HP3_PRESUMED_DIFFER] = "differ"};

	return HP3_NAME(names, p);
}
