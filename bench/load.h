/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_BENCH_LOAD_H
#define HP3_BENCH_LOAD_H
/*
 * What the bench measures with: paired flows in a pipe of hp3d, and packets of theirs that are
 * always legal, so that the steady path is what runs: WRITE MIDDLE packets with consecutive PSNs
 * that leave, ACKs that arrive and are progress but not the end of what is in flight.
 *
 * A flow is primed once: announced, its PMTU shown by a WRITE MIDDLE, 2^21 PSNs put in flight by
 * one READ and a WRITE behind it, half of them acknowledged. That leaves 2^20 ACKs and, as many
 * PSNs were in flight before, 2^20 WRITE packets per flow. Where READs themselves are looked at
 * flows are primed by announcement and WRITE MIDDLE alone.
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
	LOAD_PEER, /* WRITE MIDDLE packets of peers, that arrive; of ORDERED alone */
	LOAD_SERVED, /* READ RESPONSE MIDDLE packets of the local RNIC; of READ_SPRAYED alone */
	LOAD_READ, /* ... of peers, that arrive; of READ_ORDERED alone */
	LOAD_KINDS
};

/* How the flows are set up. */
enum load_mode {
	LOAD_HOME, /* as the RNIC sends them */
	LOAD_MOVED, /* every flow is on a port that the RNIC does not write */
	LOAD_DRAIN, /* one in a hundred is in the drain of a move; ACKs only */
	LOAD_HOLD, /* so, too; WRITEs only: theirs are held, until load_release() */
	LOAD_DCQCN, /* as HOME, with cc = dcqcn; nothing is marked */
	LOAD_SPRAYED, /* LOAD_SPRAYS of the flows take all EVs (load_spray.h): WRITEs of theirs */
	LOAD_RESEQUENCED, /* so many of peers do, and are resequenced: PEERs */
	LOAD_READ_SPRAYED, /* as SPRAYED, what peers read: SERVED packets */
	LOAD_READ_ORDERED, /* as ORDERED, what the local RNIC reads: READs */
	LOAD_MODES
};
#define LOAD_DRAIN_EVERY 100u
#define LOAD_HELD_MAX    1024u /* flows that hold packets at a time */
#define LOAD_SPRAYS      256u

struct load {
	struct hp3d_pipe *pipe;
	bool attached; /* the pipe is somebody else's */
	uint32_t flows;
	enum load_mode mode;
	uint64_t rng;
	uint32_t *psn[LOAD_KINDS]; /* next one, by flow */
	uint64_t drawn, primed; /* packets of all kinds */
	uint32_t turn; /* of what peers said last of their own accord */
	uint32_t refused; /* times that they were answered no */
	/* HOLD: flows whose packets are, or will be, held, and by flow whether that is so */
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

/* Peers have a say in it (load_spray.h). */
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
/* As LOAD_HOME, on a pipe that stays its owner's; whose outputs are to be set afterwards. */
int load_attach(struct load *l, struct hp3d_pipe *pipe, uint32_t flows, struct rte_mbuf **m);
void load_free(struct load *l);
/* The configuration that the pipe of a load has. */
struct hp3_config load_config(uint32_t flows, enum load_mode mode, uint32_t memory_mb);
/* IPv4 addresses of a flow. */
void load_addresses(uint32_t flow, uint8_t local[4], uint8_t remote[4]);
/* A flow by its number, in the engine's words; or HP3_NO_FLOW. */
uint32_t load_find(const struct load *l, uint32_t flow);
/* What the addresses, QPNs, port of a flow are to a peer. */
uint32_t load_local_qpn(uint32_t flow);
uint32_t load_remote_qpn(uint32_t flow);
uint16_t load_home(uint32_t flow);
/* Where it is moved to. */
uint16_t load_away(uint32_t flow);
/* A READ of the peer, of as many responses as there can be. */
int load_read_of_peer(struct rte_mbuf *m, uint32_t flow, uint32_t psn);
/* Builds a packet of a flow into m: an ACK, a WRITE MIDDLE (its ICRC is not right), or a READ
 * REQUEST for 2^21 PSNs. 0 or a negative errno. */
int load_packet(struct rte_mbuf *m, uint32_t flow, uint8_t opcode, uint32_t psn);
/* Builds the WRITE FIRST of a message of dma_len bytes into m. 0 or a negative errno. */
int load_first(struct rte_mbuf *m, uint32_t flow, uint32_t psn, uint32_t dma_len);
/* Makes a packet (of load_template) this one of a flow; but for the ICRC. */
void load_address(struct rte_mbuf *m, enum hp3_dir dir, uint32_t flow, uint32_t psn);
/* Makes a packet (of load_template) the next one of a flow drawn at random. The ICRC is not
 * repaired: the steady path changes it without ever looking at the rest. */
void load_refresh(struct load *l, enum load_kind kind, struct rte_mbuf *m);
/* ... of this flow. */
void load_next(struct load *l, enum load_kind kind, struct rte_mbuf *m, uint32_t flow);
/*
 * HOLD, around a pass: load_acks() makes, in m, the ACKs that end the drains of the flows that were
 * drawn, LOAD_BURST at a time from flow `first` of l->held on, and returns how many;
 * hp3d_pipe_burst() with them releases what is held. load_again() then moves the flows anew, each
 * back and forth between two ports: their next packets will be held. 0 or a negative errno.
 */
uint16_t load_acks(struct load *l, uint32_t first, struct rte_mbuf **m);
int load_again(struct load *l, struct rte_mbuf **m);
/* NULL, or what says that something else than the steady path was measured. */
const char *load_check(const struct load *l);

#endif
