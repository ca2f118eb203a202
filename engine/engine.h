/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The public interface of the engine: flow table, pairing and reorder-free rerouting. The engine
 * has no I/O, clock, allocation or callback. Packets and time go in. A verdict for each packet and
 * a short list of actions come out. hp3d, the simulator, the replay and the tests run this same
 * code.
 *
 * Time is monotonic, in nanoseconds, and always an argument. One thread drives an instance.
 * Instances share nothing. All randomness comes from the seeds in the configuration.
 *
 * For a burst: call hp3_see_burst(), then hp3_burst() until it has handled all packets. For a
 * single packet: parse it, then call hp3_find_burst(), then hp3_tx() or hp3_rx(). In both cases,
 * carry out the actions first, in the order of the list, then the verdict. The reason: the packets
 * of a RELEASE must leave before the packet in hand (the packet that led to the actions). DELIVER
 * and SHOW are exceptions (hp3_act_follows()): the caller passes their packets to the RNIC behind
 * the packet in hand, also in the order of the list.
 */
#include <stddef.h>
#include "cc/dcqcn.h"
#include "cc/np.h"
#include "engine/ends.h"
#include "engine/event.h"
#include "engine/filter.h"
#include "engine/flows/flow.h"
#include "engine/stats.h"
#include "ppp/paths.h"
#include "probes/agree.h"
#include "probes/cm.h"
#include "probes/limit.h"
#include "probes/trace.h"

struct hp3_engine;

/* What reduces the rate of a flow whose packets are ECN-marked? */
enum hp3_cc_mode {
	/* the RNIC; the engine passes CNPs to it, except stale CNPs after a move and CNPs that the
	 * engine withholds (rule 30) */
	HP3_CC_NATIVE,
	/* the engine: DCQCN reaction point and pacer; it consumes CNPs and clears BECN (rule 5) */
	HP3_CC_DCQCN,
	/* nothing; the engine consumes CNPs and clears BECN, for RNICs without support for them */
	HP3_CC_OFF,
};

struct hp3_cc_params {
	uint8_t mode; /* enum hp3_cc_mode */
	bool notify; /* be the DCQCN notification point: report CE marks to the sender (cc/np.h) */
	struct hp3_np_params np;
	struct hp3_dcqcn_params rp; /* DCQCN: reaction point */
	uint32_t burst_bytes; /* DCQCN: bytes of a flow that may leave at once */
	uint64_t rto_ns; /* DCQCN: the RNIC's retransmission time-out; 0: it has none (rule 14) */
	/* longest round trip; for this long after a move, CNPs may still be about the old path */
	uint64_t max_rtt_ns;
	/* NATIVE: during a search for a better path, the engine withholds CNPs from the RNIC for
	 * this percentage of a base RTT (rule 30). 0: it withholds none. */
	uint16_t withhold_percent;
};

/* How other paths are probed. */
enum hp3_probe_choice {
	HP3_PROBES_AUTO, /* peer probes; standard probes if the peer's hp3d never answers */
	HP3_PROBES_PEER,
	HP3_PROBES_STANDARD,
};

/* Values of policy keys (policy.def); struct hp3_policy_words holds them. */
enum hp3_policy_mode { HP3_POLICY_OFF, HP3_POLICY_OBSERVE, HP3_POLICY_ON };
enum hp3_probe_mode {
	HP3_PROBE_MODE_OFF,
	HP3_PROBE_MODE_AUTO,
	HP3_PROBE_MODE_PEER,
	HP3_PROBE_MODE_STANDARD
};
enum hp3_np_key { HP3_NP_KEY_AUTO, HP3_NP_KEY_ON, HP3_NP_KEY_OFF };

/* Queue pairs whose packets take several paths at once (engine/spray/spray.h). */
enum hp3_spray_mode { HP3_SPRAY_MOVE, HP3_SPRAY_ALL, HP3_SPRAY_AUTO };

struct hp3_spray_params {
	uint8_t mode; /* enum hp3_spray_mode */
	/* maximum number of queue pairs that this host sprays at a time; the same maximum applies
	 * to the peers' queue pairs that this host resequences */
	uint16_t flows;
	uint8_t evs; /* entropy values (UDP source ports) of each queue pair: 2 .. 64 */
	uint32_t alike; /* %: see rfr/spread.h */
	/* true: the set-up of a queue pair makes this host ask the peer to resequence it; false:
	 * only a large message does */
	bool setup;
	bool reads; /* also spray READ responses */
	uint32_t bytes; /* spray messages of at least this length */
	uint32_t short_bytes; /* ... and of this length, while paths are presumed alike; 0: none */
	/* interval of keep-alives, with which the sender asks whether the peer still resequences */
	uint64_t keepalive_ns;
	uint64_t wait_ns; /* receiver: longest wait for a missing packet */
	uint64_t late_ns, rest_ns; /* rfr/spread.h */
};

/* Policy keys, each of which determines several fields; hp3_policy_settled() sets these fields. */
struct hp3_policy_words {
	uint8_t mode; /* enum hp3_policy_mode; hp3_policy_mode() applies it */
	bool observe_probes; /* mode observe: probe other paths */
	bool study; /* hp3.ini may set keys for studies */
	uint8_t probe; /* enum hp3_probe_mode; determines `probing` and `probes` */
	uint8_t notify; /* enum hp3_np_key; determines cc.notify */
	bool watch; /* false sets monitor.cycle_ns to 0 */
};

/*
 * Limits and times. policy.def has the meaning, range and default of each. The engine reads neither
 * `words` nor `answer_dscp`. The code that builds the packets uses answer_dscp.
 */
struct hp3_engine_config {
	uint64_t seed;
	/* Key of all hash tables. Peers choose the hashed values, so an attacker could fill a hash
	 * chain if the key were not random. The engine's decisions do not depend on the key. */
	uint64_t hash_seed;
	uint32_t max_flows, max_pairs, max_moves;
	/* a flow with nothing in flight is removed after this time without packets */
	uint64_t idle_age_ns;
	/* a flow with packets in flight is removed after this time without packets */
	uint64_t dead_age_ns;
	/* after an IP fragment from the RNIC, flows of its address pair do not move for this
	 * long */
	uint64_t pin_ns;
	/* longest drain: from the closing packet (the last packet on the old path) to the end of
	 * the move */
	uint64_t max_hold_ns;
	uint64_t close_timeout_ns; /* longest wait of a move for its closing packet */
	uint64_t hold_bytes; /* most bytes that are held of one flow */
	uint64_t hold_bytes_total; /* most bytes that are held of all flows together */
	uint32_t hold_packets; /* most packets that the caller can hold, of all flows together */
	uint64_t challenge_timeout_ns;
	uint32_t challenge_hits; /* a flow is paired after this many answered challenges in a row */
	/* the challenged packet is chosen at random from this many packets */
	uint32_t challenge_spread;
	/* Replies may acknowledge requests that the engine did not see. So the engine sends no
	 * challenges for this long after the first packet of an address pair or the end of a queue
	 * pair. */
	uint64_t challenge_quiet_ns;
	/* the engine discards a pairing from an event if replies contradict the pairing for this
	 * long */
	uint64_t refute_ns;
	struct hp3_monitor_params monitor; /* cycle_ns 0: paths are not monitored */
	/* Probe other paths; severe congestion of the path in use starts a round of probes. */
	bool probing;
	uint8_t probes; /* enum hp3_probe_choice */
	uint8_t candidates; /* ports per round besides the one in use, 1 to 6 */
	uint16_t max_concurrent; /* most rounds and moves of an address pair at the same time */
	uint64_t cooldown_ns; /* a flow does not move again for this long after a move */
	uint8_t cooldown_rtts; /* minimum of cooldown_ns, in base RTTs */
	/* Before a flow moves to a better path, the engine waits for a random part of this time.
	 * Then it probes the better path again (rule 29). 0: the flow moves at once. */
	uint64_t move_wait_ns;
	uint8_t move_wait_rtts; /* minimum of move_wait_ns, in base RTTs */
	/* time from a move to the check whether the new path is better; 0: no check */
	uint64_t verify_ns;
	/* if the peer acknowledges nothing for this long (and for 4 RTTs), probe whether the path
	 * is dead; 0: never */
	uint64_t stall_ns;
	uint64_t peer_ns; /* AUTO: retry interval of peer probes to a peer that did not answer */
	/* The path in use is lossy if the RNIC starts to retransmit more often than this per 1000
	 * requests. 0: a path is never lossy. */
	uint16_t loss_permille;
	uint8_t loss_repeats; /* a path is lossy only after at least this many losses (1 to 30) */
	/* search for a path after the set-up of a queue pair, before its first data */
	bool setup_probing;
	uint8_t setup_rounds; /* most rounds of probes of a search after set-up */
	/* search after set-up: answers whose RTT is up to this percentage longer than the best RTT
	 * count as equal; 0: the first answer wins */
	uint8_t setup_alike;
	/* Percent of a base RTT. A message on an idle queue pair waits for a path if the message
	 * takes at least this long at cc.rp.rpg_max_rate. 0: no message waits. */
	uint16_t message_start_percent;
	bool observe; /* report moves as events (WOULD), but make no moves */
	/* with `observe`: send no probes; a WOULD event then stands for a path search */
	bool silent;
	/* this host has no key, so peers cannot authenticate its messages: send no reports, and
	 * make no agreements */
	bool unkeyed;
	/* If not NULL: exchange reports and agreements only with peers that share one of these
	 * keys. The caller keeps the keys allocated. */
	const struct hp3_probe_key *key;
	/* DSCP of messages between hosts; HP3_DSCP_KEPT: the DSCP of the data */
	uint8_t answer_dscp;
	struct hp3_round_params round;
	struct hp3_paths_params paths;
	/* A model or traces (trace.h) map ports to paths. Without a model and traces, each port
	 * counts as a path. */
	/* NULL: no model; the caller keeps the model allocated as long as the engine exists */
	const struct hp3_path_model *model;
	bool trace; /* learn paths from traces; not with a model */
	struct hp3_limit traces; /* rate limit of traces; switches answer few per second */
	uint64_t trace_timeout_ns;
	struct hp3_cc_params cc;
	struct hp3_spray_params spray;
	/* verbs mode: the caller carries out moves (hp3_actuator()); the engine holds and paces
	 * nothing */
	bool verbs;
	/* verbs mode: the caller passes copies of CNPs to hp3_rx(), and the engine ignores the CNP
	 * counters of the RNIC's port */
	bool copies;
	bool pair_by_cm, pair_by_challenge;
	bool moves_allowed;
	struct hp3_policy_words words;
	struct hp3_filter filter; /* which flows may be moved */
};

/*
 * One packet. The caller fills in frame, len, trusted and the view; hp3_find_burst() fills in the
 * rest. The caller may pass packets of any class. Besides RC requests, replies and CNPs, the engine
 * reads CM datagrams, for pairing. After an IP fragment from the local RNIC, flows of the address
 * pair do not move for `pin_ns`. All packets except RC packets and CNPs get the verdict PASS.
 */
struct hp3_pkt {
	const void *frame;
	uint32_t len;
	bool trusted; /* frame has headers only; the ICRC counts as right (simulator) */
	uint8_t link; /* number of the caller's link, 0 .. 15, on which the packet arrived */
	struct hp3_view v;
	uint64_t addr;
	uint32_t sig, bucket; /* bucket: HP3_NO_BUCKET if the packet needs no flow lookup */
	uint32_t flow; /* index, which hp3_tx() and hp3_rx() verify; or HP3_NO_FLOW */
};

#define HP3_NO_BUCKET UINT32_MAX

enum hp3_verdict_kind {
	HP3_PASS,
	HP3_HOLD,
	HP3_CONSUME,
	HP3_DROP,
	/* hp3_burst() only: PASS, then a DELIVER of `held` and `count` (struct hp3_act) */
	HP3_PASS_DELIVER
};

#define HP3_SET_ACKREQ 0x01u
#define HP3_SET_BECN   0x02u /* BECN is in resv8a, which the ICRC does not cover */
#define HP3_CLEAR_BECN 0x04u
/* These flags change the packet. */
#define HP3_CHANGES (HP3_SET_ACKREQ | HP3_SET_BECN | HP3_CLEAR_BECN)
/* From the network, of a queue pair that the engine resequences. The RNIC must get the queue pair's
 * packets in the order of the verdicts. So a caller with several links passes all of them on by one
 * link: flags >> HP3_LINK_SHIFT, the link of the first such packet. */
#define HP3_IN_ORDER   0x08u
#define HP3_LINK_SHIFT 4u

struct hp3_verdict {
	uint8_t kind; /* enum hp3_verdict_kind */
	uint8_t flags; /* HP3_SET_*, HP3_CLEAR_BECN, HP3_IN_ORDER and a link */
	/* UDP source port with which the packet leaves: a new port, or the packet's own */
	uint16_t sport;
	/* HOLD: handle of the packet while it is held, 1 .. HP3_HELD(hold_packets). The caller
	 * keeps the packet under this handle. `flags` apply to the held packet; `sport` does
	 * not. */
	uint32_t held;
	uint32_t flow;
	uint32_t count; /* PASS_DELIVER */
};

enum hp3_act_kind {
	/* Send the first `count` packets that the flow holds, in order, with source port `port`.
	 * `held` is the first packet, and hp3_held_next() returns each next one. HP3_SET_ACKREQ
	 * applies to the last packet. */
	HP3_ACT_RELEASE,
	/* Drop the first `count` packets that the flow holds (fields as for RELEASE). Their queue
	 * pair has ended, or the RNIC sends them again. */
	HP3_ACT_DISCARD,
	HP3_ACT_EVENT,
	HP3_ACT_PROBE, /* send a probe of the flow on `port`; see struct hp3_act */
	HP3_ACT_NAK, /* to the local RNIC: NAK, PSN sequence error, `psn` is expected (rule 4) */
	HP3_ACT_CNP, /* to the network: a CNP for the flow's sender (rule 5) */
	HP3_ACT_CNP_OWED, /* to the local RNIC: one CNP that replaces the withheld CNPs (rule 30) */
	/* To the peer's hp3d, from UDP source port `port`: a report that no reply to this flow
	 * arrives. `psn` is as for a PROBE of kind PEER. */
	HP3_ACT_REPORT,
	/* ACK solicitation, to the peer's RNIC, from UDP source port `port`: a zero-length WRITE
	 * ONLY with the old PSN `psn` and AckReq. The peer's RNIC repeats its latest
	 * acknowledgement. */
	HP3_ACT_SOLICIT_ACK,
	/* Verbs mode: let the send queue of the queue pair drain, then report DRAINED. op: enum
	 * hp3_suspend_kind. */
	HP3_ACT_SUSPEND,
	/* Verbs mode: use `port` from now on, then report MOVED. No SUSPEND precedes the MOVE if
	 * the queue pair was just set up, or if op is HP3_MOVE_DEAD (dead path). In these two
	 * cases, move at once, and report only a failure (FAILED). */
	HP3_ACT_MOVE,
	HP3_ACT_RESUME, /* verbs mode: go on sending, on the old port */
	/* send the message `agree.what` to the hp3d at `agree.remote` (probes/agree.h) */
	HP3_ACT_AGREE,
	/* Pass `count` packets to the local RNIC: unchanged, in order, *behind* the packet in hand.
	 * They came from the network, and the caller held them. `held` is the first packet, as for
	 * RELEASE. */
	HP3_ACT_DELIVER,
	/* Pass a copy of packet `held` to the local RNIC, so that the RNIC sends a NAK for the gap
	 * before this packet. Pass the copy *behind* the packet in hand, and behind the DELIVERs
	 * listed before. The packet stays held until a DELIVER, PASS_DELIVER or DISCARD names it,
	 * later in this list or in a later call. If there is a packet in hand, no DISCARD of this
	 * list names packet `held`. Without memory for a copy: do nothing. */
	HP3_ACT_SHOW,
	/* send a trace of the flow from UDP source port `port`; report its outcome with
	 * hp3_hop_reported() */
	HP3_ACT_TRACE,
};

/*
 * The packets of PROBE actions: a probe of kind PEER carries probe_id, which its answer repeats.
 * The probe is no packet of a reliable connection (probes/peer.h), so an RNIC drops it, whatever
 * its PSN. Even so, `psn` is an old PSN. The packets of TRACE and REPORT have the same format. A
 * probe of kind STANDARD is a duplicate request: a zero-length WRITE ONLY with the old PSN `psn`
 * and AckReq.
 */

#define HP3_MOVE_DEAD 1u /* op of MOVE: the path in use is dead */

enum hp3_suspend_kind {
	HP3_SUSPEND_TO_MOVE,
	/* The peer's hp3d holds the peer's queue pair, so the queue pair may move although its peer
	 * may READ. MOVE takes effect within `count` milliseconds of DRAINED, or fails. */
	HP3_SUSPEND_PEER_HELD,
	/* For a move of the peer's queue pair: hold posts for `count` milliseconds from DRAINED
	 * on, or until RESUME, even if hp3d ends. No MOVE follows. */
	HP3_SUSPEND_FOR_PEER,
};

/* The addresses and the message of an AGREE action. */
struct hp3_act_agree {
	bool ipv6;
	uint32_t vlan;
	uint8_t local[16], remote[16]; /* IPv4: first four bytes */
	struct hp3_agree what;
};

struct hp3_act {
	uint8_t kind; /* enum hp3_act_kind */
	uint8_t flags; /* RELEASE: HP3_SET_ACKREQ; TRACE: opcode, 0: the opcode of probes */
	uint8_t op; /* PROBE: enum hp3_probe_kind; TRACE: the TTL; MOVE: 0 or HP3_MOVE_DEAD */
	uint16_t port;
	uint16_t pad; /* PROBE of kind PEER: payload bytes, which make the probe as long as data */
	uint16_t pkey; /* NAK, CNP, CNP_OWED */
	uint32_t count, held; /* RELEASE, DISCARD, DELIVER; SHOW uses only `held` */
	uint32_t flow;
	uint32_t probe_id; /* PROBE, TRACE */
	uint32_t psn; /* PROBE, NAK, TRACE, REPORT, SOLICIT_ACK */
	uint32_t msn; /* NAK */
	union {
		struct hp3_event event; /* EVENT */
		struct hp3_act_agree agree; /* AGREE */
	};
};

/* True: carry out this action behind the packet in hand, if there is one. */
static inline bool hp3_act_follows(const struct hp3_act *a)
{
	return a->kind == HP3_ACT_DELIVER || a->kind == HP3_ACT_SHOW;
}

/*
 * Handles of held packets are 1 .. HP3_HELD(hold_packets). One handle always stays free, so the
 * engine reuses no handle before the caller has sent or dropped its packet.
 */
#define HP3_HELD(hold_packets) ((hold_packets) + 1u)

#define HP3_ACTS_MAX 20u /* no call except hp3_tick() and hp3_missed() needs more than 16 */

struct hp3_acts {
	uint32_t n;
	bool more; /* hp3_tick(): call again with an empty list */
	bool obey; /* hp3_burst(): some verdict is not a plain PASS */
	struct hp3_act act[HP3_ACTS_MAX];
};

/* Setup and end of a queue pair, from the point of view of the local host. */
enum hp3_qp_kind { HP3_QP_UP, HP3_QP_DOWN };

/* The source of a queue-pair event; life/qp_sources.h lists what each source may change. */
enum hp3_qp_source {
	HP3_QP_SOURCE_NONE,
	HP3_QP_SOURCE_CM, /* connection management on the wire */
	HP3_QP_SOURCE_LIBRARY, /* the library's watcher; any local process can forge its events */
	HP3_QP_SOURCE_KERNEL, /* the kernel's watcher; the queue pairs that it reports exist */
	HP3_QP_SOURCE_APPLICATION, /* the application itself (verbs mode) */
	HP3_QP_SOURCES
};

struct hp3_qp_event {
	uint8_t kind;
	uint8_t source; /* enum hp3_qp_source */
	bool ipv6;
	uint32_t vlan;
	uint8_t local[16], remote[16]; /* IPv4: first four bytes */
	uint32_t lqpn, rqpn;
	uint32_t psn; /* UP: first PSN that the local queue pair will send */
	bool psn_known;
	uint32_t owner; /* LIBRARY: the process that sent the event */
};

enum hp3_cmd_kind { HP3_CMD_MOVE, HP3_CMD_HOME, HP3_CMD_CANCEL };

struct hp3_cmd {
	uint8_t kind;
	uint8_t cause;
	/* MOVE: target. 0: the engine draws another port at random, from the ports that
	 * hp3_qp_ports() set if there are several, else from 0xC000..0xFFFF */
	uint16_t port;
	uint32_t flow;
	uint64_t tag; /* copied to the event */
};

/*
 * A flow, for operators. una, nxt: PSNs; inflight: packets; idle_ns: time since the flow's last
 * packet.
 */
struct hp3_flow_info {
	uint32_t flow;
	bool ipv6, paired, moved;
	uint32_t vlan;
	uint8_t local[16], remote[16];
	uint32_t lqpn, rqpn, una, nxt, inflight;
	uint16_t port, home, pmtu;
	uint16_t replies; /* UDP source port of replies to the peer; 0: the RNIC's port */
	uint8_t state, pairing;
	uint8_t unpaired; /* enum hp3_unpaired_reason */
	uint8_t spray; /* enum hp3_spray_state */
	uint8_t spray_reads; /* enum hp3_spray_state, for responses to the peer's READs */
	uint8_t evs; /* entropy values in use */
	uint32_t moves, retransmits;
	uint64_t bytes, idle_ns;
	uint64_t rate; /* bit/s, the DCQCN rate; 0: the engine does not pace the flow (cc) */
	bool severe;
	uint8_t barred; /* enum hp3_bar: which filter rule keeps the flow on its port */
	uint8_t dscp; /* HP3_NO_DSCP: not known yet */
	struct hp3_estimates path; /* all 0: not monitored, or no sample yet */
};

/* Bytes of memory (64-byte aligned) that hp3_engine_create() needs for this configuration. */
size_t hp3_engine_size(const struct hp3_engine_config *cfg);
/*
 * Returns NULL if `mem` is misaligned or too small, or if the configuration is not valid: a limit
 * is 0 or out of range, or values exclude each other (such as `trace` and `model`).
 */
struct hp3_engine *hp3_engine_create(void *mem, size_t size, const struct hp3_engine_config *cfg);

/*
 * Applies times, limits and switches. Values whose keys need a restart, such as table sizes and the
 * seed, do not change. A configuration that hp3_engine_create() would refuse changes nothing.
 */
void hp3_engine_reconfigure(struct hp3_engine *e, const struct hp3_engine_config *cfg);

/*
 * A slot has the state of one flow's search or move. hp3_engine_slots(): number of slots in use.
 * hp3_slot_open(): can HP3_CMD_CANCEL end the search or move of slot i without a PSN gap at the
 * peer's RNIC? False for a flow that has left a dead path, and for a slot without a search or move
 * under way. The function always sets *flow to the flow of the slot. Iterate from the last slot
 * down, because a cancelled search or move frees its slot.
 */
uint32_t hp3_engine_slots(const struct hp3_engine *e);
bool hp3_slot_open(const struct hp3_engine *e, uint32_t i, uint32_t *flow);

/*
 * The caller can hold `more` packets besides the packets that it holds now, of all flows together.
 * This number is valid until the next call of this function. hold_packets remains the upper limit.
 * Beyond the number given here, the engine acts as if hold_packets were reached.
 */
void hp3_hold_room(struct hp3_engine *e, uint32_t more);

/*
 * Number of packets of this direction that are held: their verdict was HOLD, and no RELEASE,
 * DISCARD or DELIVER has named them yet.
 */
uint32_t hp3_engine_held(const struct hp3_engine *e, enum hp3_dir dir);

/*
 * The packet after `held` in a RELEASE, DISCARD or DELIVER of several packets. Call this before the
 * next call of the engine.
 */
uint32_t hp3_held_next(const struct hp3_engine *e, uint32_t held);

/*
 * Fills in addr, sig, bucket and flow of packets that need a flow. Prefetches what hp3_tx() and
 * hp3_rx() read.
 */
void hp3_find_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir);

/*
 * The burst interface. Results equal those of hp3_parse(), hp3_find_burst(), hp3_tx() and hp3_rx().
 * - hp3_see_burst() needs frame, len and trusted, and fills in the rest except the flow. A packet
 *   whose frame is NULL has class OTHER. Returns the number of packets that are not requests (TX)
 *   or not replies (RX).
 * - hp3_burst() looks up flows and handles packets in order. It returns the number of packets that
 *   it handled: all packets, or the packets up to and including the first one with actions. The
 *   caller then obeys the verdicts of the packets before that packet, and carries out the actions.
 *   Last, it obeys the verdict of that packet, and calls hp3_burst() again for the rest. Held
 *   packets that follow a packet in PSN order do not end the burst: the verdict of that packet
 *   names them (PASS_DELIVER).
 */
/*
 * The kinds of packets for which hp3_see_burst() prepares a flow lookup, besides requests (TX) and
 * replies (RX): a bit mask. A message from a peer, handled between hp3_see_burst() and hp3_burst(),
 * may change the mask. The caller then calls hp3_see_burst() again for the packets that came after
 * that message.
 */
uint32_t hp3_seen_kinds(const struct hp3_engine *e);
uint32_t hp3_see_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir);
uint32_t hp3_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir,
	uint64_t now, struct hp3_verdict *verdicts, struct hp3_acts *acts);

/*
 * hp3_see_burst() and hp3_burst() exist for several levels of the instruction set. The engine uses
 * the best level of this CPU. hp3_isa_name() returns the name of level i, counted from plain to
 * best; NULL: there is no such level. hp3_isa_use() selects a level, for tests. It returns 0;
 * -ENOTSUP: this CPU does not have the level.
 */
const char *hp3_isa_name(unsigned i);
int hp3_isa_use(struct hp3_engine *e, unsigned i);
const char *hp3_isa_in_use(const struct hp3_engine *e);

void hp3_tx(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *verdict,
	struct hp3_acts *acts);
void hp3_rx(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *verdict,
	struct hp3_acts *acts);

/*
 * Restores the ports of a flow from an earlier hp3d. Call it before the first packet of the flow.
 * Requests leave on `port`, replies on `replies`; 0: on the RNIC's port. Packets sent earlier may
 * still be in flight on these ports, so the flow starts on these ports, and keeps them until its
 * next move. The engine pairs the flow again. Returns 0; -EEXIST: the flow has sent already,
 * nothing changes; -EPERM: verbs mode; -ENOSPC: tables full; -EINVAL: both ports are 0.
 */
int hp3_flow_restore(struct hp3_engine *e, const struct hp3_ends *ends, uint32_t rqpn,
	uint16_t port, uint16_t replies, uint64_t now);

/*
 * hp3d did not poll for a while, and packets bypassed it in either direction. The engine ends all
 * moves and searches, and drops all held packets. It forgets which packets are in flight: each flow
 * begins a new epoch on its RNIC's port. For a while, the engine sends no challenges. If packets
 * left on other ports during the bypass, call hp3_flow_restore() next.
 *
 * Call this before the next packet, with an empty list and `from` 0. Repeat it with `from` set to
 * the previous return value, until it returns HP3_NO_FLOW. Each call does a bounded part. Between
 * two calls, time may pass and queue pairs may be set up; flows keep their ports. If packets also
 * bypassed hp3d after the last of these calls, call this function once more with HP3_NO_FLOW when
 * the bypass ends. The time without challenges then begins again.
 */
uint32_t hp3_missed(struct hp3_engine *e, uint32_t from, uint64_t now, struct hp3_acts *acts);

/*
 * A queue pair was set up, or has ended. Returns 0, also if the engine ignores the event (counted
 * in setups_ignored); -ENOSPC: tables full; -EINVAL: a PSN, a QPN or the source is out of range.
 */
int hp3_qp(struct hp3_engine *e, const struct hp3_qp_event *event, uint64_t now,
	struct hp3_acts *acts);

/*
 * Returns 0: done or under way (an event reports the result); -ENOENT: no such flow; -ENOLINK: not
 * paired yet; -EALREADY: the flow uses that port already; -EBUSY: a search or move is under way, or
 * packets wait for the pacer; -EAGAIN: an RNR NAK is pending; -ENOSPC: all slots in use; -ENODATA:
 * no request packet seen yet; -EACCES: a filter keeps the flow on its port; -EPERM: moves are off,
 * or the RNIC has sent IP fragments (pin_ns). HP3_CMD_HOME ignores filters and both reasons for
 * -EPERM. HP3_CMD_CANCEL always returns 0 for an existing flow.
 */
int hp3_command(
	struct hp3_engine *e, const struct hp3_cmd *cmd, uint64_t now, struct hp3_acts *acts);
const char *hp3_command_error(int err); /* the reason, and what to do */

/*
 * Advice from the fleet: probe `port` besides the port in use, while the flow goes on sending. The
 * flow moves to `port` if the answer is unmarked and its RTT is within HP3_NO_WORSE_RTT. Rejected
 * advice costs two probes of the address pair's budget, and does not delay searches that the flow
 * begins itself. The event that reports the result (SWITCH, IDLE_SWITCH, RECOVER) has cause ADVICE
 * and the tag of *cmd. The engine ignores cause and kind of *cmd.
 *
 * Returns as hp3_command() does, and: -EOPNOTSUPP: probes are off, or the peer does not answer peer
 * probes; -EHOSTUNREACH: the path of that port has failed or is lossy; -EDQUOT: the result of the
 * flow's last move is not known yet, or its address pair has other searches under way or no probe
 * budget.
 */
int hp3_advise(
	struct hp3_engine *e, const struct hp3_cmd *cmd, uint64_t now, struct hp3_acts *acts);

/*
 * A peer's hp3d answered probe `id`; `ce`: the probe was marked CE. The engine ignores unknown and
 * late ids. The RTT is the time since the PROBE action. `took_ns` is the time on the wire by an
 * RNIC's timestamps, without the delay of polling. If `took_ns` is shorter than that, and not 0,
 * hp3_probe_timed() uses it as the RTT. hp3_probe_timed() returns true if this is the first answer
 * to a probe of which the engine still has a record. Only such an answer shows that the peer is
 * alive.
 */
void hp3_probe_reply(
	struct hp3_engine *e, uint32_t id, bool ce, uint64_t now, struct hp3_acts *acts);
bool hp3_probe_timed(struct hp3_engine *e, uint32_t id, bool ce, uint32_t took_ns, uint64_t now,
	struct hp3_acts *acts);

/*
 * The outcome of trace `id`. With outcomes HOP and ODD, `hop` is the sender of the ICMP time
 * exceeded message, 4 or 16 bytes. The engine ignores unknown and late ids. If no outcome is
 * reported for two time-outs, the trace counts as SILENT.
 */
void hp3_hop_reported(struct hp3_engine *e, uint32_t id, enum hp3_trace_outcome outcome, bool ipv6,
	const void *hop, uint64_t now);

/*
 * The peer's hp3d is alive: it sent a valid probe, or the first answer to a probe of this host
 * (rule 5).
 */
void hp3_peer_seen(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t now);

/*
 * A valid report of a peer's hp3d arrived (probes/peer.h): the peer receives no replies to its
 * queue pair `rqpn`. From now on, these replies leave on another port. Returns 0; -EALREADY: the
 * replies moved just now; -EPERM: moves are off, or the flow may not leave its port, or (verbs
 * mode) there is no such flow; -ENOSPC: tables full.
 */
int hp3_peer_report(struct hp3_engine *e, const struct hp3_ends *ends, uint32_t rqpn, uint64_t now,
	struct hp3_acts *acts);

/* The peer's hp3d sent this message about a sprayed queue pair (probes/agree.h). */
void hp3_agree_received(struct hp3_engine *e, const struct hp3_ends *ends,
	const struct hp3_agree *what, uint64_t now, struct hp3_acts *acts);
/*
 * hp3d stops, or packets are about to bypass it. The engine begins no further agreements, and
 * hp3_tick() ends those that exist. As the receiver, the engine answers NO, and resequences until
 * the sender has sent OVER. As the sender, the engine uses one path, and sends OVER when all
 * sprayed packets have arrived.
 *
 * Returns 0 if there are no agreements any more, else the time (ns) at which the last agreement
 * ends. Call this function repeatedly, until that time, or until it returns 0. Until hp3_tick() has
 * visited all agreements, the result is 10 s from now, the longest possible time.
 */
uint64_t hp3_spray_stop(struct hp3_engine *e, uint64_t now);
/*
 * `blocked`: the RNIC's port accepts no packets, so hp3d does not poll the network. False: the port
 * accepts packets again. While the port is blocked, no packet counts as late, and no agreement to
 * resequence ends.
 */
void hp3_rx_blocked(struct hp3_engine *e, bool blocked, uint64_t now);
/* Cancels hp3_spray_stop(). */
void hp3_spray_go_on(struct hp3_engine *e);
/*
 * Ends one agreement at once, even if sprayed packets are in flight. Call it until it returns
 * false.
 */
bool hp3_spray_abandon(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);
/*
 * hp3d stops, or packets are about to bypass it. If a flow has no move under way, its packets in
 * the pacer leave at once, in order. The engine paces no further packet until hp3_missed(). Call
 * this function until it returns false.
 */
bool hp3_pacing_stop(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);

/*
 * Verbs mode: results of SUSPEND, MOVE and RESUME. DRAINED: the peer has acknowledged all that the
 * queue pair sent, and the queue pair sends nothing. MOVED: the queue pair sends on the new port.
 * FAILED, at any step: the queue pair goes on sending on the old port. If a SUSPEND fails with
 * EPERM, the peer may READ: the engine then asks the peer's hp3d to hold the peer's queue pair
 * (moves/peer_hold.h). Returns 0; -ENOENT: no such flow; -EINVAL: the flow does not wait for this
 * report, or this is not verbs mode.
 */
enum hp3_actuator_report { HP3_ACTUATOR_DRAINED, HP3_ACTUATOR_MOVED, HP3_ACTUATOR_FAILED };
struct hp3_actuated {
	uint8_t report; /* enum hp3_actuator_report */
	uint16_t error; /* FAILED: an errno */
};
int hp3_actuator(struct hp3_engine *e, uint32_t flow, struct hp3_actuated what, uint64_t now,
	struct hp3_acts *acts);

/*
 * Verbs mode, where the engine sees no packets: completions of a queue pair since the last call.
 * `took_ns` is the time from post to completion of the newest work request (0: none). `least_ns` is
 * the shortest time of a work request under the same condition: the same number of bytes before it
 * in the send queue. The engine treats both times as RTTs. A decision that follows from these times
 * has cause COMPLETION. Work requests that are posted and not completed count as in flight. If
 * completions stop, the engine suspects a dead path.
 *
 * `home` and `port` are as the actuator reports them. If `home` or `port` differs from the engine's
 * ports, and no move is under way, the engine adopts the reported ports. Call this function now and
 * then even if nothing was sent: the engine removes a queue pair without calls. Returns 0; -ENOENT:
 * no such flow; -EINVAL: not verbs mode, or no event has set it up.
 */
struct hp3_completions {
	uint16_t home, port; /* the RNIC's port; the port in use; 0: not known */
	uint64_t posted, done; /* bytes */
	uint32_t posted_wrs, done_wrs;
	uint32_t took_ns, least_ns;
	bool port_cnp; /* the RNIC's port handled CNPs a short while ago, of any queue pair */
};
int hp3_completions(struct hp3_engine *e, uint32_t flow, const struct hp3_completions *completions,
	uint64_t now, struct hp3_acts *acts);

/*
 * Verbs mode: only these n ports can be probed and used between these ends (n = 0: all ports). The
 * caller keeps the array while flows between these ends exist. Returns 0; -ENOENT: no such pair, or
 * probing is off.
 */
int hp3_qp_ports(
	struct hp3_engine *e, const struct hp3_ends *ends, const uint16_t *ports, uint32_t n);
/*
 * Verbs mode: a queue pair was set up and has posted nothing yet. The engine searches a path for
 * it.
 */
void hp3_qp_place(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);

/* Handles deadlines and ageing. Call hp3_tick() again at the time that it returns, or earlier. */
uint64_t hp3_tick(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);
/*
 * The time by which hp3_tick() has to be called, as of now: other calls may have set an earlier
 * deadline since the last hp3_tick().
 */
uint64_t hp3_engine_due(const struct hp3_engine *e);

/* Iteration: the first flow in use with index >= `from`, or HP3_NO_FLOW. */
uint32_t hp3_flow_next(const struct hp3_engine *e, uint32_t from);
/*
 * The flow's remote QPN, as in a flow id; UINT32_MAX: this index is not in use. The function is
 * cheap enough for a linear search.
 */
uint32_t hp3_flow_rqpn(const struct hp3_engine *e, uint32_t flow);
bool hp3_flow_is_moved(const struct hp3_engine *e, uint32_t flow);
int hp3_flow_info(
	const struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_flow_info *info);
/* Looks up a flow by the parts of a flow id. HP3_NO_FLOW if unknown. */
uint32_t hp3_flow_find(const struct hp3_engine *e, const struct hp3_ends *ends, uint32_t rqpn);

/*
 * Number of unpaired flows. _by: the number with this reason, as of the last complete pass of
 * ageing, a few seconds ago. Any thread may call both.
 */
uint32_t hp3_engine_unpaired(const struct hp3_engine *e);
uint32_t hp3_engine_unpaired_by(const struct hp3_engine *e, enum hp3_unpaired_reason r);

const struct hp3_stats *hp3_engine_stats(const struct hp3_engine *e);
uint32_t hp3_engine_flows(const struct hp3_engine *e); /* in use */
uint32_t hp3_engine_pairs(const struct hp3_engine *e); /* address pairs in use */
uint32_t hp3_engine_moves(const struct hp3_engine *e); /* searches and moves in progress */
uint32_t hp3_engine_moved(const struct hp3_engine *e); /* flows that are not on their home port */
