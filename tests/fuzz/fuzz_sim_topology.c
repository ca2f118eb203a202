/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any text as a topology file of the simulator, in the format of the ns-3 simulators. It
 * is refused with a message, or every host reaches every other host by ports that exist.
 */
#include "input.h"
#include "sim/fabric/topo.h"

#define NODES_MAX 64u
#define LINKS_MAX 512u

static void check(const struct sim_topo *t)
{
	for (uint32_t p = 0; p < t->n_ports; p++) {
		MUST(t->peer_port[p] < t->n_ports && t->peer_port[t->peer_port[p]] == p);
		MUST(t->owner[p] < t->nodes && t->port_link[p] < t->n_links);
	}
	for (uint32_t i = 0; i < t->n_links; i++)
		MUST(t->link[i].bps > 0 && t->link[i].delay > 0 && t->link[i].loss <= 1000000000u);
	for (uint32_t src = 0; src < t->hosts; src++) {
		for (uint32_t dst = 0; dst < t->hosts; dst++) {
			const struct sim_group *g = &t->group[t->route[src * t->hosts + dst]];

			MUST(src == dst || (g->n > 0 && t->owner[g->port[0]] == src));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sim_topo t;
	char err[512] = "";
	int ret = sim_topo_load(&t, fuzz_file(data, size), err, sizeof(err));

	MUST((ret == 0) == (err[0] == '\0'));
	if (ret != 0)
		return 0;
	MUST(t.hosts > 0 && t.hosts <= t.nodes);
	for (uint32_t i = 0; i < t.n_links; i++)
		MUST(t.link[i].a < t.nodes && t.link[i].b < t.nodes && t.link[i].a != t.link[i].b);
	if (t.nodes <= NODES_MAX && t.n_links <= LINKS_MAX) {
		ret = sim_topo_finish(&t, 1000, err, sizeof(err));
		MUST((ret == 0) == (err[0] == '\0'));
		if (ret == 0)
			check(&t);
	}
	sim_topo_free(&t);
	return 0;
}
