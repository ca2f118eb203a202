/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_SPRAY_H
#define HP3_ENGINE_SPRAY_H
/*
 * Queue pairs whose packets take several paths at once (rfr.mode = spray): those of the local RNIC
 * that leave so (send.c, out.c), and those of peers that are put in order before the local RNIC
 * sees them (receive.c); what the two hosts say to each other about it (say.c, agree.c). What
 * either may do when is rfr/spraying.h.
 *
 * Requests and READ responses are two streams, each with an agreement of its own. Responses leave
 * by several paths at the responder (read.c), and are put in order at the requester (reads.c),
 * which alone knows which ones there are to be. ACKs and NAKs keep to one path, and are held at the
 * requester until the responses before them have come. Congestion control is the RNIC's.
 */
#include "base/hash.h"
#include "engine/flows/deadlines.h"
#include "engine/moves/moves.h"
#include "engine/spray/rounds.h"
#include "engine/spray/quota.h"
#include "probes/agree.h"
#include "rfr/missing.h"
#include "rfr/owed.h"
#include "rfr/resequencer.h"
#include "rfr/spraying.h"
#include "rfr/spread.h"

#define HP3_SPRAY_SAID     16u
#define HP3_SPRAY_BEAT_MAX 1000000000ull /* ns: keep-alive interval */
#define HP3_HEADERS                                                                                \
	96u /* bytes of a packet besides its payload: Ethernet, IPv6, UDP, BTH, RETH, ICRC */

/* A queue pair of the local RNIC. What each of its packets needs is the first line. */
struct hp3_spray_out {
	uint64_t heard; /* the peer's last YES; ASKING: when it was asked first */
	uint64_t yes_to; /* when that was said to which it was an answer */
	uint64_t large_at; /* newest packet of a large message */
	uint32_t run_from; /* PSN of the first one by a lane since it went back, or HP3_NO_PSN */
	uint16_t peer; /* whose lanes it takes: in hp3_spraying.peer */
	uint8_t state; /* enum hp3_spray_state */
	bool large; /* the message under way is */
	bool sized; /* the peer knows the path MTU */
	bool chosen; /* a packet has left by one of several lanes */
	bool reads; /* READ responses */
	bool fence; /* the next one keeps to the port in use */
	bool blind; /* the flow was unpaired: time alone tells what has arrived */
	uint32_t so_far; /* bytes of the message under way that have left */
	uint32_t start; /* PSN with which the agreement begins; else HP3_NO_PSN */
	uint32_t flow;
	uint32_t number; /* of the agreement: later ones have greater ones, as int32_t */
	uint32_t turn, answered; /* of what was said last; of the newest answer */
	uint16_t at; /* in the list of those in use */
	uint16_t quota; /* the peer's, among hp3_spraying.quotas */
	uint16_t room; /* packets that may be in flight, as the peer said; 0: it did not */
	uint8_t strikes; /* times in a row that the RNIC went back soon after */
	uint32_t behind; /* NARROW, ENDING: all before it left when lanes were in use */
	/* reads: the local queue pair that is read from, and PSNs that it was asked for: [first,
	 * end) */
	uint32_t asked_of, asked_first, asked_end;
	uint32_t sent; /* reads: the highest PSN of a response that left, or HP3_NO_PSN */
	uint16_t next_read; /* in the chain by addresses and asked_of */
	uint64_t said[HP3_SPRAY_SAID]; /* when, by turn: the newest ones */
	uint64_t narrowed; /* NARROW: since when */
	uint64_t beat_at; /* the next word to the peer */
	uint64_t began;
	/* Keep-alive interval: as the peer confirmed it, and as it is stated. The shorter one
	 * counts. */
	uint32_t beat_us, stated_us;
	/* The PSN that the peer asked about last, or HP3_NO_PSN, and the port from which it left */
	uint32_t missing;
	uint16_t missing_port;
	struct hp3_port_log log;
} __attribute__((aligned(64)));

#define HP3_SPRAY_EARLY HP3_OWED

/* An ACK or NAK that waits for responses before it. */
struct hp3_spray_ack {
	uint32_t held; /* handle + 1; 0: there is none */
	uint32_t psn; /* the last one that it speaks for */
	uint64_t came; /* ... and so much later as hp3d looked at no packet since */
	/* Since when responses up to `until` are waited for: one that it replaced spoke for them */
	uint64_t at;
	uint32_t until;
	uint8_t anew; /* times that it was waited for anew */
	bool refuses; /* it is a NAK or RNR NAK */
};

/*
 * A queue pair of a peer, or READ responses to one of the local RNIC. What each of its packets
 * needs is the first two lines.
 */
struct hp3_spray_in {
	uint64_t addr; /* as hp3_flow.addr */
	uint32_t responder, requester; /* QPNs */
	uint32_t vlan;
	bool ipv6;
	bool ready; /* it is known what the RNIC waits for; else the next packet tells */
	bool sure; /* ... not only by a question, which may be void: something may have left since
		    */
	uint8_t slept; /* hp3_spraying.slept when it was last looked at */
	uint16_t next, next_back; /* of the same chain: by responder; by requester */
	uint16_t port, in_use; /* of lane 0; of what takes one path */
	bool reads; /* READ responses */
	bool unsized; /* a READ came, and how many PSNs it takes is not known */
	uint16_t first; /* not sure: port of what is held */
	uint8_t lanes, pmtu_log2;
	/* hp3_spraying.unread_ns and .lost_ns when it was last looked at */
	uint64_t unread_ns, lost_ns;
	uint8_t spared; /* times since its last word that hp3d had stood still */
	bool any_acked;
	uint16_t quota; /* the peer's, among hp3_spraying.quotas */
	uint32_t acked; /* ... the local RNIC has acknowledged all before this PSN */
	uint32_t bytes; /* held */
	uint64_t told_at; /* of slow lanes */
	uint64_t due; /* its deadline among hp3_spraying.deadlines */
	struct hp3_reseq reseq;
	struct hp3_lateness late;
	struct hp3_missing missing;
	uint8_t local[16], remote[16];
	bool numbered; /* the sender has asked; else there is no number yet */
	bool promised; /* it was answered yes: until OVER or the end of the lease */
	bool refused; /* ... and then no, since this host agrees to nothing any more */
	uint64_t refused_at, refused_lease; /* when; its lease at that time */
	uint16_t at; /* in the list of those in use */
	uint32_t number, turn; /* of the agreement; of what was said last */
	uint64_t beat_ns; /* of the sender, as it was stated last */
	uint64_t heard; /* its last word */
	/* reads */
	uint32_t flow; /* that asked for them; HP3_NO_FLOW: it was removed */
	uint32_t from; /* not ready: PSN of the response that the RNIC waits for, or HP3_NO_PSN */
	uint32_t end; /* PSN behind the last request; HP3_NO_PSN: not known */
	uint32_t top; /* ... behind all of them; likewise */
	bool back; /* ... which was sent again */
	bool again; /* what lacks was asked for again */
	bool doubts; /* HP3_FW_DOUBT is set for what is held here or owed, and for nothing else */
	bool unwanted; /* the sender is told no, and goes on until its packets have arrived */
	uint8_t strikes;
	uint32_t back_to; /* where the RNIC went back to last */
	uint64_t offer_at; /* no sooner */
	uint64_t again_at; /* `again`: when, and so much later as hp3d looked at no packet since */
	struct hp3_spray_ack ack;
	struct hp3_owed owed;
	/* READs that left before the path MTU was known, which tells how many PSNs they take */
	uint32_t n_early;
	struct {
		uint32_t psn, bytes;
	} early[HP3_SPRAY_EARLY];
} __attribute__((aligned(64)));

/* Records of a flow, each valid with its flag. */
struct hp3_spray_of {
	uint16_t out; /* HP3_FW_SPRAY; among `out` */
	uint16_t read; /* HP3_FW_READ; likewise */
	uint16_t reads; /* HP3_FW_READS; among `in` */
};

/*
 * What is known of the lanes to a peer: all queue pairs between two addresses take the same ones,
 * so that one learns from another, and the next from the last. What a packet needs comes first.
 */
struct hp3_spray_peer {
	struct hp3_spread spread;
	uint64_t addr; /* as hp3_flow.addr */
	uint64_t used; /* when last; 0: never */
	uint32_t vlan;
	uint16_t base; /* port of lane 0, a multiple of HP3_LANES */
	uint16_t users; /* agreements */
	uint32_t newest; /* number of an agreement that it asked for before anything had left */
	uint64_t newest_at; /* 0: never */
	bool ipv6;
	/* Lanes are compared (rounds.h): a round is under way; one found that paths differ. */
	bool comparing, differs;
	uint64_t compare_at; /* the next one, no sooner */
	uint64_t asked; /* lanes, bit by lane, in rounds so far */
} __attribute__((aligned(64)));

#define HP3_SPRAY_WAYS 8u /* peers of a set: one that is in use keeps its place */

#define HP3_NO_SPRAY    UINT16_MAX
#define HP3_SPRAY_ENDED 32u /* records that one call looks at */
/* Numbers for each record: outs, ins, and heads, backs, reads and those of quotas. */
#define HP3_SPRAY_LISTS 10u

struct hp3_spraying {
	struct hp3_spray_out *out;
	struct hp3_spray_in *in; /* as many */
	struct hp3_spray_peer *peer; /* HP3_SPRAY_WAYS times `sets` */
	uint32_t sets;
	uint32_t ended[HP3_SPRAY_ENDED]; /* flows whose end is due: hp3_tick() */
	uint32_t nended;
	uint16_t *outs, *ins; /* the first n: in use; the rest: free */
	uint16_t *heads; /* chains of `in`, by addresses and the responder's QPN */
	uint16_t *backs; /* ... by addresses and the requester's */
	uint16_t *reads; /* chains of `out` about READ responses, by addresses and asked_of */
	uint64_t key[2]; /* of their hash */
	struct hp3_quotas quotas; /* of peers; as many heads */
	uint32_t nheads;
	struct hp3_spray_of *of; /* by flow */
	uint32_t nout;
	uint64_t number; /* of the newest agreement; 32 bits of it are said */
	uint64_t hold_bytes, hold_bytes_total; /* for what was promised, however they change */
	bool ending; /* hp3_spray_stop() */
	uint64_t until; /* ... what the agreements looked at since then were promised is over */
	/* The policy has changed: so many of `outs` and `ins` are still to be looked at. */
	uint32_t changed_outs, changed_ins;
	uint64_t changed_at; /* when some of these became due last */
	uint8_t slept; /* times that hp3d was found to have stood still */
	uint64_t awake; /* ... the last time */
	bool unread; /* packets of the network lie unread: hp3_rx_blocked() */
	uint64_t unread_at; /* since when */
	uint64_t unread_ns; /* for so long in all, before that */
	uint64_t lost_ns; /* ... or hp3d stood still, the same time once */
	uint64_t lost_to; /* the end of what that has */
	struct hp3_deadlines deadlines; /* of `out`, and behind them of `in` */
	struct hp3_spray_rounds rounds;
};

/* say.c */
/* Records of peers for so many queue pairs. */
static inline uint32_t hp3_spray_peers(uint32_t flows)
{
	uint32_t sets = 1;

	while (sets * 2 < flows)
		sets *= 2;
	return sets * HP3_SPRAY_WAYS;
}

/* Where the records are; deadlines: of all of them. */
void hp3_spray_init(struct hp3_engine *e, const struct hp3_spraying *memory);
struct hp3_spread_params hp3_spread_params_of(const struct hp3_engine *e);
/* The policy has changed. */
void hp3_spray_reconfigured(struct hp3_engine *e);
/* ... or what is allowed: all agreements are looked at. */
void hp3_spray_look_at_all(struct hp3_engine *e);
/* Something is to be done about a record by then. */
void hp3_out_wake(struct hp3_engine *e, const struct hp3_spray_out *o, uint64_t due);
void hp3_in_set_due(struct hp3_engine *e, struct hp3_spray_in *in, uint64_t due);
static inline void hp3_in_wake(struct hp3_engine *e, struct hp3_spray_in *in, uint64_t due)
{
	if (due < in->due)
		hp3_in_set_due(e, in, due);
}

/* Packets of the path MTU (0: not known) that so many bytes have room for, with their headers. */
static inline uint16_t hp3_spray_room(uint64_t bytes, uint32_t pmtu_log2)
{
	uint32_t packet = (1u << (pmtu_log2 != 0 ? pmtu_log2 : HP3_PMTU_LOG2_MAX)) + HP3_HEADERS;

	return (uint16_t)hp3_min_u64(HP3_RESEQ_WINDOW - 1, bytes / packet);
}

uint64_t hp3_spray_pulse(const struct hp3_engine *e);
void hp3_spray_slept(struct hp3_turn *t, uint64_t since);
void hp3_in_slept(struct hp3_turn *t, struct hp3_spray_in *in);

static inline uint64_t hp3_spray_due(const struct hp3_engine *e)
{
	return hp3_deadline_next(&e->spraying->deadlines);
}

/* Did hp3d stand still, so that what came meanwhile may lie unread? */
static inline void hp3_spray_look(struct hp3_turn *t)
{
	uint64_t due = hp3_max_u64(hp3_spray_due(t->e), t->e->spraying->awake);

	if (HP3_UNLIKELY(t->now > due && t->now - due > hp3_spray_pulse(t->e)))
		hp3_spray_slept(t, due);
}

/* ... then it is not yet judged what has not come to this record. */
static inline void hp3_in_look(struct hp3_turn *t, struct hp3_spray_in *in)
{
	if (HP3_UNLIKELY(in->slept != t->e->spraying->slept))
		hp3_in_slept(t, in);
}

void hp3_spray_say_out(struct hp3_turn *t, const struct hp3_spray_out *o, enum hp3_agree_kind kind);
void hp3_spray_say_in(
	struct hp3_turn *t, const struct hp3_spray_in *in, enum hp3_agree_kind kind, uint64_t slow);
/* LEFT: this PSN left from the port; 0: not known. */
void hp3_spray_say_left(
	struct hp3_turn *t, const struct hp3_spray_out *o, uint32_t psn, uint16_t port);

/* To a question about a queue pair of which no record is kept; to an offer. */
void hp3_spray_refuse(
	struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *asked);

/* peer.c */
/*
 * It asks for this agreement before anything has left: no more than once, for a word may come late,
 * and again.
 */
bool hp3_spray_is_first(
	struct hp3_engine *e, const struct hp3_ends *ends, uint32_t number, uint64_t now);
/* A probe leaves by this port. */
void hp3_spray_probes(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port, uint64_t now);
/* It was answered. */
void hp3_spray_probed(struct hp3_engine *e, const struct hp3_flow *f, uint16_t port,
	uint32_t rtt_ns, bool marked, uint64_t now);
/* The record of a flow's peer, one user more; HP3_NO_SPRAY: all that it might have are in use. */
uint16_t hp3_spray_peer_get(struct hp3_engine *e, const struct hp3_flow *f, uint64_t now);

static inline struct hp3_spray_peer *hp3_spray_peer_of(const struct hp3_engine *e, uint32_t flow)
{
	return &e->spraying->peer[e->spraying->out[e->spraying->of[flow].out].peer];
}

/* agree.c */
void hp3_spray_tick(struct hp3_turn *t);
/* Something may be agreed on, and what is may go on. */
static inline bool hp3_spray_is_allowed(const struct hp3_engine *e)
{
	return e->cfg.moves_allowed && !e->spraying->ending;
}

/* send.c, out.c */
/* A queue pair was set up, nothing has left yet: its first message may take all lanes. */
void hp3_spray_setup(struct hp3_turn *t, uint32_t flow);
/* A request of the flow leaves, or is held: *vd as if it were not sprayed. */
void hp3_spray_leaves(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd);
/* Its packets take several paths: what is seen of them says nothing of the port in use. */
bool hp3_spray_hides(const struct hp3_engine *e, uint32_t flow);
enum hp3_spray_state hp3_spray_state_of(const struct hp3_engine *e, uint32_t flow);
uint32_t hp3_spray_lanes_of(const struct hp3_engine *e, uint32_t flow); /* in use */
/* Nothing is acknowledged: one path for now, if there were several. */
bool hp3_spray_stalled(struct hp3_turn *t, uint32_t flow);
/* Its queue pair has ended, as is told: so has what was agreed on, and its peer is told. What that
 * one holds is nobody's any more, and would hold up the next queue pair with these QPNs. */
void hp3_spray_down(struct hp3_turn *t, uint32_t flow);
/* Packets that left by several paths and are not acknowledged, or responses that leave so, may be
 * on their way: a keep-alive interval has not passed without one. */
bool hp3_spray_is_under_way(const struct hp3_turn *t, uint32_t flow);
/* Its end may wait for proof (flows/pending.h), and time passes. */
void hp3_spray_look_at_end(struct hp3_turn *t, uint32_t flow);
/* The flow is gone; its peers are not told. */
void hp3_spray_gone(struct hp3_turn *t, uint32_t flow);
/*
 * The flow was unpaired: it is not known any more what is acknowledged. What leaves takes one path,
 * and the peer is told when all that took several has arrived; what was promised is kept.
 */
void hp3_spray_unpaired(struct hp3_turn *t, uint32_t flow);
/* A flow was added, perhaps of a queue pair whose flow was removed. */
void hp3_spray_added(struct hp3_turn *t, uint32_t flow);
/* It is paired with this queue pair. */
void hp3_spray_paired(struct hp3_turn *t, uint32_t flow, uint32_t lqpn);
/* It begins anew: what is held of what it read goes nowhere, and, if somebody `told` so, nothing
 * that was read before is owed any more. */
void hp3_spray_anew(struct hp3_turn *t, uint32_t flow, bool told);
void hp3_spray_answer(struct hp3_turn *t, uint32_t flow, const struct hp3_agree *a);
/* A READ response of the flow leaves: *vd as if it were not sprayed. */
void hp3_spray_read_leaves(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd);
/* A peer would put READ responses in order, of this flow or of a new one: is that of use? */
bool hp3_spray_wants_reads(struct hp3_turn *t, const struct hp3_ends *ends, uint32_t flow);
/* This one said no, or was told so: for a while. */
bool hp3_spray_reads_put_off(const struct hp3_turn *t, const struct hp3_ends *ends);
/* ... not yet: the peer is being asked about another queue pair. */
bool hp3_spray_is_asking_of_another(
	struct hp3_turn *t, const struct hp3_ends *ends, uint32_t flow, uint32_t asked_of);
/* ... those of this flow, read from the local queue pair `asked_of`. False: it may not leave its
 * port, or there is no room. */
bool hp3_spray_offered(struct hp3_turn *t, uint32_t flow, uint32_t asked_of);
/* A READ of a peer arrived. */
void hp3_spray_read_asked(struct hp3_turn *t, const struct hp3_pkt *pkt);
enum hp3_spray_state hp3_spray_read_state_of(const struct hp3_engine *e, uint32_t flow);
/* Time passes; when it wants to be called next. */
uint64_t hp3_spray_out_tick(struct hp3_turn *t, struct hp3_spray_out *o);

/*
 * A chain by addresses, VLAN and QPN. Peers choose their QPNs and VLANs, so the hash has a key
 * (hash.h).
 */
static inline uint32_t hp3_spray_chain(
	const struct hp3_spraying *s, uint64_t addr, uint32_t vlan, uint32_t qpn)
{
	uint64_t which = (uint64_t)vlan << 32 | qpn;

	return (uint32_t)hp3_mix(addr ^ s->key[0], which ^ s->key[1]) & (s->nheads - 1);
}

/*
 * A packet for this queue pair will be handled soon; it may be one of a peer that is sprayed. Made
 * part of the caller by force: GCC takes a function that does nothing but this for one without
 * effects, and leaves the call out.
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
	__builtin_prefetch(&in->reseq.told, 1);
	__builtin_prefetch(&in->reseq.slot[v->psn & (HP3_RESEQ_WINDOW - 1)], 1);
	__builtin_prefetch(&in->reseq.word[v->psn / 64 % HP3_RESEQ_WORDS], 1);
}

/* receive.c */
/* A request of a peer arrived. */
void hp3_spray_arrives(struct hp3_turn *t, const struct hp3_pkt *pkt, struct hp3_verdict *vd);
/* The local RNIC replies to one: what it has, or waits for. */
void hp3_spray_replies(struct hp3_turn *t, const struct hp3_pkt *pkt);
void hp3_spray_asked(struct hp3_turn *t, const struct hp3_ends *ends, const struct hp3_agree *a);

/* reads.c */
/* READ responses to the flow reach the RNIC in order, or are told of (hp3_in_gap()). */
static inline bool hp3_spray_reads_ready(const struct hp3_engine *e, uint32_t flow)
{
	return (e->flows[flow].watch & HP3_FW_READS) &&
	       e->spraying->in[e->spraying->of[flow].reads].ready;
}
/* HP3_FW_DOUBT was set for another reason than what is held or owed. */
static inline void hp3_spray_reads_in_doubt(struct hp3_engine *e, uint32_t flow)
{
	if (e->flows[flow].watch & HP3_FW_READS)
		e->spraying->in[e->spraying->of[flow].reads].doubts = false;
}
/* A request of the flow leaves, or is held. */
void hp3_spray_reads(struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt);
/* A reply to the flow arrived, and all else has been said of it. */
void hp3_spray_read_arrives(
	struct hp3_turn *t, uint32_t flow, const struct hp3_pkt *pkt, struct hp3_verdict *vd);
/* A reply to a queue pair that no flow is paired with. */
void hp3_spray_stray(struct hp3_turn *t, const struct hp3_pkt *pkt, struct hp3_verdict *vd);
/* The flow is removed: what is promised is kept, for the queue pair may yet be there. */
void hp3_spray_reads_gone(struct hp3_turn *t, struct hp3_spray_in *in);
/* A flow of the same queue pair. */
void hp3_spray_reads_taken(struct hp3_engine *e, struct hp3_spray_in *in, uint32_t flow);
void hp3_spray_reads_anew(struct hp3_turn *t, struct hp3_spray_in *in, bool told);
uint64_t hp3_spray_in_tick(struct hp3_turn *t, struct hp3_spray_in *in);
/* It is put in order no more: what is held goes to the RNIC, or nowhere. */
void hp3_spray_in_end(struct hp3_turn *t, struct hp3_spray_in *in, bool drop);

#endif
