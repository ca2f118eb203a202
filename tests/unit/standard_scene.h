/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TEST_STANDARD_SCENE_H
#define HP3_TEST_STANDARD_SCENE_H
/* A flow whose peer is an ordinary RNIC: it asks for a better path behind a drain (rule 2). */
#include "scene.h"

extern uint32_t closing; /* PSN that closed the old path */

extern bool standard_short; /* no packet is as long as the PMTU: none teaches it */

/* Fills rig.cfg: probes of this kind. */
void standard_config(enum hp3_probe_choice probes);
/* Severely congested; one MIDDLE is in flight, so that there is something to drain. */
void standard_congested(void);
/* The same with another packet in flight, the newest one. */
void standard_congested_behind(int (*newest)(uint32_t psn));
/* Drained, one packet is held, the first probe is in the air: on the port in use. */
void standard_asking(void);
/* It is answered after RTT, and the first candidate's probe is in the air. */
void standard_mine(void);

#endif
