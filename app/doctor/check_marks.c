/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks of marks, CNPs, and their class. */
#include <stdlib.h>
#include <string.h>
#include "app/doctor/internal.h"
#include "base/plain.h"

#define TOS_OFFERED 106 /* DSCP 26, ECT(0): what RoCE deployments use most */

/* The number of priorities (of eight) with this side of DCQCN enabled; -1: not known. */
static int enabled_priorities(const struct hp3_host *h, const char *netdev, const char *side)
{
	int n = -1;

	for (int i = 0; i < 8; i++) {
		long long on = hp3_host_number(
			h, -1, "/sys/class/net/%s/ecn/%s/enable/%d", netdev, side, i);

		if (on >= 0)
			n = (n < 0 ? 0 : n) + (on != 0);
	}
	return n;
}

void hp3_check_ecn(struct hp3_doctor *d, const struct hp3_rdma_port *p)
{
	static const char *const sides[][2] = {
		{"roce_np", "answers no marks with CNPs"}, {"roce_rp", "ignores CNPs"}};

	for (size_t i = 0; i < sizeof(sides) / sizeof(sides[0]); i++) {
		if (p->netdev[0] == '\0' ||
			enabled_priorities(d->host, p->netdev, sides[i][0]) != 0)
			continue;
		hp3_find(d, "%s (%s) %s, on any priority", p->device, p->netdev, sides[i][1]);
		hp3_fix(d, "echo 1 > /sys/class/net/%s/ecn/%s/enable/3 (the priority of RoCE)",
			HP3_SHELL_QUOTE(p->netdev), sides[i][0]);
	}
}

void hp3_check_cnp_class(struct hp3_doctor *d, const struct hp3_rdma_port *p)
{
	unsigned answers = d->cfg != NULL ? d->cfg->engine.answer_dscp : HP3_DSCP_KEPT;

	if (p->cnp_dscp < 0 || answers == HP3_DSCP_KEPT || (unsigned)p->cnp_dscp == answers)
		return;
	hp3_find(d, "%s port %u sends CNPs with DSCP %d, and [ppp] answer_dscp is %u", p->device,
		p->number, p->cnp_dscp, answers);
	hp3_fix(d,
		"set [ppp] answer_dscp = %d, or: echo %u > %s (the DSCP that switches serve first)",
		p->cnp_dscp, answers, p->cnp_file);
}

void hp3_check_traffic_class(struct hp3_doctor *d, const struct hp3_rdma_port *p)
{
	char text[64];
	long long tos = hp3_host_number(d->host, 0,
		"/sys/kernel/config/rdma_cm/%s/ports/%u/default_roce_tos", p->device, p->number);

	if (p->roce_v2 == 0)
		return;
	/* The driver's default, for applications that do not use rdma_cm. */
	if (hp3_host_line(d->host, text, sizeof(text),
		    "/sys/class/infiniband/%s/tc/%u/traffic_class", p->device, p->number) &&
		strrchr(text, '=') != NULL)
		tos = strtoll(strrchr(text, '=') + 1, NULL, 0);
	if ((tos & 3) == 1 || (tos & 3) == 2)
		return;
	hp3_find(d,
		"%s port %u: connections without a traffic class leave with ToS %lld (DSCP "
		"%lld), which is not ECN-capable",
		p->device, p->number, tos, tos >> 2);
	hp3_fix(d, "cma_roce_tos -d %s -p %u -t %d (rdma_cm); NCCL_IB_TC=%d, perftest --tclass=%d",
		p->device, p->number, TOS_OFFERED, TOS_OFFERED, TOS_OFFERED);
}
