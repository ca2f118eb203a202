/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_LINKS_H
#define HP3D_LINKS_H
/*
 * Reports ports that lose their link or whose interface is deleted: a line on stderr, an event, and
 * health. The other port of the rail stays up. With [bypass] carry_link, this module sets a
 * driver's port down meanwhile, and up again when hp3d ends. (Interfaces of the kernel:
 * service/carry.h.) Control thread only.
 */
#include <jansson.h>
#include "config/config.h"

/* Checks the ports, a few times in a second. */
void hp3d_links_watch(const struct hp3_config *cfg);
void hp3d_links_end(const struct hp3_config *cfg);
unsigned hp3d_links_down(const struct hp3_config *cfg); /* ports without a link */
/* By rail: {"rnic":up,"net":up}. */
json_t *hp3d_links_json(const struct hp3_config *cfg);

#endif
