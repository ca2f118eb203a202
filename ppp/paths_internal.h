/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_PATHS_INTERNAL_H
#define HP3_PPP_PATHS_INTERNAL_H
/*
 * Between paths.c (what is known), identity.c (which path a port draws) and choice.c (what is
 * chosen); not for other modules.
 */
#include "ppp/paths.h"

/* Id of an entry without a name: bears flows, matches nothing. */
#define HP3_PATH_ORPHAN (HP3_PATH_NONE - 1)

static inline bool hp3_path_by_port(uint32_t id)
{
	return id & HP3_PATH_BY_PORT;
}

void hp3_path_free(struct hp3_path *p);

/* Entry of a path, or -ENOENT. */
int hp3_paths_find(const struct hp3_paths *t, uint32_t id, uint32_t qpn);

/* Least RTT of any path; 0: none known. */
uint32_t hp3_paths_least_rtt(const struct hp3_paths *t);

/* `least` is hp3_paths_least_rtt(), asked once for many entries. */
enum hp3_quality hp3_path_quality(
	const struct hp3_paths *t, const struct hp3_path *p, uint32_t least, uint64_t now);

/* Marked as often as a congested path is: what its round trips say does not count. */
bool hp3_path_is_marked(const struct hp3_paths *t, const struct hp3_path *p);

/* Flows of ours on path `id`. */
uint32_t hp3_paths_flows_on(const struct hp3_paths *t, uint32_t id, uint32_t qpn);

#endif
