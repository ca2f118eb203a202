/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_BURST_H
#define HP3_ENGINE_BURST_H
/*
 * The loops of hp3_see_burst() and hp3_burst(). burst.c is compiled once per level of the
 * instruction set, from the same source; lanes.c chooses one when the engine is made.
 *
 * A *steady* packet, which is nearly every one, is handled in the loop itself. What steady means is
 * decided by comparisons alone, and before anything is written; all other packets take hp3_tx() or
 * hp3_rx(). So the loops know no case of their own: what they do for a steady packet is what those
 * two do for it.
 */
#include "engine/pass/pass.h"

struct hp3_lanes {
	const char *name;
	uint32_t (*see)(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir);
	void (*find)(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir);
	uint32_t (*burst)(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir,
		uint64_t now, struct hp3_verdict *verdicts, struct hp3_acts *acts);
};

extern const struct hp3_lanes hp3_lanes_base; /* what the compiler assumes of every CPU */
#ifdef __x86_64__
extern const struct hp3_lanes hp3_lanes_v3; /* x86-64-v3: AVX2, BMI2, MOVBE */
extern const struct hp3_lanes hp3_lanes_v4; /* x86-64-v4: AVX-512 */
#endif

const struct hp3_lanes *hp3_lanes_best(void);

/*
 * In bursts up to this long there is time to check every reply before una moves (rule 26); in
 * longer ones plain progress is taken as it comes, and what decides something later waits for a
 * reply that was checked (HP3_FW_SURE).
 */
#define HP3_FEW 8u

/* hp3_rx() for a packet of a longer burst. */
void hp3_rx_of_many(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd,
	struct hp3_acts *acts);

#endif
