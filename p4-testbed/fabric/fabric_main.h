/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * hp3-fabric: the program that hp3-testbed runs. Subcommands that only read a topology need no
 * DPDK. The subcommand `run` forwards traffic between hosts, `inject` sends single packets through
 * one switch (conformance vectors), and `bench` measures the speed.
 *
 * Exit codes: 0 done, 1 failed (message on stderr), 2 usage.
 */
#include <jansson.h>
#include "p4-testbed/fabric/fabric.h"

struct hp3_fabric_args {
	const char *command;
	const char *word[8]; /* positional arguments */
	unsigned n_words;
	const char *socket, *name, *devargs, *target;
	uint32_t memory_mb, qpn, dport;
	bool ipv6, quick;
};

/* eal.c: starts DPDK's EAL for the fabric a->name. The EAL shares nothing with other processes. */
int hp3_fabric_eal(const struct hp3_fabric_args *a);

/* eal.c: the switches of a network, without the hosts' ports and the links. */
struct hp3_switches {
	struct hp3_net net;
	struct hp3_swx sw[HP3_NET_SWITCHES];
	struct rte_mempool *pool;
};

/*
 * Starts the EAL, and makes the switches. Returns 0, or -1 with a message on stderr. Call
 * hp3_switches_close() in both cases.
 */
int hp3_switches_open(struct hp3_switches *s, const struct hp3_fabric_args *a,
	const struct hp3_topo *topo, const struct hp3_swx_ops *ops, void *arg);
void hp3_switches_close(struct hp3_switches *s);

/* run.c, inject.c, bench.c. Return exit codes. */
int hp3_fabric_run(const struct hp3_fabric_args *a, const struct hp3_topo *topo);
int hp3_fabric_inject(const struct hp3_fabric_args *a, const struct hp3_topo *topo);
int hp3_fabric_bench(const struct hp3_fabric_args *a, const struct hp3_topo *topo);

/* plan.c */
json_t *hp3_plan(const struct hp3_net *net);
json_t *hp3_plan_path(const struct hp3_net *net, const struct hp3_net_flow *flow); /* NULL: none */
int hp3_plan_entries(const struct hp3_net *net, const char *sw, const char *target);

/* control.c: handles a request of the control socket, and returns the answer. */
json_t *hp3_control_answer(struct hp3_fabric *f, json_t *request);
