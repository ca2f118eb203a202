/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_FABRIC_MMU_H
#define HP3_SIM_FABRIC_MMU_H
/*
 * The shared buffer of a switch: admission, PFC pauses, ECN marks. Rules: switch.h. Internal to
 * fabric/.
 */
#include "sim/fabric/switch.h"

void sim_mmu_init(struct sim *s, struct sim_switch *sw);

/* True: there is space, and the packet is counted. False: the caller drops it, with *reason. */
bool sim_mmu_admit(struct sim *s, struct sim_switch *sw, struct sim_port *in, struct sim_port *out,
	uint32_t bytes, enum sim_drop *reason);
void sim_mmu_release(const struct sim *s, struct sim_switch *sw, struct sim_port *in,
	struct sim_port *out, uint32_t bytes);
bool sim_mmu_must_pause(
	const struct sim *s, const struct sim_switch *sw, const struct sim_port *in);
bool sim_mmu_may_resume(
	const struct sim *s, const struct sim_switch *sw, const struct sim_port *in);
bool sim_mmu_marks(struct sim *s, const struct sim_port *out);

#endif
