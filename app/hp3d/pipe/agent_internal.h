/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_AGENT_INTERNAL_H
#define HP3D_AGENT_INTERNAL_H
/*
 * What an agent consists of, for its own files: set-up (agent.c), what it says (agent_say.c), what
 * is said to it (agent_take.c).
 */
#include <time.h>
#include "app/hp3d/pipe/agent.h"
#include "probes/responder.h"

#define HP3D_AGENT_FRAME_MAX 256u

struct hp3d_agent {
	struct rte_mempool *pool;
	struct hp3_responder *responder;
	struct hp3_probe_key key;
	uint16_t port;
	uint32_t clock_s;
	struct hp3d_agent_counters c;
	struct hp3_probe_stats stats;
	struct hp3_tracer tracer;
	struct hp3d_neighbours neighbours;
};

/* Seconds since 1970, as probes carry them. */
static inline uint64_t hp3d_agent_clock(void)
{
	return (uint64_t)time(NULL);
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
