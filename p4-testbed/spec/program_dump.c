/* SPDX-License-Identifier: BSD-3-Clause */
/* The program as JSON, for the test that compares it with the .p4. */
#include <jansson.h>
#include <string.h>
#include "p4-testbed/spec/program.h"

static json_t *fields_json(const struct hp3_program_struct *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; s->fields[i].name != NULL; i++)
		json_array_append_new(
			list, json_pack("[s, i]", s->fields[i].name, (int)s->fields[i].bits));
	return list;
}

static json_t *struct_fields(const char *name)
{
	for (const struct hp3_program_struct *s = hp3_program_structs; s->name; s++)
		if (name != NULL && strcmp(s->name, name) == 0)
			return fields_json(s);
	return json_array();
}

static json_t *strings_json(const char *const *list)
{
	json_t *j = json_array();

	for (; *list != NULL; list++)
		json_array_append_new(j, json_string(*list));
	return j;
}

static json_t *tables_json(void)
{
	json_t *all = json_object();

	for (const struct hp3_program_table *t = hp3_program_tables; t->name; t++)
		json_object_set_new(all, t->name,
			json_pack("{s:o, s:o, s:o, s:s, s:i}", "key", strings_json(t->key), "match",
				strings_json(t->match), "actions", strings_json(t->actions),
				"default", t->miss, "size", (int)t->size));
	return all;
}

static json_t *constants_json(void)
{
	static const struct {
		const char *name;
		unsigned value;
	} list[] = {{"BUCKETS", HP3_PROGRAM_BUCKETS}, {"PORTS", HP3_PROGRAM_PORTS},
		{"FLOWS", HP3_PROGRAM_FLOWS}, {"HASH_CRC32", HP3_PROGRAM_CRC32},
		{"HASH_CRC16", HP3_PROGRAM_CRC16}, {"HASH_CRC32_QPN", HP3_PROGRAM_CRC32_QPN},
		{"HASH_CRC16_QPN", HP3_PROGRAM_CRC16_QPN},
#define X(sym, text) {"DROP_" #sym, HP3_DROP_##sym},
		HP3_PROGRAM_DROPS(X)
#undef X
	};
	json_t *all = json_object();

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		json_object_set_new(all, list[i].name, json_integer(list[i].value));
	return all;
}

void hp3_program_dump(FILE *out)
{
	json_t *headers = json_object(), *actions = json_object(), *counters = json_object();
	json_t *all;

	for (const struct hp3_program_header *h = hp3_program_headers; h->name; h++)
		json_object_set_new(headers, h->name,
			json_pack("{s:s, s:b, s:o}", "type", h->type, "scratch", (int)h->scratch,
				"fields", struct_fields(h->type)));
	for (const struct hp3_program_action *a = hp3_program_actions; a->name; a++)
		json_object_set_new(actions, a->name,
			json_pack("{s:o, s:o}", "args", struct_fields(a->args), "code",
				strings_json(a->code)));
	for (const struct hp3_program_counter *c = hp3_program_counters; c->name; c++)
		json_object_set_new(counters, c->name,
			json_pack("{s:i, s:b}", "size", (int)c->size, "bytes", (int)c->bytes));
	all = json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "headers", headers, "actions", actions,
		"tables", tables_json(), "counters", counters, "constants", constants_json(),
		"code", strings_json(hp3_program_code));
	json_dumpf(all, out, JSON_INDENT(1));
	fputc('\n', out);
	json_decref(all);
}
