/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Definitions that the files of the world share (world.h: a simulation around one engine). PSNs are
 * linear inside the world: 64 bits, without wrap. On the wire they have 24 bits.
 */
#include <stdio.h>
#include <stdlib.h>
#include "heap.h"
#include "base/hash.h"
#include "engine/policy.h"
#include "roce/opcode.h"
#include "sim/fabric/hash.h"
#include "world.h"

#define RING       8192u
#define MAX_QPS    256u
#define MAX_PATHS  16u
#define ERAS       8u
#define US         1000ull
#define HOT_NS     (300 * US)
#define MAX_PMTU   4096u
#define MAX_PAIRS  4u
#define MAX_RTT    (1500 * US)
#define LINE_GAP   82u /* ns of a packet at 100 Gb/s */
#define SLOTS      320u
#define FLOWS      1024u
#define HOME_PORT  50000u
#define SHORT_FROM (3000 * US) /* from then on, some paths drop long packets */
#define OP_ODD     0x1f /* reserved opcode of the RC transport */

#define WORLD_BURST 32u

/* One request packet as the requester would (re)send it; index: linear PSN modulo RING. */
struct desc {
	uint64_t lin; /* all entries of a READ's PSNs are copies of the first */
	uint64_t end; /* first PSN after its message */
	uint8_t opcode;
	bool ackreq, last;
	uint32_t span, len;
};

struct qp {
	uint32_t epoch, lqpn, rqpn, start; /* start: PSN of lin 0 */
	uint32_t first_start; /* `start` of the first queue pair in this place */
	uint32_t flow;
	uint32_t untold; /* reports (end, set-up) that have not arrived; the last arrives at: */
	uint64_t reported;
	uint8_t unsure; /* bits: set-up without a PSN; bit 0: this queue pair, 1: the previous */
	/* requester */
	uint64_t made, nxt; /* PSNs: end of the messages written; next to send */
	uint64_t una; /* first PSN not complete; retransmission starts here */
	uint64_t heard; /* PSN up to which undamaged replies that hp3d has seen acknowledge */
	uint8_t credit, credit_seen; /* syndrome of ACKs: the responder's; last at the RNIC */
	uint64_t asked_until; /* until then, a duplicate sent by hp3d may be answered */
	uint64_t done; /* messages completed up to */
	uint64_t high; /* first PSN never sent */
	uint64_t sending; /* PSN of the packet that the engine handles, or handled last */
	uint64_t sends_to; /* PSN up to which the RNIC retransmits, when it sent this packet */
	uint64_t shown; /* PSN up to which the engine has seen packets */
	uint64_t rtx, rtx_end, recover; /* selective repeat: range to retransmit, end of recovery */
	uint8_t retries; /* since the last progress */
	uint64_t tried, hurt; /* last time of a retransmission; of a lost packet */
	bool retrying, unfair; /* unfair: it retransmitted without a cause */
	bool dead; /* in state ERR; gone: its peer has ended */
	bool gone;
	/* end of the last packet that must be answered: the timer runs until then */
	uint64_t asks;
	uint64_t throttle; /* ns between packets while CNPs slow the RNIC down */
	uint32_t since_ack;
	uint32_t send_timer; /* number of the valid timer; events with other numbers are stale */
	struct heap_when rto; /* when the timer fires; t 0: it does not run */
	bool rto_due; /* an EVENT_RTO is queued, not later than rto */
	uint32_t written; /* packets written of the current message */
	uint64_t thinks_until; /* until then, the application posts no message */
	bool idle, rnr_wait, in_read;
	uint64_t fo_since; /* since when there is no progress; a failover has to end this */
	uint64_t nak_psn; /* PSN of the last NAK that hp3d gave the RNIC: once per PSN (rule 4) */
	/* in flight */
	uint64_t contig; /* all PSNs below have entered the network, or arrived */
	bool resync; /* contig is unknown: the next packet sets it */
	uint64_t closing; /* PSN of the last closing packet; 0: none */
	bool draining; /* the closing packet left, and the move has not ended */
	bool resuming, started;
	bool was_resuming; /* the previous queue pair was resuming; hp3d may not have its end */
	uint8_t era; /* number of events that may reorder packets: failovers, crashes */
	uint64_t last_emit[ERAS]; /* emission number of the newest arrival, by era */
	uint64_t last_first; /* newest first transmission that arrived */
	uint32_t in_net; /* request packets between hp3d and the responder */
	uint64_t probe_until; /* until then, a duplicate sent by hp3d may be in flight */
	/* responder */
	uint64_t exp; /* expected PSN */
	uint64_t got_high; /* selective repeat: 1 + highest PSN received */
	bool nak_sent, deaf, marked, ack_due;
	uint64_t old_end; /* PSNs below may also be those of the previous queue pair */
	uint64_t inv_end; /* the R_Key of READs before this PSN is invalidated */
	uint64_t cnp_next;
	uint64_t back_free; /* the reply path is a FIFO per queue pair: when it is free */
	/* dead path: consecutive probe rounds that the port in use lost */
	uint32_t dead_rounds;
	uint16_t dead_port;
	/* rate */
	bool owed; /* a CNP was withheld, and the flow has not moved */
	uint64_t owed_since;
	uint64_t saved_rate, switched_at;
	bool suspended;
};

struct pkt {
	struct pkt *next;
	uint32_t qp, epoch, span, len;
	uint32_t number; /* the engine's number of it, while it is held */
	uint64_t emit, lin, held_at;
	uint64_t sends_to; /* see struct qp */
	uint8_t opcode, era;
	bool ackreq, ce;
	bool probe; /* hp3d made it */
	bool first; /* a first transmission */
	bool loose; /* its order is not checked (tests/whole) */
	uint16_t port;
};

struct fifo {
	struct pkt *head, *tail;
	uint64_t bytes;
};

enum event_kind {
	EVENT_SEND,
	EVENT_ARRIVE,
	EVENT_REPLY,
	EVENT_CNP,
	EVENT_NAK, /* a NAK by hp3d for the local RNIC */
	EVENT_ACK_DUE,
	EVENT_RTO,
	EVENT_RNR_OVER,
	EVENT_MOVE,
	EVENT_RESET,
	EVENT_TICK,
	EVENT_PATHS,
	EVENT_PROBE,
	EVENT_CRASH,
	EVENT_PEER,
	EVENT_STOP,
	EVENT_MODE,
	EVENT_REPORT, /* a report of this hp3d to the peer's */
	EVENT_NEW_QP, /* the application replaces a queue pair that ended in error */
	EVENT_REWIRE,
	EVENT_UP, /* a delayed set-up event */
	EVENT_RECONNECT,
	EVENT_REPORTED, /* the end or set-up of a queue pair */
	EVENT_POLL,
	EVENT_SPOOF,
	EVENT_FORGE,
	EVENT_AWAY, /* hp3d hangs; the kernel bypasses it; it is back */
};

struct event {
	HEAP_WHEN;
	uint8_t kind;
	bool ours; /* REPLY: a packet of hp3d caused it */
	uint16_t port; /* CNP: of the packet that was marked */
	uint32_t qp, gen;
	struct pkt *pkt; /* ARRIVE, SEND */
	struct hp3_view view; /* REPLY, SEND */
};

/* Packets that a port has received and hp3d has not polled: SEND (from the RNIC); REPLY, CNP,
 * PROBE. */
struct port_ring {
	struct event *event;
	uint32_t head, tail, cap;
};

/* Packets that the engine handles in one call, or in several calls if it returns actions
 * (engine.h). */
struct burst {
	enum hp3_dir dir;
	uint32_t n;
	const struct event *event;
	struct hp3_pkt pkt[WORLD_BURST];
	struct hp3_verdict vd[WORLD_BURST];
	/* before the call: port, state and rate of the flow; stale: the CNP is of a path that it
	 * has left */
	struct {
		uint32_t flow;
		uint16_t port;
		uint8_t state;
		bool stale;
		uint64_t rate;
	} was[WORLD_BURST];
	bool damaged[WORLD_BURST];
};

enum away { WORLD_HERE, WORLD_STUCK, WORLD_DIRECT };

struct world {
	unsigned turn; /* chooses the function of the engine for the next burst */
	struct port_ring ports[2]; /* by direction */
	bool poll_due, polling; /* EVENT_POLL is queued; is being handled */
	struct world_params p;
	struct world_result r;
	uint64_t rng, now, emit; /* now: this host's clock, */
	uint64_t began, ahead; /* and when the world began; how far ahead the peer's is */
	struct heap heap; /* of struct event */
	struct qp qps[MAX_QPS];
	struct desc (*ring)[RING]; /* by queue pair */
	bool (*got)[RING]; /* by queue pair; selective repeat: arrived out of order */
	uint32_t short_first; /* short_paths_move: first of the paths that drop long packets */
	uint64_t back_path_free[MAX_PATHS];
	struct hp3_engine *peer; /* of the peer's hp3d; both_ways only */
	void *peer_mem;
	uint64_t incast_ns, incast_free; /* the receiver's queue */
	uint64_t path_free[MAX_PATHS], path_delay[MAX_PATHS], path_dead[MAX_PATHS], back_dead;
	struct sim_model model;
	uint8_t port_lost[65536]; /* probes lost since the last answer */
	bool peer_up;
	struct hp3_engine *e;
	struct hp3_engine_config cfg;
	void *mem;
	uint64_t rto_ns;
	uint64_t stopping; /* since when hp3d stops; 0: it does not */
	enum hp3_policy_mode mode; /* as set last */
	uint64_t mode_since;
	uint64_t withheld; /* number of CNPs withheld at that time */
	bool quiet; /* mode is not `on`, and all flows use their home ports */
	struct fifo hold[FLOWS]; /* by flow */
	uint32_t nheld; /* packets in them */
	uint32_t held_most, elsewhere; /* pool: limit given to the engine; buffers used elsewhere */
	uint32_t pairs, pmtu;
	uint8_t tx_hdr[MAX_PAIRS][64], rx_hdr[MAX_PAIRS][64];
	uint8_t frame[WORLD_BURST][MAX_PMTU + 128]; /* frames of the replies being handled */
	bool ticking; /* the current actions are from hp3_tick() */
	bool becn; /* the current reply had BECN */
	enum away away;
	bool stand_in_home; /* the bypass sends all packets from home ports */
	uint16_t direct[MAX_QPS]; /* by queue pair: ports that the bypass uses */
	bool announcing; /* the current actions are from a set-up event */
	bool failed;
};

#define VIOLATION(w, ...)                                                                          \
	do {                                                                                       \
		if (!(w)->failed) {                                                                \
			fprintf(stderr, "violation, seed %llu, t %llu ns: ",                       \
				(unsigned long long)(w)->p.seed,                                   \
				(unsigned long long)((w)->now - (w)->began));                      \
			fprintf(stderr, __VA_ARGS__);                                              \
			fputc('\n', stderr);                                                       \
		}                                                                                  \
		(w)->failed = true;                                                                \
	} while (0)

/* A violation in worlds without faults (world_params.harmless). */
#define HARM(w, ...)                                                                               \
	do {                                                                                       \
		if ((w)->p.harmless)                                                               \
			VIOLATION(w, __VA_ARGS__);                                                 \
	} while (0)

static inline uint64_t world_lasts(const struct world *w)
{
	return w->now - w->began;
}

static inline uint64_t world_peer_clock(const struct world *w)
{
	return w->now + w->ahead;
}

static inline uint32_t rnd(struct world *w, uint32_t n)
{
	return hp3_random_below(&w->rng, n);
}

static inline bool chance(struct world *w, uint32_t ppm)
{
	return rnd(w, 1000000) < ppm;
}

static inline uint32_t wire(const struct qp *q, uint64_t lin)
{
	return (uint32_t)(q->start + lin) & HP3_PSN_MASK;
}

static inline uint64_t linear(const struct qp *q, uint32_t psn, uint64_t near)
{
	int64_t lin = (int64_t)near + hp3_psn_diff(psn, wire(q, near));

	return lin < 0 ? 0 : (uint64_t)lin;
}

static inline bool is_read(uint8_t opcode)
{
	return opcode == HP3_OP_RC_READ_REQUEST || opcode == HP3_OP_RC_FETCH_ADD;
}

static inline struct hp3_view view_of(uint8_t opcode)
{
	const struct hp3_opcode_info *op = &hp3_opcodes[opcode];

	return (struct hp3_view){.class = op->class,
		.opcode = opcode,
		.flags = op->flags,
		.l3_off = 14,
		.udp_off = 34};
}

/* world_time.c */
void world_clocks(struct world *w);
void world_push(struct world *w, struct event event);
void world_at(struct world *w, uint64_t delay, enum event_kind kind, uint32_t qp, uint32_t gen);
struct event world_pop(struct world *w); /* there must be one */

/* world_setup.c */
void world_setup_qp(struct world *w, uint32_t i, uint32_t start);
void world_rnr_over(struct world *w, const struct event *event);
void world_arm_rto(struct world *w, uint32_t i);
void world_rto(struct world *w, const struct event *event);

/* world_rate.c: True: the flow is probed because its path may be dead. */
bool world_round_is_dead(const struct world *w, uint32_t flow);
/* Number of probe rounds of this flow's address pair for paths that may be dead. */
uint32_t world_dead_rounds(const struct world *w, uint32_t flow);

/* world_addresses.c */
void world_addresses(struct world *w);
/* Completes *pkt: adds addresses and length to its view, which has all other fields. */
void world_pkt(struct world *w, uint32_t i, enum hp3_dir dir, struct hp3_pkt *pkt);
struct hp3_ends world_ends(const struct world *w, uint32_t i);

/* world_knobs.c */
void world_turn_knobs(struct world_params *p);

/* world_network.c */
/* True: the path drops packets of this length. */
bool world_swallows(const struct world *w, uint32_t path, uint32_t len);
uint32_t world_path(const struct world *w, uint16_t port, uint32_t qpn);
void world_into_network(struct world *w, struct pkt *k, uint16_t port);
void world_send_probe(struct world *w, const struct hp3_act *a);
/* Sends a probe that looks like data, so that the peer's RNIC answers it; sends a packet that every
 * RNIC drops. */
void world_send_like_data(struct world *w, uint32_t i, const struct hp3_act *a);
void world_send_to_nobody(struct world *w, uint32_t path);
void world_number(struct world *w, uint32_t i);
/* The queue pair of a flow that has this remote QPN. */
uint32_t world_qp_at(const struct world *w, uint32_t flow, uint32_t rqpn);
uint32_t world_qp_of(const struct world *w, const struct hp3_act *a);
/* When a packet that enters this path now will arrive; 0: never. */
uint64_t world_arrival(struct world *w, uint32_t path, uint64_t *free);
void world_paths_change(struct world *w);

/* world_requester.c */
void world_send(struct world *w, uint32_t i);
void world_wake(struct world *w, uint32_t i);
void world_throttle(struct world *w, uint32_t i);
void world_go_back(struct world *w, uint32_t i);

/* world_death.c */
bool world_retry(struct world *w, uint32_t i, bool timeout);
void world_retried(struct world *w, uint32_t i);
void world_fatal(struct world *w, uint32_t i);
void world_new_qp(struct world *w, const struct event *event);

/* world_rnic.c: a reply arrives at the RNIC; `ours`: hp3 sent it, or caused it */
void world_rnic_reply(struct world *w, uint32_t i, const struct hp3_view *v, bool ours);
/* True: the reply has information that the RNIC has not received before (rule 24). */
bool world_is_news(const struct world *w, uint32_t i, const struct hp3_view *v);

/* world_responder.c */
void world_arrive(struct world *w, struct pkt *k);
void world_ack_due(struct world *w, uint32_t i);
void world_reply(struct world *w, uint32_t i, uint8_t opcode, uint64_t lin, uint8_t syndrome,
	uint16_t payload, bool ours);

/* world_life.c */
void world_engine_start(struct world *w);
void world_engine_tally(struct world *w); /* adds up its counters, before it ends */
void world_engine_crash(struct world *w);
void world_engine_stop(struct world *w);

/* world_mode.c */
void world_engine_mode(struct world *w);
void world_mode_restored(struct world *w); /* the engine was replaced by a new one */
void world_check_mode(struct world *w);
void world_check_silent(struct world *w, const char *what); /* if the mode forbids it */
struct hp3_engine_config world_config(const struct world *w);

struct hp3_engine_config world_config(const struct world *w);

/* world_spoofer.c */
void world_spoof(struct world *w);
/* world_hostile.c */
void world_forge(struct world *w);

/* world_away.c: hp3d hangs or is bypassed. The next step of this; a packet that arrives
 * meanwhile */
void world_away(struct world *w);
void world_unseen(struct world *w, const struct event *event);

/* world_back.c: the reply path, and the peer's hp3d */
uint64_t world_way_back(struct world *w, uint32_t i, const struct hp3_view *v);
void world_send_report(struct world *w, const struct hp3_act *a);
void world_report_seen(struct world *w, const struct event *event);
void world_peer_start(struct world *w);
void world_peer_stop(struct world *w);
void world_peer_tick(struct world *w);

/* world_burst.c: packets that ports receive wait there until they are polled */
void world_receive(struct world *w, enum hp3_dir dir, const struct event *event);
void world_poll(struct world *w);
void world_poll_all(struct world *w); /* until no packet waits */
void world_lose_ports(struct world *w); /* hp3d has ended: waiting packets are lost */

/*
 * Steps of a burst, for its packets [from, to). make: builds the packets. before: the engine is
 * about to handle them. seen: the engine has handled them, and no verdict is carried out yet. obey:
 * carries out the verdict of packet i. world_transmit.c (TX), world_receive.c (RX).
 */
void world_tx_make(struct world *w, struct burst *b);
void world_tx_before(struct world *w, struct burst *b, uint32_t from, uint32_t to);
void world_tx_seen(struct world *w, struct burst *b, uint32_t from, uint32_t to, bool acts);
void world_tx_obey(struct world *w, struct burst *b, uint32_t i, bool last);
void world_rx_make(struct world *w, struct burst *b);
void world_rx_before(struct world *w, struct burst *b, uint32_t from, uint32_t to);
void world_rx_seen(struct world *w, struct burst *b, uint32_t from, uint32_t to);
void world_rx_obey(struct world *w, struct burst *b, uint32_t i);
void world_answer_seen(struct world *w, uint32_t id, bool ce);

/* world_frame.c: reply i of a burst as a frame; damaged: its ICRC is wrong */
void world_frame(struct world *w, struct burst *b, uint32_t i);

/* world_engine.c */
void world_command(struct world *w, uint32_t flow, enum hp3_cmd_kind kind, enum hp3_cause cause);
void world_tick(struct world *w);
void world_move(struct world *w);
void world_announce(struct world *w, uint32_t i);
void world_carry_out(struct world *w, const struct hp3_acts *acts);
/* world_hold(): holds a packet, as its verdict requires; the flow uses `port`. */
void world_make_room(struct world *w);
void world_hold(struct world *w, struct pkt *k, const struct hp3_verdict *vd, uint16_t port);

/* world_qpns.c: which queue pairs are connected, and how this is announced */
uint32_t world_start_psn(struct world *w);
void world_rewire(struct world *w);
/* The queue pair restarts; exact: with the next PSN. */
void world_begin_again(struct world *w, uint32_t i, bool exact, uint64_t quiet);
void world_announce_late(struct world *w, uint32_t i);
void world_announced(struct world *w, const struct event *event);
void world_check_wired(struct world *w, const struct qp *q, const struct hp3_event *event);
void world_check_claims(struct world *w);

/* world_reconnect.c */
void world_reconnect(struct world *w);
void world_reported(struct world *w, const struct event *reported);
bool world_is_reported(const struct qp *q); /* the engine has all reports of it */
void world_check_reported(struct world *w);

/* world_events.c */
void world_check_event(struct world *w, const struct hp3_event *event);

/* world_checks.c */
void world_check_probe(struct world *w, uint32_t i, const struct hp3_act *a);
void world_check_ack_solicit(struct world *w, uint32_t i, const struct hp3_act *a);
void world_check_nak(struct world *w, uint32_t i, const struct hp3_act *a);
void world_check_entry(struct world *w, struct pkt *k);
void world_check_holds(struct world *w);
void world_check_sum(struct world *w);

/* world_order.c */
void world_check_arrival(struct world *w, const struct pkt *k);

/* world_rate.c */
void world_rate_config(const struct world_params *p, struct hp3_cc_params *cc, uint64_t rto_ns);
uint64_t world_rate_of(const struct world *w, uint32_t flow);
void world_rate_event(struct world *w, struct qp *q, const struct hp3_event *event);
/* The engine has handled packets [from, to): records for which queue pairs it withholds CNPs. */
void world_cnps_kept(struct world *w, const struct burst *b, uint32_t from, uint32_t to);
/* The engine gives the RNIC one CNP for those that it withheld. */
void world_cnp_owed(struct world *w, uint32_t i);
/* True: CNP `i` of packets [from, ...) is about a path that its queue pair has left. */
bool world_cnp_is_stale(const struct world *w, const struct burst *b, uint32_t from, uint32_t i);
