/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CARRIER_H
#define HP3D_CARRIER_H
/* Has a port a link? Of an interface of the kernel that says its carrier; one that was deleted has
 * none. Two system calls: not for lcores. */
#include <stdbool.h>
#include <stdint.h>

bool hp3d_port_is_up(uint16_t port);
/* Its interface was deleted; one of the same name that comes later is another one. */
bool hp3d_port_is_gone(uint16_t port);

#endif
