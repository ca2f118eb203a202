/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The parts of a pipe, for its own files: the packet path (pipe.c), the engine's actions (act.c),
 * commands (command.c), set-up (setup.c).
 */
#include "app/hp3d/pipe/bond.h"
#include "app/hp3d/pipe/pipe.h"
#include "app/hp3d/pipe/tally.h"

#include <rte_mbuf.h>

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
	struct rte_mbuf **held; /* held packets, by the engine's handle */
	uint32_t held_peak,
		unroomed; /* most packets held at once; packets held since hp3d_pipe_make_room() */
	struct rte_mempool *pool; /* pool of packet buffers; NULL: no pool bounds the holds */
	unsigned sharers;
	struct hp3d_agent *agent; /* NULL: hp3d sends no packets of its own (replay) */
	struct hp3d_bond *bond; /* NULL: the pipe has one rail */
	uint64_t learnt; /* number of flows ever created, at the time when neighbours were last
			    learnt */
	uint64_t learnt_at; /* when neighbours were last learnt from all packets of a burst */
	uint32_t unlearnt; /* bursts of the RNIC since learnt_at */
	struct hp3d_pipe_out out[2];
	hp3d_event_fn *on_event;
	void *event_ctx;
	hp3d_actuate_fn *actuate; /* NULL: inline */
	void *actuate_ctx;
	struct hp3_flow_info leaving; /* a flow, while the engine removes it */
	bool mute; /* probes cannot be sent */
	/* flow from which hp3_missed() continues; HP3_NO_FLOW: hp3_missed() has ended */
	uint32_t missed;
	uint16_t rail, worker;
	struct hp3d_pipe_counters c;
	struct hp3_acts acts;
	struct hp3_pkt pkts[HP3D_BURST_MAX];
	struct hp3_verdict verdicts[HP3D_BURST_MAX];
	struct hp3d_tally tally;
};

/* Hands the vector's packets to send(). */
void hp3d_pipe_flush(struct hp3d_pipe *p, enum hp3_dir dir);

static inline void hp3d_pipe_emit(struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf *m)
{
	struct hp3d_pipe_out *o = &p->out[dir];

	o->m[o->n++] = m;
	if (o->n == HP3D_OUT_VECTOR)
		hp3d_pipe_flush(p, dir);
}

/* Sets how many packets the engine may hold. Called now and then, and after each HP3D_ROOM_EVERY
 * packets that were held. */
#define HP3D_ROOM_EVERY 32u /* packets */
void hp3d_pipe_make_room(struct hp3d_pipe *p);

/* Sends a packet that hp3d made for the flow. HP3_NO_FLOW: for no flow. */
static inline void hp3d_pipe_emit_own(
	struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf *m, uint32_t flow)
{
	p->c.own++;
	if (p->bond != NULL)
		m->port = hp3d_bond_of_flow(p->bond, flow);
	hp3d_pipe_emit(p, dir, m);
}

/* Carries out an action. The caller orders the actions and the packet in hand (pipe.c). Released
 * packets are put into the output vectors. */
void hp3d_pipe_act(struct hp3d_pipe *p, const struct hp3_act *a, uint64_t now);
/* Sends held packets to the local RNIC, in order and unchanged. */
void hp3d_pipe_deliver(struct hp3d_pipe *p, uint32_t held, uint32_t count);
/* Call it after every call of the engine without a packet: it carries out all actions and flushes
 * the vectors. */
void hp3d_pipe_settle(struct hp3d_pipe *p, uint64_t now);
