/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any text as a scenario of the testbed. It is refused with errors; or it is converted to
 * JSON, which has every key, for the runner.
 */
#include "input.h"
#include "p4-testbed/fabric/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hp3_scenario s;
	struct hp3_config_errors errs = {0};
	int ret = hp3_scenario_load(fuzz_file(data, size), &s, &errs);
	json_t *all;

	fuzz_check_errors(ret, &errs);
	if (ret != 0)
		return 0;
	for (uint32_t i = 0; i < s.n_events; i++)
		MUST(s.events[i].at_ms <= s.scenario.seconds * 1000);
	all = hp3_scenario_json(&s);
	MUST(json_object_size(all) >= 1u + s.n_flows + s.n_rings + s.n_events);
	json_decref(all);
	return 0;
}
