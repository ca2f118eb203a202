/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keys on which this host and its peers agree (probes/keying.h): messages in and out, jobs for the
 * thread that computes (app/hp3d/keys), events. The lcore and that thread share only two rings.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_ring_elem.h>
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/agent_internal.h"
#include "app/hp3d/pipe/keyring.h"
#include "app/hp3d/pipe/memory.h"
#include "engine/policy.h"

#define JOBS     64u /* X25519 computations under way at a time */
#define PAUSE_NS 1000000ull /* between two INITs: many records may become due together */

static const uint8_t *find_agreed_key(const void *table, const struct hp3_pair_ends *ends)
{
	return hp3_keying_find(table, ends);
}

static struct rte_ring *make_ring(const char *agent, const char *kind, int socket)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "%s_%s", agent, kind);
	return rte_ring_create_elem(
		name, sizeof(struct hp3_keying_job), JOBS, socket, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

/* --- begin and end --- */

int hp3d_agent_keys_begin(
	struct hp3d_agent *a, const struct hp3_config *cfg, const char *name, int socket)
{
	const struct hp3d_identity *id = hp3d_identity();
	struct hp3_keying_config kc = {.identity = id->keys,
		.instance = id->instance,
		.born_us = id->born_us,
		.port = (uint16_t)cfg->probes.port,
		.peers = hp3d_agent_pairs(cfg),
		.jobs = {HP3_KEYING_JOBS, HP3_KEYING_JOBS},
		.cookies = {HP3_KEYING_COOKIES, HP3_KEYING_COOKIES}};
	size_t size = hp3_keying_size(&kc);
	void *mem;

	if (cfg->probes.keys != HP3_KEYS_AUTO)
		return 0;
	if (getrandom(kc.random, sizeof(kc.random), 0) != (ssize_t)sizeof(kc.random))
		return -errno;
	mem = hp3d_memory_get(cfg, HP3D_MEMORY_TABLES, size, socket);
	a->keying = mem != NULL ? hp3_keying_create(mem, size, &kc, &a->keying_stats) : NULL;
	explicit_bzero(&kc, sizeof(kc));
	if (a->keying == NULL) {
		hp3d_memory_put(mem, HP3D_MEMORY_TABLES, size);
		return -ENOMEM;
	}
	a->keying_size = size;
	a->jobs = make_ring(name, "jobs", socket);
	if (a->jobs == NULL)
		return -rte_errno;
	a->done = make_ring(name, "done", socket);
	return a->done != NULL ? 0 : -rte_errno;
}

void hp3d_agent_keys_end(struct hp3d_agent *a)
{
	rte_ring_free(a->jobs);
	rte_ring_free(a->done);
	hp3d_memory_put(a->keying, HP3D_MEMORY_TABLES, a->keying_size);
}

void hp3d_agent_keys_take(struct hp3d_agent *a, const struct hp3_config *cfg)
{
	const struct hp3_engine_config ec = hp3_policy_settled(&cfg->engine);

	a->asks = ec.moves_allowed || (ec.observe && !ec.silent);
	a->agrees = a->keying != NULL && hp3_config_agrees_on_keys(cfg);
	if (!a->agrees)
		return;
	a->keys.key[0].agreed = find_agreed_key;
	a->keys.key[0].table = a->keying;
}

const struct hp3_probe_key *hp3d_agent_agreed(const struct hp3d_agent *a)
{
	return a->agrees ? &a->keys.key[0] : NULL;
}

void hp3d_agent_become(struct hp3d_agent *a, const struct hp3_identity *identity, uint64_t now)
{
	if (a->keying != NULL)
		hp3_keying_become(a->keying, identity, now);
}

/* --- keys of peers --- */

bool hp3d_agent_is_keyed(const struct hp3d_agent *a, const struct hp3_ends *ends)
{
	struct hp3_addressing from = {.ipv6 = ends->ipv6};

	memcpy(from.src_ip, ends->remote, ends->ipv6 ? 16 : 4);
	memcpy(from.dst_ip, ends->local, ends->ipv6 ? 16 : 4);
	return hp3_pair_keyed(&a->keys.key[0], &from);
}

void hp3d_agent_key_heard(struct hp3d_agent *a, const struct hp3_ends *ends, uint64_t now)
{
	const struct hp3_pair_ends pair = hp3_pair_ends_of(ends->ipv6, ends->local, ends->remote);

	if (a->agrees)
		hp3_keying_heard(a->keying, &pair, now);
}

void hp3d_agent_key_begin(struct hp3d_agent *a, const struct hp3_ends *ends, uint64_t now)
{
	const struct hp3_pair_ends pair = hp3_pair_ends_of(ends->ipv6, ends->local, ends->remote);

	if (a->agrees && a->asks)
		hp3_keying_begin(a->keying, &pair, ends->vlan, now);
}

void hp3d_agent_pair_ended(struct hp3d_agent *a, const struct hp3_ends *ends)
{
	const struct hp3_pair_ends pair = hp3_pair_ends_of(ends->ipv6, ends->local, ends->remote);

	hp3d_neighbours_end(&a->neighbours, ends);
	if (a->agrees)
		hp3_keying_end(a->keying, &pair);
}

uint32_t hp3d_agent_key_list(
	const struct hp3d_agent *a, uint32_t *at, struct hp3_keying_info *info, uint32_t n)
{
	if (a != NULL && a->agrees)
		return hp3_keying_list(a->keying, at, info, n);
	*at = HP3_KEYING_LAST;
	return 0;
}

/* --- messages --- */

static struct rte_mbuf *message_to(
	struct hp3d_agent *a, struct hp3_addressing *to, const struct hp3_keying_message *m)
{
	struct rte_mbuf *buf = rte_pktmbuf_alloc(a->pool);

	if (buf == NULL) {
		a->c.probe_no_buffer++;
		return NULL;
	}
	to->sport = HP3_HANDSHAKE_PORT;
	hp3_addressing_class(to, a->dscp);
	return hp3d_agent_sized(
		buf, hp3_build_udp(rte_pktmbuf_mtod(buf, void *), HP3D_AGENT_FRAME_MAX, to, a->port,
			     m->bytes, (uint16_t)m->len));
}

/* Builds a message to a host with which the local RNIC has a connection. */
static struct rte_mbuf *send_message(struct hp3d_agent *a, const struct hp3_keying_message *m)
{
	const struct hp3_pair_ends *ends = &m->to;
	const struct hp3_ends there = {ends->ipv6, m->vlan, ends->src, ends->dst};
	const struct hp3d_neighbour *n = hp3d_neighbours_find(&a->neighbours, &there);
	struct hp3_addressing to;

	if (n == NULL || !n->peer) {
		a->c.probe_no_route++;
		return NULL;
	}
	to = n->a;
	return message_to(a, &to, m);
}

/* This host agrees on no keys: drops and counts a message about keys. True: it was one. */
static bool refuse_message(struct hp3d_agent *a, const struct hp3_pkt *pkt)
{
	struct hp3_pair_ends ends;
	struct hp3_handshake h;

	if (hp3_handshake_read(HP3_PARSED(pkt), a->port, &ends, &h) == -ENOMSG)
		return false;
	a->c.keys_refused++;
	return true;
}

bool hp3d_agent_take_keying(
	struct hp3d_agent *a, const struct hp3_pkt *pkt, uint64_t now, struct rte_mbuf **answer)
{
	struct hp3_keying_message out;
	struct hp3_addressing back;

	if (!a->agrees)
		return refuse_message(a, pkt);
	switch (hp3_keying_take(a->keying, HP3_PARSED(pkt), now, &out)) {
	case HP3_KEYING_NONE:
		return false;
	case HP3_KEYING_ANSWER:
		hp3_addressing_reply(pkt->frame, &pkt->v, a->port, &back);
		*answer = message_to(a, &back, &out);
		return true;
	default:
		return true;
	}
}

/* --- public keys --- */

static void give_jobs(struct hp3d_agent *a, uint64_t now)
{
	struct hp3_keying_job job;

	while (!rte_ring_full(a->jobs) && hp3_keying_job(a->keying, now, &job))
		rte_ring_sp_enqueue_elem(a->jobs, &job, sizeof(job));
}

struct rte_mbuf *hp3d_agent_due(struct hp3d_agent *a, uint64_t now)
{
	struct hp3_keying_message out;
	struct hp3_keying_job job;
	struct rte_mbuf *m;

	if (!a->agrees)
		return NULL;
	give_jobs(a, now);
	while (rte_ring_sc_dequeue_elem(a->done, &job, sizeof(job)) == 0) {
		m = hp3_keying_done(a->keying, &job, now, &out) ? send_message(a, &out) : NULL;
		if (m != NULL)
			return m;
	}
	if (!a->asks || now < a->init_at || !hp3_keying_tick(a->keying, now, &out))
		return NULL;
	a->init_at = now + PAUSE_NS;
	return send_message(a, &out);
}

bool hp3d_agent_compute(struct hp3d_agent *a)
{
	struct hp3_keying_job job;

	if (a->jobs == NULL || rte_ring_full(a->done) ||
		rte_ring_sc_dequeue_elem(a->jobs, &job, sizeof(job)) != 0)
		return false;
	hp3_keying_compute(&job);
	rte_ring_sp_enqueue_elem(a->done, &job, sizeof(job));
	explicit_bzero(&job, sizeof(job));
	return true;
}

/* --- events --- */

static const enum hp3_event_type types[] = {
	[HP3_KEYING_KEYED] = HP3_EVENT_KEYED,
	[HP3_KEYING_REPLACED] = HP3_EVENT_IDENTITY,
	[HP3_KEYING_CLONED] = HP3_EVENT_CLONED,
};

bool hp3d_agent_key_event(struct hp3d_agent *a, struct hp3d_event *out, uint64_t now)
{
	struct hp3_keying_event event;

	if (!a->agrees || !hp3_keying_event(a->keying, &event))
		return false;
	*out = (struct hp3d_event){.event = {.t_ns = now,
					   .type = (uint8_t)types[event.kind],
					   .flow = HP3_NO_FLOW,
					   .to = event.change},
		.flow = {.ipv6 = event.ends.ipv6}};
	memcpy(out->flow.local, event.ends.src, sizeof(out->flow.local));
	memcpy(out->flow.remote, event.ends.dst, sizeof(out->flow.remote));
	hp3_fingerprint(out->identity, event.public);
	if (event.kind == HP3_KEYING_REPLACED)
		hp3_fingerprint(out->identity_before, event.before);
	if (event.kind == HP3_KEYING_CLONED && event.change)
		__atomic_store_n(&a->cloned, true, __ATOMIC_RELEASE);
	return true;
}

bool hp3d_agent_is_cloned(struct hp3d_agent *a)
{
	return __atomic_exchange_n(&a->cloned, false, __ATOMIC_ACQ_REL);
}

const struct hp3_keying_stats *hp3d_agent_keying_stats(const struct hp3d_agent *a)
{
	return &a->keying_stats;
}
