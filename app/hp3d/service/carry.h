/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CARRY_H
#define HP3D_CARRY_H
/*
 * Carries the link state of one side of a rail to the other ([bypass] carry_link): while one
 * interface has no carrier, hp3d sets the other one down.
 *
 * A separate process does this; hp3d forks it before it creates threads. The process keeps only
 * CAP_NET_ADMIN, and continues while hp3d hangs. When hp3d ends for any reason, the process sets
 * the interfaces up again that it had set down. If the process itself is killed, the next hp3d sets
 * these interfaces up: a file in /run/hp3 lists them.
 *
 * Only for rails whose ports are both kernel interfaces; control/links.h sets ports of other
 * drivers down.
 */
#include "config/config.h"

/* Sets up interfaces that a killed process left down. Then starts the process, if configured.
 * Returns -1 after a message. */
int hp3d_carry_begin(const struct hp3_config *cfg);
/* Begins to watch links. Call it after ports were opened, which may take links down. */
void hp3d_carry_start(void);
void hp3d_carry_end(void);

#endif
