/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_PIPE_H
#define HP3D_PIPE_H
/*
 * This module: what a burst of packets runs through, and what it needs on the way: the engine's
 * memory, packets of our own (agent.h), how to address them (neighbours.h). It calls the engine and
 * the libraries below it, and knows neither lcores nor who asks.
 *
 * A pipe is one rail on one worker: an engine, its hold queues and its counters. hp3d_pipe_burst()
 * is the one way of packets through hp3d; workers, replay and bench call it alike. Only the pipe's
 * own thread may call what is here, except that counters may be read at any time.
 *
 * Per burst: prefetch, parse all, look up all, then packet by packet the engine's actions and its
 * verdict. Nothing is allocated, logged or locked.
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
	X(bytes_tx, "bytes from the RNIC", 0)                                                      \
	X(bytes_rx, "bytes from the network", 0)                                                   \
	X(bursts, "bursts handled", 0)                                                             \
	X(changed, "packets whose source port or AckReq was changed", 0)                           \
	X(released, "held packets released", 0)                                                    \
	X(shown, "copies of such packets handed to the RNIC, for it to ask for a missing one", 0)  \
	X(delivered, "packets of peers that arrived out of order, handed to the RNIC in order", 0) \
	X(rounds_fruitless, "rounds of probes that found nothing", 0)                              \
	X(fruitless_cnp, "those among them that CNPs set off", 0)                                  \
	X(fruitless_ecn, "those that marked replies set off", 0)                                   \
	X(fruitless_rtt, "those that long round trips set off", 0)                                 \
	X(fruitless_dead, "those about a path that is not dead", 0)                                \
	X(fruitless_setup, "those before the first data of a queue pair", 0)                       \
	X(fruitless_message_start, "those before a long message of an idle queue pair", 0)         \
	X(fruitless_advice, "those about a port that somebody had named", 0)                       \
	X(not_linear, "packets in several or shared buffers: passed untouched", 0)                 \
	X(handed_over, "packets passed on to the lcore of their addresses", 0)                     \
	X(own, "packets that hp3d made: probes, answers, messages to peers, NAKs, CNPs", 0)        \
	X(sent, "packets given to the ports, those that hp3d made and copies among them", 0)       \
	X(taken, "probes, answers and messages of peers, which end at hp3d", 1)                    \
	X(drop_discarded, "held packets whose queue pair went away, or that came again", 1)        \
	X(consumed, "stale CNPs and answers to probes, which are not for the RNIC", 1)             \
	X(drop_engine, "packets that the engine took out of the stream", 1)                        \
	X(drop_host, "datagrams of the host to hp3's own port: only hp3d speaks to peers there",   \
		1)                                                                                 \
	X(drop_handover, "packets that the lcore of their addresses had no room for", 1)           \
	X(drop_tx_full, "packets that the output did not take", 1)                                 \
	X(drop_bypassed, "packets given up since newer ones had gone direct, past hp3d", 1)

struct hp3d_pipe_counters {
#define X(field, help, drop) uint64_t field;
	HP3D_PIPE_COUNTERS(X)
#undef X
	uint64_t class[HP3_CLASS_MAX];
	uint64_t reason[HP3_PARSE_REASON_MAX];
};

/*
 * A counter of a pipe or of its engine, read by any thread. The pipe's own writes it by plain
 * stores of 64 bits at their alignment, which processors of DPDK do as a whole; what one counter
 * says goes with no other.
 */
static inline uint64_t hp3d_read_counter(const void *counters, size_t offset)
{
	return __atomic_load_n(
		(const uint64_t *)((const char *)counters + offset), __ATOMIC_RELAXED);
}

/* Takes packets over, in order. Called outside the per-packet loop, or with a full vector. */
typedef void hp3d_send_fn(void *ctx, struct rte_mbuf **m, uint16_t n);
typedef void hp3d_event_fn(void *ctx, const struct hp3d_event *event);

/* NULL if memory does not suffice; `seed` makes the engine's choices. */
struct hp3d_pipe *hp3d_pipe_create(
	const struct hp3_config *cfg, unsigned rail, unsigned worker, uint64_t seed, int socket);
void hp3d_pipe_free(struct hp3d_pipe *p);
/* Reloadable keys take effect. */
void hp3d_pipe_reconfigure(struct hp3d_pipe *p, const struct hp3_config *cfg);

/*
 * From now on the pipe sends what its engine asks to be sent, and answers probes. 0 or a negative
 * errno. Without it a pipe only forwards (replay, bench).
 */
struct hp3d_agent;
int hp3d_pipe_add_agent(struct hp3d_pipe *p, const struct hp3_config *cfg, int socket);
struct hp3d_agent *hp3d_pipe_agent(struct hp3d_pipe *p); /* NULL: it does not */

/*
 * Packets come from this pool, as those of so many pipes of its rail do. What these hold together
 * leaves an eighth of it for packets that pass; a hold that would not is refused, as if
 * hold_packets were reached. Without it only hold_packets counts (replay, bench).
 */
void hp3d_pipe_buffers(struct hp3d_pipe *p, struct rte_mempool *pool, unsigned sharers);

/* Where packets of a direction leave (TX: the network side), and where events go. */
void hp3d_pipe_output(struct hp3d_pipe *p, enum hp3_dir dir, hp3d_send_fn *send, void *ctx);
void hp3d_pipe_on_event(struct hp3d_pipe *p, hp3d_event_fn *fn, void *ctx);

/*
 * In verbs mode: who carries out SUSPEND, MOVE and RESUME, without waiting for it; what it
 * answers (hp3_actuator()), and what the queue pairs do (hp3_felt()).
 */
typedef void hp3d_actuate_fn(void *ctx, const struct hp3_act *act);
void hp3d_pipe_on_actuate(struct hp3d_pipe *p, hp3d_actuate_fn *fn, void *ctx);
int hp3d_pipe_actuated(
	struct hp3d_pipe *p, uint32_t flow, enum hp3_actuator_report report, uint64_t now);
int hp3d_pipe_felt(struct hp3d_pipe *p, uint32_t flow, const struct hp3_felt *felt, uint64_t now);
/* A copy of a CNP that arrived at the RNIC, whatever its VLAN; all else means nothing. */
void hp3d_pipe_copy(struct hp3d_pipe *p, const uint8_t *frame, uint32_t len, uint64_t now);
void hp3d_pipe_place(struct hp3d_pipe *p, uint32_t flow, uint64_t now); /* hp3_qp_place() */
/* Mute: nobody carries probes, none is asked for, whatever the configuration says. */
void hp3d_pipe_mute(struct hp3d_pipe *p, const struct hp3_config *cfg, bool mute);

/* n <= HP3D_BURST_MAX packets that came from the RNIC (TX) or the network (RX), in order; owns them
 * afterwards. */
void hp3d_pipe_burst(
	struct hp3d_pipe *p, enum hp3_dir dir, struct rte_mbuf **m, uint16_t n, uint64_t now);
/* hp3_rx_blocked() */
void hp3d_pipe_rx_blocked(struct hp3d_pipe *p, bool blocked, uint64_t now);
/* Timers, a bounded piece of what is due; returns the next deadline, `now` where more is due. */
uint64_t hp3d_pipe_tick(struct hp3d_pipe *p, uint64_t now);
/* hp3_command(), hp3_advise() and hp3_qp() with their actions carried out. */
int hp3d_pipe_command(struct hp3d_pipe *p, const struct hp3_cmd *cmd, uint64_t now);
int hp3d_pipe_advise(struct hp3d_pipe *p, const struct hp3_cmd *cmd, uint64_t now);
int hp3d_pipe_qp(struct hp3d_pipe *p, const struct hp3_qp_event *event, uint64_t now);

/* Ends what is under way but for flows that leave a dead path; what is held leaves on the old
 * port, in order (mode). */
void hp3d_pipe_call_off(struct hp3d_pipe *p, uint64_t now);
/* Asks those of n flows from `from` on that are elsewhere to move home (mode). */
void hp3d_pipe_home(struct hp3d_pipe *p, uint32_t from, uint32_t n, uint64_t now);
/* hp3_spray_stop(), which says what the result means; hp3_spray_go_on(). */
uint64_t hp3d_pipe_leave(struct hp3d_pipe *p, uint64_t now);
void hp3d_pipe_stay(struct hp3d_pipe *p);
/* Ends sprays, moves under way and pacing: all that is held leaves, in order, what was held by a
 * move on the old port (stop). */
void hp3d_pipe_cancel_all(struct hp3d_pipe *p, uint64_t now);
/*
 * Packets have passed unseen (hp3_missed()): what is held is dropped. No event tells of it. That
 * is a first piece, each hp3d_pipe_tick() the next one. Before the next packet hp3d_pipe_is_anew()
 * must have said that there is none left.
 */
void hp3d_pipe_missed(struct hp3d_pipe *p, uint64_t now);
bool hp3d_pipe_is_anew(struct hp3d_pipe *p, uint64_t now);
/* Packets that the engine holds. */
uint32_t hp3d_pipe_held(const struct hp3d_pipe *p);
/*
 * Packets that came or were made (packets_tx, packets_rx, own, shown), less those of which it is
 * known what became of them: sent, taken, consumed, drop_*, held. 0 between
 * two calls, or the pipe has lost a buffer, or sent one twice.
 */
int64_t hp3d_pipe_unaccounted(const struct hp3d_pipe *p);
/* Asks every moved flow to move home (stop). */
void hp3d_pipe_home_all(struct hp3d_pipe *p, uint64_t now);

struct hp3_engine *hp3d_pipe_engine(struct hp3d_pipe *p);
struct hp3d_pipe_counters *hp3d_pipe_counters(struct hp3d_pipe *p);
/* What its events add up to (tally.h). */
struct hp3d_tally;
const struct hp3d_tally *hp3d_pipe_tally(const struct hp3d_pipe *p);
uint32_t hp3d_pipe_held_peak(const struct hp3d_pipe *p);

#endif
