/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The responses that a requester waits for, as the PSNs of its READ and ATOMIC requests. For each
 * of these PSNs, one response packet arrives (IBTA 9.7.3.1.2, 9.7.5.1.8). PSNs of WRITEs and SENDs
 * do not count: one ACK may acknowledge many of them.
 *
 * Responses of several READs follow each other in the order of these PSNs. So these PSNs suffice to
 * resequence responses that took several paths (resequencer.h). An ACK or NAK comes behind the
 * responses to all PSNs that it acknowledges.
 *
 * Sans-IO. PSNs are 24 bits.
 */
#include <stdbool.h>
#include <stdint.h>
#include "roce/wire.h"

#define HP3_OWED      256u /* most ranges of PSNs; verbs allow 255 outstanding READs */
#define HP3_OWED_MOST (1u << 22) /* most PSNs of one READ: a limit for PSN comparison */

struct hp3_owed {
	uint32_t n;
	struct hp3_owed_range {
		uint32_t first, end; /* end: exclusive */
	} range[HP3_OWED]; /* in PSN order, disjoint, not adjacent */
};

/*
 * A READ or ATOMIC leaves, for the first time or again. False: the table is full, or `span` is more
 * than HP3_OWED_MOST; *o is then unchanged.
 */
bool hp3_owed_add(struct hp3_owed *o, uint32_t psn, uint32_t span);
/* All responses before this PSN have arrived. */
void hp3_owed_done(struct hp3_owed *o, uint32_t psn);
/* The first PSN from `psn` on whose response has not arrived; HP3_NO_PSN: there is none. */
uint32_t hp3_owed_from(const struct hp3_owed *o, uint32_t psn);
