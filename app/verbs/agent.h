/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_AGENT_H
#define HP3_VERBS_AGENT_H
/*
 * The agent: one thread in the application's process, which communicates with hp3d and carries out
 * moves. It blocks all signals, and sleeps unless a queue pair is being moved. Without hp3d, it
 * tries to connect ten times a second for five seconds, then once a second. hp3v_agent_start() is
 * called when the first queue pair becomes RTR.
 */
#include <stdbool.h>

void hp3v_agent_start(void);
/* Has the agent tried to connect to hp3d at least once? */
bool hp3v_agent_looked(void);

#endif
