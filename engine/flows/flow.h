/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A flow record: the requester stream of one queue pair. Once paired, a flow has two keys:
 * (addresses, remote QPN) for packets from the RNIC, (addresses, local QPN) for packets from the
 * network. Only the thread that drives the engine writes the record. In steady state, a request
 * without AckReq touches only the first cache line of the record. The second cache line has the
 * state of pairing, bookkeeping and the path monitor, which replies update.
 */
#include "engine/unpaired.h"
#include "ppp/discovery.h"
#include "ppp/monitor.h"
#include "rfr/rfr.h"

#define HP3_NO_FLOW UINT32_MAX
#define HP3_NO_SLOT UINT16_MAX

/* hp3_flow.flags */
#define HP3_FF_USED   0x01u
#define HP3_FF_PAIRED 0x02u /* lqpn is known: replies to it belong to this flow */
#define HP3_FF_MOVED  0x04u /* `port` differs from the RNIC's port */
/*
 * the newest packet is a first transmission that requests a reply, and the RNIC has not
 * retransmitted since
 */
#define HP3_FF_LAST_CLOSE 0x08u
#define HP3_FF_IDLE_PROOF 0x10u /* a reply with a right ICRC proved that nothing is in flight */
/* an RNR NAK arrived, and mark_psn is not acknowledged yet (rule 10) */
#define HP3_FF_RNR     0x20u
#define HP3_FF_IPV6    0x40u
#define HP3_FF_STARTED 0x80u /* a request packet was seen: stream is valid */
/* the newest packet was a retransmission, so duplicates may be in flight (rule 7) */
#define HP3_FF_WENT_BACK 0x100u
#define HP3_FF_CLOSE_ACK 0x200u /* set AckReq on every transmission of mark_psn (rule 8) */
/* free: 0x400u, 0x800u */
/* a READ or ATOMIC is outstanding: the peer sends its responses before any later ACK */
#define HP3_FF_READS 0x1000u
#define HP3_FF_FRESH 0x2000u /* the flow has moved and has sent nothing on the new port yet */
/* the path was reported as severely congested, and has not been calm since (hp3_monitor_calm()) */
#define HP3_FF_SEVERE 0x4000u
/* the flow's rate is below line rate: packets go through the pacer */
#define HP3_FF_PACED 0x8000u
/* flags about the newest packet */
#define HP3_FF_OF_NEWEST (HP3_FF_LAST_CLOSE | HP3_FF_IDLE_PROOF | HP3_FF_WENT_BACK)

/* hp3_flow.watch */
#define HP3_FW_ARMED 0x01u /* active: has an entry in the ring of active.c */
/*
 * A reply has advanced una. So the peer is ready to receive, and msn and pkey are known. Packets
 * before una have arrived, so a probe may carry a PSN before una (rule 1).
 */
#define HP3_FW_HEARD 0x02u
/*
 * the local RNIC needs no NAK for the oldest PSN in flight: hp3d sent one (rule 4), or the RNIC has
 * gone back by itself
 */
#define HP3_FW_NAKED 0x04u
/*
 * the flow is stalled, and further probes would not help: the port in use answers, no port answers,
 * or hp3d may not probe. No further search begins until una advances or the flow sends.
 */
#define HP3_FW_QUIET 0x08u
/*
 * The local RNIC may wait for something before una: it misses a part of a READ, or was reset. So
 * hp3d sends this RNIC no NAK (rule 4).
 */
#define HP3_FW_DOUBT 0x10u
/* the flow's entry in the ring of active.c is about the previous queue pair */
#define HP3_FW_ANEW 0x20u
/*
 * the peer's RNIC may answer a duplicate from hp3d; the slot has a guard, which selects ACKs to
 * drop (moves/guard.c)
 */
#define HP3_FW_GUARD 0x40u
#define HP3_FW_SURE  0x80u /* a reply with a right ICRC set or confirmed una (rule 26) */
#define HP3_FW_ASK   0x100u /* the next packet that leaves gets AckReq */
/*
 * READ data advanced una, or held packets went to the RNIC, and no ACK with a checked ICRC has
 * advanced una since (rule 4).
 */
#define HP3_FW_UNREAD      0x200u
#define HP3_FW_BLAMED      0x400u /* the flow is stalled; probes show that its path is the cause */
#define HP3_FW_COMPLETIONS 0x800u /* verbs mode: completions replace packets */
/* with HP3_FW_COMPLETIONS: the flow's first path was never compared with another path */
#define HP3_FW_BEGINS 0x2000u
#define HP3_FW_AGREED 0xd000u /* all agreement flags below */
#define HP3_FW_SPRAY  0x1000u /* the flow has an agreement to spray its requests (spray.h) */
/* the flow has an agreement to resequence the READ responses that its RNIC receives */
#define HP3_FW_READS 0x4000u
/* the flow has an agreement to spray the READ responses that its RNIC sends */
#define HP3_FW_READ 0x8000u

#define HP3_NO_PATH         0xffu
#define HP3_RETRANSMITS_MAX 1023u

/* Source of a pairing. */
enum hp3_pairing { HP3_PAIRING_NONE, HP3_PAIRING_CHALLENGE, HP3_PAIRING_CM, HP3_PAIRING_EVENT };
const char *hp3_pairing_name(enum hp3_pairing p);

/* State of a forced challenge (pairing.c). */
enum hp3_challenge_state {
	HP3_CH_IDLE,
	HP3_CH_CHOOSING, /* the packet is not chosen yet */
	HP3_CH_ARMED, /* the packet ch_psn left with AckReq */
	/* a reply with ch_psn arrived; a reply to another queue pair would make the challenge
	 * ambiguous */
	HP3_CH_ANSWERED,
};

#define HP3_CH_SHIFT 10u /* units of 2^10 ns */
#define HP3_CH_VOIDS 0x7fffu

/* State while the local QPN is unknown (pairing.c). */
struct hp3_unpaired {
	uint64_t ch_until; /* ns: time limit of ch_state */
	uint32_t ch_psn : 24; /* PSN of the forced challenge */
	uint32_t ch_state : 5; /* enum hp3_challenge_state */
	/* since the last answered challenge: a reply that would answer a challenge had a wrong
	 * ICRC */
	uint32_t bad_icrc : 1;
	uint32_t odd_opcode : 1; /* since then: a request with a reserved opcode left */
	/* replies to two queue pairs arrived, or another flow also requested an ACK for this PSN */
	uint32_t ch_ambiguous : 1;
	uint32_t ch_lqpn : 24; /* ANSWERED: local QPN of the reply */
	uint32_t cand_hits : 8;
	uint32_t ch_count : 17; /* CHOOSING: number of packets until one is chosen */
	uint32_t ch_voids : 15; /* value of hp3_pair.voids when the challenge left */
	uint32_t ch_sent; /* time when the forced challenge left, in units of 2^HP3_CH_SHIFT ns */
	uint32_t cand_lqpn; /* candidate: local QPN of earlier challenges */
	uint32_t nat_psn : 24; /* PSN of the natural challenge */
	uint32_t natural : 1; /* a natural challenge is outstanding */
	uint32_t nat_read : 1; /* the natural challenge is a READ */
	/* time when the natural challenge left, in units of 2^HP3_TICK_SHIFT ns */
	uint32_t nat_sent;
	uint16_t ch_wait; /* packets sent while waiting for a natural challenge */
	/* forced challenges without a reply since the last hit, although new packets left */
	uint8_t misses;
	/* enum hp3_unpaired_reason: result of the newest challenge, or why there is none; 0: no
	 * attempt yet */
	uint8_t reason;
};

/*
 * Source of an announced flow. NOBODY: the flow exists because of packets of the local RNIC, so it
 * is not announced.
 */
enum hp3_announcer { HP3_FROM_NOBODY, HP3_FROM_NETWORK, HP3_FROM_LIBRARY, HP3_ANNOUNCERS };

/* State while the flow has sent nothing and is not paired (announced.h). */
struct hp3_unsent {
	uint32_t older, newer; /* list of announced flows */
	uint32_t owner; /* LIBRARY: the process that sent the event */
	uint32_t lqpn : 24; /* LIBRARY: local QPN in that event */
	uint32_t who : 2; /* enum hp3_announcer; NOBODY: the other fields are invalid */
};

struct hp3_flow {
	/* first cache line */
	/* IPv4: local << 32 | remote; IPv6: keyed hash of both addresses, which the pair stores */
	uint64_t addr;
	uint32_t rqpn : 24; /* remote QPN; in packets that leave */
	uint32_t pmtu_log2 : 8; /* 0: not known */
	uint32_t lqpn : 24; /* local QPN; in packets that arrive; valid if paired */
	uint32_t state : 4; /* enum hp3_rfr_state */
	uint32_t pairing : 3; /* enum hp3_pairing */
	uint32_t pending : 1; /* a set-up or end event of the flow waits for proof (pending.h) */
	struct hp3_stream stream;
	uint32_t vlan; /* both VLAN tags (roce/tags.h) */
	uint16_t port; /* port in use; valid if HP3_FF_MOVED */
	uint16_t home; /* the RNIC's port */
	uint16_t slot; /* slot of the flow's search or move, or HP3_NO_SLOT */
	uint16_t watch; /* HP3_FW_* */
	/* time of the last packet in either direction, in units of 2^HP3_TICK_SHIFT ns */
	uint32_t last;
	uint16_t flags; /* HP3_FF_* */
	uint16_t pkey; /* of the last reply */
	uint64_t bytes : 48; /* IP bytes of request packets */
	uint64_t retransmits : 10; /* up to HP3_RETRANSMITS_MAX */
	uint64_t pause : 6; /* longest natural pause between two replies; code of search/pause.h */
	/* second cache line */
	uint32_t pair; /* index in the pair table; free list link while unused */
	uint32_t next, prev; /* flows of the same pair */
	/* with CLOSE_ACK: PSN of the closing packet; with RNR: PSN that the peer refused; with
	 * both: the later PSN */
	uint32_t mark_psn : 24;
	uint32_t moves : 8; /* completed moves; up to 255 */
	uint32_t msn : 24; /* of the last reply */
	/* entry of the pair's path table that counts the flow as active, or HP3_NO_PATH */
	uint32_t path : 8;
	struct hp3_backoff backoff; /* wait before the next search */
	union {
		struct hp3_unsent unsent; /* neither started nor paired */
		struct hp3_unpaired unpaired; /* started, not paired */
		struct hp3_monitor monitor; /* paired */
	};
} __attribute__((aligned(64)));

_Static_assert(sizeof(struct hp3_unpaired) <= sizeof(struct hp3_monitor), "no flow grows by it");

#define HP3_TICK_SHIFT 20u /* 2^20 ns = 1.05 ms */

_Static_assert(sizeof(struct hp3_flow) == 128, "two cache lines");
_Static_assert(__builtin_offsetof(struct hp3_flow, pair) == 64, "hot part is one cache line");
