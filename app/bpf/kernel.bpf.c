/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's verbs entry points, which no process can bypass: ib_core's functions by fentry and
 * fexit. Only the fields in use of the kernel's types are declared; CO-RE finds their offsets in
 * the running kernel.
 */
#include <stddef.h>
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "app/bpf/record.h"

#define CALLS      4096
#define RING_BYTES (1u << 20)

/* Named, because CO-RE needs an enum of the kernel's name. */
enum ib_qp_type { IB_QPT_RC = 2 };
enum ib_qp_state { IB_QPS_RESET };
enum ib_mtu { IB_MTU_256 = 1 };

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

union ib_gid {
	__u8 raw[16];
};

struct ib_global_route {
	union ib_gid dgid;
	__u8 sgid_index;
};

struct rdma_ah_attr {
	struct ib_global_route grh;
	__u8 port_num;
	__u8 ah_flags;
};

struct ib_qp_attr {
	enum ib_qp_state qp_state;
	enum ib_mtu path_mtu;
	__u32 rq_psn, sq_psn, dest_qp_num;
	struct rdma_ah_attr ah_attr;
};

struct ib_device {
	char name[HP3_RECORD_DEVICE];
};

struct ib_qp {
	struct ib_device *device;
	__u32 qp_num;
	enum ib_qp_type qp_type;
};

#pragma clang attribute pop

__u64 lost = 0;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, CALLS);
	__type(key, __u64);
	__type(value, struct hp3_verbs_call);
} calls SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} records SEC(".maps");

static void read_qp(struct hp3_verbs_call *c, __u32 kind, struct ib_qp *qp)
{
	c->time_ns = bpf_ktime_get_ns();
	c->pid = bpf_get_current_pid_tgid() >> 32;
	c->uid = (__u32)bpf_get_current_uid_gid();
	c->kind = kind;
	c->qpn = BPF_CORE_READ(qp, qp_num);
	c->type = BPF_CORE_READ(qp, qp_type);
	BPF_CORE_READ_STR_INTO(&c->device, qp, device, name);
}

static void send(struct hp3_verbs_call *c, int ret)
{
	c->ret = ret;
	if (bpf_ringbuf_output(&records, c, sizeof(*c), 0) != 0)
		__sync_fetch_and_add(&lost, 1);
}

static int modified(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, int ret)
{
	struct hp3_verbs_call c = {.mask = mask};

	read_qp(&c, HP3_VERBS_MODIFY, qp);
	c.state = BPF_CORE_READ(attr, qp_state);
	c.path_mtu = BPF_CORE_READ(attr, path_mtu);
	c.dest_qpn = BPF_CORE_READ(attr, dest_qp_num);
	c.sq_psn = BPF_CORE_READ(attr, sq_psn);
	c.rq_psn = BPF_CORE_READ(attr, rq_psn);
	c.global = BPF_CORE_READ(attr, ah_attr.ah_flags) & 1; /* IB_AH_GRH */
	c.port = BPF_CORE_READ(attr, ah_attr.port_num);
	c.sgid_index = BPF_CORE_READ(attr, ah_attr.grh.sgid_index);
	BPF_CORE_READ_INTO(&c.dgid, attr, ah_attr.grh.dgid);
	send(&c, ret);
	return 0;
}

/* Calls of user space. */
SEC("fexit/ib_modify_qp_with_udata")
int BPF_PROG(modify_user, struct ib_qp *qp, struct ib_qp_attr *attr, int mask, void *udata, int ret)
{
	return modified(qp, attr, mask, ret);
}

/* Calls of the kernel's own users. */
SEC("fexit/ib_modify_qp")
int BPF_PROG(modify_kernel, struct ib_qp *qp, struct ib_qp_attr *attr, int mask, int ret)
{
	return modified(qp, attr, mask, ret);
}

/*
 * Calls of user space and of the kernel, and queue pairs of a process that ends. fentry, because
 * the queue pair is freed when the function returns.
 */
SEC("fentry/ib_destroy_qp_user")
int BPF_PROG(destroy, struct ib_qp *qp)
{
	struct hp3_verbs_call c = {0};
	__u64 id = bpf_get_current_pid_tgid();

	read_qp(&c, HP3_VERBS_DESTROY, qp);
	bpf_map_update_elem(&calls, &id, &c, BPF_ANY);
	return 0;
}

SEC("fexit/ib_destroy_qp_user")
int BPF_PROG(destroy_end, struct ib_qp *qp, void *udata, int ret)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct hp3_verbs_call *c = bpf_map_lookup_elem(&calls, &id);

	if (c == NULL)
		return 0;
	send(c, ret);
	bpf_map_delete_elem(&calls, &id);
	return 0;
}

char LICENSE[] SEC("license") = "Dual BSD/GPL";
