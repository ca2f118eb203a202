/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * This module runs pipes without lcores, with packets from a file. It calls only pipes.
 *
 * A replay runs the same pipes as hp3d over a capture, with capture time as the clock. Both
 * directions of a link may be in one file: the end with the lower address is A, and the other end
 * is B. Each end has a pipe, so a packet from A leaves through A's pipe and arrives through B's.
 *
 * The first pass fills the table of flows (flows.h), and finds packets that the capture has twice.
 * Later passes leave these copies out. A pipe can be read once only: then there is no first pass.
 *
 * With a port to move to, further passes learn which local and remote queue pairs belong together,
 * until a pass finds no more. They begin with the pairs of the table. The last pass announces
 * these pairs before the first packet. The last pass also moves every stream of requests to the
 * port. The move waits for a packet of the stream whose response can show that the old path is
 * empty.
 *
 * OUT has the same packets with their original timestamps, in the order in which they left. Two
 * runs give identical bytes.
 */
#include "config/config.h"

struct hp3d_replay {
	const char *in, *out; /* out may be NULL */
	uint16_t move_to; /* 0: move nothing */
	bool json;
};

/* Returns 0, or -1 after a message on stderr. Prints a summary and a table of flows on stdout. EAL
 * must run. */
int hp3d_replay(const struct hp3_config *cfg, const struct hp3d_replay *r);
