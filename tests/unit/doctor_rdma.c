/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that app/doctor finds: RDMA devices, and what switches hash. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "doctor_cases.h"

static void rdma_name(void)
{
	strcpy(cfg.rails[0].rdma, "mlx5_7");
}

static void nothing(void)
{
}

static void old_library(void)
{
	has_libraries = false;
}

static void other_rnic(void)
{
	point("/sys/class/infiniband/mlx5_0/device/driver", "../../../drivers/ice");
}

static void broadcom(void)
{
	point("/sys/class/infiniband/mlx5_0/device/driver", "../../../drivers/bnxt_en");
}

static void rdma_port(void)
{
	put("/sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN");
}

static void rdma_gid(void)
{
	put("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/types/1", "IB/RoCE v1");
}

static void infiniband(void)
{
	rdma_gid();
	put("/sys/class/infiniband/mlx5_0/ports/1/link_layer", "InfiniBand");
}

static void rdma_bond(void)
{
	put("/sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/1", "bond0");
	put("/sys/class/net/bond0/bonding/slaves", "eth0 eth1");
}

/* A rail on each port, but they do not share their flows. */
static void rails_apart(void)
{
	configure(RAIL, "[rail.r1]\nrnic = net_null0\n"
			"net = \"net_af_packet2,iface=eth1,framesz=4352,blocksz=69632\"\n");
	rdma_bond();
}

static void soft_roce(void)
{
	put("/sys/class/infiniband/mlx5_0/parent", "veth0");
	take_away("/sys/class/infiniband/mlx5_0/device/driver");
}

static void soft_roce_native(void)
{
	soft_roce();
	cfg.engine.cc.mode = HP3_CC_NATIVE;
}

static void soft_roce_verbs_mode(void)
{
	soft_roce();
	cfg.engine.cc.mode = HP3_CC_OFF;
}

static void ecn(void)
{
	put("/sys/class/net/eth0/ecn/roce_np/enable/3", "0");
}

static void ecn_ignored(void)
{
	put("/sys/class/net/eth0/ecn/roce_rp/enable/3", "0");
}

static void cnps_of_another_class(void)
{
	put("/sys/class/net/eth0/ecn/roce_np/cnp_dscp", "46");
}

static void cnps_of_another_class_in_debugfs(void)
{
	take_away("/sys/class/net/eth0/ecn/roce_np/cnp_dscp");
	take_away("/sys/class/infiniband/mlx5_0/device/driver");
	take_away("/sys/class/infiniband/mlx5_0/device");
	point("/sys/class/infiniband/mlx5_0/device", "../../../devices/pci0000:3a/0000:3b:00.1");
	put("/sys/kernel/debug/mlx5/0000:3b:00.1/cc_params/np_cnp_dscp", "0");
}

static void traffic_class(void)
{
	take_away("/sys/kernel/config/rdma_cm/mlx5_0/ports/1/default_roce_tos");
}

static void traffic_class_of_driver(void)
{
	put("/sys/class/infiniband/mlx5_0/tc/1/traffic_class", "Global tclass=104");
}

static void polarised(void)
{
	drawn.paths = 1;
	drawn.most = 64;
}

static void polarised_partly(void)
{
	drawn.most = 40;
}

static void qpn_hashed(void)
{
	drawn.by_qpn = true;
}

static void opcode_hashed(void)
{
	drawn.by_opcode = true;
}

static const struct doctor_case rows[] = {
	{"rdma-name", rdma_name, "rdma = mlx5_7", "rdma link show"},
	{"rdma-device", nothing,
		"mlx5_0: driver mlx5_core, firmware 28.39.1002, port 1 ACTIVE, Ethernet, 1 RoCE v2 "
		"addresses (10.9.0.1, eth0), CNPs with DSCP 48; live move: "
		"mlx5dv_modify_qp_udp_sport; verbs-mode probes timed by: its stamps",
		""},
	{"rdma-device", old_library, "which this libmlx5 lacks", ""},
	{"rdma-device", other_rnic, "live move: none known", ""},
	{"rdma-device", other_rnic, "timed by: nobody", ""},
	{"rdma-device", broadcom, "live move: bnxt_re_dv_modify_qp_udp_sport", ""},
	{"rdma-port", rdma_port, "mlx5_0 port 1: DOWN", "ip link set eth0 up"},
	{"rdma-gid", rdma_gid, "no RoCE v2 address", "ip addr add"},
	{"rdma-gid", infiniband, "is InfiniBand", "LINK_TYPE_P1=2"},
	{"rdma-bond", rdma_bond, "no rail is on its port eth1", "ROCE_ACCL"},
	{"rdma-bond", rails_apart,
		"[rail.r0] and [rail.r1] are on its ports, but no [bond.NAME] lists both",
		"add [bond.NAME] with rails = r0, r1"},
	{"rxe-cnp", soft_roce_native, "Soft-RoCE of Linux 6.1.153", "set [cc] mode = off"},
	{"rxe-kernel", soft_roce_verbs_mode, "Soft-RoCE of Linux 6.1.153", "6.1.175"},
	{"rdma-device", soft_roce_verbs_mode, "live move: SQD", ""},
	{"rdma-device", soft_roce_verbs_mode, "timed by: hp3d's clock", ""},
	{"ecn", ecn, "answers no marks with CNPs",
		"echo 1 > /sys/class/net/eth0/ecn/roce_np/enable/3"},
	{"ecn", ecn_ignored, "ignores CNPs", "roce_rp/enable/3"},
	{"cnp-class", cnps_of_another_class,
		"mlx5_0 port 1 sends CNPs with DSCP 46, and [ppp] "
		"answer_dscp is 48",
		"set [ppp] answer_dscp = 46, or: echo 48 > "
		"/sys/class/net/eth0/ecn/roce_np/cnp_dscp"},
	{"cnp-class", cnps_of_another_class_in_debugfs, "with DSCP 0,",
		"echo 48 > /sys/kernel/debug/mlx5/0000:3b:00.1/cc_params/np_cnp_dscp"},
	{"traffic-class", traffic_class, "ToS 0 (DSCP 0)", "cma_roce_tos -d mlx5_0 -p 1 -t 106"},
	{"traffic-class", traffic_class_of_driver, "ToS 104 (DSCP 26)", "cma_roce_tos"},
	{"polarised", polarised, "all 64 source ports", "seed of its own"},
	{"polarised", polarised_partly,
		"40 of 64 source ports whose path is known lead to one of 4", "hash seed"},
	{"qpn-hashed", qpn_hashed, "r0/10.9.0.1-10.9.0.2", "hash addresses and UDP ports only"},
	{"opcode-hashed", opcode_hashed, "r0/10.9.0.1-10.9.0.2",
		"hash addresses and UDP ports only"},
};

const struct doctor_cases doctor_rdma_cases = {rows, sizeof(rows) / sizeof(rows[0])};

/* Rule 5: the branches that were mended, and those that never were. */
void kernels_with_the_bug(void **state)
{
	static const struct {
		const char *version;
		bool bad;
	} kernels[] = {
		{"Linux version 5.15.0-100-generic", true},
		{"Linux version 6.1.0-41-amd64 (a@b) #1 SMP Debian 6.1.174-1 (2026)", true},
		{"Linux version 6.1.0-42-amd64 (a@b) #1 SMP Debian 6.1.175-1 (2026)", false},
		{"Linux version 6.2.16", true},
		{"Linux version 6.6.139", true},
		{"Linux version 6.6.140", false},
		{"Linux version 6.11.0", true},
		{"Linux version 6.12.87", true},
		{"Linux version 6.12.88", false},
		{"Linux version 7.2.1", false},
	};

	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		bool found = false;

		all_is_well();
		soft_roce_verbs_mode();
		put("/proc/version", kernels[i].version);
		examine();
		for (unsigned k = 0; k < d.n; k++)
			found |= strcmp(d.found[k].check->id, "rxe-kernel") == 0;
		if (found != kernels[i].bad)
			fail_msg("%s", kernels[i].version);
		forget_host();
	}
}

void answers_in_the_class_of_data_need_no_equal(void **state)
{
	all_is_well();
	cnps_of_another_class();
	configure(RAIL, "[ppp]\nanswer_dscp = data\n");
	examine();
	assert_int_equal(hp3_doctor_count(&d, HP3_WARNING), 0);
	configure(RAIL, "[ppp]\nanswer_dscp = 46\n");
	examine();
	assert_int_equal(hp3_doctor_count(&d, HP3_WARNING), 0);
	forget_host();
}

void few_ports_say_nothing_of_a_hash(void **state)
{
	all_is_well();
	polarised();
	drawn.ports = drawn.most = 15;
	examine();
	assert_int_equal(hp3_doctor_count(&d, HP3_WARNING), 0);
	forget_host();
}
