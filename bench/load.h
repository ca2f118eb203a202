/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The load of the bench: paired flows in a pipe of hp3d, and valid packets of these flows. A pipe
 * is one rail on one worker (app/hp3d/pipe/pipe.h). The packets take the steady path, which is the
 * code for the usual case. WRITE MIDDLE packets with consecutive PSNs leave. ACKs arrive that make
 * progress, but do not acknowledge the last packet in flight.
 *
 * Each flow is primed once. First, the bench announces the flow to the engine, and a WRITE MIDDLE
 * shows the engine the flow's PMTU. Then a READ and a WRITE put 2^21 PSNs in flight, and an ACK
 * acknowledges half of these. Afterwards, 2^20 ACKs can arrive for each flow. Also, 2^20 WRITE
 * packets of each flow can leave until 2^21 PSNs are in flight again. If READs are measured, flows
 * are primed only by the announcement and the WRITE MIDDLE.
 */
#include "app/hp3d/pipe/pipe.h"

struct rte_mbuf;

#define LOAD_BURST     32u
#define LOAD_BYTES     1024u /* payload of a WRITE MIDDLE */
#define LOAD_PAIRS     64u /* pairs of a local and a remote address */
#define LOAD_READ_LOG2 31u /* log2 of the bytes of the priming READ: 2^21 PSNs */

enum load_kind {
	LOAD_ACK,
	LOAD_WRITE,
	LOAD_PEER, /* WRITE MIDDLE packets that arrive from peers; RESEQUENCED only */
	LOAD_SERVED, /* READ RESPONSE MIDDLE packets of the local RNIC; READ_SPRAYED only */
	LOAD_READ, /* READ RESPONSE MIDDLE packets from peers; READ_ORDERED only */
	LOAD_KINDS
};

/* How the flows are set up. */
enum load_mode {
	LOAD_HOME, /* flows use their home ports */
	LOAD_MOVED, /* every flow is on a port other than its home port */
	LOAD_DRAIN, /* one flow in a hundred drains; ACKs only */
	LOAD_HOLD, /* as DRAIN, but WRITEs only; those of draining flows are held (load_acks()) */
	LOAD_DCQCN, /* as HOME, with `[cc] mode = dcqcn`; no packet is marked */
	LOAD_SPRAYED, /* LOAD_SPRAYS flows are sprayed over all EVs: WRITE packets (load_spray.h) */
	LOAD_RESEQUENCED, /* LOAD_SPRAYS flows of peers are resequenced: PEER packets */
	LOAD_READ_SPRAYED, /* as SPRAYED, but SERVED packets, for READs of peers */
	LOAD_READ_ORDERED, /* as RESEQUENCED, but READ packets, for READs of the local RNIC */
	LOAD_MODES
};
#define LOAD_DRAIN_EVERY 100u
#define LOAD_HELD_MAX    1024u /* flows that may hold packets at a time */
#define LOAD_SPRAYS      256u

struct load {
	struct hp3d_pipe *pipe;
	bool attached; /* the caller owns the pipe */
	uint32_t flows;
	enum load_mode mode;
	uint64_t rng;
	uint32_t *psn[LOAD_KINDS]; /* by kind: the next PSN of each flow */
	uint64_t drawn, primed; /* packets made so far: all packets; packets for priming */
	uint32_t turn; /* number in the last unsolicited messages of peers */
	uint32_t refused; /* number of refusals that peers received */
	/*
	 * HOLD: held has the flows whose packets are held, or will be; holds: true for these flows,
	 * by flow number
	 */
	uint32_t held[LOAD_HELD_MAX], n_held;
	bool *holds, *away;
};

/* Direction of the packets of this kind: from the RNIC (TX) or from the network (RX). */
static inline enum hp3_dir load_dir(enum load_kind kind)
{
	return kind == LOAD_WRITE || kind == LOAD_SERVED ? HP3_DIR_TX : HP3_DIR_RX;
}

/* True: every other packet of this kind arrives out of order. */
static inline bool load_is_ordered(enum load_kind kind)
{
	return kind == LOAD_PEER || kind == LOAD_READ;
}

/* True: the load must first agree with peers to spray or resequence (load_spray.h). */
static inline bool load_is_agreed(enum load_mode mode)
{
	return mode >= LOAD_SPRAYED;
}

/* True: the agreement is about READ responses. */
static inline bool load_is_read(enum load_mode mode)
{
	return mode >= LOAD_READ_SPRAYED;
}

/* Builds a packet of this kind in m, but sets no flow and no PSN. Returns 0 or a negative errno. */
int load_template(enum load_kind kind, struct rte_mbuf *m);
/*
 * Makes a pipe with primed flows. `m`: LOAD_BURST buffers, which are used for priming and stay the
 * caller's. Returns 0 or a negative errno.
 */
int load_init(struct load *l, uint32_t flows, enum load_mode mode, uint64_t seed,
	uint32_t memory_mb, struct rte_mbuf **m);
/*
 * As load_init() in mode LOAD_HOME, but uses a pipe of the caller. The caller sets the pipe's
 * outputs afterwards.
 */
int load_attach(struct load *l, struct hp3d_pipe *pipe, uint32_t flows, struct rte_mbuf **m);
void load_free(struct load *l);
/* The configuration of the pipe that load_init() makes. */
struct hp3_config load_config(uint32_t flows, enum load_mode mode, uint32_t memory_mb);
/* IPv4 addresses of a flow. */
void load_addresses(uint32_t flow, uint8_t local[4], uint8_t remote[4]);
/* The engine's handle of the flow with this number, or HP3_NO_FLOW. */
uint32_t load_find(const struct load *l, uint32_t flow);
/* QPNs and home port of a flow. */
uint32_t load_local_qpn(uint32_t flow);
uint32_t load_remote_qpn(uint32_t flow);
uint16_t load_home(uint32_t flow);
/* The source port to which the flow is moved. */
uint16_t load_away(uint32_t flow);
/* Builds a READ request of the peer, for the maximum number of responses, in m. */
int load_read_of_peer(struct rte_mbuf *m, uint32_t flow, uint32_t psn);
/* Builds a packet of a flow in m: an ACK, a WRITE MIDDLE (with a wrong ICRC), or a READ REQUEST for
 * 2^21 PSNs. Returns 0 or a negative errno. */
int load_packet(struct rte_mbuf *m, uint32_t flow, uint8_t opcode, uint32_t psn);
/* Builds the WRITE FIRST of a message of dma_len bytes in m. Returns 0 or a negative errno. */
int load_first(struct rte_mbuf *m, uint32_t flow, uint32_t psn, uint32_t dma_len);
/* Writes flow and PSN into a packet made by load_template(). Does not update the ICRC. */
void load_address(struct rte_mbuf *m, enum hp3_dir dir, uint32_t flow, uint32_t psn);
/*
 * Makes a packet of load_template() the next packet of a random flow. The ICRC stays wrong. The
 * measurement does not depend on this, because the steady path updates the ICRC incrementally, and
 * reads no other part of the packet for it.
 */
void load_refresh(struct load *l, enum load_kind kind, struct rte_mbuf *m);
/* As load_refresh(), for a given flow. */
void load_next(struct load *l, enum load_kind kind, struct rte_mbuf *m, uint32_t flow);
/*
 * For mode HOLD. load_acks() builds at most LOAD_BURST ACKs in m, which end the drains of the flows
 * from l->held[first] on. It returns the number of ACKs. hp3d_pipe_burst() with these ACKs releases
 * the held packets. Then load_again() moves each flow to the other one of its two ports, so that
 * hp3d holds the flow's next packets. It returns 0 or a negative errno.
 */
uint16_t load_acks(struct load *l, uint32_t first, struct rte_mbuf **m);
int load_again(struct load *l, struct rte_mbuf **m);
/* Returns NULL if all packets took the steady path; otherwise a text that describes the error. */
const char *load_check(const struct load *l);
