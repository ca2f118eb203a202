/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Internal state of a world of sprayed queue pairs. A world is a simulation of two hosts and a
 * network: the engines (spray_world.c), the network (spray_network.c), the RNICs (spray_rnics.c). A
 * host "stands still" while it is descheduled: its hp3d runs no code, and packets wait. */
#include <stdio.h>
#include "heap.h"
#include "base/random.h"
#include "engine/engine.h"
#include "engine/policy.h"
#include "roce/opcode.h"
#include "spray_world.h"

#define US    1000ull
#define MS    1000000ull
#define FRAME 64u
#define HELD  8193u
#define PATHS 64u

enum { A, B }; /* hosts: the requester's, the responder's */

/* What an operator is doing to the hp3d of a host: nothing, `mode off`, a restart, a bypass. */
enum spray_leaving { SPRAY_STAYS, SPRAY_MODE, SPRAY_RESTARTS, SPRAY_BYPASSED };

enum event_kind {
	EVENT_REQUEST, /* a request arrives at B */
	EVENT_REPLY, /* a reply arrives at A */
	EVENT_MESSAGE, /* a message of the other engine arrives */
	EVENT_PROBED, /* the answer to a probe arrives */
	EVENT_OUT, /* a packet of the RNIC arrives at its host's engine */
	EVENT_TICK,
	EVENT_EMIT, /* the requester may send its next packet */
	EVENT_TIMER,
	EVENT_RESTART,
	EVENT_MOVE,
	EVENT_DIES,
	EVENT_PAUSES, /* a path pauses (PFC) */
	EVENT_STANDS, /* a host stands still (is descheduled) */
	EVENT_OPERATOR, /* an operator does something at a host */
	EVENT_INTO, /* a packet arrives at the RNIC */
	EVENT_RETURNS, /* a QPN is reused */
	EVENT_REPORTED, /* an engine gets the end or set-up of a queue pair */
	EVENT_KEYS, /* the keys of a host change */
	EVENT_PORT, /* a host reads nothing from the network for a while */
};

/* PSNs are counted from 0 here; on the wire from qp.first on. */
struct packet {
	uint32_t qp, psn, span, dma_len, wire;
	uint16_t sport, payload;
	uint32_t life; /* number of the queue pair that has this QPN: requester.life */
	uint64_t emitted; /* running number: packets of both RNICs up to this one */
	uint8_t opcode, syndrome;
	bool ackreq;
	bool copy; /* made by the network, or by the engine (HP3_ACT_SHOW) */
	bool again; /* its RNIC has sent this PSN, or a later one, before */
	bool damaged; /* its ICRC is wrong */
	bool ce;
	bool beyond; /* the engine forwarded it: it was beyond the resequencing window */
	bool is_nak_asked; /* not a packet: asks if the engine might send the RNIC a NAK for psn */
};

struct event {
	HEAP_WHEN;
	uint8_t kind; /* enum event_kind */
	uint8_t host;
	bool put_off; /* it became due while its host stood still, and was put off */
	uint8_t reported; /* enum hp3_qp_kind */
	uint32_t first; /* REPORTED: first PSN of the queue pair */
	uint8_t key; /* MESSAGE: key with which it is signed; 0: none */
	uint32_t qp; /* PROBED: id of the probe */
	struct packet packet;
	struct hp3_act_agree message;
};

struct host {
	struct hp3_engine *e;
	void *memory;
	struct hp3_engine_config cfg;
	uint64_t clock; /* its value when the world begins, ns */
	uint32_t lives; /* number of engines so far (one per start of hp3d) */
	uint8_t leaving; /* enum spray_leaving */
	bool direct; /* packets bypass the engine */
	uint8_t speaks, believes; /* key that it signs with; bitmap of keys that it accepts */
	uint64_t tick_at;
	struct packet held[HELD + 1];
	bool is_held[HELD + 1];
	struct held_since {
		uint64_t at, spared; /* value of host.spared at that time */
		uint32_t stops; /* value of host.stops at that time */
	} held_since[HELD + 1];
	uint32_t nheld;
	struct packet replaced; /* last held packet that the engine discarded (payload 0: none) */
	struct held_since replaced_since;
	struct packet shown; /* last copy (HP3_ACT_SHOW) of the current actions (payload 0: none) */
	uint64_t spared; /* sum of stalls of the host and its port: added to time limits */
	uint32_t stops; /* number of these stalls */
	uint64_t into, out; /* when the last packet to the RNIC, and from it, arrives */
	uint64_t until; /* the host stands still until then */
	uint64_t port_until; /* it reads nothing from the network until then */
	uint64_t ticked; /* time of the last tick */
	uint64_t tail; /* packets that arrived during a stall are read until then */
	uint32_t unread; /* number of packets put off by the stall */
};

enum message_kind { MESSAGE_WRITE, MESSAGE_READ, MESSAGE_ATOMIC, MESSAGE_SEND, MESSAGE_SEND_INV };

struct requester {
	uint32_t life; /* number of queue pairs that had this QPN before */
	uint32_t first; /* PSN on the wire of packet 0 */
	uint32_t una, nxt, hi,
		total; /* PSNs: first unacknowledged; next to send; first never sent; end */
	uint32_t *message; /* by PSN: where its message begins */
	uint32_t *end; /* by PSN: where it ends */
	uint8_t *kind; /* by PSN: enum message_kind */
	/* By PSN: a bit for each host whose RNIC got a retransmission, in order, before the first
	 * transmission */
	uint8_t *repeated;
	uint64_t *since; /* by PSN: when its RNIC got it, without the time in which A stood still
			  */
	uint32_t newest[2]; /* highest PSN of a first transmission that each RNIC got */
	uint32_t heard; /* all PSNs before this one are acknowledged by replies that arrived */
	uint32_t resume; /* selective repeat: where new transmissions continue */
	uint32_t retries; /* retransmissions since the last progress */
	uint32_t naks; /* of both RNICs */
	uint64_t timer; /* when the retransmission timer fires; 0: it does not run */
	uint64_t ready; /* after an RNR NAK: earliest time of the next packet */
	bool emitting;
	bool asked; /* it has requested missing responses again */
};

struct responder {
	uint32_t expected;
	uint32_t valid; /* the R_Key of READs and ATOMICs before this PSN is invalidated */
	uint8_t *out_of_order; /* selective repeat, by PSN: arrived out of order, stored */
	uint32_t said; /* responses before this PSN were sent */
	bool asked; /* a NAK was sent */
};

/* What the requester's engine has seen of a queue pair. */
struct seen {
	uint32_t flow, lives, life; /* lives: of the engine; life: of the queue pair */
	bool missed; /* hp3d has been bypassed since */
	uint32_t first; /* PSN of the first request; UINT32_MAX: none yet */
	/* since the first request: a READ or ATOMIC that the RNIC waits for was sent, or an older
	 * one was answered
	 */
	bool shown;
	uint32_t una; /* una of the engine's flow; unchanged since una_at */
	uint64_t una_at;
};

struct world;

/* Functions that decide instead of the random generator (tests/fuzz/fuzz_pair.c). */
struct spray_hooks {
	/* A packet is in the network; the hook may change it. False: the packet is lost. *again:
	 * when a copy of it arrives; 0: no copy. */
	bool (*on_packet)(struct world *w, struct event *e, uint64_t *again);
	void (*on_send_msg)(struct world *w, unsigned from, const struct hp3_act_agree *a);
	void (*on_message)(struct world *w, const struct event *e);
	/* Any other action of the engine. */
	void (*on_act)(struct world *w, unsigned at, const struct hp3_act *a);
};

struct world {
	struct spray_params p;
	const struct spray_hooks *hooks; /* NULL: the random generator decides all */
	struct spray_result r;
	uint64_t rng, now;
	struct heap heap; /* of struct event */
	uint64_t delay[PATHS], free[PATHS], dead_until[PATHS], back_free[PATHS];
	struct host host[2];
	uint8_t frame[2][FRAME]; /* of each host, with a correct ICRC (spray_rnics.c) */
	struct requester *qp;
	struct responder there[64];
	uint64_t reported[2][64]; /* when the last report of an end or set-up arrives */
	uint32_t left; /* queue pairs that are not done */
	uint64_t emitted; /* packets, by both RNICs */
	uint64_t newest[2][64]; /* by RNIC and queue pair: highest packet.emitted that arrived */
	struct seen seen[64]; /* by queue pair */
	bool failed;
};

#define CHECK(w, cond, ...)                                                                        \
	do {                                                                                       \
		if (!(cond) && !(w)->failed) {                                                     \
			(w)->failed = true;                                                        \
			printf("seed %llu, %llu us: ", (unsigned long long)(w)->p.seed,            \
				(unsigned long long)((w)->now / US));                              \
			printf(__VA_ARGS__);                                                       \
			printf("\n");                                                              \
		}                                                                                  \
	} while (0)

static inline bool draw(struct world *w, uint32_t ppm)
{
	return ppm != 0 && hp3_random_below(&w->rng, 1000000) < ppm;
}

static inline uint64_t spray_clock(const struct world *w, unsigned at)
{
	return w->host[at].clock + w->now;
}

/* spray_world.c */
/* Starts a world; all fields of *w except `hooks` must be 0. */
void spray_begin(struct world *w, const struct spray_params *p);
void spray_next(struct world *w); /* handles the next event */
void spray_end(struct world *w);
void spray_received(struct world *w, unsigned at, const struct hp3_act_agree *message);
void spray_at(struct world *w, uint64_t t, struct event e);
void spray_request(struct world *w, struct packet k); /* the requester sends it */
void spray_reply(struct world *w, struct packet k); /* the responder sends it */
/* Carries out the actions of a call that did not handle a packet. */
void spray_carry_out(struct world *w, unsigned at, const struct hp3_acts *acts);
void spray_tick(struct world *w, unsigned at); /* hp3_tick(), if it is due */
void spray_wake(struct world *w, unsigned at);
void spray_restart(struct world *w, unsigned at);
void spray_every(struct world *w, uint32_t us, enum event_kind kind, unsigned host);

/* spray_operator.c */
void spray_operate(struct world *w, unsigned at);
void spray_rekey(struct world *w, unsigned at);

/* spray_network.c */
void spray_into_network(struct world *w, struct packet k, uint16_t sport);
void spray_back(struct world *w, struct packet k, uint16_t sport); /* a reply */
void spray_pause(struct world *w);
void spray_probe(struct world *w, unsigned from, const struct hp3_act *a);
void spray_send_msg(struct world *w, unsigned from, const struct hp3_act_agree *a);
void spray_alter(struct world *w, struct packet *k); /* the network damages it */
bool spray_rnic_drops(struct world *w, const struct packet *k); /* if it is damaged */

/* spray_rnics.c */
void spray_rnics(struct world *w);
void spray_rnics_free(struct world *w);
void spray_announce(struct world *w); /* reports the queue pairs to the requester's engine */
/* A new queue pair takes over the QPN of queue pair `qp`; it sends `total` packets. */
void spray_begin_anew(struct world *w, uint32_t qp, uint32_t total);

/* Reports the end or set-up of a queue pair to the engine of a host. */
/* `first`: first PSN of the queue pair, or HP3_NO_PSN. */
void spray_report(struct world *w, unsigned at, uint32_t qp, enum hp3_qp_kind kind, uint32_t first);

/* spray_order.c */
/* Checks: the engine at A holds packet *k only for a PSN that its RNIC has not got. */
void spray_judge_wait(struct world *w, const struct packet *k);
/* Checks: *k does not arrive at the RNIC after a packet that was sent later (exceptions:
 * spray_order.c). */
void spray_judge_order(struct world *w, unsigned at, const struct packet *k);
void spray_note_repeated(struct world *w, unsigned at, const struct packet *k); /* RNIC got it */
/* The engine had no space to hold *k and forwarded it. Checks: *k does not overtake a held
 * packet. */
void spray_judge_room(struct world *w, unsigned at, const struct packet *k);

/* spray_nak.c */
/* Records that the engine at A has handled *k. */
void spray_note_seen(struct world *w, const struct packet *k, uint32_t flow, enum hp3_dir dir);
/* Asks whether the engine at A might send its RNIC a NAK now. If so, spray_judge_nak() follows. */
void spray_ask_nak(struct world *w, uint32_t qp);
/* Checks the NAK that the RNIC at A would get. */
void spray_judge_nak(struct world *w, const struct packet *nak);

/* spray_lives.c */
void spray_return(struct world *w);
/* Makes a new engine for a host, and reports the queue pairs to it. */
void spray_host(struct world *w, unsigned at);
struct hp3_pkt spray_view(
	const struct world *w, uint8_t *frame, const struct packet *k, unsigned from);
void spray_emit(struct world *w, uint32_t qp);
void spray_timer(struct world *w, uint32_t qp);
void spray_requester(struct world *w, const struct packet *reply);
void spray_responder(struct world *w, const struct packet *k);
