/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_AGENT_H
#define HP3_VERBS_AGENT_H
/*
 * The agent: one thread in the application's process, which communicates with hp3d and carries out
 * moves. It blocks all signals. It wakes up once a second, when hp3d sends a byte, and, during a
 * move, every 50 us. Without hp3d, it tries to connect ten times a second for five seconds, then
 * once a second.
 */
#include <stdbool.h>

/* Starts the thread unless it runs. Call it before each change of a queue pair to RTR. */
void hp3v_agent_start(void);
/* Has the agent tried to connect to hp3d at least once? */
bool hp3v_agent_looked(void);

#endif
