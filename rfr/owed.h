/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_RFR_OWED_H
#define HP3_RFR_OWED_H
/*
 * What a requester is owed: PSNs of its READ and ATOMIC requests, to each of which one packet comes
 * back that bears it (IBTA 9.7.3.1.2, 9.7.5.1.8). PSNs of WRITEs and SENDs are not owed: an ACK
 * may speak for many of them.
 *
 * The answers of several READs follow each other in the order of these PSNs, so whoever knows them
 * can put answers in order that took several paths (resequencer.h). An ACK or NAK stands behind the
 * answers to all PSNs that it acknowledges.
 *
 * Sans-IO. PSNs are 24 bits.
 */
#include <stdbool.h>
#include <stdint.h>
#include "roce/wire.h"

#define HP3_OWED      256u /* READs that do not follow each other: verbs allow 255 in flight */
#define HP3_OWED_MOST (1u << 22) /* PSNs of one: "before" stays unambiguous */

struct hp3_owed {
	uint32_t n;
	struct hp3_owed_range {
		uint32_t first, end; /* end: exclusive */
	} range[HP3_OWED]; /* in order, apart from each other */
};

/* A READ or ATOMIC leaves, for the first time or again. False: no room for it, nothing has changed.
 */
bool hp3_owed_add(struct hp3_owed *o, uint32_t psn, uint32_t span);
/* All before this PSN has come. */
void hp3_owed_done(struct hp3_owed *o, uint32_t psn);
/* The first one from this PSN on; HP3_NO_PSN: none. */
uint32_t hp3_owed_from(const struct hp3_owed *o, uint32_t psn);

#endif
