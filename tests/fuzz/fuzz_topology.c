/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any text as a topology of the testbed. It is refused with errors. Or the network that
 * it describes is built and routed, and a path leads from every host to the first host.
 */
#include "input.h"
#include "p4-testbed/fabric/net.h"

static void check(const struct hp3_net *net)
{
	uint32_t hop[HP3_NET_HOPS];

	for (uint32_t i = 0; i < net->n_links; i++) {
		const struct hp3_net_link *l = &net->link[i];

		MUST(l->p.rate_mbps > 0 && l->b < net->n_switches);
		MUST(l->a < (l->host ? net->n_hosts : net->n_switches));
	}
	for (uint32_t h = 1; h < net->n_hosts; h++) {
		struct hp3_net_flow flow = {
			.src = h, .sport = 50000, .dport = 4791, .protocol = 17};
		int n = hp3_net_path(net, &flow, hop);

		MUST(n > 0 && n <= (int)HP3_NET_HOPS);
		MUST(hop[0] == net->host[h].leaf && hop[n - 1] == net->host[0].leaf);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hp3_topo topo;
	struct hp3_config_errors errs = {0};
	struct hp3_net net;
	int ret = hp3_topo_load(fuzz_file(data, size), &topo, &errs);

	fuzz_check_errors(ret, &errs);
	if (ret != 0)
		return 0;
	MUST(hp3_net_build(&net, &topo) == 0);
	hp3_net_route(&net);
	check(&net);
	hp3_net_free(&net);
	return 0;
}
