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
 * instances share nothing. All randomness comes from the seeds in the configuration.
 *
 * Use per burst: hp3_see_burst(), then hp3_burst() as often as it takes, or, one packet at a time:
 *     parse -> hp3_find_burst() -> hp3_tx() or hp3_rx(), carry out the actions, then the verdict.
 * Actions come first: a RELEASE must leave before the packet in hand. A DELIVER comes last.
 */
#include <stddef.h>
#include "cc/dcqcn.h"
#include "cc/np.h"
#include "cc/share.h"
#include "engine/ends.h"
#include "engine/event.h"
#include "engine/filter.h"
#include "engine/flows/flow.h"
#include "engine/stats.h"
#include "ppp/paths.h"
#include "probes/agree.h"
#include "probes/cm.h"
#include "probes/limit.h"
#include "probes/loads.h"
#include "probes/trace.h"

struct hp3_engine;

/* Who reduces the rate of a flow whose packets are marked (design: "cc")? */
enum hp3_cc_mode {
	HP3_CC_NATIVE, /* the RNIC; CNPs go to it, except stale ones after a move */
	HP3_CC_DCQCN, /* the engine: reaction point and pacer; CNPs and BECN stop here (rule 5) */
	HP3_CC_OFF, /* nobody; CNPs and BECN stop here, for RNICs that do not know them */
};

struct hp3_cc_params {
	uint8_t mode; /* enum hp3_cc_mode */
	bool notify; /* be the notification point: tell the sender of CE (cc/np.h) */
	struct hp3_np_params np;
	struct hp3_dcqcn_params rp; /* DCQCN */
	uint32_t burst_bytes; /* DCQCN: may leave at once */
	uint64_t rto_ns; /* DCQCN: the RNIC's retransmission time-out; 0: it has none (rule 14) */
	uint64_t max_rtt_ns; /* longest round trip: how long a CNP may be stale */
	/* NATIVE: of a base RTT, how long a flow that looks for a better path keeps CNPs from the
	 * RNIC (rule 30); 0: no CNP waits */
	uint16_t withhold_percent;
	struct hp3_share_params share;
};

/* Which probes? */
enum hp3_probe_choice {
	HP3_PROBES_AUTO, /* peer; standard where the peer never answers */
	HP3_PROBES_PEER,
	HP3_PROBES_STANDARD,
	HP3_PROBES_NAK, /* as the paper does it; see rule 3 */
};

/* May flows be moved? */
enum hp3_policy_mode { HP3_POLICY_OFF, HP3_POLICY_OBSERVE, HP3_POLICY_ON };
enum hp3_probe_mode {
	HP3_PROBE_MODE_OFF,
	HP3_PROBE_MODE_AUTO,
	HP3_PROBE_MODE_PEER,
	HP3_PROBE_MODE_STANDARD,
	HP3_PROBE_MODE_NAK
};
enum hp3_np_key { HP3_NP_KEY_AUTO, HP3_NP_KEY_ON, HP3_NP_KEY_OFF };

/* Queue pairs whose packets take several paths at once (engine/spray/spray.h). */
enum hp3_spray_mode { HP3_SPRAY_MOVE, HP3_SPRAY_ALL, HP3_SPRAY_AUTO };

struct hp3_spray_params {
	uint8_t mode; /* enum hp3_spray_mode */
	uint16_t flows; /* of the local RNIC at a time, and as many of peers */
	uint8_t lanes; /* source ports of each: 2 .. 64 */
	uint32_t alike; /* %: rfr/spread.h */
	bool setup; /* the peer is asked when a queue pair is set up, before its first message */
	bool reads; /* READ responses, too */
	uint32_t bytes; /* messages of at least so many */
	uint64_t beat_ns; /* the peer is asked so often whether it still puts them in order */
	uint64_t wait_ns; /* longest wait for a packet that lacks, at the receiver */
	uint64_t late_ns, rest_ns; /* rfr/spread.h */
};

/* What is said in one word and means several fields: hp3_policy_settled() sets these. */
struct hp3_policy_words {
	uint8_t mode; /* enum hp3_policy_mode: hp3_policy_mode() */
	bool observe_probes; /* observe searches */
	uint8_t probe; /* enum hp3_probe_mode: probing, probes, round.allow_nak */
	uint8_t notify; /* enum hp3_np_key: cc.notify */
	bool watch; /* false: monitor.cycle_ns is 0 */
	bool placement; /* load_paths */
};

/*
 * Limits and times; policy.def tells what each means to an operator, its range and its default. The
 * engine itself reads all but `words`, and `answer_dscp`, which is for who builds the packets.
 */
struct hp3_engine_config {
	uint64_t seed;
	/* Of all hash tables, whose keys the network chooses: random where it could do harm.
	 * Results do not depend on it. */
	uint64_t hash_seed;
	uint32_t max_flows, max_pairs, max_moves;
	uint64_t idle_age_ns; /* flows with nothing in flight are removed after this */
	uint64_t dead_age_ns; /* others after this */
	uint64_t pin_ns; /* an address pair whose RNIC sent a fragment is immovable for so long */
	uint64_t max_hold_ns; /* from the closing packet to the end of the drain */
	uint64_t close_timeout_ns; /* how long a move waits for a packet to close with */
	uint64_t hold_bytes; /* per flow */
	uint64_t hold_bytes_total;
	uint32_t hold_packets; /* all flows together: what the caller can hold */
	uint64_t challenge_timeout_ns;
	uint32_t challenge_hits; /* answers wanted before a pairing is believed */
	uint32_t challenge_spread; /* the challenged packet is drawn from so many */
	/* so long replies may come that belong to requests which no record knows of: no inference
	 */
	uint64_t challenge_quiet_ns;
	uint64_t refute_ns; /* replies that contradict what was told of a pairing: for so long */
	struct hp3_monitor_params monitor; /* cycle_ns 0: paths are not watched */
	/* Rounds of probes; the watch of the path in use sets them off. */
	bool probing;
	uint8_t probes; /* enum hp3_probe_choice */
	uint8_t candidates; /* ports per round beside the one in use, up to 7 */
	uint16_t max_concurrent; /* rounds and moves of an address pair at a time */
	uint64_t cooldown_ns; /* a flow that was moved stays that long, ... */
	uint8_t cooldown_rtts; /* ... or so many base RTTs */
	/* a better path is asked about once more after a random part of this (rule 29), or ...; 0:
	 * it is taken at once */
	uint64_t move_wait_ns;
	uint8_t move_wait_rtts; /* ... of so many base RTTs, if that is longer */
	uint64_t verify_ns; /* after a move: when to judge whether it paid off; 0: never */
	uint64_t stall_ns; /* nothing acknowledged for so long (and 4 RTT): dead path? 0: never */
	uint64_t peer_ns; /* AUTO: a peer that does not answer is asked again after this */
	/* an RNIC has to go back more often than so many times for a thousand requests: the path in
	 * use is lossy; 0: never */
	uint16_t loss_permille;
	uint8_t loss_repeats; /* ... and at least so often, up to 30 */
	bool setup_probing; /* look for a path between queue-pair setup and first data */
	uint8_t setup_rounds; /* ... in up to so many rounds */
	/* ... answers up to so many percent later than the first are alike; 0: the first decides */
	uint8_t setup_alike;
	/* of a base RTT that a message takes at cc.rp.rpg_max_rate: from here on it waits for a
	 * path, if its queue pair is idle; 0: none does */
	uint16_t wake_percent;
	bool observe; /* tell what would be done (WOULD), move nothing */
	bool silent; /* ... and ask nobody: what would be done is to look for a better path */
	bool unkeyed; /* peers would not believe us: no reports, and nothing of our flows */
	/* ... but these do that have one of these keys; NULL: all. The caller's; lives as long */
	const struct hp3_probe_key *key;
	uint8_t answer_dscp; /* of what hosts tell each other; HP3_DSCP_KEPT: that of data */
	struct hp3_round_params round;
	struct hp3_paths_params paths;
	/* What turns ports into paths: a model, or traces (trace.h); neither: the port is the path
	 */
	const struct hp3_path_model *model; /* the caller's; lives as long as the engine */
	bool trace; /* not with a model */
	struct hp3_limit traces; /* switches answer few per second: keep it low */
	uint64_t trace_timeout_ns;
	uint16_t load_paths; /* paths whose flows are counted for placement; 0: no placement */
	uint64_t load_age_ns; /* the peer's counts are used for so long */
	uint64_t tell_ns; /* between TELL actions of an address pair; 0: the caller tells */
	struct hp3_cc_params cc;
	struct hp3_spray_params spray;
	/* moves are carried out by hp3_actuator()'s caller; nothing is held or paced */
	bool beside;
	/* ... but copies of CNPs come by hp3_rx(): what the RNIC's port counts means nothing then
	 */
	bool copies;
	bool pair_by_cm, pair_by_challenge;
	bool moves_allowed;
	struct hp3_policy_words words;
	struct hp3_filter filter; /* which flows may be moved */
};

/*
 * One packet: the caller fills frame, len, trusted and the view; hp3_find_burst() fills the rest.
 * Packets of any class may be handed in; those that do not concern the engine pass. CM datagrams
 * (pairing) and IP fragments of the local RNIC's (which make their address pair immovable for a
 * while) do concern it.
 */
struct hp3_pkt {
	const void *frame;
	uint32_t len;
	bool trusted; /* only headers are at hand, the ICRC counts as right (simulator) */
	struct hp3_view v;
	uint64_t addr;
	uint32_t sig, bucket; /* bucket: HP3_NO_BUCKET if no flow is looked for */
	uint32_t flow; /* index, to be verified by hp3_tx/hp3_rx; HP3_NO_FLOW */
};

#define HP3_NO_BUCKET UINT32_MAX

enum hp3_verdict_kind {
	HP3_PASS,
	HP3_HOLD,
	HP3_CONSUME,
	HP3_DROP,
	/* hp3_burst() alone: PASS, and then a DELIVER of `held` and `count` (struct hp3_act) */
	HP3_PASS_DELIVER
};

#define HP3_SET_ACKREQ 0x01u
#define HP3_SET_BECN   0x02u /* resv8a is outside the ICRC */
#define HP3_CLEAR_BECN 0x04u

struct hp3_verdict {
	uint8_t kind; /* enum hp3_verdict_kind */
	uint8_t flags; /* HP3_SET_* */
	/* source port to leave with; equals the packet's own if nothing is to change */
	uint16_t sport;
	/* HOLD: the packet's number while it is held, 1 to HP3_HELD(hold_packets): the caller keeps
	 * packet[held]; flags hold for it, too, sport does not */
	uint32_t held;
	uint32_t flow;
	uint32_t count; /* PASS_DELIVER */
};

enum hp3_act_kind {
	/* send the first `count` packets that the flow holds, in order (`held` is the first,
	   hp3_held_next() the one behind), with source port `port`; flags: HP3_SET_ACKREQ on the
	   last of them */
	HP3_ACT_RELEASE,
	/* drop the first `count` packets that the flow holds (as for RELEASE): their queue pair is
	   gone, or they are sent again */
	HP3_ACT_DISCARD,
	HP3_ACT_EVENT,
	HP3_ACT_PROBE, /* send a probe of the flow on `port`; see struct hp3_act */
	HP3_ACT_NAK, /* to the local RNIC: PSN sequence error, `psn` is expected (rule 4) */
	HP3_ACT_CNP, /* to the network: tell the flow's sender of congestion (rule 5) */
	HP3_ACT_CNP_OWED, /* to the local RNIC: a CNP in place of those withheld (rule 30) */
	/* to the peer's hp3d on `port`: no reply to this flow comes through; `psn` as for a PROBE
	   of kind PEER */
	HP3_ACT_REPORT,
	/* to the peer's RNIC on `port`: zero-length WRITE ONLY with the old PSN `psn`, AckReq, so
	   that it says again how far it is */
	HP3_ACT_URGE,
	HP3_ACT_SUSPEND, /* beside: let the queue pair's send queue drain, report DRAINED */
	/* beside: use `port` from now on, report MOVED; without SUSPEND before it (queue pair just
	   set up; op HP3_MOVE_DEAD: path dead): at once, FAILED to be reported at most */
	HP3_ACT_MOVE,
	HP3_ACT_RESUME, /* beside: send on, on the old port */
	HP3_ACT_TELL, /* report to the flow's peer what hp3_load_to_names() says, and hp3_ways_to()
		       */
	HP3_ACT_RACK, /* tell the other hosts of this rack what hp3_rack_tell() says; no flow */
	HP3_ACT_AGREE, /* say `agree.what` to the hp3d of `agree.remote` (probes/agree.h) */
	/* `count` held packets that came from the network go to the local RNIC, as they are, in
	   order, *behind* the packet in hand (`held` as for RELEASE) */
	HP3_ACT_DELIVER,
	/* a copy of the packet `held` goes to the local RNIC, which shall ask for what is before
	   it; it stays held. Where there is no room for a copy nothing is done */
	HP3_ACT_SHOW,
	HP3_ACT_TRACE, /* send a trace of the flow on `port`; what came of it: hp3_hop_told() */
};

/*
 * PROBE: kind PEER bears probe_id, so that its answer names it. It is no packet of a reliable
 * connection (probes/peer.h): an RNIC that it reaches drops it, whatever its PSN; `psn` is an old
 * one all the same. TRACE and REPORT have the same form. STANDARD is a duplicate: zero-length WRITE
 * ONLY with the old PSN `psn`, AckReq. NAK is a WRITE ONLY with the future PSN `psn`.
 */
#define HP3_MOVE_DEAD 1u

/* AGREE: between whom, and what. */
struct hp3_act_agree {
	bool ipv6;
	uint32_t vlan;
	uint8_t local[16], remote[16]; /* IPv4: first four bytes */
	struct hp3_agree what;
};

struct hp3_act {
	uint8_t kind; /* enum hp3_act_kind */
	uint8_t flags; /* RELEASE: HP3_SET_ACKREQ; TRACE: opcode, 0: that of probes */
	uint8_t op; /* PROBE: enum hp3_probe_kind; TRACE: its TTL; MOVE: HP3_MOVE_DEAD */
	uint16_t port;
	uint16_t pad; /* PROBE of kind PEER: bytes that it writes, to be as long as data */
	uint16_t pkey; /* NAK, CNP, CNP_OWED */
	uint32_t count, held; /* RELEASE, DISCARD, DELIVER */
	uint32_t flow;
	uint32_t probe_id; /* PROBE, TRACE */
	uint32_t psn; /* PROBE, NAK, TRACE, REPORT, URGE */
	uint32_t msn; /* NAK */
	union {
		struct hp3_event event; /* EVENT */
		struct hp3_act_agree agree; /* AGREE */
	};
};

/* Numbers of held packets end here: one more than can be held, so that none is given away twice
 * before its packet has left. */
#define HP3_HELD(hold_packets) ((hold_packets) + 1u)

#define HP3_ACTS_MAX 20u /* no call but hp3_tick() needs more than 16 */

struct hp3_acts {
	uint32_t n;
	bool more; /* hp3_tick: call again with an empty list */
	bool obey; /* hp3_burst: some verdict says more than to pass the packet as it is */
	struct hp3_act act[HP3_ACTS_MAX];
};

/* Queue-pair setup as seen by a watcher, in the sight of the local host. */
enum hp3_qp_kind { HP3_QP_UP, HP3_QP_DOWN };

/* Who tells (life/tellers.h: what each may). */
enum hp3_teller {
	HP3_TELLER_NONE,
	HP3_TELLER_CM, /* connection management on the wire */
	HP3_TELLER_LIBRARY, /* the library's watcher: any local process can make it say anything */
	HP3_TELLER_KERNEL, /* the kernel's watcher: such queue pairs there are */
	HP3_TELLER_VERBS, /* the application itself (mode beside) */
	HP3_TELLERS
};
#define HP3_TELLER_MASK 7u

struct hp3_qp_event {
	uint8_t kind;
	uint8_t teller; /* enum hp3_teller */
	bool ipv6;
	uint32_t vlan;
	uint8_t local[16], remote[16]; /* IPv4: first four bytes */
	uint32_t lqpn, rqpn;
	uint32_t psn; /* UP: first one that the local queue pair will send */
	bool psn_known;
	uint32_t owner; /* LIBRARY: the process that says so */
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
	uint32_t vlan;
	uint8_t local[16], remote[16];
	uint32_t lqpn, rqpn, una, nxt, inflight;
	uint16_t port, home, pmtu;
	uint16_t replies; /* port that its replies leave on; 0: as the RNIC sends them */
	uint8_t state, pairing;
	uint8_t unpaired; /* enum hp3_unpaired_reason */
	uint8_t spray; /* enum hp3_spray_state */
	uint8_t spray_reads; /* ... of the responses to what the peer reads */
	uint8_t lanes; /* that its packets take */
	uint32_t moves, retransmits;
	uint64_t bytes, idle_ns;
	uint64_t rate; /* bit/s that DCQCN lets it send at; 0: that is not ours (cc) */
	bool severe;
	uint8_t barred; /* enum hp3_bar: what of the filter keeps it where it is */
	uint8_t dscp; /* HP3_NO_DSCP: not known yet */
	struct hp3_estimates path; /* all 0: not watched, or nothing seen yet */
};

/* Bytes of memory (64-byte aligned) that hp3_engine_create() wants for this configuration. */
size_t hp3_engine_size(const struct hp3_engine_config *cfg);
/* Returns NULL if `mem` is misaligned or too small, or a limit is 0 or out of range. */
struct hp3_engine *hp3_engine_create(void *mem, size_t size, const struct hp3_engine_config *cfg);

/*
 * Takes over times, limits and switches; what sizes memory, and the seed, stay as they were. What
 * hp3_engine_create() would refuse changes nothing.
 */
void hp3_engine_reconfigure(struct hp3_engine *e, const struct hp3_engine_config *cfg);

/*
 * Of the slots in use, of which there are so many: does slot i have a search or a move under way
 * that can be called off (HP3_CMD_CANCEL) without a gap? A flow that leaves a dead path cannot. To
 * be asked from the last one down: what is called off gives its slot back.
 */
uint32_t hp3_engine_slots(const struct hp3_engine *e);
bool hp3_slot_open(const struct hp3_engine *e, uint32_t i, uint32_t *flow);

/*
 * The caller has room to hold so many more packets, all flows together, until it says so again;
 * more than hold_packets in all never count. A packet that finds no room is refused, as by a full
 * hold.
 */
void hp3_hold_room(struct hp3_engine *e, uint32_t more);

/* Packets of this direction that the engine holds: HOLD said so, and no RELEASE, DISCARD or DELIVER
 * has given them back. */
uint32_t hp3_engine_held(const struct hp3_engine *e, enum hp3_dir dir);

/* Of the packets that one RELEASE or DISCARD names, the one behind `held`. To be asked before the
 * engine is called again. */
uint32_t hp3_held_next(const struct hp3_engine *e, uint32_t held);

/* Fills addr, sig, bucket and flow of RC packets; prefetches what hp3_tx/hp3_rx will touch. */
void hp3_find_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir);

/*
 * The same in bulk, for speed; results are those of hp3_parse(), hp3_find_burst(), hp3_tx() and
 * hp3_rx().
 * - hp3_see_burst() wants frame, len and trusted; it fills in the rest but the flow, which
 *   hp3_burst() looks for. A packet without a frame (NULL) is of class OTHER. Returns how many are
 *   no requests (TX), no replies (RX).
 * - hp3_burst() handles packets in order and returns how many it did: all, or up to and including
 *   the first one that comes with actions. Then: obey the verdicts before it, carry out the
 *   actions, obey the last verdict, call again for the packets behind it. Held packets that follow
 *   a packet do not end a burst: they are in its verdict (PASS_DELIVER).
 */
/*
 * For which kinds of packets hp3_see_burst() fills in all: a bit each. A message of a peer, handled
 * between hp3_see_burst() and hp3_burst(), may add one; the packets behind it are to be seen again.
 */
uint32_t hp3_seen_kinds(const struct hp3_engine *e);
uint32_t hp3_see_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir);
uint32_t hp3_burst(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir,
	uint64_t now, struct hp3_verdict *verdicts, struct hp3_acts *acts);

/*
 * Both exist for several levels of the instruction set; the best one that this CPU has is in use.
 * hp3_lane_name() lists them, from plain to best, NULL behind the last; hp3_lane_use() switches
 * (for tests) and returns 0 or -ENOTSUP: not for this CPU.
 */
const char *hp3_lane_name(unsigned i);
int hp3_lane_use(struct hp3_engine *e, unsigned i);
const char *hp3_lane_in_use(const struct hp3_engine *e);

void hp3_tx(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *verdict,
	struct hp3_acts *acts);
void hp3_rx(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *verdict,
	struct hp3_acts *acts);

/*
 * What an hp3d that ran before knew of a flow, to be told before its first packet: its requests
 * leave on `port` (0: as the RNIC sends them), its replies on `replies` (0: likewise). Packets of
 * that time may travel there still, so the flow begins where they are, and comes home by a drain as
 * any other. Whose replies they are is found anew. Returns 0; -EEXIST: it has sent already, nothing
 * changes; -EPERM: not in the data path; -ENOSPC: tables full; -EINVAL.
 */
int hp3_flow_restore(struct hp3_engine *e, const struct hp3_ends *ends, uint32_t rqpn,
	uint16_t port, uint16_t replies, uint64_t now);

/*
 * hp3d did not poll for a while, and somebody else let packets pass, in either direction. What is
 * held and what is under way is given up, flows begin anew on the RNICs' ports, and no queue pair
 * is paired for a while by what it is answered; where those packets left on other ports,
 * hp3_flow_restore() says so next. To be called with an empty list before the next packet: with
 * `from` 0, then with what it returns, until that is HP3_NO_FLOW. Each call does a piece of bounded
 * size. Between two pieces time may pass and queue pairs may be set up; flows keep their ports.
 * Where packets pass unseen after the last piece, call it once more with HP3_NO_FLOW.
 */
uint32_t hp3_missed(struct hp3_engine *e, uint32_t from, uint64_t now, struct hp3_acts *acts);

/* Returns 0, also if it changes nothing (setups_ignored counts these), or -ENOSPC if the tables are
 * full, -EINVAL. */
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
 * Advice of somebody who sees more than this host: `port` is a candidate. It is asked, beside the
 * port in use, while traffic flows on; the flow moves there if its probe comes back unmarked and
 * takes no longer than HP3_NO_WORSE_RTT says. Advice that proves bad costs two probes of the
 * address pair's budget, and delays no search of the flow's own. The event (SWITCH, IDLE_SWITCH,
 * RECOVER) that tells the end has the cause ADVICE, and the tag. cause and kind of *cmd mean
 * nothing.
 *
 * Returns as hp3_command() does, and: -EOPNOTSUPP probes are off, or the peer answers none of its
 * kind; -EHOSTUNREACH the path of that port has failed, or loses packets; -EDQUOT what came of the
 * flow's last move is not known yet, or its address pair has searches under way, or no probes left.
 */
int hp3_advise(
	struct hp3_engine *e, const struct hp3_cmd *cmd, uint64_t now, struct hp3_acts *acts);

/*
 * A peer's hp3d answered probe `id`; `ce`: the probe was marked on its way. Unknown and late ids
 * are ignored. Its round trip is the time since it was asked for; or, of hp3_probe_timed(), if
 * that is shorter and not 0, `took_ns`: what stamps of an RNIC say that the wire took, without
 * the time that hosts need to look. hp3_probe_timed() returns whether it is the first answer to a
 * probe of ours that is remembered: only then it is a sign of life.
 */
void hp3_probe_reply(
	struct hp3_engine *e, uint32_t id, bool ce, uint64_t now, struct hp3_acts *acts);
bool hp3_probe_timed(struct hp3_engine *e, uint32_t id, bool ce, uint32_t took_ns, uint64_t now,
	struct hp3_acts *acts);

/*
 * What became of trace `id`; `hop`: who said that its TTL ended (HOP, ODD), 4 or 16 bytes. Unknown
 * and late ids are ignored. What is never told counts as SILENT after two time-outs.
 */
void hp3_hop_told(struct hp3_engine *e, uint32_t id, enum hp3_trace_outcome outcome, bool ipv6,
	const void *hop, uint64_t now);

/*
 * Paths bear numbers 0 .. load_paths - 1 in one engine. With a model they are the model's own, the
 * same on every host. Traced ones have a number in this engine and a name for others: see trace.h.
 * Name of a path, or -ENOENT; path of a name, or -ENOENT; `add`: a peer told of it, it gets a
 * number if there is room.
 */
int hp3_path_name(const struct hp3_engine *e, uint32_t path);
int hp3_path_number(struct hp3_engine *e, uint16_t name, bool add);

/*
 * Placement: two hosts tell each other how many active flows they have per path, in probes, in
 * their replies, or whenever the caller likes.
 * - hp3_load_told_by(): the peer of probe `id` said how many flows come in at its host, from
 *   everywhere, by paths 0 .. n - 1; call before hp3_probe_reply();
 * - hp3_load_in(): our own inbound flows, from everywhere, for such a reply;
 * - hp3_load_from(): the peer there sends us so many flows on each path;
 * - hp3_load_to(): what to tell it in turn.
 * The fillers write at most `max` counts and return how many.
 */
void hp3_load_told_by(
	struct hp3_engine *e, uint32_t id, const uint16_t *count, uint32_t n, uint64_t now);
uint32_t hp3_load_in(const struct hp3_engine *e, uint16_t *count, uint32_t max);
void hp3_load_from(struct hp3_engine *e, const struct hp3_ends *ends, const uint16_t *count,
	uint32_t n, uint64_t now);
uint32_t hp3_load_to(
	const struct hp3_engine *e, const struct hp3_ends *ends, uint16_t *count, uint32_t max);

/*
 * The same under names, for hosts whose paths bear different numbers. What goes into a report
 * (hp3_load_to_names) and what came in one (from: `stamp` is the report's; 0, -ENOENT: no such
 * pair, -ESTALE: it is not newer than the last one); what goes into an answer (in) and what came in
 * one (told; before hp3_probe_reply()). Paths without a name are left out.
 */
uint32_t hp3_load_to_names(
	const struct hp3_engine *e, uint32_t flow, struct hp3_path_count *path, uint32_t max);
int hp3_load_from_names(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t stamp,
	const struct hp3_path_count *path, uint32_t n, uint64_t now);
uint32_t hp3_load_in_names(const struct hp3_engine *e, struct hp3_path_count *path, uint32_t max);
void hp3_load_told_names(struct hp3_engine *e, uint32_t id, const struct hp3_path_count *path,
	uint32_t n, uint64_t now);

/*
 * Long flows by way (cc.share_moves, paths/ways.h), under names that all hosts share. What goes
 * into a report beside the counts above: `out` of ours to that peer, `in` of all into this rack;
 * and what a peer told likewise. What goes to the hosts of this rack: `out` of this host, `in` into
 * it; and what one of them told. Returns as above, -ENOENT also where ways are not counted;
 * -ENOSPC: too many hosts.
 */
#define HP3_RACK_MATES 64u /* hosts of a rack; further ones are not heard */
bool hp3_counts_ways(const struct hp3_engine *e);
uint32_t hp3_ways_to(const struct hp3_engine *e, uint32_t flow, struct hp3_way_count *way,
	uint32_t max, uint64_t now);
int hp3_ways_from(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t stamp,
	const struct hp3_way_count *way, uint32_t n, uint64_t now);
uint32_t hp3_rack_tell(const struct hp3_engine *e, struct hp3_way_count *way, uint32_t max);
int hp3_rack_told(struct hp3_engine *e, bool ipv6, const void *mate, uint64_t stamp,
	const struct hp3_way_count *way, uint32_t n, uint64_t now);

/* A sound probe of a peer's hp3d, or the first answer to one of ours: it is alive (rule 5). */
void hp3_peer_seen(struct hp3_engine *e, const struct hp3_ends *ends, uint64_t now);

/*
 * A sound report of a peer's hp3d arrived (probes/peer.h): no reply to its queue pair `rqpn` comes
 * through; from now on they leave on another port. Returns 0; -EALREADY: moved just now; -EPERM:
 * moves are off, or not this engine's; -ENOSPC: tables full.
 */
int hp3_peer_report(struct hp3_engine *e, const struct hp3_ends *ends, uint32_t rqpn, uint64_t now,
	struct hp3_acts *acts);

/* The peer's hp3d said this of a queue pair that is sprayed (probes/agree.h). */
void hp3_agree_told(struct hp3_engine *e, const struct hp3_ends *ends, const struct hp3_agree *what,
	uint64_t now, struct hp3_acts *acts);
/*
 * hp3d leaves, or its packets are to go past it. From now on nothing is agreed on, and hp3_tick()
 * ends what is: peers that were promised to be put in order are told no, and are put in order until
 * they say that all has arrived; what leaves takes one path, and when all that took several has
 * arrived the peer is told. Returns 0: nothing is agreed on any more; else when all that was
 * promised is over (ns): wait until then, or until it returns 0. Until hp3_tick() has looked at all
 * agreements that is 10 s from now, which none exceeds. To be called again and again.
 */
uint64_t hp3_spray_stop(struct hp3_engine *e, uint64_t now);
/*
 * Packets of the network lie unread since the RNIC's port takes none (`blocked`), or are read
 * again. Meanwhile no packet counts as late, and no promise to resequence ends.
 */
void hp3_rx_blocked(struct hp3_engine *e, bool blocked, uint64_t now);
/* It does not leave. */
void hp3_spray_go_on(struct hp3_engine *e);
/* Ends one agreement at once, whatever is on its way; to be called until false. */
bool hp3_spray_abandon(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);
/* hp3d leaves, or lets packets go past it: what waits for the pacer leaves at once, in order, and
 * nothing waits for it again before hp3_missed(). To be called until false. */
bool hp3_pacing_stop(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);

/*
 * Reports of the `beside` actuator, which carries out SUSPEND, MOVE and RESUME. DRAINED: everything
 * sent is acknowledged, nothing is being sent; MOVED: the new port is in use, sending goes on;
 * FAILED, at any step: the queue pair goes on on the old port. Returns 0, -ENOENT (no such flow),
 * or -EINVAL: not what this flow waits for.
 */
enum hp3_actuator_report { HP3_BESIDE_DRAINED, HP3_BESIDE_MOVED, HP3_BESIDE_FAILED };
int hp3_actuator(struct hp3_engine *e, uint32_t flow, enum hp3_actuator_report report, uint64_t now,
	struct hp3_acts *acts);

/*
 * Beside the RNIC, where no packet is seen: what the completions of a queue pair told since the
 * last call. `took_ns` is the newest time from post to completion (0: none), `least_ns` the least
 * with as much before it in its send queue; they are judged as round trips are, and what is decided
 * on them has cause COMPLETION. What was posted and is not done is in flight; where nothing is done
 * any more the path may be dead. The ports are the actuator's word: where the engine believes
 * otherwise and no move is under way, it yields. To be called now and then also if nothing was
 * sent: a queue pair that nobody tells of is removed. Returns 0, -ENOENT (no such flow), -EINVAL:
 * not beside, or not set up by an event.
 */
struct hp3_felt {
	uint16_t home, port; /* as the RNIC would choose, and in use; 0: not known */
	uint64_t posted, done; /* bytes */
	uint32_t posted_wrs, done_wrs;
	uint32_t took_ns, least_ns;
	bool port_cnp; /* its RNIC's port handled CNPs a short while ago, whosever they were */
};
int hp3_felt(struct hp3_engine *e, uint32_t flow, const struct hp3_felt *felt, uint64_t now,
	struct hp3_acts *acts);

/*
 * Beside: between these ends no ports but n of them can be asked and used (0: all); they are the
 * caller's, and live as long as flows between these ends. 0, -ENOENT: no such pair, or no probing.
 */
int hp3_qp_ports(
	struct hp3_engine *e, const struct hp3_ends *ends, const uint16_t *ports, uint32_t n);
/* Beside: a queue pair has been set up and nothing was posted: a path for it, as set-up probing
 * says. */
void hp3_qp_place(struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_acts *acts);

/* Deadlines, ageing. Returns when it wants to be called next (at the latest). */
uint64_t hp3_tick(struct hp3_engine *e, uint64_t now, struct hp3_acts *acts);
/* The same as of now: other calls may have set an earlier deadline. */
uint64_t hp3_engine_due(const struct hp3_engine *e);

/* Lists: first flow with index >= `from` that is in use, or HP3_NO_FLOW. */
uint32_t hp3_flow_next(const struct hp3_engine *e, uint32_t from);
/* Its remote QPN, as a flow id has it; UINT32_MAX: not in use. Cheap, for those who look for one.
 */
uint32_t hp3_flow_rqpn(const struct hp3_engine *e, uint32_t flow);
bool hp3_flow_is_moved(const struct hp3_engine *e, uint32_t flow);
int hp3_flow_info(
	const struct hp3_engine *e, uint32_t flow, uint64_t now, struct hp3_flow_info *info);
/* By what a flow id names. HP3_NO_FLOW if unknown. */
uint32_t hp3_flow_find(const struct hp3_engine *e, const struct hp3_ends *ends, uint32_t rqpn);

const struct hp3_stats *hp3_engine_stats(const struct hp3_engine *e);
uint32_t hp3_engine_flows(const struct hp3_engine *e); /* in use */
uint32_t hp3_engine_pairs(const struct hp3_engine *e); /* address pairs in use */
uint32_t hp3_engine_moves(const struct hp3_engine *e); /* rounds and moves in progress */
uint32_t hp3_engine_moved(const struct hp3_engine *e); /* flows away from home */

#endif
