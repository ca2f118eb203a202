/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CC_PACER_H
#define HP3_CC_PACER_H
/*
 * Pacing of one flow at the exit of its FIFO (rule 14: pacer and hold are one FIFO): a leaky bucket
 * that says when the next packet may leave.
 *
 * A packet that left is a debt, which time pays off at the flow's rate. The next packet may leave,
 * whatever its size, once the debt is down to the burst allowance. So bytes that left in any window
 * of w seconds <= rate * w + burst + the last packet (to one nanosecond of the rate), and a flow
 * with packets waiting, served when it asked to be, gets exactly its rate: debt is counted in
 * 10^-9 bit, in which a nanosecond at r bit/s pays off exactly r. Nothing is rounded, nothing
 * drifts. An idle flow saves up no more than the burst.
 *
 * Range: 10 kb/s to 1 Tb/s, packets to 64 KB and beyond, debts to 2.3 GB; beyond these it
 * saturates.
 */
#include <stdint.h>

struct hp3_pacer {
	uint64_t at; /* ns: debt is as of here */
	uint64_t debt; /* 10^-9 bit */
	uint64_t rate; /* bit/s, since `at` */
};

void hp3_pacer_init(struct hp3_pacer *p, uint64_t rate, uint64_t now);

/* From `now` on; what was owed stays owed in bytes, so that a higher rate takes hold at once. */
void hp3_pacer_set_rate(struct hp3_pacer *p, uint64_t rate, uint64_t now);

/* When the next packet may leave: `now` or later. */
uint64_t hp3_pacer_when(const struct hp3_pacer *p, uint32_t burst_bytes, uint64_t now);

/* A packet left. One that left too early (release, retransmission) is owed all the same. */
void hp3_pacer_sent(struct hp3_pacer *p, uint32_t bytes, uint64_t now);

/* Bytes that have to be paid off before the next packet may leave. */
uint64_t hp3_pacer_owed(const struct hp3_pacer *p, uint32_t burst_bytes, uint64_t now);

/*
 * Rule 14: the lowest rate, bit/s, at which a queue of this length (and what is owed before it
 * may leave) drains within a quarter of the RNIC's retransmission time-out, so that pacing never
 * looks like loss: 4 * queue / RTO, rounded up. 0 if there is no time-out (IBTA 9.7.6.1.3: 0
 * disables the timer); UINT64_MAX if no rate suffices. The rate to use is max(DCQCN's rate, floor),
 * at most the line rate.
 */
uint64_t hp3_pacer_floor(uint64_t queue_bytes, uint64_t rto_ns);

#endif
