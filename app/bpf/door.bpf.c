/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that net_af_xdp attaches. The driver puts its socket into xsks_map. The program
 * passes all frames to the kernel, until the tap (bypass.bpf.c), which uses the same map, replaces
 * it.
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

	/* the program has to use the map, so that user space finds it */
	bpf_map_lookup_elem(&xsks_map, &zero);
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
