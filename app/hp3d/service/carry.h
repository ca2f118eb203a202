/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CARRY_H
#define HP3D_CARRY_H
/*
 * A link that is down on one side of a rail is made visible on the other ([bypass] carry_link): as
 * long as one interface has no carrier, the other one is set down.
 *
 * A process of its own does it, which hp3d makes before it has threads. It has CAP_NET_ADMIN and
 * nothing else, goes on while hp3d hangs, and sets up again what it had set down when hp3d ends,
 * however that ends. Should it be killed itself, the next hp3d finds a note in /run/hp3.
 *
 * Only for rails whose ports are both interfaces of the kernel; links.h has the others.
 */
#include "config/config.h"

/* Mends what is left of an earlier one, whether or not links are to be carried. -1 after a message.
 */
int hp3d_carry_begin(const struct hp3_config *cfg);
/* From now on links are looked at: ports have been opened, which may have taken links down. */
void hp3d_carry_start(void);
void hp3d_carry_end(void);

#endif
