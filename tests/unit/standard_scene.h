/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* A flow whose peer has no hp3d, only an RNIC. The engine searches for a better path after a drain,
 * with probes that the RNIC answers (rule 2). */
#include "scene.h"

extern uint32_t closing; /* PSN that closed the old path */

extern bool standard_short; /* no packet is as long as the PMTU, so the engine does not learn it */

/* Sets rig.cfg, with standard probes. */
void standard_config(void);
/* The path is severely congested. One WRITE MIDDLE is in flight, so a move has to drain. */
void standard_congested(void);
/* The same with another packet in flight, the newest one. */
void standard_congested_behind(int (*newest)(uint32_t psn));
/* The flow has drained, and one packet is held. The first probe is in flight, on the port in
 * use. */
void standard_asking(void);
/* This probe is answered after RTT. The probe of the first candidate is in flight. */
void standard_mine(void);
