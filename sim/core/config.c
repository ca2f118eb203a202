/* SPDX-License-Identifier: BSD-3-Clause */
/* Loading a scenario, and the policies of those balancers that have one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/config.h"
#include "config/message.h"
#include "sim/core/config.h"
#include "sim/work/builtin.h"

/* The policy of a balancer: what ships, and what these built-in texts change, one after another. */
static const struct {
	const char *lb, *text[2];
} policies[SIM_POLICIES] = {
	[SIM_POLICY_HP3] = {"hp3", {NULL}},
	[SIM_POLICY_IDEAL] = {"hp3-ideal", {"hp3-ideal", NULL}},
	[SIM_POLICY_PAPER] = {"hp3-paper", {"hp3-ideal", "hp3-paper"}},
	[SIM_POLICY_VERBS] = {"hp3-verbs", {NULL}},
};

/* As hp3d loads it: what means nothing here, such as rails, has to be right all the same. */
static int set_policy(struct sim_config *cfg, const char *file, struct hp3_config_errors *errs)
{
	struct hp3_config hp3;
	int ret;

	ret = hp3_config_load(file, HP3_CONFIG_NO_RAILS, &hp3, errs);
	if (ret == 0)
		cfg->engine = hp3.engine;
	return ret;
}

static int set_key(struct sim_config *cfg, const struct hp3_ini_schema *schema, const char *set,
	struct hp3_config_errors *errs)
{
	const char *dot = strchr(set, '.'), *eq = strchr(set, '=');
	char *text = NULL;
	size_t len = 0;
	FILE *f;
	int ret;

	if (dot == NULL || eq == NULL || dot > eq) {
		hp3_message("hp3-sim: --set %s: write section.key=value with a key that `hp3-sim "
			    "keys` prints",
			set);
		return -EINVAL;
	}
	f = open_memstream(&text, &len);
	fprintf(f, "[%.*s]\n%.*s = \"%s\"\n", (int)(dot - set), set, (int)(eq - dot - 1), dot + 1,
		eq + 1);
	fclose(f);
	ret = hp3_ini_parse(schema, set, text, len, HP3_INI_KEEP, cfg, errs);
	free(text);
	return ret;
}

static int begin_as(struct sim_config *cfg, enum sim_policy who, struct hp3_config_errors *errs)
{
	struct hp3_ini_schema part = sim_schema;
	int ret = 0;

	*cfg = (struct sim_config){0};
	hp3_ini_defaults(&sim_schema, cfg);
	part.check = NULL;
	for (unsigned i = 0; i < 2 && policies[who].text[i] != NULL && ret == 0; i++) {
		const char *name = policies[who].text[i];
		const char *text = sim_builtin_text(name, "policy");

		ret = hp3_ini_parse(&part, name, text, strlen(text), HP3_INI_KEEP, cfg, errs);
	}
	return ret;
}

static bool names_a_file(const char *set)
{
	return strncmp(set, "hp3=", strlen("hp3=")) == 0;
}

/* Rules between keys wait for the last one. */
static int apply_settings(struct sim_config *cfg, enum sim_policy who, const char *const *set,
	unsigned n, struct hp3_config_errors *errs)
{
	struct hp3_ini_schema part = sim_schema;
	int ret = 0;

	part.check = NULL;
	for (unsigned i = 0; ret == 0 && i < n; i++)
		if (names_a_file(set[i]) && who == SIM_POLICY_HP3)
			ret = set_policy(cfg, set[i] + strlen("hp3="), errs);
	for (unsigned i = 0; ret == 0 && i < n; i++)
		if (!names_a_file(set[i]))
			ret = set_key(cfg, &part, set[i], errs);
	return ret == 0 ? hp3_ini_parse(&sim_schema, set[n - 1], "", 0, HP3_INI_KEEP, cfg, errs)
			: ret;
}

static int load_as(struct sim_config *cfg, enum sim_policy who, const char *path, const char *text,
	const char *const *set, unsigned n, struct hp3_config_errors *errs)
{
	struct hp3_ini_schema part = sim_schema;
	int ret = begin_as(cfg, who, errs);

	part.check = n > 0 ? NULL : sim_schema.check;
	if (ret == 0 && text != NULL)
		ret = hp3_ini_parse(&part, path, text, strlen(text), HP3_INI_KEEP, cfg, errs);
	else if (ret == 0 && path != NULL)
		ret = hp3_ini_load(&part, path, HP3_INI_KEEP, cfg, errs);
	return ret == 0 && n > 0 ? apply_settings(cfg, who, set, n, errs) : ret;
}

int sim_config_load(struct sim_config *cfg, const char *path, const char *text,
	const char *const *set, unsigned n, struct hp3_config_errors *errs)
{
	static struct sim_config as;
	struct hp3_engine_config policy[SIM_POLICIES];
	int ret = 0;

	for (unsigned who = 0; who < SIM_POLICIES && ret == 0; who++) {
		ret = load_as(&as, who, path, text, set, n, errs);
		policy[who] = as.engine;
	}
	*cfg = as;
	memcpy(cfg->policy, policy, sizeof(policy));
	sim_config_choose(cfg, as.run.lb);
	return ret;
}

enum sim_policy sim_policy_of(const char *lb)
{
	unsigned who = 0;

	while (who < SIM_POLICIES && strcmp(policies[who].lb, lb) != 0)
		who++;
	return (enum sim_policy)who;
}

void sim_config_choose(struct sim_config *cfg, const char *lb)
{
	enum sim_policy who = sim_policy_of(lb);

	cfg->engine = cfg->policy[who < SIM_POLICIES ? who : SIM_POLICY_HP3];
	if (lb != cfg->run.lb)
		snprintf(cfg->run.lb, sizeof(cfg->run.lb), "%s", lb);
}
