/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any text as a scenario of the simulator. It is refused with errors. Or it is accepted,
 * and then a fabric that it describes, if small, can be built or is refused with a message.
 */
#include "input.h"
#include "sim/core/config.h"
#include "sim/fabric/topo.h"

#define SMALL 16u

static bool is_small(const struct sim_config *c)
{
	return c->fabric.kind != SIM_FILE && c->fabric.leaves <= SMALL &&
	       c->fabric.spines <= SMALL && c->fabric.hosts_per_leaf <= SMALL && c->fabric.k <= 4 &&
	       c->fabric.oversubscription <= 4 && c->fabric.planes <= 2 && c->fabric.rails <= 4 &&
	       c->fabric.segments <= 4 && c->fabric.servers <= 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct sim_config cfg;
	struct hp3_config_errors errs = {0};
	char *text = strndup((const char *)data, size), err[512] = "";
	struct sim_topo t = {0};
	int ret;

	MUST(text != NULL);
	ret = sim_config_load(&cfg, "fuzz", text, NULL, 0, &errs);
	free(text);
	fuzz_check_errors(ret, &errs);
	if (ret != 0)
		return 0;
	MUST(cfg.fabric.kind != SIM_FAT_TREE || cfg.fabric.k % 2 == 0);
	if (!is_small(&cfg))
		return 0;
	sim_config_choose(&cfg, "hp3");
	ret = sim_topo_make(&t, &cfg, err, sizeof(err));
	MUST((ret == 0) == (err[0] == '\0'));
	if (ret == 0)
		sim_topo_free(&t);
	return 0;
}
