/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_ENGINE_H
#define HP3_ENGINE_ENGINE_H
/*
 * The engine: flow table, pairing and reorder-free rerouting behind a few calls, without I/O,
 * clock, allocation or callback. Packets and time go in; a verdict for the packet in hand and a
 * short list of actions come out. hp3d, the simulator, the replay and the tests drive this same
 * code.
 *
 * Time is nanoseconds, monotonic, always an argument. One instance is driven by one thread;
 * instances share nothing. All randomness comes from the seed in the configuration.
 *
 * Use per burst:
 *     parse all -> hp3_find_burst() -> per packet, in order: hp3_tx() or hp3_rx(), carry out the
 * actions, then the verdict. Actions come first: a RELEASE must leave before the packet in hand.
 */
#include <stddef.h>
#include "engine/flow.h"
#include "engine/stats.h"
#include "ppp/paths.h"
#include "probes/cm.h"

struct hp3_engine;

enum hp3_dir {
	HP3_DIR_TX, /* from the local RNIC towards the network */
	HP3_DIR_RX, /* from the network towards the local RNIC */
};

/* Limits and times; see config/keys.c for what each means to an operator. */
struct hp3_engine_config {
	uint64_t seed;
	uint32_t max_flows, max_pairs, max_moves;
	uint64_t idle_age_ns; /* flows with nothing in flight are removed after this */
	uint64_t dead_age_ns; /* others after this */
	uint64_t max_hold_ns; /* from the closing packet to the end of the drain */
	uint64_t close_timeout_ns; /* how long a move waits for a packet to close with */
	uint64_t hold_bytes; /* per flow */
	uint64_t hold_bytes_total;
	uint32_t hold_packets; /* all flows together: what the caller can hold */
	uint64_t challenge_timeout_ns;
	uint32_t challenge_hits; /* answers wanted before a pairing is believed */
	uint32_t challenge_spread; /* the challenged packet is drawn from so many */
	struct hp3_monitor_params monitor; /* cycle_ns 0: paths are not watched */
	/* Rounds of probes; the watch of the path in use sets them off. */
	bool probing;
	uint8_t candidates; /* ports per round beside the one in use, up to 7 */
	uint16_t max_concurrent; /* rounds and moves of an address pair at a time */
	uint64_t cooldown_ns; /* a flow that was moved stays that long */
	struct hp3_round_params round;
	struct hp3_paths_params paths;
	bool pair_by_cm, pair_by_challenge;
	bool moves_allowed;
};

/*
 * One packet: the caller fills frame, len, trusted and the view; hp3_find_burst() fills the rest.
 * Packets of any class may be handed in; those that do not concern the engine pass. CM datagrams
 * (pairing) and IP fragments (which make their address pair immovable) do concern it.
 */
struct hp3_pkt {
	const void *frame;
	uint32_t len;
	bool trusted; /* only headers are at hand, the ICRC counts as right (simulator) */
	struct hp3_view v;
	uint64_t addr;
	uint32_t sig, bucket;
	uint32_t flow; /* index, to be verified by hp3_tx/hp3_rx; HP3_NO_FLOW */
};

enum hp3_verdict_kind { HP3_PASS, HP3_HOLD, HP3_CONSUME, HP3_DROP };

#define HP3_SET_ACKREQ 0x01u
#define HP3_SET_BECN   0x02u

struct hp3_verdict {
	uint8_t kind; /* enum hp3_verdict_kind */
	uint8_t flags; /* HP3_SET_* */
	uint16_t sport; /* source port to leave with; equals the packet's own if nothing is to
			   change */
	uint16_t slot; /* HOLD: the move's slot, names the FIFO */
	uint32_t flow;
};

enum hp3_event_type {
	HP3_EV_SWITCH, /* moved behind a drain */
	HP3_EV_IDLE_SWITCH, /* moved with nothing in flight */
	HP3_EV_RECOVER, /* fast recovery on the old port */
	HP3_EV_EPOCH, /* queue pair gone or reset during a move */
	HP3_EV_PAIR,
	HP3_EV_UNPAIR,
	HP3_EV_ROUND, /* a round of probes has ended */
	HP3_EV_SEVERE, /* congestion control did not cure the path in use */
};

enum hp3_cause { HP3_CAUSE_OPERATOR, HP3_CAUSE_SETUP, HP3_CAUSE_STOP, HP3_CAUSE_MONITOR };

struct hp3_event {
	uint64_t t_ns;
	uint8_t type; /* enum hp3_event_type */
	uint8_t cause; /* enum hp3_cause */
	uint8_t reason; /* enum hp3_rfr_input that ended the move */
	uint8_t pairing; /* PAIR: enum hp3_pairing */
	uint16_t from, to;
	uint32_t flow;
	uint32_t rqpn, lqpn;
	uint32_t pair;
	uint64_t wait_ns; /* from the request to the closing packet */
	uint64_t drain_ns; /* from the closing packet to the end */
	uint32_t close_psn;
	uint32_t held_pkts;
	uint64_t held_bytes;
	uint64_t tag; /* of the command */
	/* SEVERE: the latest cycles, oldest first, and what is known of the path */
	uint8_t n_cycles, cycles[HP3_CYCLES_KEPT + 1]; /* HP3_CYCLE_* */
	struct hp3_estimates path;
	/* ROUND: what was asked and what came back */
	uint8_t outcome; /* enum hp3_round_outcome */
	uint8_t n_probes;
	struct hp3_probe probes[HP3_ROUND_PROBES];
};

enum hp3_act_kind {
	HP3_ACT_RELEASE, /* send what `slot` holds, in order, with source port `port` */
	HP3_ACT_DISCARD, /* drop what `slot` holds: its queue pair is gone */
	HP3_ACT_EVENT,
	HP3_ACT_PROBE, /* send a peer probe of the flow on `port` that bears `probe_id` */
};

struct hp3_act {
	uint8_t kind;
	uint16_t port;
	uint16_t slot;
	uint32_t flow;
	uint32_t probe_id;
	struct hp3_event event;
};

#define HP3_ACTS_MAX 16u /* no call but hp3_tick() needs more than 12 */

struct hp3_acts {
	uint32_t n;
	bool more; /* hp3_tick: call again with an empty list */
	struct hp3_act act[HP3_ACTS_MAX];
};

/* Queue-pair setup as seen by a watcher, in the sight of the local host. */
enum hp3_qp_kind { HP3_QP_UP, HP3_QP_DOWN };

struct hp3_qp_event {
	uint8_t kind;
	uint8_t pairing; /* who tells: enum hp3_pairing */
	bool ipv6;
	uint16_t vlan;
	uint8_t local[16], remote[16]; /* IPv4: first four bytes */
	uint32_t lqpn, rqpn;
};

enum hp3_cmd_kind { HP3_CMD_MOVE, HP3_CMD_HOME, HP3_CMD_CANCEL };

struct hp3_cmd {
	uint8_t kind;
	uint8_t cause;
	uint16_t port; /* MOVE: target; 0 draws one at random from 0xC000..0xFFFF */
	uint32_t flow;
	uint64_t tag; /* comes back in the event */
};

/* What an operator sees of a flow. */
struct hp3_flow_info {
	uint32_t flow;
	bool ipv6, paired, moved;
	uint16_t vlan;
	uint8_t local[16], remote[16];
	uint32_t lqpn, rqpn, una, nxt, inflight;
	uint16_t port, home, pmtu;
	uint8_t state, pairing;
	uint32_t moves, retransmits;
	uint64_t bytes, idle_ns;
	bool severe;
	struct hp3_estimates path; /* all 0: not watched, or nothing seen yet */
};

/* Bytes of memory (64-byte aligned) that hp3_engine_create() wants for this configuration. */
size_t hp3_engine_size(const struct hp3_engine_config *cfg);
/* Returns NULL if `mem` is misaligned, too small, or a limit is 0. */
struct hp3_engine *hp3_engine_create(void *mem, size_t size, const struct hp3_engine_config *cfg);

/* Takes over times, limits and switches; what sizes memory, and the seed, stay as they were. */
void hp3_engine_reconfigure(struct hp3_engine *e, const struct hp3_engine_config *cfg);

/* Fills addr, sig, bucket and flow of RC packets; prefetches what hp3_tx/hp3_rx will touch. */
void hp3_find_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir);

void hp3_tx(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *verdict,
	struct hp3_acts *acts);
void hp3_rx(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *verdict,
	struct hp3_acts *acts);

/* Returns 0, or -ENOSPC if the tables are full, -EINVAL. */
int hp3_qp(
	struct hp3_engine *e, const struct hp3_qp_event *ev, uint64_t now, struct hp3_acts *acts);

/*
 * Returns 0: done or under way (the event tells how it ended); -ENOENT no such flow; -ENOLINK not
 * paired yet; -EALREADY on that port; -EBUSY a move is under way; -EAGAIN an RNR NAK is pending;
 * -ENOSPC all move slots taken; -ENODATA no request packet seen yet; -EPERM moves are off, or the
 * flow is immovable.
 */
int hp3_command(
	struct hp3_engine *e, const struct hp3_cmd *cmd, uint64_t now, struct hp3_acts *acts);
const char *hp3_command_error(int err); /* what to do about it */

/*
 * A peer's hp3d answered probe `id`; `ce`: the probe was marked on its way. Unknown and late ids
 * are ignored.
 */
void hp3_probe_reply(
	struct hp3_engine *e, uint32_t id, bool ce, uint64_t now, struct hp3_acts *acts);

/* Deadlines, ageing. Returns when it wants to be called next (at the latest). */
uint64_t hp3_tick(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);

/* Lists: first flow with index >= `from` that is in use, or HP3_NO_FLOW. */
uint32_t hp3_flow_next(const struct hp3_engine *e, uint32_t from);
int hp3_flow_info(
	const struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_flow_info *info);
/* By what a flow id names; addresses as in hp3_qp_event. HP3_NO_FLOW if unknown. */
uint32_t hp3_flow_find(const struct hp3_engine *e, bool ipv6, uint16_t vlan, const void *local,
	const void *remote, uint32_t rqpn);

const struct hp3_stats *hp3_engine_stats(const struct hp3_engine *e);
uint32_t hp3_engine_flows(const struct hp3_engine *e); /* in use */
uint32_t hp3_engine_moves(const struct hp3_engine *e); /* in progress */
uint32_t hp3_engine_moved(const struct hp3_engine *e); /* flows away from home */
void hp3_set_moves_allowed(struct hp3_engine *e, bool allowed);

const char *hp3_event_name(enum hp3_event_type t);
const char *hp3_cause_name(enum hp3_cause c);
const char *hp3_pairing_name(enum hp3_pairing p);

#endif
