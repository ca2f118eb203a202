/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BENCH_LOAD_H
#define HP3_BENCH_LOAD_H
/*
 * The load of the bench: paired flows in a pipe of hp3d, and valid packets of these flows, which
 * take the steady path: WRITE MIDDLE packets with consecutive PSNs that leave; ACKs that arrive and
 * are progress, but do not acknowledge the last packet in flight.
 *
 * Each flow is primed once: it is announced, a WRITE MIDDLE shows its PMTU, a READ and a WRITE
 * after it put 2^21 PSNs in flight, half of them are acknowledged. That leaves 2^20 ACKs and, up to
 * the same number of PSNs in flight, 2^20 WRITE packets per flow. If READs are measured, flows are
 * primed by announcement and WRITE MIDDLE alone.
 */
#include "app/hp3d/pipe/pipe.h"

struct rte_mbuf;

#define LOAD_BURST     32u
#define LOAD_BYTES     1024u /* payload of a WRITE MIDDLE */
#define LOAD_PAIRS     64u /* of addresses */
#define LOAD_READ_LOG2 31u /* bytes of the READ that opens the window: 2^21 PSNs */

enum load_kind {
	LOAD_ACK,
	LOAD_WRITE,
	LOAD_PEER, /* WRITE MIDDLE packets that arrive from peers; RESEQUENCED only */
	LOAD_SERVED, /* READ RESPONSE MIDDLE packets of the local RNIC; READ_SPRAYED only */
	LOAD_READ, /* ... that arrive from peers; READ_ORDERED only */
	LOAD_KINDS
};

/* How the flows are set up. */
enum load_mode {
	LOAD_HOME, /* as the RNIC sends them */
	LOAD_MOVED, /* every flow is on a port other than its home port */
	LOAD_DRAIN, /* one flow in a hundred drains; ACKs only */
	LOAD_HOLD, /* the same; WRITEs only: those of draining flows are held, see load_acks() */
	LOAD_DCQCN, /* as HOME, with cc = dcqcn; no marks */
	LOAD_SPRAYED, /* WRITEs of LOAD_SPRAYS of the flows, with all EVs (load_spray.h) */
	LOAD_RESEQUENCED, /* LOAD_SPRAYS flows of peers are resequenced: PEER packets */
	LOAD_READ_SPRAYED, /* as SPRAYED, for READs of peers: SERVED packets */
	LOAD_READ_ORDERED, /* as RESEQUENCED, for READs of the local RNIC: READ packets */
	LOAD_MODES
};
#define LOAD_DRAIN_EVERY 100u
#define LOAD_HELD_MAX    1024u /* flows that hold packets at a time */
#define LOAD_SPRAYS      256u

struct load {
	struct hp3d_pipe *pipe;
	bool attached; /* the pipe belongs to the caller */
	uint32_t flows;
	enum load_mode mode;
	uint64_t rng;
	uint32_t *psn[LOAD_KINDS]; /* next one, by flow */
	uint64_t drawn, primed; /* packets of all kinds */
	uint32_t turn; /* number of the peers' last unsolicited messages */
	uint32_t refused; /* number of refusals that peers received */
	/* HOLD: flows whose packets are, or will be, held; and the same by flow */
	uint32_t held[LOAD_HELD_MAX], n_held;
	bool *holds, *away;
};

/* Direction in which packets of a kind pass hp3d. */
static inline enum hp3_dir load_dir(enum load_kind kind)
{
	return kind == LOAD_WRITE || kind == LOAD_SERVED ? HP3_DIR_TX : HP3_DIR_RX;
}

/* Every other packet of a kind arrives out of order. */
static inline bool load_is_ordered(enum load_kind kind)
{
	return kind == LOAD_PEER || kind == LOAD_READ;
}

/* The load needs an agreement with peers (load_spray.h). */
static inline bool load_is_agreed(enum load_mode mode)
{
	return mode >= LOAD_SPRAYED;
}

/* ... about READ responses. */
static inline bool load_is_read(enum load_mode mode)
{
	return mode >= LOAD_READ_SPRAYED;
}

/* Builds the template of a kind into m. 0 or a negative errno. */
int load_template(enum load_kind kind, struct rte_mbuf *m);
/* 0 or a negative errno. `m`: LOAD_BURST buffers to prime with; they come back. */
int load_init(struct load *l, uint32_t flows, enum load_mode mode, uint64_t seed,
	uint32_t memory_mb, struct rte_mbuf **m);
/* As LOAD_HOME, on a pipe of the caller, which sets its outputs afterwards. */
int load_attach(struct load *l, struct hp3d_pipe *pipe, uint32_t flows, struct rte_mbuf **m);
void load_free(struct load *l);
/* The configuration that the pipe of a load has. */
struct hp3_config load_config(uint32_t flows, enum load_mode mode, uint32_t memory_mb);
/* IPv4 addresses of a flow. */
void load_addresses(uint32_t flow, uint8_t local[4], uint8_t remote[4]);
/* The engine's handle of a flow by its number; or HP3_NO_FLOW. */
uint32_t load_find(const struct load *l, uint32_t flow);
/* QPNs and home port of a flow. */
uint32_t load_local_qpn(uint32_t flow);
uint32_t load_remote_qpn(uint32_t flow);
uint16_t load_home(uint32_t flow);
/* The port that it is moved to. */
uint16_t load_away(uint32_t flow);
/* A READ of the peer with the maximum number of responses. */
int load_read_of_peer(struct rte_mbuf *m, uint32_t flow, uint32_t psn);
/* Builds a packet of a flow into m: an ACK, a WRITE MIDDLE (with a wrong ICRC), or a READ REQUEST
 * for 2^21 PSNs. 0 or a negative errno. */
int load_packet(struct rte_mbuf *m, uint32_t flow, uint8_t opcode, uint32_t psn);
/* Builds the WRITE FIRST of a message of dma_len bytes into m. 0 or a negative errno. */
int load_first(struct rte_mbuf *m, uint32_t flow, uint32_t psn, uint32_t dma_len);
/* Writes flow and PSN into a packet (of load_template), without the ICRC. */
void load_address(struct rte_mbuf *m, enum hp3_dir dir, uint32_t flow, uint32_t psn);
/* Makes a packet (of load_template) the next one of a random flow. The ICRC is not repaired: the
 * steady path updates it without reading the rest. */
void load_refresh(struct load *l, enum load_kind kind, struct rte_mbuf *m);
/* ... of this flow. */
void load_next(struct load *l, enum load_kind kind, struct rte_mbuf *m, uint32_t flow);
/*
 * HOLD, around a pass: load_acks() builds, in m, ACKs that end the drains of l->held, up to
 * LOAD_BURST from index `first` on, and returns their number; hp3d_pipe_burst() with these ACKs
 * releases the held packets. load_again() then moves the flows again, between two ports, so that
 * their next packets are held. 0 or a negative errno.
 */
uint16_t load_acks(struct load *l, uint32_t first, struct rte_mbuf **m);
int load_again(struct load *l, struct rte_mbuf **m);
/* NULL, or a text: the measurement did not stay on the steady path. */
const char *load_check(const struct load *l);

#endif
