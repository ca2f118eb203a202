/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_XDP_H
#define HP3D_XDP_H
/*
 * net_af_xdp attaches the XDP program that it is given when it opens a port, and that decides
 * whether the rail can fail open (bypass.h): so it has to be known before.
 */
#include <stdbool.h>
#include <stddef.h>
#include "config/config.h"

bool hp3d_xdp_is_driver(const char *devargs);
/* Does the rail fail open with a port of net_af_xdp? */
bool hp3d_xdp_fails_open(const struct hp3_config *cfg, unsigned rail);
/* Can the port, "rnic" or "net", fail open at all? NULL, or what is in the way. */
const char *hp3d_xdp_unsupported(const char *devargs);

/*
 * What EAL is to be given for a port: `devargs`, and for net_af_xdp of a rail that fails open our
 * program. Takes off what an hp3d that was killed left on the interface. 0, or a negative errno
 * with the cause in `why`.
 */
int hp3d_xdp_devargs(
	const char *devargs, bool fails_open, char *buf, size_t cap, char *why, size_t why_cap);

#endif
