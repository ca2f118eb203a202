/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_BYPASS_H
#define HP3D_CONTROL_BYPASS_H
/* Reports on fail-open rails (lcores/bypass.h). Control thread only. */
#include <jansson.h>
#include "config/config.h"

/* When RoCEv2 packets of a rail go direct (the kernel forwards them): while hp3d does not handle
 * them, always, never. `modes` in bypass.c has this order. */
enum hp3d_bypass_mode { HP3D_BYPASS_AUTO, HP3D_BYPASS_ON, HP3D_BYPASS_OFF };

/* State and counts of each rail; null for a rail that does not fail open. */
json_t *hp3d_bypass_json(const struct hp3_config *cfg);

unsigned hp3d_bypass_direct(
	const struct hp3_config *cfg); /* number of rails whose RoCEv2 packets go direct */

/* Writes a line on stderr and an event for each change since the last call. */
void hp3d_bypass_watch(const struct hp3_config *cfg);

#endif
