/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* On the rig (rig.h): q has just been set up, and the engine probes its paths before the first
 * data. */
#include "scene.h"

#define FIRST 100u /* PSN of the first packet, as in the set-up event */

/* Sets rig.cfg, with one probe round. If you change it further, call setting_up() or
 * rig_configure() afterwards. */
void setup_config(void);
/* Makes a new engine with rig.cfg, and sets up q: probes are sent, no data yet. */
void setting_up(void);
/* Checks that the probe round has ended, and that the first packet leaves with its home port. */
void expect_home(void);
