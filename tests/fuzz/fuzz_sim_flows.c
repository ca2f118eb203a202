/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any text as a flow trace. It is refused with a message, or the source and destination
 * of every flow are two different hosts.
 */
#include "input.h"
#include "sim/work/traffic.h"

#define HOSTS 32u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sim s;
	char err[512] = "";
	int ret;

	s.topo.hosts = HOSTS;
	s.n_demands = 0;
	ret = sim_flows_load(&s, fuzz_file(data, size), err, sizeof(err));
	MUST((ret == 0) == (err[0] == '\0'));
	for (uint32_t i = 0; i < s.n_demands; i++) {
		const struct sim_demand *d = &s.demand[i];

		MUST(d->src < HOSTS && d->dst < HOSTS && d->src != d->dst);
		MUST(d->bytes <= UINT32_MAX && d->start <= 1000001 * SIM_SEC);
	}
	return 0;
}
