/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Is a missing packet of a sprayed queue pair lost, or late?
 *
 * All packets of one source port take one path, and a path is a FIFO. First transmissions leave in
 * the order of their PSNs. So if a packet with a higher PSN has arrived from the port of a missing
 * packet, the missing packet is lost. This rule needs no clock: it also holds if PFC stopped a
 * path, or if the receiver was descheduled.
 *
 * The receiver cannot see the port of a packet that has not arrived. The sender stores the ports of
 * the last HP3_RESEQ_WINDOW PSNs (struct hp3_port_log). When the sender sends a PSN again, it
 * deletes the port of that PSN. The receiver asks for the port of the first missing PSN if the gap
 * stays open for some time, or if many packets are held. While the gap is open, the receiver
 * records from which ports packets behind the gap arrive (struct hp3_missing). If the missing
 * packet's port is among these ports, the packet is lost. hp3d then delivers a packet from behind
 * the gap to the RNIC at once, and the RNIC sends a NAK (resequencer.h). If the sender does not
 * answer, or has no port for the PSN, the receiver waits as for a late packet.
 *
 * The receiver asks at most HP3_MISSING_ASKS times about one gap, and waits before each question,
 * each time twice as long. The first wait is a 64th of the longest wait for a packet. If the packet
 * in question was only late, the first wait doubles for the next gap, up to a 16th of the longest
 * wait. If it was lost, the first wait is again a 64th of the longest wait.
 *
 * Sans-IO; times ns, PSNs 24 bits. Each call takes a constant number of steps.
 */
#include <stdbool.h>
#include <stdint.h>
#include "rfr/resequencer.h"

#define HP3_MISSING_ASKS 3u /* questions about one gap */

/* The sender's log. It is all 0 at first. */
struct hp3_port_log {
	uint64_t left[HP3_RESEQ_WINDOW]; /* by PSN: 48 bits PSN, 16 bits port; port 0: not known */
};

/* The first transmission of this PSN leaves from `port`. */
static inline void hp3_port_log_put(struct hp3_port_log *l, uint32_t psn, uint16_t port)
{
	l->left[psn & (HP3_RESEQ_WINDOW - 1)] = (uint64_t)psn << 16 | port;
}

/* The PSN is sent again, and may arrive from another port than its first transmission. */
static inline void hp3_port_log_forget(struct hp3_port_log *l, uint32_t psn)
{
	l->left[psn & (HP3_RESEQ_WINDOW - 1)] = 0;
}

/*
 * The port that the PSN left from; 0: not known, because the PSN left too long ago, or was sent
 * again.
 */
static inline uint16_t hp3_port_log_find(const struct hp3_port_log *l, uint32_t psn)
{
	uint64_t left = l->left[psn & (HP3_RESEQ_WINDOW - 1)];

	return left >> 16 == psn ? (uint16_t)left : 0;
}

/* The receiver's state: the first gap of a queue pair. */
struct hp3_missing {
	uint64_t came; /* bit n: a packet behind the gap has arrived from the port base ^ n */
	uint64_t due; /* time of the next question */
	uint32_t psn; /* the missing PSN; HP3_NO_PSN: none yet */
	uint16_t base; /* port of EV 0 (spread.h) */
	/* port of the newest packet behind the gap whose port belongs to no EV; 0: none */
	uint16_t other;
	uint16_t port; /* port that the missing packet left from; 0: not known */
	uint8_t asked; /* questions about this gap so far */
	uint8_t level; /* doublings of the first wait */
	bool lost;
};

/* base: a multiple of 64. */
void hp3_missing_init(struct hp3_missing *m, uint16_t base);
/*
 * `psn` has been missing since `gap_at`, and a packet behind it has arrived from `port`. wait_ns:
 * longest wait for a packet.
 */
void hp3_missing_behind(
	struct hp3_missing *m, uint32_t psn, uint64_t gap_at, uint64_t wait_ns, uint16_t port);
/* Many packets are held behind the gap: the first question is due. */
static inline void hp3_missing_hurry(struct hp3_missing *m)
{
	if (m->asked == 0)
		m->due = 0;
}

/* Time of the next question about the missing `psn`; UINT64_MAX: never. */
static inline uint64_t hp3_missing_due(const struct hp3_missing *m, uint32_t psn)
{
	return m->psn == psn && m->asked < HP3_MISSING_ASKS ? m->due : UINT64_MAX;
}
/* Is a question about `psn` due? If so, the function counts it as asked. */
bool hp3_missing_asks(struct hp3_missing *m, uint32_t psn, uint64_t wait_ns, uint64_t now);
/* The sender's answer: `psn` left from `port`; 0: not known. */
void hp3_missing_answered(struct hp3_missing *m, uint32_t psn, uint16_t port);
/* Is `psn` lost? True once for each gap. */
bool hp3_missing_lost(struct hp3_missing *m, uint32_t psn);
