/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that net_af_xdp attaches. The driver puts its socket into xsks_map. Everything passes
 * until the tap (bypass.bpf.c), which reuses this map, replaces this program.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include "app/bpf/bypass.h"

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, HP3_BYPASS_QUEUES);
	__type(key, __u32);
	__type(value, __u32);
} xsks_map SEC(".maps");

SEC("xdp")
int hp3_xdp_door(struct xdp_md *ctx)
{
	__u32 zero = 0;

	bpf_map_lookup_elem(&xsks_map, &zero); /* so that user space finds the map */
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
