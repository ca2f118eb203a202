/* SPDX-License-Identifier: BSD-3-Clause */
#include "p4-testbed/spec/program.h"
#include <errno.h>
#include <string.h>
#include <rte_common.h>
#include "p4-testbed/spec/externs.h"

static int load_structs(struct rte_swx_pipeline *p, const char **what)
{
	int ret = 0;

	for (const struct hp3_program_struct *s = hp3_program_structs; ret == 0 && s->name; s++) {
		struct rte_swx_field_params f[RTE_DIM(s->fields)];
		uint32_t n = 0;

		for (; s->fields[n].name != NULL; n++)
			f[n] = (struct rte_swx_field_params){
				.name = s->fields[n].name, .n_bits = s->fields[n].bits};
		*what = s->name;
		ret = rte_swx_pipeline_struct_type_register(p, s->name, f, n, 0);
	}
	for (const struct hp3_program_header *h = hp3_program_headers; ret == 0 && h->name; h++) {
		*what = h->name;
		ret = rte_swx_pipeline_packet_header_register(p, h->name, h->type);
	}
	if (ret == 0) {
		*what = "metadata_t";
		ret = rte_swx_pipeline_packet_metadata_register(p, "metadata_t");
	}
	return ret;
}

static int load_externs(struct rte_swx_pipeline *p, unsigned index, const char **what)
{
	char args[16];
	int ret = hp3_extern_register(p);

	*what = "externs";
	if (ret != 0)
		return ret;
	snprintf(args, sizeof(args), "%u", index);
	return rte_swx_pipeline_extern_object_config(p, "tm_t", "tm", args);
}

static int load_counters(struct rte_swx_pipeline *p, const char **what)
{
	char name[RTE_SWX_NAME_SIZE];
	int ret = 0;

	for (const struct hp3_program_counter *c = hp3_program_counters; ret == 0 && c->name; c++) {
		*what = c->name;
		snprintf(name, sizeof(name), "%s_packets", c->name);
		ret = rte_swx_pipeline_regarray_config(p, name, c->size, 0);
		if (ret == 0 && c->bytes) {
			snprintf(name, sizeof(name), "%s_bytes", c->name);
			ret = rte_swx_pipeline_regarray_config(p, name, c->size, 0);
		}
	}
	if (ret == 0) {
		*what = "icmp_rate";
		ret = rte_swx_pipeline_metarray_config(p, "icmp_rate", 1);
	}
	return ret;
}

static uint32_t count_strings(const char *const *list)
{
	uint32_t n = 0;

	while (list[n] != NULL)
		n++;
	return n;
}

static int load_action(struct rte_swx_pipeline *p, const struct hp3_program_action *a)
{
	const char *code[RTE_DIM(a->code)];

	memcpy(code, a->code, sizeof(code));
	return rte_swx_pipeline_action_config(p, a->name, a->args, code, count_strings(a->code));
}

static int load_table(struct rte_swx_pipeline *p, const struct hp3_program_table *t)
{
	struct rte_swx_match_field_params key[RTE_DIM(t->key)];
	const char *actions[RTE_DIM(t->actions)];
	uint32_t n = count_strings(t->key);

	for (uint32_t i = 0; i < n; i++)
		key[i] = (struct rte_swx_match_field_params){
			.name = t->key[i],
			.match_type = strcmp(t->match[i], "lpm") == 0 ? RTE_SWX_TABLE_MATCH_LPM
								      : RTE_SWX_TABLE_MATCH_EXACT,
		};
	memcpy(actions, t->actions, sizeof(actions));
	return rte_swx_pipeline_table_config(p, t->name,
		&(struct rte_swx_pipeline_table_params){
			.fields = n > 0 ? key : NULL,
			.n_fields = n,
			.action_names = actions,
			.n_actions = count_strings(t->actions),
			.default_action_name = t->miss,
			.default_action_args = t->miss_args,
		},
		NULL, NULL, t->size);
}

int hp3_program_load(struct rte_swx_pipeline *p, unsigned index, const char **what)
{
	const char *code[512];
	uint32_t n = count_strings(hp3_program_code);
	int ret = load_structs(p, what);

	if (ret == 0)
		ret = load_externs(p, index, what);
	if (ret == 0)
		ret = load_counters(p, what);
	for (const struct hp3_program_action *a = hp3_program_actions; ret == 0 && a->name; a++) {
		*what = a->name;
		ret = load_action(p, a);
	}
	for (const struct hp3_program_table *t = hp3_program_tables; ret == 0 && t->name; t++) {
		*what = t->name;
		ret = load_table(p, t);
	}
	if (ret == 0) {
		*what = "instructions";
		if (n > RTE_DIM(code))
			return -E2BIG;
		memcpy(code, hp3_program_code, n * sizeof(code[0]));
		ret = rte_swx_pipeline_instructions_config(p, code, n);
	}
	if (ret == 0) {
		*what = "build";
		ret = rte_swx_pipeline_build(p);
	}
	return ret;
}
