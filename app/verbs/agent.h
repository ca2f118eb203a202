/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_AGENT_H
#define HP3_VERBS_AGENT_H

#include <stdbool.h>

/*
 * One thread of the application's, which talks to hp3d and carries out moves. It has no signals,
 * and sleeps unless a queue pair is being moved; without hp3d it looks for one ten times
 * a second, after five seconds once.
 * Started by the first queue pair that may be moved.
 */
void hp3v_agent_start(void);
/* It has looked for hp3d, and found it or not. */
bool hp3v_agent_looked(void);

#endif
