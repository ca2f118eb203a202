/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_DOCTOR_RDMA_H
#define HP3_DOCTOR_RDMA_H
/* RDMA devices as sysfs tells (Documentation/ABI sysfs-class-infiniband); libibverbs reads the
 * same. */
#include "app/doctor/doctor.h"

struct hp3_rdma_port {
	char device[64];
	char driver[32]; /* of the device below: mlx5_core, bnxt_en ...; "rxe": Soft-RoCE */
	char firmware[64];
	unsigned number;
	bool active, ethernet;
	char state[32];
	unsigned roce_v2; /* addresses */
	char address[64]; /* the first of them that is no link-local one, else the first */
	char netdev[IFNAMSIZ]; /* below it */
	int cnp_dscp; /* of the CNPs that it makes; -1: the driver does not say, */
	char cnp_file[128]; /* else says it here */
};

/* Calls fn for each port of each RDMA device. */
void hp3_each_rdma_port(
	struct hp3_doctor *d, void (*fn)(struct hp3_doctor *d, const struct hp3_rdma_port *p));

#endif
