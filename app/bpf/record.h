/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Records that BPF programs pass to user space in ring buffers. Each is about one verbs call that
 * has returned. Both sides include this file, after a header with the __u types (linux/types.h).
 *
 * A record of libibverbs (hp3_library_record) has the caller's structures as they were in the
 * caller's memory at the call. app/watch/library.c reads these structures with rdma-core's own
 * header, so that no layout is defined twice. The values come from untrusted processes: check each.
 */

#define HP3_RECORD_DEVICE 64 /* IBV_SYSFS_NAME_MAX, IB_DEVICE_NAME_MAX */
#define HP3_RECORD_QP     64 /* the beginning of struct ibv_qp, up to qp_type */
#define HP3_RECORD_ATTR   144 /* struct ibv_qp_attr; rate_limit, its last field, is not copied */

enum hp3_verbs_kind { HP3_VERBS_MODIFY, HP3_VERBS_DESTROY };

struct hp3_library_record {
	__u64 time_ns; /* CLOCK_MONOTONIC, when the call began */
	__u32 pid;
	__u32 kind; /* enum hp3_verbs_kind */
	__s32 ret; /* 0: the call succeeded */
	__u32 mask; /* IBV_QP_*; only for MODIFY */
	__u32 uid; /* id of the process's user in the initial user namespace */
	__u32 pad;
	char device[HP3_RECORD_DEVICE]; /* empty: unknown */
	__u8 qp[HP3_RECORD_QP];
	__u8 attr[HP3_RECORD_ATTR]; /* MODIFY */
};

/* A verbs call in the terms of the InfiniBand specification; fields that the mask does not name are
 * undefined. The kernel's records already have this form. */
struct hp3_verbs_call {
	__u64 time_ns;
	__u32 pid;
	__u32 kind; /* enum hp3_verbs_kind */
	__s32 ret;
	__u32 mask; /* IBV_QP_* equals the kernel's IB_QP_* */
	__u32 qpn, dest_qpn, sq_psn, rq_psn;
	__u32 uid; /* id of the process's user in the initial user namespace */
	__u8 type; /* IBV_QPT_* */
	__u8 state; /* IBV_QPS_* */
	__u8 path_mtu; /* IBV_MTU_* */
	__u8 global; /* the address vector has a GID */
	__u8 port;
	__u8 sgid_index;
	__u8 pad[6];
	__u8 dgid[16];
	char device[HP3_RECORD_DEVICE];
};
