/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_FLOW_STATE_H
#define HP3D_FLOW_STATE_H
/*
 * Where flows are, for an hp3d that comes after this one: a file with every flow that is away from
 * its RNIC's port. Written shortly after each move, never in place. An hp3d that was killed leaves
 * it behind, and the next one begins with it, so that packets of its time are not overtaken. A
 * clean stop brings flows home and removes the file. Rails that fail open need no file: the kernel
 * has kept the ports, and knows them (lcores/bypass_ports.c).
 *
 * The file is JSON: {"v":1,"hp3":VERSION,"boot":ID,"flows":[{"flow":ID,"port":N,"replies":N}]}, a
 * port of 0 is the RNIC's. It counts until the machine boots again, and only if nobody but the
 * user whom hp3d runs as can have written it.
 */
#include <stdint.h>
#include "app/hp3d/pipe/event.h"
#include "config/config.h"

/* Tells engines what the file says. Workers exist, their lcores do not run yet. */
void hp3d_flow_state_begin(const struct hp3_config *cfg);
/* An event that may be a move. */
void hp3d_flow_state_note(const struct hp3d_event *e);
/* Writes the file where it is time. */
void hp3d_flow_state_poll(void);
/* The lcores have ended: what could not be brought home stays in the file. */
void hp3d_flow_state_end(void);

#endif
