/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Pacing of one flow at the exit of its FIFO (rule 14: paced packets and held packets are in one
 * FIFO). A leaky bucket computes when the next packet may leave.
 *
 * Each packet that leaves adds its bytes to the level of the bucket ("debt"), which falls at the
 * flow's rate. The next packet, of any size, may leave once the level is at most the burst
 * allowance. In any window of w seconds, at most rate * w + burst bytes leave, plus one packet,
 * plus the bytes of 1 ns at the rate. An idle flow gets no more than the burst at once.
 *
 * If a flow always has packets, and the caller sends each at the computed time, the flow gets
 * exactly its rate. The level is in 10^-9 bit, and a nanosecond at r bit/s lowers it by exactly r.
 * So nothing is rounded, and no error accumulates.
 *
 * Range: 10 kb/s to 1 Tb/s, packets to 64 KB and beyond, levels to 2.3 GB. Values beyond this range
 * saturate.
 */
#include <stdint.h>

struct hp3_pacer {
	uint64_t at; /* ns: `debt` is as of this time */
	uint64_t debt; /* level of the bucket, 10^-9 bit */
	uint64_t rate; /* bit/s, since `at` */
};

void hp3_pacer_init(struct hp3_pacer *p, uint64_t rate, uint64_t now);

/*
 * Sets the rate from `now` on. The level keeps its value in bytes, so a higher rate takes effect at
 * once.
 */
void hp3_pacer_set_rate(struct hp3_pacer *p, uint64_t rate, uint64_t now);

/* The time at which the next packet may leave: `now` or later. */
uint64_t hp3_pacer_when(const struct hp3_pacer *p, uint32_t burst_bytes, uint64_t now);

/*
 * A packet left. Packets that leave earlier than computed (at a release, or retransmissions) also
 * count.
 */
void hp3_pacer_sent(struct hp3_pacer *p, uint32_t bytes, uint64_t now);

/* Bytes by which the level must fall before the next packet may leave. */
uint64_t hp3_pacer_owed(const struct hp3_pacer *p, uint32_t burst_bytes, uint64_t now);

/*
 * Rule 14: the lowest rate, bit/s, at which the queue drains within a quarter of the RNIC's
 * retransmission time-out. Pacing then never causes a time-out of the RNIC. The value is 4 * queue
 * / RTO, rounded up.
 *
 * `queue_bytes`: the bytes in the queue plus hp3_pacer_owed(). Returns 0 if there is no time-out
 * (IBTA 9.7.6.1.3: 0 disables the timer), and UINT64_MAX if no rate suffices. The caller uses
 * max(DCQCN's rate, this rate), at most the line rate.
 */
uint64_t hp3_pacer_floor(uint64_t queue_bytes, uint64_t rto_ns);
