/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A host for tests of app/doctor: a folder of sysfs and procfs files, so that absent hardware can
 * be checked, and variables for what the doctor asks the kernel. The rail r0 has the ports veth0
 * and eth0; its RNIC is mlx5_0.
 */
#include "app/doctor/doctor.h"

#define BIT(sym) (1u << HP3_OFFLOAD_##sym)

#define RAIL                                                                                       \
	"[rail.r0]\nrnic = \"net_af_packet0,iface=veth0,framesz=4352,blocksz=69632\"\n"            \
	"net = \"net_af_packet1,iface=eth0,framesz=4352,blocksz=69632\"\nrdma = mlx5_0\n"

extern char root[64], file[128]; /* folder of the host; path of the configuration */
extern struct hp3_interface interfaces[3]; /* veth0, eth0, eth1 */
extern struct hp3_own_traffic own[3]; /* of these interfaces */
extern struct hp3_vf vf_of_eth1;
extern struct hp3_drawn drawn;
extern int bpf_says;
extern bool synchronised, has_libraries;
extern uint32_t send_bytes;
extern uint64_t caps;
extern struct hp3_config cfg;
extern struct hp3_config_errors errors;
extern bool unreadable; /* the configuration */
extern struct hp3_doctor d; /* with the findings */

/* Makes the host, without a fault; forget_host() removes it. */
void all_is_well(void);
void forget_host(void);

/* Files and symbolic links of the host. */
void put(const char *path, const char *text);
void point(const char *path, const char *target);
void take_away(const char *path);

/* A configuration of these rails that goes on with `more`. */
void configure(const char *rail, const char *more);
/* All ports can have net_af_xdp. */
void fits_xdp(void);

/* Runs all checks. */
void examine(void);
/* Prints the findings. */
void show(const char *id);
