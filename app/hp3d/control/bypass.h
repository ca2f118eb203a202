/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_CONTROL_BYPASS_H
#define HP3D_CONTROL_BYPASS_H
/*
 * What is told of rails that go direct, past hp3d (lcores/bypass.h). Control thread only.
 */
#include "config/config.h"

/* A line on stderr for each change since the last call. */
void hp3d_bypass_watch(const struct hp3_config *cfg);

#endif
