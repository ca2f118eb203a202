/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_XDP_H
#define HP3D_XDP_H
/*
 * net_af_xdp attaches an XDP program when it opens a port. That program decides whether the rail
 * can fail open (bypass.h), so hp3d chooses it before.
 */
#include <stdbool.h>
#include <stddef.h>
#include "config/config.h"

bool hp3d_xdp_is_driver(const char *devargs);
/* Does the rail fail open with a port of net_af_xdp? */
bool hp3d_xdp_fails_open(const struct hp3_config *cfg, unsigned rail);
/* Can the port, "rnic" or "net", fail open at all? NULL: yes; else the reason why not. */
const char *hp3d_xdp_unsupported(const char *devargs);

/*
 * Writes a port's devargs for EAL: `devargs`, and hp3's program if the driver is net_af_xdp and the
 * rail fails open. Detaches a program that a killed hp3d left on the interface. Returns 0, or a
 * negative errno with the cause in `why`.
 */
int hp3d_xdp_devargs(
	const char *devargs, bool fails_open, char *buf, size_t cap, char *why, size_t why_cap);

#endif
