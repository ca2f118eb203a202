/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CARRIER_H
#define HP3D_CARRIER_H
/* Does a port have a link? A kernel interface has a link if it has a carrier; a deleted interface
 * has none. Makes system calls, so lcores must not call it. */
#include <stdbool.h>
#include <stdint.h>

bool hp3d_port_is_up(uint16_t port);
/* True: the port's interface was deleted. A later interface of the same name is a different one. */
bool hp3d_port_is_gone(uint16_t port);

#endif
