/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TESTS_SPRAY_INSIDE_H
#define HP3_TESTS_SPRAY_INSIDE_H
/* What a world of sprayed queue pairs consists of, for its own files: the engines (spray_world.c),
 * the network (spray_network.c), the RNICs (spray_rnics.c). */
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

enum { A, B }; /* hosts: who asks, who answers */

/* What an operator has begun at a host. */
enum spray_leaving { SPRAY_STAYS, SPRAY_MODE, SPRAY_RESTARTS, SPRAY_BYPASSED };

enum event_kind {
	EVENT_REQUEST, /* reaches B */
	EVENT_REPLY, /* reaches A */
	EVENT_MESSAGE, /* between engines */
	EVENT_PROBED, /* the answer to a probe reaches who asked */
	EVENT_OUT, /* what the RNIC sends reaches the engine before it */
	EVENT_TICK,
	EVENT_EMIT, /* the requester may go on */
	EVENT_TIMER,
	EVENT_RESTART,
	EVENT_MOVE,
	EVENT_DIES,
	EVENT_PAUSES, /* a path does */
	EVENT_STANDS, /* a host does */
	EVENT_OPERATOR, /* does something at a host */
	EVENT_INTO, /* reaches the RNIC */
	EVENT_RETURNS, /* a QPN does */
	EVENT_REPORTED, /* a host's engine, of a queue pair */
	EVENT_KEYS, /* of a host change */
	EVENT_PORT, /* of a host to its RNIC takes nothing for a while */
};

/* PSNs are counted from 0 here; on the wire from qp.first on. */
struct packet {
	uint32_t qp, psn, span, dma_len, wire;
	uint16_t sport, payload;
	uint32_t life; /* of its queue pair */
	uint64_t emitted; /* how many its RNICs had emitted before it, and it */
	uint8_t opcode, syndrome;
	bool ackreq;
	bool copy; /* that the network made, or the engine showed */
	bool again; /* its RNIC had sent this PSN, or a later one, before */
	bool damaged; /* its ICRC is wrong */
	bool ce;
	bool beyond; /* the engine passed it on, ahead of its window */
	bool is_nak_asked; /* no packet: might the engine hand over a NAK for psn? */
};

struct event {
	HEAP_WHEN;
	uint8_t kind; /* enum event_kind */
	uint8_t host;
	bool put_off; /* it came while its host stood still */
	uint8_t reported; /* enum hp3_qp_kind */
	uint32_t first; /* ... its first PSN */
	uint8_t key; /* that the word was signed with; 0: none */
	uint32_t qp; /* PROBED: id of the probe */
	struct packet packet;
	struct hp3_act_agree message;
};

struct host {
	struct hp3_engine *e;
	void *memory;
	struct hp3_engine_config cfg;
	uint64_t clock; /* what it shows when the world begins */
	uint32_t lives; /* engines that it has had */
	uint8_t leaving; /* enum spray_leaving */
	bool direct; /* packets go past the engine */
	uint8_t speaks, believes; /* the key that it signs with; a bit for each that it believes */
	uint64_t tick_at;
	struct packet held[HELD + 1];
	bool is_held[HELD + 1];
	struct held_since {
		uint64_t at, spared; /* host.spared at that time */
		uint32_t stops; /* host.stops likewise */
	} held_since[HELD + 1];
	uint32_t nheld;
	struct packet replaced; /* the newest one that was given up (payload 0: none) */
	struct held_since replaced_since;
	struct packet shown; /* of the actions in hand, the newest (payload 0: none) */
	uint64_t spared; /* in all: it stood still, or its port did */
	uint32_t stops; /* how often */
	uint64_t into, out; /* the newest packet to the RNIC, and from it, arrives */
	uint64_t until; /* it stands still */
	uint64_t port_until; /* it reads nothing from the network */
	uint64_t ticked; /* when last */
	uint64_t tail; /* what came meanwhile is read until then */
	uint32_t unread; /* so many packets of it are put off */
};

enum message_kind { MESSAGE_WRITE, MESSAGE_READ, MESSAGE_ATOMIC, MESSAGE_SEND, MESSAGE_SEND_INV };

struct requester {
	uint32_t life; /* how many had its number before */
	uint32_t first; /* PSN on the wire of packet 0 */
	uint32_t una, nxt, hi,
		total; /* packets acknowledged; to be emitted next; emitted so far; in all */
	uint32_t *message; /* by PSN: where its message begins */
	uint32_t *end; /* by PSN: where it ends */
	uint8_t *kind; /* by PSN: enum message_kind */
	/* By PSN: a bit for each host whose RNIC got a repetition, in order, before the first
	 * transmission */
	uint8_t *repeated;
	uint64_t *since; /* by PSN: its RNIC has it; time in which host A stood still does not count
			  */
	uint32_t newest[2]; /* PSN of the newest first transmission that each RNIC got */
	uint32_t heard; /* all before this PSN was acknowledged to it, by a reply that came */
	uint32_t resume; /* selective: it goes on there */
	uint32_t retries; /* without progress */
	uint32_t naks; /* either RNIC's */
	uint64_t timer; /* 0: it does not run */
	uint64_t ready; /* RNR: not before */
	bool emitting;
	bool asked; /* for missing responses */
};

struct responder {
	uint32_t expected;
	uint32_t valid; /* READs and ATOMICs before this PSN have no key any more */
	uint8_t *out_of_order; /* selective: by PSN: it is kept */
	uint32_t said; /* responses before this PSN were sent */
	bool asked; /* a NAK is out */
};

/* What the requester's engine has seen of a queue pair. */
struct seen {
	uint32_t flow, lives, life; /* lives: of the engine; life: of the queue pair */
	bool missed; /* hp3d was bypassed since */
	uint32_t first; /* PSN of the first request; UINT32_MAX: none yet */
	/* since then: a READ or ATOMIC that the RNIC waits for left, or an older one was answered
	 */
	bool shown;
	uint32_t una; /* the flow's, since una_at */
	uint64_t una_at;
};

struct world;

/* Who decides in place of the seed (tests/fuzz/fuzz_pair.c). */
struct spray_hooks {
	/* A packet is on its way; it may be altered. False: it is lost. *again: when another copy
	 * comes, 0: none does. */
	bool (*on_packet)(struct world *w, struct event *e, uint64_t *again);
	void (*on_send_msg)(struct world *w, unsigned from, const struct hp3_act_agree *a);
	void (*on_message)(struct world *w, const struct event *e);
	/* What the engine wants besides. */
	void (*on_act)(struct world *w, unsigned at, const struct hp3_act *a);
};

struct world {
	struct spray_params p;
	const struct spray_hooks *hooks; /* NULL: all is drawn */
	struct spray_result r;
	uint64_t rng, now;
	struct heap heap; /* of struct event */
	uint64_t delay[PATHS], free[PATHS], dead_until[PATHS], back_free[PATHS];
	struct host host[2];
	uint8_t frame[2][FRAME]; /* of each host, with a right ICRC (spray_rnics.c) */
	struct requester *qp;
	struct responder there[64];
	uint64_t reported[2][64]; /* hosts are told of the newest end or set-up */
	uint32_t left; /* queue pairs that are not done */
	uint64_t emitted; /* packets, by both RNICs */
	uint64_t newest[2][64]; /* `emitted` of the newest that RNIC got, by queue pair */
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
/* `w` is zero but for its hooks. */
void spray_begin(struct world *w, const struct spray_params *p);
void spray_next(struct world *w); /* event */
void spray_end(struct world *w);
void spray_received(struct world *w, unsigned at, const struct hp3_act_agree *message);
void spray_at(struct world *w, uint64_t t, struct event e);
void spray_request(struct world *w, struct packet k); /* the requester emits it */
void spray_reply(struct world *w, struct packet k); /* the responder does */
/* Of a call without a packet in hand. */
void spray_carry_out(struct world *w, unsigned at, const struct hp3_acts *acts);
void spray_tick(struct world *w, unsigned at); /* when it is due */
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
void spray_alter(struct world *w, struct packet *k); /* it is damaged on its way */
bool spray_rnic_drops(struct world *w, const struct packet *k); /* it is damaged */

/* spray_rnics.c */
void spray_rnics(struct world *w);
void spray_rnics_free(struct world *w);
void spray_announce(struct world *w); /* the sender's engine is told of the queue pairs */
/* The next queue pair with this number: `total` packets. */
void spray_begin_anew(struct world *w, uint32_t qp, uint32_t total);

/* An engine is told of a queue pair. */
/* `first`: its first PSN, or HP3_NO_PSN. */
void spray_report(struct world *w, unsigned at, uint32_t qp, enum hp3_qp_kind kind, uint32_t first);

/* spray_order.c */
/* The engine at A holds a packet for what its RNIC lacks. */
void spray_judge_wait(struct world *w, const struct packet *k);
/* No packet passes one that its RNIC emitted before. */
void spray_judge_order(struct world *w, unsigned at, const struct packet *k);
void spray_note_repeated(struct world *w, unsigned at, const struct packet *k); /* it has it */
/* The engine had no room to hold the packet, and passed it on: it passes none that is held. */
void spray_judge_room(struct world *w, unsigned at, const struct packet *k);

/* spray_nak.c */
/* A packet passed the engine at A. */
void spray_note_seen(struct world *w, const struct packet *k, uint32_t flow, enum hp3_dir dir);
/* Would that engine hand over a NAK now? Then spray_judge_nak() follows. */
void spray_ask_nak(struct world *w, uint32_t qp);
/* It reaches the RNIC. */
void spray_judge_nak(struct world *w, const struct packet *nak);

/* spray_lives.c */
void spray_return(struct world *w);
/* The engine of a host, new, and what it is told of queue pairs. */
void spray_host(struct world *w, unsigned at);
struct hp3_pkt spray_view(
	const struct world *w, uint8_t *frame, const struct packet *k, unsigned from);
void spray_emit(struct world *w, uint32_t qp);
void spray_timer(struct world *w, uint32_t qp);
void spray_requester(struct world *w, const struct packet *reply);
void spray_responder(struct world *w, const struct packet *k);

#endif
