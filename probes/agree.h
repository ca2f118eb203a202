/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Messages of two hp3ds about an agreement to spray one queue pair (rfr/spraying.h). While the
 * agreement lasts, the receiver's hp3d resequences the packets of the queue pair before they reach
 * its RNIC. In each keep-alive interval, the sender's hp3d sends a keep-alive (SPRAYING), and the
 * receiver's hp3d answers with a YES.
 *
 * Each message is a plain UDP datagram. Its source and destination port are hp3's own port
 * ([probes] port). The peer's hp3d consumes the message. Layout: byte offset, field, size in bits;
 * all numbers are big-endian.
 *
 *      0  magic 8                              20  QPN of the responder 24, reads 8
 *      1  version 4 | kind 4                   24  QPN of the requester 24, room 8
 *      2  PMTU, log2, 8                        28  number of the agreement 32
 *      3  EVs 8                                32  turn 32
 *      4  wall clock of the sender, us 64      36  EVs reported, a bit for each, 64
 *     12  source port of EV 0, 16              44  next: value 1 8, PSN 24; or all 0
 *     14  port in use 16                       48  tag 64 (tag.h) over all other fields,
 *     16  keep-alive interval, us 32               addresses and ports
 *
 * An EV is an entropy value: one of the UDP source ports of a sprayed queue pair.
 *
 * A later agreement has a greater number, and no number is 0. The turn is the sequence number of a
 * message within an agreement. An answer carries the turn of the message that it answers, so an
 * answer to an older message has no effect. A repeated YES may add HP3_AGREE_OBJECTS. A replayed
 * message has no effect (heard.h). hp3d drops all messages of hosts without a key.
 *
 * reads 1: the agreement is about the READ responses of the queue pair. "Responder" is then the
 * host that receives and resequences them. Only this host knows which responses will arrive, so its
 * hp3d sends the first message (OFFER).
 *
 * "room" of a YES: the number of packets, each as long as the path MTU, that the receiver can hold
 * behind a late packet. The message has this number divided by 16; 0: no value given. The sender
 * has at most this number of packets in flight.
 *
 * "EVs reported" of a YES: HP3_AGREE_OBJECTS, or 0.
 *
 * "next" by kind:
 *
 *     ASK      no packet of the queue pair is in flight, and this PSN is the next one to leave. If
 *              a packet leaves before the answer, the sender asks again with another number.
 *              0: no value given.
 *     YES      the PSN that the receiver expects; 0: no value given
 *     MISSING  the missing PSN (rfr/missing.h)
 *     LEFT     the PSN of the MISSING
 *
 * "port in use" of a LEFT: the port from which that PSN left; 0: unknown.
 *
 * HOLD, HELD and CONTINUE are about no agreement, but about the move of a queue pair in verbs mode
 * whose peer may READ (moves/peer_hold.h). "Responder" is the queue pair that moves, and
 * "requester" the peer's queue pair. The number identifies the move. HELD has the number and the
 * turn of the last HOLD that arrived. "keep-alive interval" of a HELD: the posts are held for at
 * least this time from now on; 0: refused, or not any more.
 */
#include "probes/heard.h"

/*
 * X(symbol, text). The host that sends the sprayed packets sends the kinds from ASK to LEFT. The
 * host that receives them sends the kinds from YES to MISSING.
 */
#define HP3_AGREE_KINDS(X)                                                                         \
	X(ASK, "ask") /* requests an agreement */                                                  \
	X(SPRAYING, "spraying") /* keep-alive: packets are sprayed; asks for a YES */              \
	X(OVER, "over") /* ends the agreement */                                                   \
	X(LEFT, "left") /* answers MISSING with the port of that PSN */                            \
	X(YES, "yes") /* the receiver resequences */                                               \
	X(NO, "no") /* refuses, or has no such agreement */                                        \
	X(SLOW, "slow") /* packets of these EVs arrive late; unsolicited */                        \
	X(MARKED, "marked") /* these EVs are marked (ECN) more often; unsolicited */               \
	X(OFFER, "offer") /* asks for an ASK for READ responses; OVER with number 0: refused */    \
	X(MISSING, "missing") /* asks from which port this missing PSN left */                     \
	X(HOLD, "hold") /* verbs mode: asks the peer to hold the posts of a queue pair */          \
	X(HELD, "held") /* answers HOLD */                                                         \
	X(CONTINUE, "continue") /* ends HOLD */

enum hp3_agree_kind {
#define X(sym, text) HP3_AGREE_##sym,
	HP3_AGREE_KINDS(X)
#undef X
		HP3_AGREE_KIND_MAX
};

/*
 * YES: a packet to the receiver was late, most of its packets are marked, or the queue pair begins
 * in an incast (rfr/incast.h). So the sender sprays only over paths that it has compared
 * (rfr/presume.h).
 */
#define HP3_AGREE_OBJECTS 1u

struct hp3_agree {
	uint8_t kind; /* enum hp3_agree_kind */
	bool reads; /* true: the agreement is about READ responses */
	uint8_t pmtu_log2, evs; /* pmtu_log2 0: not known yet; evs: number of EVs */
	uint16_t port; /* EV n is UDP source port `port` | n */
	uint16_t in_use; /* port of packets that are not sprayed, and of retransmissions */
	uint32_t responder, requester; /* QPNs */
	uint32_t number, turn;
	uint32_t keepalive_us; /* keep-alive interval of the sender */
	uint32_t next; /* PSN; HP3_NO_PSN: no value given */
	uint16_t room; /* YES: packets, a multiple of 16; 0: no value given */
	uint64_t stamp_us; /* the sender's stamp (hp3_heard_stamp()); not used by the engine */
	uint64_t slow; /* SLOW, MARKED: a bit for each EV; YES: HP3_AGREE_OBJECTS, or 0 */
};

static inline bool hp3_agree_is_senders(const struct hp3_agree *a)
{
	return a->kind <= HP3_AGREE_LEFT;
}

/*
 * Builds a message from this host to the peer of *a. a->sport must be hp3's own port, which becomes
 * the source and the destination port. Returns the length of the frame in buf, or -ENOSPC.
 */
int hp3_agree_build(void *buf, size_t cap, const struct hp3_addressing *a,
	const struct hp3_agree *what, const struct hp3_probe_key *key);

/*
 * Reads a message. Call this for frames that hp3_parse() calls NOT_ROCE. The result is NONE if the
 * frame is no such message, and DROP for a message that was received before (heard.h).
 */
enum hp3_message_fate hp3_agree_read(
	const struct hp3_parsed *f, const struct hp3_receiver *rx, struct hp3_agree *what);
