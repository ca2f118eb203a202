/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The map of moved flows, whose frames keep the moved ports when they go direct (app/bpf/ports.h).
 */
#include <errno.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "app/bypass/internal.h"

static int map_of(const struct hp3_bypass *b)
{
	return bpf_map__fd(b->bpf->maps.hp3_moved);
}

int hp3_bypass_keep(struct hp3_bypass *b, const struct hp3_bypass_flow *flow,
	const struct hp3_bypass_ports *ports)
{
	if (ports->requests != 0 || ports->replies != 0)
		return bpf_map_update_elem(map_of(b), flow, ports, BPF_ANY) == 0 ? 0 : -errno;
	bpf_map_delete_elem(map_of(b), flow);
	return 0;
}

bool hp3_bypass_kept(const struct hp3_bypass *b, const struct hp3_bypass_flow *before,
	struct hp3_bypass_flow *flow, struct hp3_bypass_ports *ports)
{
	struct hp3_bypass_flow at;

	for (; bpf_map_get_next_key(map_of(b), before, flow) == 0; before = &at) {
		if (bpf_map_lookup_elem(map_of(b), flow, ports) == 0)
			return true;
		at = *flow; /* deleted meanwhile */
	}
	return false;
}
