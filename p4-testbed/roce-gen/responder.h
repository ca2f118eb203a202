/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The responder of a reliable connection (IBTA 1.4, 9.7.4 and 9.7.5). The responder executes
 * requests in the order of their PSNs, checks their content, and answers. It does no I/O and reads
 * no clock: callers pass the time `now`, in ns. What the responder does with a request:
 *
 * - Expected PSN: the responder executes the request. If the request has AckReq, an ACK is due.
 *   Until the caller takes this ACK, later packets update it (coalescing), and a later READ
 *   response or NAK replaces it.
 * - Later PSN: the responder sends one sequence NAK with the expected PSN. It sends no second NAK
 *   until the expected PSN arrives.
 * - Earlier PSN (duplicate): the responder acknowledges a SEND or WRITE again, with the PSN before
 *   the expected one. It answers a READ again, from the PSN of the request on.
 * - No receive buffer (simulated once for every rnr_every-th SEND or WRITE with immediate): the
 *   responder sends an RNR NAK. It sends no other NAK until this PSN arrives again.
 * - A request that violates the protocol (order of opcodes, lengths, R_Key, address): the responder
 *   sends the NAK for this error, and the queue pair ends (`ended`).
 *
 * Answers leave in the order of their PSNs. If an ACK overtook READ responses, the requester would
 * conclude that the responses were lost.
 *
 * To simulate slow responders (such as disks), the data of a READ leave read_service_ns after the
 * request arrives, and later answers wait for these data. An ACK waits ack_delay_ns, so that later
 * ACKs can be coalesced with it. A NAK does not wait.
 */
#include "packet.h"

#define GEN_READS_MAX 16u /* most READ requests that wait for answers; others are dropped */

struct gen_responder_params {
	uint32_t mtu;
	uint32_t rkey; /* R_Key of the memory in content.h */
	uint32_t rnr_every; /* in messages; 0: there is always a receive buffer */
	uint8_t rnr_timer; /* IBTA code in the RNR NAK */
	bool check; /* true: check that received content is as in content.h */
	uint64_t read_service_ns, ack_delay_ns;
};

struct gen_responder_counters {
	uint64_t received; /* all request packets */
	uint64_t executed, bytes, messages; /* of requests that were in order and new */
	uint64_t out_of_seq_request; /* sequence NAKs; named as Soft-RoCE's counter */
	uint64_t out_of_order; /* packets with a PSN after the expected one */
	uint64_t duplicates, rnr_naks, reads, reads_dropped;
	uint64_t acks; /* ACKs and NAKs sent */
	uint64_t checked, wrong, unchecked; /* messages, by the check of their content */
};

struct gen_responder {
	const struct gen_responder_params *p;
	uint32_t expected, msn;
	/* the current message */
	bool within, bad;
	uint8_t kind; /* HP3_OP_RC_SEND_FIRST or HP3_OP_RC_WRITE_FIRST */
	uint32_t len, done; /* bytes of the WRITE; bytes executed so far */
	uint64_t header;
	/* answers */
	bool due; /* an ACK or NAK is to be sent */
	bool silent; /* a NAK for `expected` was sent or is due: send no sequence NAK */
	bool ended;
	uint8_t syndrome;
	uint32_t due_psn;
	uint64_t due_at;
	uint32_t rnr_count;
	struct {
		uint32_t psn, packets, at, len;
		uint64_t va, ready_at;
	} read[GEN_READS_MAX];
	uint32_t first_read, reads; /* in the ring `read`: index of the first; number */
	struct gen_responder_counters n;
};

/* Effects of a request. */
struct gen_arrival {
	bool fresh; /* a packet of a SEND or WRITE was executed: in order and new */
	bool message; /* the last packet of a message */
	bool immediate; /* consumes a receive request: SEND, or WRITE with immediate */
	uint32_t len; /* of the message */
};

void gen_responder_init(
	struct gen_responder *r, const struct gen_responder_params *p, uint32_t first_psn);

/*
 * Handles the request *v in `frame`, whose ICRC is right. Sets *out to the effects of the request.
 */
void gen_responder_request(struct gen_responder *r, const void *frame, const struct hp3_view *v,
	uint64_t now, struct gen_arrival *out);

enum gen_answer { GEN_NO_ANSWER, GEN_ANSWER_ACK, GEN_ANSWER_DATA };
/* The kind of packet that gen_responder_next() would return now. */
enum gen_answer gen_responder_ready(const struct gen_responder *r, uint64_t now);
/* When the next answer is due if no request arrives before; UINT64_MAX: no answer is due. */
uint64_t gen_responder_deadline(const struct gen_responder *r);
/* Sets *out to the next answer, which then counts as sent. False: there is none. */
bool gen_responder_next(struct gen_responder *r, uint64_t now, struct gen_packet *out);
