/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uprobes on libibverbs: the arguments are stored at the call, and sent with the result at the
 * return.
 */
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "app/bpf/record.h"

#define CALLS      4096 /* threads inside a call at a time; the oldest is replaced */
#define RING_BYTES (1u << 20)

/* Set before loading, from rdma-core's header. */
const volatile __u32 device_name_at = 0; /* in struct ibv_device */
const volatile __u32 attr_size = 0; /* <= HP3_RECORD_ATTR */

__u64 lost = 0; /* records lost because the ring was full */

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CALLS);
	__type(key, __u64);
	__type(value, struct hp3_library_record);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} records SEC(".maps");

/* struct ibv_qp begins with its context, and struct ibv_context with its device. */
static void read_device(struct hp3_library_record *r, const void *qp)
{
	const void *context = NULL, *device = NULL;

	bpf_probe_read_user(&context, sizeof(context), qp);
	bpf_probe_read_user(&device, sizeof(device), context);
	bpf_probe_read_user_str(r->device, sizeof(r->device), device + device_name_at);
}

static int enter(__u32 kind, const void *qp, const void *attr, __u32 mask)
{
	struct hp3_library_record r = {.kind = kind, .mask = mask};
	__u64 id = bpf_get_current_pid_tgid();
	__u32 size = attr_size;

	r.time_ns = bpf_ktime_get_ns();
	r.pid = id >> 32;
	r.uid = (__u32)bpf_get_current_uid_gid();
	if (bpf_probe_read_user(r.qp, sizeof(r.qp), qp) != 0)
		return 0;
	if (attr != NULL && (size > sizeof(r.attr) || bpf_probe_read_user(r.attr, size, attr) != 0))
		return 0;
	read_device(&r, qp);
	bpf_map_update_elem(&calls, &id, &r, BPF_ANY);
	return 0;
}

SEC("uprobe")
int BPF_KPROBE(modify_qp, const void *qp, const void *attr, int mask)
{
	return enter(HP3_VERBS_MODIFY, qp, attr, mask);
}

SEC("uprobe")
int BPF_KPROBE(destroy_qp, const void *qp)
{
	return enter(HP3_VERBS_DESTROY, qp, NULL, 0);
}

SEC("uretprobe")
int BPF_KRETPROBE(call_end, int ret)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct hp3_library_record *r = bpf_map_lookup_elem(&calls, &id);

	if (r == NULL)
		return 0;
	r->ret = ret;
	if (bpf_ringbuf_output(&records, r, sizeof(*r), 0) != 0)
		__sync_fetch_and_add(&lost, 1);
	bpf_map_delete_elem(&calls, &id);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
