/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_LINKS_H
#define HP3D_LINKS_H
/*
 * A port that loses its link, or whose interface is deleted, is told of: a line on stderr, an
 * event, and health. The other port of its rail stays up, unless [bypass] carry_link: then a
 * driver's port is set down, too, for as long as that lasts, and up when hp3d ends (interfaces of
 * the kernel: service/carry.h). Control thread only.
 */
#include <jansson.h>
#include "config/config.h"

/* Looks at the ports, a few times in a second. */
void hp3d_links_watch(const struct hp3_config *cfg);
void hp3d_links_end(const struct hp3_config *cfg);
unsigned hp3d_links_down(const struct hp3_config *cfg); /* ports without a link */
/* By rail: {"rnic":up,"net":up}. */
json_t *hp3d_links_json(const struct hp3_config *cfg);

#endif
