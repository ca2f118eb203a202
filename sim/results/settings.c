/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/plain.h"
#include "sim/results/settings.h"
#include "sim/sim_commit.h"
#include "sim/sim_source.h"
#include "sim/work/builtin.h"

struct used {
	json_t *out;
	const struct sim_inputs *in;
	bool policy; /* sections of policy are for balancers with an engine */
	bool verbs; /* [hp3-verbs] is for that one alone */
	bool xfer; /* [xfer] is for hp3x alone */
};

const char *sim_commit(void)
{
	return HP3_SIM_COMMIT;
}

const char *sim_source(const char *lb)
{
	return strncmp(lb, "hp3", 3) == 0 ? HP3_SIM_SOURCE : HP3_SIM_SOURCE_MODEL;
}

static bool was_read(const struct sim_input *in)
{
	return in != NULL && in->name[0] != '\0';
}

/* Keys of [fabric] that a topology file says instead. */
static bool is_shape(const char *key)
{
	static const char *const shape[] = {"leaves", "spines", "hosts_per_leaf", "k",
		"oversubscription", "planes", "rails", "segments", "servers", "host_mbps",
		"core_mbps", "delay_ns", "last_plane_percent"};

	for (size_t i = 0; i < sizeof(shape) / sizeof(shape[0]); i++)
		if (strcmp(shape[i], key) == 0)
			return true;
	return false;
}

static bool is_policy(const char *section)
{
	static const char *const policy[] = {
#define HP3_POLICY_SECTION(title, text) #title,
#include "engine/policy.def"
		"hp3-ideal",
		"peers",
	};

	for (size_t i = 0; i < sizeof(policy) / sizeof(policy[0]); i++)
		if (strcmp(policy[i], section) == 0)
			return true;
	return false;
}

static bool is_used(const struct used *u, const char *section, const char *key)
{
	bool trace = was_read(u->in->flows), file = was_read(u->in->topology);

	if (strcmp(section, "sweep") == 0)
		return false;
	if (is_policy(section))
		return u->policy;
	if (strcmp(section, "hp3-verbs") == 0)
		return u->verbs;
	if (strcmp(section, "xfer") == 0)
		return u->xfer;
	if (strcmp(section, "fabric") == 0)
		return strcmp(key, "topology") == 0 ? file : !file || !is_shape(key);
	if (strcmp(section, "background") == 0 || strcmp(section, "fault") == 0)
		return !trace;
	if (strcmp(section, "traffic") == 0)
		return strcmp(key, "cdf") == 0 ? was_read(u->in->sizes)
					       : !trace || strcmp(key, "read_percent") == 0;
	return true;
}

/* Not listed with its default: the keys of results are those of versions without this setting. */
static bool is_absent(const char *key, const char *value)
{
	return strcmp(key, "hash_bth") == 0 && strcmp(value, "none") == 0;
}

static int add_setting(void *arg, const struct hp3_ini_item *item)
{
	const struct used *u = arg;
	char value[HP3_INI_VALUE_MAX], name[2 * HP3_INI_NAME_MAX];

	if (!is_used(u, item->section, item->key->key))
		return 0;
	hp3_ini_format(item->key, item->field, value, sizeof(value));
	if (is_absent(item->key->key, value))
		return 0;
	hp3_plain(value);
	snprintf(name, sizeof(name), "%s.%s", item->section, item->key->key);
	return json_object_set_new(u->out, name,
		item->key->type == HP3_INI_INT ? json_integer((json_int_t)strtoull(value, NULL, 10))
					       : json_string(value));
}

json_t *sim_settings_json(const struct sim_config *cfg, const struct sim_inputs *in)
{
	struct used u = {.out = json_object(),
		.in = in,
		.policy = sim_policy_of(cfg->run.lb) < SIM_POLICIES,
		.verbs = sim_policy_of(cfg->run.lb) == SIM_POLICY_VERBS,
		.xfer = strcmp(cfg->run.lb, "hp3x") == 0};

	hp3_ini_each(&sim_schema, cfg, false, add_setting, &u);
	if (was_read(in->topology)) {
		json_object_set_new(u.out, "fabric.kind", json_string("file"));
		json_object_set_new(u.out, "fabric.topology", json_string(in->topology->name));
	}
	return u.out;
}

static void add_input(json_t *out, const char *role, const struct sim_input *in)
{
	if (was_read(in))
		json_object_set_new(
			out, role, json_pack("{s:s, s:s}", "name", in->name, "sha256", in->sha256));
}

json_t *sim_inputs_json(const struct sim_inputs *in)
{
	json_t *out = json_object();

	add_input(out, "topology", in->topology);
	add_input(out, "sizes", in->sizes);
	add_input(out, "flows", in->flows);
	return out;
}

void sim_key(const struct sim_config *cfg, const struct sim_inputs *in, char key[SIM_SHA256_HEX])
{
	json_t *settings = sim_settings_json(cfg, in), *inputs = sim_inputs_json(in), *all, *input;
	const char *role;
	char *text;

	json_object_del(settings, "fabric.topology");
	json_object_del(settings, "traffic.cdf");
	json_object_foreach (inputs, role, input)
		json_object_del(input, "name");
	all = json_pack("{s:s, s:o, s:o}", "source", sim_source(cfg->run.lb), "settings", settings,
		"inputs", inputs);
	text = json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS);
	sim_sha256(text, strlen(text), key);
	free(text);
	json_decref(all);
}

int sim_key_of_scenario(const struct sim_config *cfg, char key[SIM_SHA256_HEX])
{
	static struct sim_input topology, sizes;
	struct sim_inputs in = {.topology = &topology, .sizes = &sizes};
	int ret = 0;

	topology.name[0] = sizes.name[0] = '\0';
	if (cfg->fabric.kind == SIM_FILE)
		ret = sim_input_read(&topology, cfg->fabric.topology, NULL);
	if (ret == 0 && cfg->traffic.kind == SIM_POISSON)
		ret = sim_input_read(
			&sizes, cfg->traffic.cdf, sim_builtin_text(cfg->traffic.cdf, "txt"));
	if (ret == 0)
		sim_key(cfg, &in, key);
	return ret;
}
