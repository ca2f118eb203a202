/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This module has the path of a burst of packets through hp3d. It also provides the engine's
 * memory, packets of hp3d itself (agent.h), and the addressing of these packets (neighbours.h). The
 * module calls the engine and the libraries below the engine. It depends neither on lcores nor on
 * its callers.
 *
 * A pipe is one rail, or all rails of a bond, on one worker: an engine, its hold queues and its
 * counters. hp3d_pipe_burst()
 * is the only path of packets through hp3d; workers, replay and bench call it. Only the pipe's own
 * thread may call these functions, but any thread may read counters.
 *
 * For each burst, a pipe prefetches and parses all packets, and looks up all flows. Then the pipe
 * carries out the engine's actions and verdict, packet by packet. A pipe logs nothing and locks
 * nothing. It allocates only packet buffers, from pools.
 */
#include "app/hp3d/pipe/event.h"
#include "config/config.h"

struct rte_mbuf;
struct rte_mempool;

#define HP3D_BURST_MAX 256u

/* X(field, help, 1 if it counts packets that were not forwarded) */
#define HP3D_PIPE_COUNTERS(X)                                                                      \
	X(packets_tx, "packets from the RNIC", 0)                                                  \
	X(packets_rx, "packets from the network", 0)                                               \
	X(roce_tx, "RoCEv2 packets from the RNIC", 0)                                              \
	X(roce_rx, "RoCEv2 packets from the network", 0)                                           \
	X(bytes_tx, "bytes from the RNIC", 0)                                                      \
	X(bytes_rx, "bytes from the network", 0)                                                   \
	X(bursts, "bursts handled", 0)                                                             \
	X(changed, "packets whose source port or AckReq was changed", 0)                           \
	X(released, "held packets released", 0)                                                    \
	X(shown, "copies of held packets handed to the RNIC, so that it requests a missing one",   \
		0)                                                                                 \
	X(delivered, "packets of peers that arrived out of order, handed to the RNIC in order", 0) \
	X(rounds_fruitless, "fruitless rounds of probes: they found no better path", 0)            \
	X(fruitless_cnp, "fruitless rounds that CNPs caused", 0)                                   \
	X(fruitless_ecn, "fruitless rounds that marked replies caused", 0)                         \
	X(fruitless_rtt, "fruitless rounds that long round trips caused", 0)                       \
	X(fruitless_dead, "fruitless rounds about a path that was not dead", 0)                    \
	X(fruitless_setup, "fruitless rounds before the first data of a queue pair", 0)            \
	X(fruitless_message_start, "fruitless rounds before a long message of an idle queue pair", \
		0)                                                                                 \
	X(fruitless_advice, "fruitless rounds about an advised port", 0)                           \
	X(not_linear, "packets in several or shared buffers: forwarded unchanged", 0)              \
	X(handed_over, "packets passed on to the lcore of their addresses", 0)                     \
	X(own, "packets that hp3d made: probes, answers, messages to peers, NAKs, CNPs", 0)        \
	X(sent, "packets given to the ports, including those that hp3d made and copies", 0)        \
	X(taken, "probes, answers and messages of peers, which end at hp3d", 1)                    \
	X(drop_discarded, "held packets whose queue pair went away, or that came again", 1)        \
	X(consumed, "stale CNPs and answers to probes, which are not for the RNIC", 1)             \
	X(drop_engine, "packets that the engine took out of the stream", 1)                        \
	X(drop_host, "datagrams of the host to hp3's own port: only hp3d sends to peers there", 1) \
	X(drop_handover, "packets that the lcore of their addresses had no room for", 1)           \
	X(drop_tx_full, "packets that the output did not take", 1)                                 \
	X(drop_too_long, "packets longer than the MTU of the port where they would leave", 1)      \
	X(drop_bypassed, "packets dropped because newer ones had bypassed hp3d", 1)

struct hp3d_pipe_counters {
#define X(field, help, drop) uint64_t field;
	HP3D_PIPE_COUNTERS(X)
#undef X
	uint64_t class[HP3_CLASS_MAX];
	uint64_t reason[HP3_PARSE_REASON_MAX];
};

/*
 * Any thread may read a counter of a pipe or of its engine. The pipe's own thread writes it with
 * plain, aligned 64-bit stores, which are atomic on processors that DPDK supports. Values of two
 * counters need not be of the same moment.
 */
static inline uint64_t hp3d_read_counter(const void *counters, size_t offset)
{
	return __atomic_load_n(
		(const uint64_t *)((const char *)counters + offset), __ATOMIC_RELAXED);
}

/* Takes over n packets, in order. A pipe calls it outside the per-packet loop, or with a full
 * vector. */
typedef void hp3d_send_fn(void *ctx, struct rte_mbuf **m, uint16_t n);
typedef void hp3d_event_fn(void *ctx, const struct hp3d_event *event);

/* NULL: not enough memory. `seed`: for the engine's random choices. */
struct hp3d_pipe *hp3d_pipe_create(
	const struct hp3_config *cfg, unsigned rail, unsigned worker, uint64_t seed, int socket);
void hp3d_pipe_free(struct hp3d_pipe *p);
/* Applies the reloadable keys of *cfg. */
void hp3d_pipe_reconfigure(struct hp3d_pipe *p, const struct hp3_config *cfg);

/*
 * Adds an agent. With it, the pipe sends the packets that its engine requests, and answers probes.
 * Returns 0 or a negative errno. Without an agent, a pipe only forwards (replay, bench).
 */
struct hp3d_agent;
int hp3d_pipe_add_agent(struct hp3d_pipe *p, const struct hp3_config *cfg, int socket);
struct hp3d_agent *hp3d_pipe_agent(struct hp3d_pipe *p); /* NULL: there is none */

/*
 * The pipe gets the packets of all rails of the bond whose lead is its rail (bond.h). Call
 * hp3d_pipe_of_rail() before each burst; it states on which rail the packets of the burst arrived.
 * mbuf.port of each packet that leaves has its rail, and possibly HP3D_BOND_FIXED. Returns 0 or
 * -ENOMEM.
 */
int hp3d_pipe_add_bond(struct hp3d_pipe *p, const struct hp3_config *cfg, int socket);
void hp3d_pipe_of_rail(struct hp3d_pipe *p, unsigned rail); /* without a bond: does nothing */

/*
 * Sets the pool of the packets' buffers, which `sharers` pipes of the rail share. Together, these
 * pipes may hold seven eighths of the pool. The rest is for packets that pass. Beyond this bound, a
 * hold is refused as if hold_packets were reached. Without a pool, only hold_packets is a bound
 * (replay, bench).
 */
void hp3d_pipe_buffers(struct hp3d_pipe *p, struct rte_mempool *pool, unsigned sharers);

/* These functions set where packets of a direction leave (TX: the network side), and where events
 * go. */
void hp3d_pipe_output(struct hp3d_pipe *p, enum hp3_dir dir, hp3d_send_fn *send, void *ctx);
void hp3d_pipe_on_event(struct hp3d_pipe *p, hp3d_event_fn *fn, void *ctx);

/*
 * Verbs mode. hp3d_pipe_on_actuate() sets the function that starts SUSPEND, MOVE and RESUME. That
 * function does not wait for the result. hp3d_pipe_actuated() passes a result to the engine
 * (hp3_actuator()). hp3d_pipe_completions() passes the completions of a queue pair to the engine
 * (hp3_completions()).
 */
typedef void hp3d_actuate_fn(void *ctx, const struct hp3_act *act);
void hp3d_pipe_on_actuate(struct hp3d_pipe *p, hp3d_actuate_fn *fn, void *ctx);
int hp3d_pipe_actuated(struct hp3d_pipe *p, uint32_t flow, struct hp3_actuated what, uint64_t now);
int hp3d_pipe_completions(struct hp3d_pipe *p, uint32_t flow,
	const struct hp3_completions *completions, uint64_t now);
/* Handles a copy of a CNP that arrived at the RNIC, in any VLAN; ignores other frames. */
void hp3d_pipe_copy(struct hp3d_pipe *p, const uint8_t *frame, uint32_t len, uint64_t now);
void hp3d_pipe_place(struct hp3d_pipe *p, uint32_t flow, uint64_t now); /* calls hp3_qp_place() */
/* mute: hp3d cannot send probes, so the engine requests none, whatever the configuration. */
void hp3d_pipe_mute(struct hp3d_pipe *p, const struct hp3_config *cfg, bool mute);

/* Handles n <= HP3D_BURST_MAX packets from the RNIC (TX) or the network (RX), in order. Afterwards,
 * the pipe owns these packets. */
void hp3d_pipe_burst(
	struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf **m, uint16_t n, uint64_t now);
/* Runs a bounded number of due timers; returns the next deadline, or `now` if more are due. */
uint64_t hp3d_pipe_tick(struct hp3d_pipe *p, uint64_t now);
/* The next three functions call hp3_command(), hp3_advise() and hp3_qp(), and carry out the
 * resulting actions. */
int hp3d_pipe_command(struct hp3d_pipe *p, const struct hp3_cmd *cmd, uint64_t now);
int hp3d_pipe_advise(struct hp3d_pipe *p, const struct hp3_cmd *cmd, uint64_t now);
int hp3d_pipe_qp(struct hp3d_pipe *p, const struct hp3_qp_event *event, uint64_t now);

/* For a change of the mode: cancels moves and searches under way, except failovers. Held packets
 * leave on the old port, in order. */
void hp3d_pipe_call_off(struct hp3d_pipe *p, uint64_t now);
/* For a change of the mode: of n flows from `from` on, requests that moved flows move to their home
 * ports. */
void hp3d_pipe_home(struct hp3d_pipe *p, uint32_t from, uint32_t n, uint64_t now);
/* Calls hp3_spray_stop(), which documents the result. */
uint64_t hp3d_pipe_leave(struct hp3d_pipe *p, uint64_t now);
/* For a stop: ends spraying, moves under way, and pacing. All held packets leave, in order; packets
 * that a move held leave on the old port. */
void hp3d_pipe_cancel_all(struct hp3d_pipe *p, uint64_t now);
/*
 * Call it after packets have bypassed the pipe (hp3_missed()). Drops held packets, without an
 * event, and resets flows. This call handles the first part of the flows, and each hp3d_pipe_tick()
 * handles the next part. Pass no packet to the pipe before hp3d_pipe_is_anew() has returned true.
 */
void hp3d_pipe_missed(struct hp3d_pipe *p, uint64_t now);
bool hp3d_pipe_is_anew(struct hp3d_pipe *p, uint64_t now);
/* True: hp3d_pipe_missed() has parts left, which ticks handle. */
bool hp3d_pipe_is_resetting(const struct hp3d_pipe *p);
/* Number of packets that the engine holds. */
uint32_t hp3d_pipe_held(const struct hp3d_pipe *p);
/*
 * Packets that arrived or were made (packets_tx, packets_rx, own, shown), minus those accounted
 * for: sent, taken, consumed, drop_engine, drop_discarded, drop_host, held. Invariant: 0 between
 * two calls. Any other value shows that the pipe has lost a buffer, or sent a buffer twice.
 */
int64_t hp3d_pipe_unaccounted(const struct hp3d_pipe *p);
/* For a stop: requests that every moved flow moves to its home port. */
void hp3d_pipe_home_all(struct hp3d_pipe *p, uint64_t now);

struct hp3_engine *hp3d_pipe_engine(struct hp3d_pipe *p);
struct hp3d_pipe_counters *hp3d_pipe_counters(struct hp3d_pipe *p);
/* Totals of the pipe's events (tally.h). */
struct hp3d_tally;
const struct hp3d_tally *hp3d_pipe_tally(const struct hp3d_pipe *p);
uint32_t hp3d_pipe_held_peak(const struct hp3d_pipe *p);
