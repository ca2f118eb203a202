/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include "app/dpdk/failure.h"
#include "config/message.h"
#include "p4-testbed/fabric/fabric_main.h"

#define FRAME_ROOM 4608u /* the largest frame that inject takes, and headroom */

int hp3_fabric_eal(const struct hp3_fabric_args *a)
{
	static char memory[16], prefix[64], lcores[64];
	static const char *const fixed[] = {"hp3-fabric", "--no-huge", "--no-shconf", "--no-pci",
		"--no-telemetry", "--log-level=4", "-m", memory, "--file-prefix", prefix,
		"--lcores", lcores};
	static char *argv[RTE_DIM(fixed) + 1];
	int ret;

	snprintf(memory, sizeof(memory), "%u", a->memory_mb);
	snprintf(prefix, sizeof(prefix), "hp3fab-%.32s-%d", a->name, getpid());
	snprintf(lcores, sizeof(lcores), "0@(0-%ld)", sysconf(_SC_NPROCESSORS_ONLN) - 1);
	for (size_t i = 0; i < RTE_DIM(fixed); i++)
		argv[i] = strdup(fixed[i]); /* EAL keeps and reorders what it is given */
	ret = rte_eal_init((int)RTE_DIM(fixed), argv);
	if (ret < 0)
		hp3_message("hp3-fabric: DPDK does not start: %s",
			hp3_dpdk_failure(rte_errno,
				"lower --memory, or free memory on this machine",
				"see the lines of DPDK above"));
	return ret < 0 ? -1 : 0;
}

int hp3_switches_open(struct hp3_switches *s, const struct hp3_fabric_args *a,
	const struct hp3_topo *topo, const struct hp3_swx_ops *ops, void *arg)
{
	if (hp3_net_build(&s->net, topo) != 0 || hp3_fabric_eal(a) != 0)
		return -1;
	s->pool = rte_pktmbuf_pool_create("switches", 63, 0,
		RTE_ALIGN(sizeof(struct hp3_frame), RTE_MBUF_PRIV_ALIGN), FRAME_ROOM, 0);
	if (s->pool == NULL) {
		hp3_message("hp3-fabric: no pool of packet buffers: %s",
			hp3_pool_failure(rte_errno, "raise --memory"));
		return -1;
	}
	for (uint32_t i = 0; i < s->net.n_switches; i++)
		if (hp3_swx_open(&s->sw[i], &s->net, i, ops, arg) != 0)
			return -1;
	return 0;
}

void hp3_switches_close(struct hp3_switches *s)
{
	for (uint32_t i = 0; i < s->net.n_switches; i++)
		hp3_swx_close(&s->sw[i]);
	rte_mempool_free(s->pool);
	hp3_net_free(&s->net);
}
