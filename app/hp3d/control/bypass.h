/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_BYPASS_H
#define HP3D_CONTROL_BYPASS_H
/*
 * What is told of rails that go direct, past hp3d (lcores/bypass.h). Control thread only.
 */
#include <jansson.h>
#include "config/config.h"

/* The way past hp3d of a rail: by need, always, never for RoCEv2. In this order as text. */
enum hp3d_bypass_mode { HP3D_BYPASS_AUTO, HP3D_BYPASS_ON, HP3D_BYPASS_OFF };

/* By rail: state and counts; null: the rail has none. */
json_t *hp3d_bypass_json(const struct hp3_config *cfg);

unsigned hp3d_bypass_direct(
	const struct hp3_config *cfg); /* rails whose RoCEv2 packets pass hp3d by */

/* A line on stderr and an event for each change since the last call. */
void hp3d_bypass_watch(const struct hp3_config *cfg);

#endif
