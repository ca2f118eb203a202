/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include "app/dpdk/failure.h"
#include "config/message.h"
#include "p4-testbed/fabric/fabric_main.h"

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
