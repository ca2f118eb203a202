/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_FLOW_STATE_H
#define HP3D_FLOW_STATE_H
/*
 * The flow state file lists every flow whose EV is not its home port, for the next hp3d. hp3d
 * writes a new file shortly after each move, which then replaces the old file. If hp3d is killed,
 * the next hp3d continues with these EVs, so that later packets do not overtake earlier packets. A
 * clean stop returns flows to their home ports and removes the file. Rails that fail open need no
 * file: the kernel stores their EVs (lcores/bypass_ports.c).
 *
 * The file is JSON: {"v":1,"hp3":VERSION,"boot":ID,"flows":[{"flow":ID,"port":N,"replies":N}]}.
 * "port": EV of the local RNIC's requests on this queue pair; "replies": EV of its ACKs and READ
 * responses; 0: the home port. The file is valid until the machine reboots, and only if no other
 * user than hp3d's can have written it.
 */
#include <stdint.h>
#include "app/hp3d/pipe/event.h"
#include "config/config.h"

/* Passes the file's flows to the engines. Workers exist, but their lcores do not run yet. */
void hp3d_flow_state_begin(const struct hp3_config *cfg);
/* If the event is a move, the file becomes due. */
void hp3d_flow_state_note(const struct hp3d_event *e);
/* Writes the file if it is due. */
void hp3d_flow_state_poll(void);
/* Call it after the lcores have ended. Writes the flows that are still not on their home ports. */
void hp3d_flow_state_end(void);

#endif
