/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The loops of hp3_see_burst() and hp3_burst(). The build compiles burst.c once per level of the
 * instruction set; isa.c selects a level when the engine is created.
 *
 * The loop itself handles *steady* packets, which are nearly all IPv4 packets. Comparisons decide
 * whether a packet is steady, before any write. All other packets go to hp3_tx() or hp3_rx(). So do
 * all packets of a short burst from the network (HP3_FEW). On a steady packet, the loop has exactly
 * the effect of hp3_tx() or hp3_rx().
 */
#include "engine/pass/pass.h"

struct hp3_isa {
	const char *name;
	uint32_t (*see)(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir);
	void (*find)(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir);
	uint32_t (*burst)(struct hp3_engine *e, struct hp3_pkt *pkts, uint32_t n, enum hp3_dir dir,
		uint64_t now, struct hp3_verdict *verdicts, struct hp3_acts *acts);
};

/* the instruction set that the compiler assumes by default */
extern const struct hp3_isa hp3_isa_base;
#ifdef __x86_64__
extern const struct hp3_isa hp3_isa_v3; /* x86-64-v3: AVX2, BMI2, MOVBE */
extern const struct hp3_isa hp3_isa_v4; /* x86-64-v4: AVX-512 */
#endif

const struct hp3_isa *hp3_isa_best(void);

/*
 * In bursts up to this length, the engine checks the ICRC of each reply of at most 160 bytes before
 * una moves (rule 26). READ data in longer replies advance una unchecked. In longer bursts, plain
 * progress (steady.h) also advances una unchecked. A later decision then waits for a checked reply
 * (HP3_FW_SURE).
 */
#define HP3_FEW 8u

/* hp3_rx() for a packet of a longer burst. */
void hp3_rx_of_many(struct hp3_engine *e, struct hp3_pkt *pkt, uint64_t now, struct hp3_verdict *vd,
	struct hp3_acts *acts);
