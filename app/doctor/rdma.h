/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Reads RDMA devices from sysfs (Documentation/ABI sysfs-class-infiniband), as libibverbs does. */
#include "app/doctor/doctor.h"

struct hp3_rdma_port {
	char device[64];
	char driver[32]; /* of the device: mlx5_core, bnxt_en ...; "rxe": Soft-RoCE */
	char firmware[64];
	unsigned number;
	bool active, ethernet;
	char state[32];
	unsigned roce_v2; /* number of RoCE v2 addresses */
	char address[64]; /* first RoCE v2 address that is not link-local; if none: the last */
	char netdev[IFNAMSIZ]; /* interface of the first RoCE v2 address that has one */
	int cnp_dscp; /* of the CNPs that this port sends; -1: not known */
	char cnp_file[128]; /* the driver's file with cnp_dscp */
};

/* Calls fn for each port of each RDMA device. */
void hp3_each_rdma_port(
	struct hp3_doctor *d, void (*fn)(struct hp3_doctor *d, const struct hp3_rdma_port *p));
