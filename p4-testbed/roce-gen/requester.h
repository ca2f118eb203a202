/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The requester of a reliable connection (IBTA 1.4, 9.7.5 and 9.9.2). The requester splits messages
 * into packets, stores unacknowledged messages, and retransmits from the first missing packet on
 * (go-back-N). It does no I/O and reads no clock: callers pass the time `now`, in ns.
 *
 *     una <= nxt <= hi: oldest unacknowledged PSN; next PSN to send; first PSN never sent
 *
 * AckReq is set on the last packet of a message, and on the packet that fills the window, because
 * the window would otherwise stay full. AckReq is also set on every n-th packet; n is the lesser of
 * ack_every and window / 2. A READ request has as many PSNs as its response has packets (9.7.2). A
 * READ response acknowledges all PSNs before its own. A repeated READ request asks only for the
 * data that have not arrived.
 *
 * The requester retransmits from una on:
 *
 * - after a sequence NAK;
 * - after an RNR NAK, when the time in the RNR NAK has passed;
 * - after a reply that skips READ responses (an implied NAK), at most once for each value of una;
 * - when the retransmission timer expires.
 *
 * The retransmission timer runs while a packet that must be answered (AckReq, READ) is
 * unacknowledged. The timer starts when such a packet is sent, and restarts on progress. It expires
 * after exactly 4.096 us * 2^timeout (IBTA allows up to four times this time); timeout = 0 disables
 * the timer. Retries are counted since the last progress. After too many retries, or a NAK for an
 * error, the queue pair ends: it sends nothing more.
 *
 * A reply is valid only if una <= PSN < hi. All other replies are stale, and ignored.
 */
#include <stddef.h>
#include "packet.h"

enum gen_op { GEN_WRITE, GEN_WRITE_IMM, GEN_SEND, GEN_READ, GEN_OPS };

#define GEN_RTT_SAMPLES 16u
#define GEN_RETRY_EVER  7u /* value of rnr_retry: no limit (IBTA 9.7.5.2.8) */
#define GEN_QUEUE_MAX   65536u /* most messages that are posted and not complete */
#define GEN_LEN_MAX     (1u << 30) /* bytes of a message */

struct gen_message {
	uint64_t posted, completed; /* ns */
	uint64_t va; /* of WRITE and READ: address in the peer's memory */
	uint32_t len, number, psn, packets;
	uint8_t op; /* enum gen_op */
};

struct gen_requester_params {
	uint32_t mtu; /* path MTU: payload bytes of a packet */
	uint32_t window; /* most unacknowledged SEND and WRITE packets */
	uint32_t ack_every; /* packets between two AckReqs, at most */
	uint32_t max_reads; /* most unanswered READ requests */
	uint8_t timeout; /* IBTA code, 0..31 */
	uint8_t retry_count, rnr_retry;
};

/* Why a queue pair ended. */
enum gen_failure {
	GEN_FINE,
	GEN_RETRY_EXCEEDED,
	GEN_RNR_EXCEEDED,
	GEN_REMOTE_ERROR, /* a NAK other than sequence and RNR */
	GEN_BAD_RESPONSE /* READ response of a wrong length */
};

struct gen_requester_counters {
	uint64_t sent, again; /* packets sent; how many of them were retransmissions */
	uint64_t naks, rnr_naks, implied_naks, timeouts, stale;
	uint64_t acked_bytes; /* payload of SENDs and WRITEs; READ data that arrived in order */
};

struct gen_requester {
	const struct gen_requester_params *p;
	struct gen_message *queue; /* ring of `room`, a power of two; indexes are modulo `room` */
	/*
	 * Indexes in the ring. The messages before `taken` were given to the caller, those before
	 * `head` are complete, and those before `tail` are posted. The message at `at` has PSN nxt.
	 */
	uint32_t room, taken, head, at, tail;
	uint32_t una, nxt, hi, post; /* PSNs; post: of the next message */
	uint32_t read_psns, reads; /* PSNs of unanswered READs; number of unanswered READs */
	uint32_t since; /* packets sent since the last AckReq */
	uint32_t must_end; /* PSN after the last packet that must be answered */
	bool armed, implied;
	uint32_t implied_una, number;
	uint64_t deadline, rnr_until;
	uint8_t retries, rnr_retries;
	enum gen_failure failure;
	struct {
		uint32_t psn;
		uint64_t sent;
	} sample[GEN_RTT_SAMPLES];
	uint32_t samples, sampled; /* number of samples taken; number of samples used */
	struct gen_requester_counters n;
};

/* Effects of a reply. */
struct gen_reply {
	bool progress;
	bool data; /* the READ response is the expected one: its content is that at `va` */
	uint64_t va;
	uint64_t rtt; /* ns; 0: no sample */
};

void gen_requester_init(
	struct gen_requester *r, const struct gen_requester_params *p, uint32_t first_psn);
void gen_requester_free(struct gen_requester *r);

/*
 * Posts a message. Returns 0; -EINVAL: the message is longer than GEN_LEN_MAX; -ENOBUFS:
 * GEN_QUEUE_MAX messages are posted; -EPIPE: the queue pair has ended; -ENOMEM.
 */
int gen_requester_post(
	struct gen_requester *r, enum gen_op op, uint32_t len, uint64_t va, uint64_t now);

/* Sets *out to the next packet, which then counts as sent. False: no packet may be sent now. */
bool gen_requester_next(struct gen_requester *r, uint64_t now, struct gen_packet *out);
/* True: gen_requester_next() would return a packet. */
bool gen_requester_ready(const struct gen_requester *r, uint64_t now);

/* Handles the reply *v, whose ICRC is right. Sets *out to the effects of the reply. */
void gen_requester_reply(
	struct gen_requester *r, const struct hp3_view *v, uint64_t now, struct gen_reply *out);

/*
 * When to call gen_requester_timer(); UINT64_MAX: never. gen_requester_timer() handles expired
 * timers.
 */
uint64_t gen_requester_deadline(const struct gen_requester *r);
void gen_requester_timer(struct gen_requester *r, uint64_t now);

/* Sets *out to the next complete message, in order of posting. False: there is none. */
bool gen_requester_completed(struct gen_requester *r, struct gen_message *out);

/* Number of messages posted and not complete. */
static inline uint32_t gen_requester_open(const struct gen_requester *r)
{
	return r->tail - r->head;
}

/* 4.096 us * 2^code (IBTA 9.7.6.1.3); 0: no time-out. */
static inline uint64_t gen_timeout_ns(uint8_t code)
{
	return code == 0 ? 0 : UINT64_C(4096) << code;
}

/* The time, in ns, for a code in the timer field of an RNR NAK (IBTA table 46). */
uint64_t gen_rnr_ns(uint8_t code);
const char *gen_failure_name(enum gen_failure f);

/* Functions that requester.c (sending) and requester_reply.c (receiving replies) share. */
static inline struct gen_message *gen_requester_message(const struct gen_requester *r, uint32_t i)
{
	return &r->queue[i & (r->room - 1)];
}

static inline uint32_t gen_message_end(const struct gen_message *m)
{
	return hp3_psn_add(m->psn, m->packets);
}
