/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_AGENT_INTERNAL_H
#define HP3D_AGENT_INTERNAL_H
/*
 * What an agent consists of, for its own files: set-up (agent.c), what it says (agent_say.c), what
 * is said to it (agent_take.c).
 */
#include <time.h>
#include "app/hp3d/pipe/agent.h"
#include "app/hp3d/pipe/mates.h"
#include "probes/responder.h"

#define HP3D_AGENT_FRAME_MAX (256u + HP3_PEER_PAD_MAX)

struct hp3d_agent {
	struct rte_mempool *pool;
	struct hp3_responder *responder;
	struct hp3_probe_keys keys; /* that are believed */
	uint8_t use; /* the one of them that we speak with */
	uint64_t change_ns; /* use the first one from then on */
	uint32_t wait_s; /* of a change under way that has no time yet; 0: none */
	struct hp3_probe_key secret; /* of our cookies */
	struct hp3_heard *heard; /* which messages of peers act */
	uint64_t told_us; /* stamp of the last message of ours */
	uint16_t port;
	uint8_t dscp; /* of what is for peers, HP3_DSCP_KEPT: that of data */
	uint32_t clock_s;
	hp3d_took_fn *took; /* NULL: nobody can tell */
	void *took_ctx;
	struct hp3d_agent_counters c;
	struct hp3_probe_stats stats;
	struct hp3_tracer tracer;
	struct hp3d_neighbours neighbours;
	struct hp3d_mates mates;
};

/* The two ends have a key. */
bool hp3d_agent_is_keyed(const struct hp3d_agent *a, const struct hp3_ends *ends);

/* Seconds since 1970, as probes carry them. */
static inline uint64_t hp3d_agent_clock(void)
{
	return (uint64_t)time(NULL);
}

static inline uint64_t hp3d_agent_clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static inline struct hp3_heard_time hp3d_agent_time(const struct hp3d_agent *a)
{
	return (struct hp3_heard_time){hp3d_agent_clock(), a->clock_s};
}

/* `len`: of the frame that was built into it; below 0: none could be. */
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

#endif
