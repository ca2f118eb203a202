/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TEST_SETUP_SCENE_H
#define HP3_TEST_SETUP_SCENE_H
/* On the rig (rig.h): q has just been set up, and its paths are probed before the first data. */
#include "scene.h"

#define FIRST 100u /* PSN of the first packet, told by the set-up event */

/* Fills rig.cfg, one round; call setting_up() or rig_configure() after changes of your own. */
void setup_config(void);
/* A new engine with rig.cfg, q set up: probes are out, no data yet. */
void setting_up(void);
/* The round is over, and the first packet leaves where the RNIC sends it. */
void expect_home(void);

#endif
