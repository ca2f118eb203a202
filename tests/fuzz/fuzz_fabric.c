/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any text as a request to the testbed's fabric. The fabric answers every request: with
 * data, or with an error that describes a correct request. Rates, delays and losses of links
 * stay within their ranges. The switches are replaced by stubs.
 */
#include "input.h"
#include "p4-testbed/fabric/fabric_main.h"

static struct hp3_fabric fabric;

uint64_t hp3_swx_counter(const struct hp3_swx *sw, const char *name, uint32_t index)
{
	MUST(sw >= fabric.sw && sw < fabric.sw + fabric.net.n_switches && name != NULL);
	return index;
}

void hp3_fabric_set_link(struct hp3_fabric *f, uint32_t link, bool up, uint64_t delay_ns)
{
	MUST(link < f->net.n_links);
	f->net.link[link].up = up;
	if (delay_ns != HP3_TM_NEVER)
		hp3_net_route(&f->net);
}

static void start(void)
{
	static struct hp3_topo topo;
	struct hp3_config_errors errs = {0};

	MUST(hp3_ini_parse(&hp3_topo_schema, "none", "", 0, 0, &topo, &errs) == 0);
	MUST(hp3_net_build(&fabric.net, &topo) == 0);
	hp3_net_route(&fabric.net);
	MUST(hp3_tm_init(&fabric.tm, 2 * fabric.net.n_links, 1, NULL, NULL) == 0);
	fabric.sw = calloc(fabric.net.n_switches, sizeof(*fabric.sw));
	fabric.host = calloc(fabric.net.n_hosts, sizeof(*fabric.host));
	MUST(fabric.sw != NULL && fabric.host != NULL);
}

static void check_links(void)
{
	for (uint32_t i = 0; i < fabric.tm.n_lanes; i++) {
		const struct hp3_lane *l = &fabric.tm.lane[i];

		MUST(l->rate_bps <= 10000 * 1000000ull && l->delay_ns <= 1000000000ull);
		MUST(l->impair.blackhole_percent <= 100 && l->impair.ecn < HP3_IMPAIR_ECN_MAX);
		for (size_t k = 0; k < hp3_impair_n_keys; k++)
			MUST(*(const uint32_t *)((const char *)&l->impair +
						 hp3_impair_keys[k].offset) <=
				hp3_impair_keys[k].most);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	json_t *rq = json_loadb((const char *)data, size, 0, NULL), *answer;
	char *text;

	if (fabric.sw == NULL)
		start();
	if (rq == NULL)
		return 0;
	answer = hp3_control_answer(&fabric, rq);
	MUST(json_is_boolean(json_object_get(answer, "ok")));
	MUST(json_object_get(answer, "data") != NULL || json_object_get(answer, "error") != NULL);
	text = json_dumps(answer, JSON_COMPACT);
	MUST(text != NULL);
	free(text);
	json_decref(answer);
	json_decref(rq);
	check_links();
	return 0;
}
