/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Spraying: the packets of a queue pair take several paths at once (rfr.mode = auto or spray).
 * Sender: queue pairs of the local RNIC (send.c, read.c, out.c). Receiver: hp3d resequences the
 * packets of a peer before the local RNIC gets them (receive.c, reads.c). message.c sends the
 * messages between the two hosts; out.c (sender) and promise.c (receiver) handle arriving messages.
 * Timers: agree.c. The sender's states: rfr/spraying.h.
 *
 * Requests and READ responses are two streams of a queue pair, each with an agreement of its own.
 * Responses take several paths from the responder (read.c). The requester's hp3d resequences the
 * responses (reads.c), because only the requester's hp3d sees which responses its RNIC waits for.
 * ACKs and NAKs take one path. The requester's hp3d holds ACKs and NAKs until the responses before
 * them have arrived. Congestion control stays with the RNIC: with cc.mode = dcqcn, hp3d sprays
 * nothing.
 *
 * EV: an entropy value, that is, a UDP source port of a sprayed queue pair.
 */
#include "base/hash.h"
#include "engine/flows/deadlines.h"
#include "engine/moves/moves.h"
#include "engine/spray/rounds.h"
#include "engine/spray/quota.h"
#include "probes/agree.h"
#include "rfr/incast.h"
#include "rfr/missing.h"
#include "rfr/owed.h"
#include "rfr/presume.h"
#include "rfr/resequencer.h"
#include "rfr/spraying.h"
#include "rfr/spread.h"

#define HP3_SPRAY_MSG_TIMES     16u
#define HP3_SPRAY_KEEPALIVE_MAX 1000000000ull /* ns: longest keep-alive interval */
#define HP3_HEADERS                                                                                \
	96u /* bytes of a packet besides its payload: Ethernet, IPv6, UDP, BTH, RETH, ICRC */

/*
 * The sender's record of an agreement. Fields that each packet needs are in the first cache line.
 */
struct hp3_spray_out {
	uint64_t heard; /* time of the peer's newest YES; ASKING: of the first ASK */
	uint64_t yes_to; /* time of the message that this YES answers */
	uint64_t large_at; /* time of the newest packet of a large message */
	uint64_t tried; /* hp3_spread_tried() */
	/* first PSN that was sprayed since the RNIC last retransmitted; or HP3_NO_PSN */
	uint32_t run_from;
	uint16_t peer; /* the record with the EVs: index in hp3_spraying.peer */
	uint8_t state; /* enum hp3_spray_state */
	bool large; /* the current message is large */
	bool sized : 1; /* the peer has received the path MTU */
	bool solicits : 1; /* the next packet requests an acknowledgement */
	bool chosen; /* a packet has been sprayed */
	bool reads; /* the agreement is about READ responses */
	bool fence; /* the next packet takes the port in use */
	bool objects; /* the peer's newest YES, or its repetition, has HP3_AGREE_OBJECTS */
	/* the flow was unpaired, so no acknowledgement shows which packets have arrived; only time
	 * does */
	bool blind;
	/* number of packets that the peer can hold, as stated in its YES; 0: not stated */
	uint16_t room;
	uint32_t so_far; /* bytes of the current message that have left */
	uint32_t start; /* agreement at set-up: its first PSN; else HP3_NO_PSN */
	/* Keep-alive interval (us): confirmed by the peer; stated to the peer. The shorter one
	 * counts. */
	uint32_t keepalive_us, stated_us;
	uint32_t flow;
	uint32_t number; /* number of the agreement; numbers grow, and are compared as int32_t */
	/* sequence number (turn) of the newest message to the peer; turn of the newest answer */
	uint32_t turn, answered;
	uint16_t at; /* index in hp3_spraying.outs */
	uint16_t quota; /* quota of the peer: index in hp3_spraying.quotas */
	uint8_t strikes; /* times in a row that the RNIC retransmitted soon after spraying began */
	uint32_t behind; /* states NARROW, ENDING: packets before this PSN may have been sprayed */
	/* READ responses: QPN of the local queue pair that the peer reads from; requested PSNs:
	 * [first, end) */
	uint32_t asked_of, asked_first, asked_end;
	uint32_t sent; /* READ responses: highest PSN that left, or HP3_NO_PSN */
	uint16_t next_read; /* READ responses: next record in the chain by addresses and asked_of */
	uint64_t sent_at[HP3_SPRAY_MSG_TIMES]; /* times of the newest messages, by turn */
	uint64_t narrowed; /* time when the state NARROW or ENDING began */
	uint64_t keepalive_at; /* time of the next keep-alive */
	uint64_t began;
	/* The PSN that the peer asked about last (MISSING), or HP3_NO_PSN; the port that this PSN
	 * left from. */
	uint32_t missing;
	uint16_t missing_port;
	/* hp3d awaits the acknowledgement of this PSN until await_end; 0: of none (rfr/presume.h)
	 */
	uint32_t awaited;
	uint64_t await_end;
	struct hp3_port_log log;
} __attribute__((aligned(64)));

_Static_assert(offsetof(struct hp3_spray_out, stated_us) + sizeof(uint32_t) <= 64,
	"what each packet needs is in the first cache line");

#define HP3_SPRAY_EARLY_READS HP3_OWED

/* A held ACK or NAK, which waits for the responses before it. */
struct hp3_spray_ack {
	uint32_t held; /* handle + 1; 0: none */
	uint32_t psn; /* the last PSN that it acknowledges */
	/* arrival, plus the time since then in which hp3d was descheduled or blocked */
	uint64_t came;
	/* Start of the wait for responses up to PSN `until`. If this ACK replaced an earlier ACK,
	 * `until` is the PSN of the earlier ACK. */
	uint64_t at;
	uint32_t until;
	uint8_t anew; /* how many times the wait was restarted */
	bool refuses; /* the held packet is a NAK or RNR NAK */
};

/*
 * The receiver's record: requests of a peer, or READ responses for the local RNIC. Fields that each
 * packet needs are in the first two cache lines.
 */
struct hp3_spray_in {
	uint64_t addr; /* as in hp3_flow.addr */
	/* responder: QPN of the local queue pair; requester: QPN of the remote queue pair (the same
	 * names also for READ responses) */
	uint32_t responder, requester;
	uint32_t vlan;
	bool ipv6;
	/* hp3d knows the PSN that the RNIC expects; false: hp3d learns this PSN from the next
	 * packets */
	bool ready;
	/* with `ready`: the expected PSN is certain; false: it comes from an ASK at set-up, which
	 * may be out of date */
	bool sure;
	uint8_t slept; /* hp3_spraying.slept at the last visit of this record */
	uint16_t next, next_back; /* chain by responder; chain by requester */
	uint16_t port, in_use; /* port of EV 0; port of packets that are not sprayed */
	bool reads; /* the agreement is about READ responses */
	bool unsized; /* a READ request with an unknown number of PSNs arrived */
	uint16_t first; /* while not `sure`: port of the newest packet */
	uint8_t evs, pmtu_log2;
	uint8_t link; /* 1 + link of the first packet (HP3_IN_ORDER); 0: none has arrived */
	/* hp3_spraying.unread_ns and .lost_ns at the last visit of this record */
	uint64_t unread_ns, lost_ns;
	/* how many times, since the sender's last message, the lease was extended because hp3d was
	 * descheduled */
	uint8_t spared;
	bool any_acked;
	uint16_t quota; /* quota of the peer: index in hp3_spraying.quotas */
	/* valid with any_acked: the local RNIC has acknowledged all PSNs before this one */
	uint32_t acked;
	uint32_t bytes; /* held */
	uint64_t arrived; /* bytes of requests, since the record was added */
	uint64_t checked_at; /* time of the newest check for slow EVs */
	uint64_t due; /* deadline in hp3_spraying.deadlines */
	struct hp3_reseq reseq;
	struct hp3_lateness late;
	struct hp3_missing missing;
	uint8_t local[16], remote[16];
	bool numbered; /* the sender has sent the number of the agreement */
	/* hp3d has answered YES: it resequences until OVER or the end of the lease */
	bool promised;
	bool refused; /* after YES, hp3d has answered NO, because this host ends all agreements */
	uint64_t refused_at, refused_lease; /* time of this NO; lease at that time */
	uint16_t at; /* index in hp3_spraying.ins */
	uint32_t number, turn; /* number of the agreement; turn of the newest message */
	/* the queue pair began in an incast (rfr/incast.h): YES has HP3_AGREE_OBJECTS until then */
	uint64_t incast_end;
	uint64_t keepalive_ns; /* the sender's keep-alive interval, as stated last */
	uint64_t heard; /* time of the sender's newest message */
	/* READ responses only: */
	uint32_t flow; /* the flow that sends the READs; HP3_NO_FLOW: it was removed */
	/* while not `ready`: PSN of the response that the RNIC waits for, or HP3_NO_PSN */
	uint32_t from;
	uint32_t end; /* PSN after the newest request; HP3_NO_PSN: not known */
	uint32_t top; /* PSN after all requests; HP3_NO_PSN: not known */
	bool back; /* the newest request was a retransmission */
	bool again; /* the RNIC sent a READ again, for a missing response */
	bool doubts; /* the only reason for HP3_FW_DOUBT is held or missing responses */
	/* hp3d has sent NO; the agreement lasts until OVER, or until the end of the lease */
	bool unwanted;
	uint8_t strikes;
	uint32_t back_to; /* PSN from which the RNIC last retransmitted */
	uint64_t offer_at; /* earliest time of the next OFFER */
	/* `again`: time of that READ, plus the time since then in which hp3d was descheduled or
	 * blocked */
	uint64_t again_at;
	struct hp3_spray_ack ack;
	struct hp3_owed owed;
	/* READs that left before the path MTU was known. Without the MTU, the number of PSNs of a
	 * READ is unknown. */
	uint32_t n_early_reads;
	struct {
		uint32_t psn, bytes;
	} early_reads[HP3_SPRAY_EARLY_READS];
} __attribute__((aligned(64)));

/* Records of a flow, each valid if the flow has the flag. */
struct hp3_spray_of {
	uint16_t out; /* HP3_FW_SPRAY: index in `out` */
	uint16_t read; /* HP3_FW_READ: index in `out` */
	uint16_t reads; /* HP3_FW_READS: index in `in` */
};

/*
 * State of the EVs to a peer. All queue pairs between two addresses take the same EVs. So they
 * share the results, and later queue pairs start with earlier results. Fields that each packet
 * needs come first.
 */
struct hp3_spray_peer {
	struct hp3_spread spread;
	uint64_t addr; /* as in hp3_flow.addr */
	uint64_t used; /* time of the last use; 0: the record is free */
	uint32_t vlan;
	uint16_t base; /* port of EV 0, a multiple of HP3_EVS_MAX */
	uint16_t users; /* number of agreements */
	uint32_t newest; /* newest number of an ASK at set-up from this peer */
	uint64_t newest_at; /* time of that ASK; 0: none */
	bool ipv6;
	/* comparing: a comparison of EVs (rounds.h) is under way. differs: the last comparison
	 * showed that paths differ. */
	bool comparing, differs;
	uint64_t compare_at; /* earliest time of the next comparison */
	uint64_t asked; /* EVs that comparisons have probed, one bit each */
} __attribute__((aligned(64)));

#define HP3_SPRAY_WAYS 8u /* peer records per hash set; a record in use keeps its place */

#define HP3_NO_SPRAY    UINT16_MAX
#define HP3_SPRAY_ENDED 32u /* most records that one call of hp3_spray_tick() visits */
/* uint16_t fields per record: outs, ins, heads, backs, reads, and the fields of quotas. */
#define HP3_SPRAY_LISTS 10u

#define HP3_SPRAY_MARKED 65536u /* value for "every packet is marked" */

struct hp3_spraying {
	/* parameters from the policy, set by hp3_spray_reconfigured() */
	struct hp3_spread_params spread;
	struct hp3_reseq_params reseq;
	uint64_t pulse;
	struct hp3_spray_out *out;
	struct hp3_spray_in *in; /* as many records as `out` */
	struct hp3_spray_peer *peer; /* HP3_SPRAY_WAYS times `sets` */
	uint32_t sets;
	uint32_t ended[HP3_SPRAY_ENDED]; /* flows whose end is due; hp3_tick() ends them */
	uint32_t nended;
	uint16_t *outs, *ins; /* indexes: the first n are in use, the rest are free */
	uint16_t *heads; /* hash chains of `in`, by addresses and responder */
	uint16_t *backs; /* hash chains of `in`, by addresses and requester */
	uint16_t *reads; /* hash chains of `out` about READ responses, by addresses and asked_of */
	uint64_t key[2]; /* key of the hash of these chains */
	struct hp3_quotas quotas; /* of peers */
	uint32_t nheads;
	struct hp3_spray_of *of; /* by flow index */
	uint32_t nout;
	uint64_t number; /* number of the newest agreement; messages carry its low 32 bits */
	/* limits for existing agreements; a reload does not lower them */
	uint64_t hold_bytes, hold_bytes_total;
	bool ending; /* hp3_spray_stop() was called */
	/* with `ending`: the latest end (ns) of the agreements visited since hp3_spray_stop() */
	uint64_t until;
	/* After a change of the policy: how many of `outs` and `ins` remain to be visited. */
	uint32_t changed_outs, changed_ins;
	uint64_t changed_at; /* time at which the newest part of these records became due */
	uint8_t slept; /* times that hp3d was descheduled, modulo 256 */
	uint64_t awake; /* end of the newest time in which hp3d was descheduled */
	bool unread; /* hp3_rx_blocked(): packets of the network are not polled */
	uint64_t unread_at; /* start of the time in which packets are not polled */
	uint64_t unread_ns; /* total length of all ended times in which packets were not polled */
	uint64_t lost_ns; /* total of time blocked or descheduled; overlaps count once */
	uint64_t lost_to; /* end of the newest time in lost_ns */
	/* Of packets that this host sends, and of those that it receives: are paths alike? */
	struct hp3_presumption sends, receives;
	struct hp3_incast incast; /* agreements of peers that began last */
	struct {
		uint16_t in; /* index in `in` */
		uint32_t number; /* of the agreement */
	} begun[HP3_INCAST_RECENT]; /* at the place in incast.began */
	uint32_t marked; /* average share of marked packets received, HP3_SPRAY_MARKED */
	uint64_t marked_at; /* time of the newest marked packet among these */
	uint64_t objected; /* time of the newest YES with HP3_AGREE_OBJECTS */
	struct hp3_deadlines deadlines; /* indexes of `out`, then those of `in` */
	struct hp3_spray_rounds rounds;
};

/* message.c */
/* Number of peer records for this many queue pairs. */
static inline uint32_t hp3_spray_peers(uint32_t flows)
{
	uint32_t sets = 1;

	while (sets * 2 < flows)
		sets *= 2;
	return sets * HP3_SPRAY_WAYS;
}

static inline struct hp3_spread_params hp3_spread_params_of(const struct hp3_engine *e)
{
	return e->spraying->spread;
}
/* Makes all agreements due, after a change of the policy or of permissions. */
void hp3_spray_look_at_all(struct hp3_engine *e);
/* Makes the record due at `due`, if it is not due earlier. */
void hp3_out_wake(struct hp3_engine *e, const struct hp3_spray_out *o, uint64_t due);
void hp3_in_set_due(struct hp3_engine *e, struct hp3_spray_in *in, uint64_t due);
static inline void hp3_in_wake(struct hp3_engine *e, struct hp3_spray_in *in, uint64_t due)
{
	if (due < in->due)
		hp3_in_set_due(e, in, due);
}

/* Packets of the path MTU (0: not known), with headers, that fit into `bytes`. */
static inline uint16_t hp3_spray_room(uint64_t bytes, uint32_t pmtu_log2)
{
	uint32_t packet = (1u << (pmtu_log2 != 0 ? pmtu_log2 : HP3_PMTU_LOG2_MAX)) + HP3_HEADERS;

	return (uint16_t)hp3_min_u64(HP3_RESEQ_WINDOW - 1, bytes / packet);
}

/*
 * Longest time between two calls of the engine while packets are held (ns). A longer time shows
 * that hp3d was descheduled.
 */
static inline uint64_t hp3_spray_pulse(const struct hp3_engine *e)
{
	return e->spraying->pulse;
}
void hp3_spray_slept(struct hp3_turn *t, uint64_t since);
void hp3_in_slept(struct hp3_turn *t, struct hp3_spray_in *in);

static inline uint64_t hp3_spray_due(const struct hp3_engine *e)
{
	return hp3_deadline_next(&e->spraying->deadlines);
}

/* Was hp3d descheduled? If so, packets may have arrived that hp3d has not polled yet. */
static inline void hp3_spray_look(struct hp3_turn *t)
{
	uint64_t due = hp3_max_u64(hp3_spray_due(t->e), t->e->spraying->awake);

	if (HP3_UNLIKELY(t->now > due && t->now - due > hp3_spray_pulse(t->e)))
		hp3_spray_slept(t, due);
}

/*
 * If hp3d was descheduled since the last visit of this record, extends the time limits of the
 * record.
 */
static inline void hp3_in_look(struct hp3_turn *t, struct hp3_spray_in *in)
{
	if (HP3_UNLIKELY(in->slept != t->e->spraying->slept))
		hp3_in_slept(t, in);
}

void hp3_spray_send_msg_out(
	struct hp3_turn *t, const struct hp3_spray_out *o, enum hp3_agree_kind kind);
void hp3_spray_send_msg_in(
	struct hp3_turn *t, const struct hp3_spray_in *in, enum hp3_agree_kind kind, uint64_t slow);
/* Sends LEFT: this PSN left from `port`; 0: the port is not known. */
void hp3_spray_send_msg_left(
	struct hp3_turn *t, const struct hp3_spray_out *o, uint32_t psn, uint16_t port);

/*
 * Refuses the agreement that a message asks for or offers. The answer to an OFFER is OVER; the
 * answer to other messages is NO.
 */
void hp3_spray_refuse(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *asked);

/* peer.c */
/*
 * Is this number new for an ASK at set-up? Each number counts once, because an ASK may arrive late
 * or twice.
 */
bool hp3_spray_is_first(
	struct hp3_engine *e, const struct hp3_ends *ends, uint32_t number, uint64_t now);
/* Records that a probe leaves from this port. */
void hp3_spray_probe_sent(
	struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now);
/* Records the answer to a probe from this port. */
void hp3_spray_probe_answered(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port,
	uint32_t rtt_ns, bool marked, uint64_t now);
/*
 * Takes a reference to the record of a flow's peer. HP3_NO_SPRAY: all records of its hash set are
 * in use.
 */
uint16_t hp3_spray_peer_get(struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);
/* The record of the peer at `ends`, or NULL. */
const struct hp3_spray_peer *hp3_spray_peer_find(
	const struct hp3_engine *e, const struct hp3_ends *ends);

static inline struct hp3_spray_peer *hp3_spray_peer_of(const struct hp3_engine *e, uint32_t flow)
{
	return &e->spraying->peer[e->spraying->out[e->spraying->of[flow].out].peer];
}

/* agree.c */
void hp3_spray_tick(struct hp3_turn *t);
/* May agreements begin, and go on? */
static inline bool hp3_spray_is_allowed(const struct hp3_engine *e)
{
	return e->cfg.moves_allowed && !e->spraying->ending;
}

/* send.c, out.c */
/*
 * A queue pair was set up and has sent nothing yet: asks the peer, so that its first message can be
 * sprayed.
 */
void hp3_spray_setup(struct hp3_turn *t, uint32_t flow);
/*
 * A request of the flow leaves, or is held. On entry, *vd is the verdict for a flow that is not
 * sprayed.
 */
void hp3_spray_leaves(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd);
/* If the peer agrees, will the flow's first message be sprayed, whatever probes find? */
bool hp3_spray_presumes(const struct hp3_turn *t, uint32_t flow);
/* A round of probes at set-up is over: may the answers begin the presumption (rfr/presume.h)? */
void hp3_spray_compared(struct hp3_engine *e, const struct hp3_round *r);
/* Are the flow's packets sprayed? If so, their RTTs and marks are not those of the port in use. */
bool hp3_spray_hides(const struct hp3_engine *e, uint32_t flow);
enum hp3_spray_state hp3_spray_state_of(const struct hp3_engine *e, uint32_t flow);
uint32_t hp3_spray_evs_of(const struct hp3_engine *e, uint32_t flow); /* number of EVs in use */
/*
 * The flow's requests are not acknowledged: the flow takes one path for now. False: it already took
 * one path.
 */
bool hp3_spray_stalled(struct hp3_turn *t, uint32_t flow);
/*
 * An event ended the queue pair. Ends its agreements as the sender, and sends OVER. Without OVER,
 * packets that the peer still holds would delay the next queue pair with these QPNs.
 */
void hp3_spray_down(struct hp3_turn *t, uint32_t flow);
/*
 * May sprayed packets be in flight: unacknowledged requests, or READ responses? False once a
 * keep-alive interval has passed since the last such packet.
 */
bool hp3_spray_is_under_way(const struct hp3_turn *t, uint32_t flow);
/* Time has passed, so an end that waits for proof (flows/pending.h) may be due. */
void hp3_spray_look_at_end(struct hp3_turn *t, uint32_t flow);
/* The flow is removed. Sends no message. */
void hp3_spray_gone(struct hp3_turn *t, uint32_t flow);
/*
 * The flow was unpaired, so the engine no longer sees acknowledgements. Packets take one path. hp3d
 * sends OVER when enough time has passed for all sprayed packets to arrive. Agreements as the
 * receiver go on.
 */
void hp3_spray_unpaired(struct hp3_turn *t, uint32_t flow);
/* For an added flow: takes over the record of READ responses of an earlier flow, if any. */
void hp3_spray_added(struct hp3_turn *t, uint32_t flow);
/* For a flow that is now paired: takes over the records of this queue pair. */
void hp3_spray_paired(struct hp3_turn *t, uint32_t flow, uint32_t lqpn);
/*
 * The flow begins a new epoch: drops its held READ responses, and ends its agreements as the
 * sender. `reported`: an event reported the new epoch, so the RNIC waits for no earlier READ, and
 * the agreements end at once.
 */
void hp3_spray_anew(struct hp3_turn *t, uint32_t flow, bool reported);
void hp3_spray_answer(struct hp3_turn *t, uint32_t flow, const struct hp3_agree *a);
/*
 * A READ response of the flow leaves. On entry, *vd is the verdict for a flow that is not sprayed.
 */
void hp3_spray_read_leaves(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd);
/*
 * A peer offers to resequence READ responses of this flow, or of a new flow. Is the offer wanted?
 */
bool hp3_spray_wants_reads(struct hp3_turn *t, const struct hp3_ends *ends, uint32_t flow);
/* Has one of the two hosts recently refused an agreement about READ responses? */
bool hp3_spray_reads_put_off(const struct hp3_turn *t, const struct hp3_ends *ends);
/* Is there an unanswered ASK about the READs of another queue pair? */
bool hp3_spray_is_asking_of_another(
	struct hp3_turn *t, const struct hp3_ends *ends, uint32_t flow, uint32_t asked_of);
/*
 * Begins the agreement about READs from the local queue pair `asked_of`. False: the flow may not
 * leave its port, there is no free place, or an agreement was refused recently.
 */
bool hp3_spray_offered(struct hp3_turn *t, uint32_t flow, uint32_t asked_of);
/* A READ request of a peer arrived. */
void hp3_spray_read_asked(struct hp3_turn *t, const struct hp3_pkt *pkt);
enum hp3_spray_state hp3_spray_read_state_of(const struct hp3_engine *e, uint32_t flow);
/*
 * Handles the deadlines of the record. Returns the next deadline; UINT64_MAX: the agreement has
 * ended.
 */
uint64_t hp3_spray_out_tick(struct hp3_turn *t, struct hp3_spray_out *o);

/*
 * Hash of addresses, VLAN and QPN. Peers choose their QPNs and VLANs, so the hash is keyed
 * (base/hash.h).
 */
static inline uint32_t hp3_spray_chain(
	const struct hp3_spraying *s, uint64_t addr, uint32_t vlan, uint32_t qpn)
{
	uint64_t which = (uint64_t)vlan << 32 | qpn;

	return (uint32_t)hp3_mix(addr ^ s->key[0], which ^ s->key[1]) & (s->nheads - 1);
}

/*
 * Prefetches the record of this queue pair, because the engine will handle the packet soon.
 * always_inline, because GCC treats a function that only prefetches as a function without effects,
 * and drops the call.
 */
static inline __attribute__((always_inline)) void hp3_spray_expect(
	const struct hp3_engine *e, uint64_t addr, const struct hp3_view *v)
{
	const struct hp3_spraying *s = e->spraying;
	uint16_t first = s->heads[hp3_spray_chain(s, addr, v->vlan, v->dest_qpn)];
	struct hp3_spray_in *in;

	if (first == HP3_NO_SPRAY)
		return;
	in = &s->in[first];
	__builtin_prefetch(in, 1);
	__builtin_prefetch(&in->reseq.shown, 1);
	__builtin_prefetch(&in->reseq.slot[v->psn & (HP3_RESEQ_WINDOW - 1)], 1);
	__builtin_prefetch(&in->reseq.word[v->psn / 64 % HP3_RESEQ_WORDS], 1);
}

/* receive.c */
/* A request of a peer arrived. */
void hp3_spray_arrives(struct hp3_turn *t, const struct hp3_pkt *pkt, struct hp3_verdict *vd);
/* A reply of the local RNIC leaves: it shows what the RNIC has, or which PSN it expects. */
void hp3_spray_replies(struct hp3_turn *t, const struct hp3_pkt *pkt);
void hp3_spray_asked(struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *a);

/* reads.c */
/*
 * True: hp3d resequences READ responses to the flow. If a response stays missing, hp3_in_gap()
 * records that.
 */
static inline bool hp3_spray_reads_ready(const struct hp3_engine *e, uint32_t flow)
{
	return (e->flows[flow].watch & HP3_FW_READS) &&
	       e->spraying->in[e->spraying->of[flow].reads].ready;
}
/* HP3_FW_DOUBT was set for a reason other than held or missing responses. */
static inline void hp3_spray_reads_in_doubt(struct hp3_engine *e, uint32_t flow)
{
	if (e->flows[flow].watch & HP3_FW_READS)
		e->spraying->in[e->spraying->of[flow].reads].doubts = false;
}
/* A request of the flow leaves, or is held. */
void hp3_spray_reads(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt);
/* A reply to the flow arrived. Called after the flow's stream has been updated. */
void hp3_spray_read_arrives(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd);
/* A reply arrived for a queue pair that no flow is paired with. */
void hp3_spray_stray(struct hp3_turn *t, const struct hp3_pkt *pkt, struct hp3_verdict *vd);
/*
 * The flow is removed. hp3d sends NO, but goes on resequencing the READ responses until OVER,
 * because the queue pair may still exist.
 */
void hp3_spray_reads_gone(struct hp3_turn *t, struct hp3_spray_in *in);
/* A flow for the same queue pair was added. */
void hp3_spray_reads_taken(struct hp3_engine *e, struct hp3_spray_in *in, uint32_t flow);
void hp3_spray_reads_anew(struct hp3_turn *t, struct hp3_spray_in *in, bool reported);
uint64_t hp3_spray_in_tick(struct hp3_turn *t, struct hp3_spray_in *in);
/* Ends the agreement: drops the held packets (`drop`), or hands them over. */
void hp3_spray_in_end(struct hp3_turn *t, struct hp3_spray_in *in, bool drop);
