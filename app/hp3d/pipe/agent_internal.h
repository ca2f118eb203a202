/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The parts of an agent, for its own files: set-up (agent.c), packets that it sends (agent_send.c),
 * packets that it receives (agent_take.c).
 */
#include <rte_mbuf.h>
#include "app/clock.h"
#include "app/hp3d/pipe/agent.h"
#include "probes/keying.h"
#include "probes/responder.h"

#define HP3D_AGENT_FRAME_MAX (256u + HP3_PEER_PAD_MAX)

struct hp3d_agent {
	struct rte_mempool *pool;
	struct hp3_responder *responder;
	struct hp3_probe_keys keys; /* keys with which messages are accepted */
	uint8_t use; /* index of the key with which this host sends */
	uint64_t change_ns; /* from this time on, send with the first key */
	/* wait before a change of key for which change_ns is not set yet; 0: none */
	uint32_t wait_s;
	struct hp3_probe_key secret; /* secret of this host's cookies */
	struct hp3_heard *heard; /* replay protection for messages of peers */
	uint64_t sent_stamp_us; /* stamp of the latest message sent */
	uint16_t port;
	uint8_t dscp; /* DSCP of packets for peers; HP3_DSCP_KEPT: the DSCP of data */
	uint32_t clock_s;
	hp3d_took_fn *took; /* NULL: these times are not known */
	void *took_ctx;
	struct hp3d_agent_counters c;
	struct hp3_probe_stats stats;
	struct hp3_tracer tracer;
	struct hp3d_neighbours neighbours;
	size_t neighbours_size;
	/* Keys that pairs agree on (agent_keys.c) */
	struct hp3_keying *keying; /* NULL: this host never agrees on keys */
	size_t keying_size;
	bool agrees; /* pairs agree on keys now: there is no probe_key */
	bool asks; /* the mode allows hp3d to begin key agreements, because it allows probes */
	bool cloned; /* this host has to create a new identity; read by the main thread */
	struct rte_ring *jobs, *done;
	uint64_t init_at; /* send no INIT message before this time */
	struct hp3_keying_stats keying_stats;
};

/* True: the two ends have a common key. */
bool hp3d_agent_is_keyed(const struct hp3d_agent *a, const struct hp3_ends *ends);
/* Returns 0 or a negative errno. */
int hp3d_agent_keys_begin(
	struct hp3d_agent *a, const struct hp3_config *cfg, const char *name, int socket);
void hp3d_agent_keys_end(struct hp3d_agent *a);
/* Call it after a->keys was set: begins or ends key agreement by pairs. */
void hp3d_agent_keys_take(struct hp3d_agent *a, const struct hp3_config *cfg);
/* Begins key agreement with the remote end, because the RNIC sends to it. */
void hp3d_agent_key_begin(struct hp3d_agent *a, const struct hp3_ends *ends, uint64_t now);
/* Call it when a message with a valid tag has arrived from the remote end. */
void hp3d_agent_key_heard(struct hp3d_agent *a, const struct hp3_ends *ends, uint64_t now);
/* As hp3d_agent_take(), for messages of key agreement. */
bool hp3d_agent_take_keying(
	struct hp3d_agent *a, const struct hp3_pkt *pkt, uint64_t now, struct rte_mbuf **answer);

/* Seconds since 1970, as probes carry them. */
static inline uint64_t hp3d_agent_clock(void)
{
	return (uint64_t)time(NULL);
}

static inline uint64_t hp3d_agent_clock_us(void)
{
	return hp3_clock_ns(CLOCK_REALTIME) / 1000;
}

/* `len`: length of the frame built in m; negative: it could not be built, and m is freed. */
static inline struct rte_mbuf *hp3d_agent_sized(struct rte_mbuf *m, int len)
{
	if (len < 0) {
		rte_pktmbuf_free(m);
		return NULL;
	}
	m->data_len = (uint16_t)len;
	m->pkt_len = (uint32_t)len;
	return m;
}
