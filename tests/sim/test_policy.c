/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3 has the policy of hp3d: its defaults, the file that it loads, and nothing that hp3d cannot
 * do. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "config/config.h"
#include "engine/policy.h"
#include "sim/lb/hp3.h"
#include "world.h"

#define SMALL "fabric.leaves=2", "fabric.spines=2", "fabric.hosts_per_leaf=2"

static struct sim s;

/* What the engines of hp3 are told is what hp3d would tell them, but for the size of tables. */
static void same_as_hp3d(const struct hp3_engine_config *table, bool verbs)
{
	struct hp3_engine_config want = hp3_policy_settled(table);
	const struct hp3_engine_config *got = &((struct hp3_balancer *)s.lb_state)->cfg;

	want.seed = want.hash_seed = s.cfg.run.seed;
	want.max_flows = HP3_SIM_QPS;
	want.max_pairs = s.topo.hosts;
	want.verbs = verbs;
	if (verbs) { /* switches are not asked who they are */
		want.trace = false;
		want.spray.mode = HP3_SPRAY_MOVE;
	}
	assert_memory_equal(got, &want, sizeof(want));
	assert_null(((struct hp3_balancer *)s.lb_state)->model);
}

static void hp3_is_what_ships(void **state)
{
	struct hp3_engine_config table;

	hp3_policy_defaults(&table);
	WORLD(&s, SMALL, "run.lb=hp3");
	same_as_hp3d(&table, false);
	sim_destroy(&s);
	WORLD(&s, SMALL, "run.lb=hp3", "hp3-ideal.rate_acts=on", "hp3-ideal.model=on",
		"ppp.identity=none");
	table.trace = false;
	same_as_hp3d(&table, false);
	sim_destroy(&s);
	WORLD(&s, SMALL, "run.lb=hp3-verbs", "ppp.identity=trace");
	table.trace = true;
	same_as_hp3d(&table, true);
	sim_destroy(&s);
}

/* With rails and sockets; what is set beside it comes later, wherever it stands. */
static void hp3d_s_own_file(void **state)
{
	char path[] = "/tmp/hp3-policy-XXXXXX", set[64];
	int fd = mkstemp(path);
	FILE *f = fdopen(fd, "w");
	struct hp3_config cfg;
	struct hp3_config_errors errs = {0};

	assert_non_null(f);
	fputs("[eal]\nburst = 16\n[rail.a]\nrnic = net_ring0\nnet = net_ring1\n"
	      "[watch]\nverbs = off\n[policy]\nstudy = on\n[ppp]\ncycle_us = 33\nwatch = on\n"
	      "[rfr]\ncooldown_us = 7\n[control]\nsocket = /tmp/x.sock\n",
		f);
	fclose(f);
	assert_int_equal(hp3_config_load(path, 0, &cfg, &errs), 0);
	snprintf(set, sizeof(set), "hp3=%s", path);
	WORLD(&s, SMALL, "run.lb=hp3", set);
	same_as_hp3d(&cfg.engine, false);
	sim_destroy(&s);
	WORLD(&s, SMALL, "run.lb=hp3", "ppp.cycle_us=44", set);
	cfg.engine.monitor.cycle_ns = 44000;
	same_as_hp3d(&cfg.engine, false);
	sim_destroy(&s);
	/* The others keep their own. */
	WORLD(&s, SMALL, "run.lb=hp3-ideal", set);
	assert_int_equal(s.cfg.engine.monitor.cycle_ns, 10000);
	sim_destroy(&s);
	unlink(path);
}

static void refuse(const char *set, const char *words)
{
	struct hp3_config_errors errs = {0};
	struct sim_config cfg;

	assert_int_equal(sim_config_load(&cfg, NULL, NULL, &set, 1, &errs), -EINVAL);
	assert_true(errs.count > 0);
	if (strstr(errs.list[0].text, words) == NULL)
		fail_msg("%s: %s", set, errs.list[0].text);
	hp3_config_errors_free(&errs);
}

static void what_hp3d_cannot_is_refused(void **state)
{
	refuse("ppp.identity=model", "not a choice: allowed is none|trace");
	refuse("cc.rate_acts=on", "belongs to section [hp3-ideal]");
	refuse("ppp.probe=standard", "standard probes are not modelled");
	refuse("ppp.probe=nak", "not a choice: allowed is off|auto|peer|standard");
	refuse("cc.mode=dcqcn", "set rnic.cc = none");
	refuse("ppp.cycle_us=0", "too small");
	refuse("rfr.hold_bytes=1073741824", "exceeds that of all");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hp3_is_what_ships),
		cmocka_unit_test(hp3d_s_own_file),
		cmocka_unit_test(what_hp3d_cannot_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
