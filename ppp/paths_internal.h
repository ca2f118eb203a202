/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Shared by paths.c (entries), identity.c (port to path) and choice.c (candidates); not for other
 * modules.
 */
#include "ppp/paths.h"

/* Id of an entry that has flows but no path: no look-up finds it. */
#define HP3_PATH_ORPHAN (HP3_PATH_NONE - 1)

static inline bool hp3_path_by_port(uint32_t id)
{
	return id & HP3_PATH_BY_PORT;
}

void hp3_path_free(struct hp3_path *p);

/* Entry of a path, or -ENOENT. */
int hp3_paths_find(const struct hp3_paths *t, uint32_t id, uint32_t qpn);

/* Least RTT of any path; 0: no RTT is known. */
uint32_t hp3_paths_least_rtt(const struct hp3_paths *t);

/* `least`: hp3_paths_least_rtt(), computed once for many entries. */
enum hp3_quality hp3_path_quality(
	const struct hp3_paths *t, const struct hp3_path *p, uint32_t least, uint64_t now);

/*
 * Is the share of marked replies high enough for a congested path? If so, the RTT does not count.
 */
bool hp3_path_is_marked(const struct hp3_paths *t, const struct hp3_path *p);

/* This host's flows on path `id`. */
uint32_t hp3_paths_flows_on(const struct hp3_paths *t, uint32_t id, uint32_t qpn);
