/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Types and functions that the checks share with doctor.c, which has the table of checks. */
#include "app/doctor/doctor.h"

/* Adds a finding of the running check. If the check is about a port, the text begins with
 * "[rail.NAME] SIDE". hp3_fix() sets the fix of the latest finding. */
void hp3_find(struct hp3_doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void hp3_fix(struct hp3_doctor *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A port of a rail in the configuration. */
struct hp3_port {
	const struct hp3_config_rail *rail;
	const char *side; /* "rnic", "net" */
	const char *devargs;
	char driver[32]; /* driver of DPDK, such as net_af_packet */
	bool af_packet;
	bool named; /* devargs name a kernel interface */
	bool unknown; /* the kernel did not report whether this interface exists */
	bool there; /* this interface exists; its properties: */
	struct hp3_interface itf;
};

/* devargs of the other port of the rail */
const char *hp3_other_devargs(const struct hp3_port *p);

/* Calls fn for each interface of a PCI device that may be its own: a device of a switch has more
 * interfaces, each for a port of another function. */
void hp3_each_interface_of_pci(const struct hp3_host *h, const char *address,
	void (*fn)(void *arg, const char *name), void *arg);

#define HP3_CHECK(sym, id, severity, when, about, why) void hp3_check_##sym(struct hp3_doctor *d);
#define HP3_PORT_CHECK(sym, id, severity, when, about, why)                                        \
	void hp3_check_##sym(struct hp3_doctor *d, const struct hp3_port *p);
#define HP3_RDMA_CHECK(sym, id, severity, when, about, why)                                        \
	void hp3_check_##sym(struct hp3_doctor *d, const struct hp3_rdma_port *p);
#include "app/doctor/checks.def"
#undef HP3_CHECK
#undef HP3_PORT_CHECK
#undef HP3_RDMA_CHECK

/* A port of an RDMA device, from sysfs (Documentation/ABI sysfs-class-infiniband), which libibverbs
 * also reads. */
struct hp3_rdma_port {
	char device[64];
	char driver[32]; /* driver of the device: mlx5_core, bnxt_en and so on; "rxe": Soft-RoCE */
	char firmware[64];
	unsigned number;
	bool active, ethernet;
	char state[32];
	unsigned roce_v2; /* number of RoCE v2 addresses */
	char address[64]; /* first RoCE v2 address that is not link-local; if none: the last */
	char netdev[IFNAMSIZ]; /* interface of the first RoCE v2 address that has an interface */
	int cnp_dscp; /* DSCP of the CNPs that this port sends; -1: not known */
	char cnp_file[128]; /* the driver's file with cnp_dscp */
};

/* Calls fn for each port of each RDMA device. */
void hp3_each_rdma_port(
	struct hp3_doctor *d, void (*fn)(struct hp3_doctor *d, const struct hp3_rdma_port *p));
