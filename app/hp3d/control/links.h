/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_LINKS_H
#define HP3D_LINKS_H
/*
 * Reports ports that lose their link or whose interface is deleted, by a line on stderr, an event,
 * and the answer to the request "health". By default, the other port of the rail stays up. With
 * [bypass] carry_link, this module sets the other port down until the link is back or hp3d ends,
 * unless that port is a kernel interface. (If both ports are kernel interfaces, service/carry.h
 * does so.) Control thread only.
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
