/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CARRIER_H
#define HP3D_CARRIER_H
/* Does a port have a link? For a kernel interface that is its carrier; a deleted interface has
 * none. Two system calls: not for lcores. */
#include <stdbool.h>
#include <stdint.h>

bool hp3d_port_is_up(uint16_t port);
/* Its interface was deleted; a later one of the same name is a different interface. */
bool hp3d_port_is_gone(uint16_t port);

#endif
