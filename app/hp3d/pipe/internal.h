/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_PIPE_INTERNAL_H
#define HP3D_PIPE_INTERNAL_H
/*
 * What a pipe consists of, for its own files: the way of packets (pipe.c), what the engine wants
 * done beside them (act.c), commands (command.c), set-up (setup.c).
 */
#include "app/hp3d/pipe/pipe.h"
#include "app/hp3d/pipe/tally.h"

#define HP3D_OUT_VECTOR 64u

struct hp3d_pipe_out {
	hp3d_send_fn *send;
	void *ctx;
	uint16_t n;
	struct rte_mbuf *m[HP3D_OUT_VECTOR];
};

struct hp3d_pipe {
	struct hp3_engine *engine;
	size_t engine_size;
	struct rte_mbuf **held; /* by the engine's number */
	uint32_t held_peak, unroomed; /* most held; held since hp3d_pipe_make_room() */
	struct rte_mempool *pool; /* what packets come from; NULL: it does not matter */
	unsigned sharers;
	struct hp3d_agent *agent; /* NULL: hp3d says nothing by itself (replay) */
	uint64_t learnt; /* flows created when neighbours were learnt last */
	uint64_t learnt_at; /* when they were learnt from all packets of a burst */
	uint32_t unlearnt; /* bursts of the RNIC since then */
	struct hp3d_pipe_out out[2];
	hp3d_event_fn *on_event;
	void *event_ctx;
	hp3d_actuate_fn *actuate; /* NULL: inline */
	void *actuate_ctx;
	struct hp3_flow_info leaving; /* while the engine removes that flow */
	bool mute; /* nobody carries probes */
	uint32_t missed; /* hp3_missed() goes on there; HP3_NO_FLOW: it has ended */
	uint16_t rail, worker;
	struct hp3d_pipe_counters c;
	struct hp3_acts acts;
	struct hp3_pkt pkts[HP3D_BURST_MAX];
	struct hp3_verdict verdicts[HP3D_BURST_MAX];
	struct hp3d_tally tally;
};

/* What waits in the vector is handed over. */
void hp3d_pipe_flush(struct hp3d_pipe *p, enum hp3_dir dir);

static inline void hp3d_pipe_emit(struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf *m)
{
	struct hp3d_pipe_out *o = &p->out[dir];

	o->m[o->n++] = m;
	if (o->n == HP3D_OUT_VECTOR)
		hp3d_pipe_flush(p, dir);
}

/* The engine is told how much it may hold: now and then, and after so many more were held. */
#define HP3D_ROOM_EVERY 32u /* packets */
void hp3d_pipe_make_room(struct hp3d_pipe *p);

/* What an action says, but that those which follow the packet in hand come last (pipe.c). Packets
 * that it sets free wait in the vectors. */
void hp3d_pipe_act(struct hp3d_pipe *p, const struct hp3_act *a, uint64_t now);
/* Held packets for the local RNIC, in order; nothing about them changes. */
void hp3d_pipe_deliver(struct hp3d_pipe *p, uint32_t held, uint32_t count);
/* To follow every call of the engine without a packet: its actions are carried out, all of them,
 * and the vectors leave. */
void hp3d_pipe_settle(struct hp3d_pipe *p, uint64_t now);

#endif
