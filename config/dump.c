/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes values as text: one value, all values, a file. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/urls.h"
#include "config/doc.h"

static uint64_t load_int(const struct hp3_ini_key *key, const void *field)
{
	uint64_t value = 0;

	memcpy(&value, field, key->size); /* the low bytes: the CPU is little-endian */
	return value / (key->scale != 0 ? key->scale : 1);
}

void hp3_ini_format(const struct hp3_ini_key *key, const void *field, char *buf, size_t cap)
{
	if (key->word != NULL && load_int(key, field) > key->max)
		snprintf(buf, cap, "%s", key->word);
	else if (key->type == HP3_INI_INT)
		snprintf(buf, cap, "%" PRIu64, load_int(key, field));
	else if (key->type == HP3_INI_ENUM)
		snprintf(buf, cap, "%s", key->choices[load_int(key, field)]);
	else
		snprintf(buf, cap, "%s", (const char *)field);
}

void hp3_ini_allowed(const struct hp3_ini_key *key, char *buf, size_t cap)
{
	size_t used = 0;

	if (key->type == HP3_INI_INT) {
		snprintf(buf, cap, "%" PRIu64 "..%" PRIu64 "%s%s%s%s", key->min, key->max,
			*key->unit != '\0' ? " " : "", key->unit, key->word != NULL ? "|" : "",
			key->word != NULL ? key->word : "");
	} else if (key->type == HP3_INI_STRING) {
		snprintf(buf, cap, "text of %" PRIu64 "..%" PRIu64 " bytes", key->min, key->max);
	} else {
		for (size_t i = 0; key->choices[i] != NULL && used < cap; i++)
			used += (size_t)snprintf(
				buf + used, cap - used, "%s%s", i > 0 ? "|" : "", key->choices[i]);
	}
}

void hp3_ini_default(const struct hp3_ini_key *key, char *buf, size_t cap)
{
	if (key->required)
		snprintf(buf, cap, "must be set");
	else if (key->type == HP3_INI_INT)
		snprintf(buf, cap, "default %" PRIu64, key->def);
	else if (key->type == HP3_INI_ENUM)
		snprintf(buf, cap, "default %s", key->choices[key->def]);
	else
		snprintf(buf, cap, "default \"%s\"", key->def_string);
}

static const struct hp3_ini_section *row_of(
	const struct hp3_ini_schema *schema, const struct hp3_ini_key *key)
{
	return hp3_ini_section_row(schema, key->section);
}

struct each {
	const struct hp3_ini_schema *schema;
	const void *obj;
	bool hidden; /* fn gets keys for which hp3_ini_hides() is true, too */
	hp3_ini_item_fn *fn;
	void *arg;
};

static int each_key(const struct each *of, struct hp3_ini_item *item, const char *base)
{
	const struct hp3_ini_schema *schema = of->schema;
	int ret = 0;

	item->first = true;
	for (size_t i = 0; i < schema->n_keys && ret == 0; i++) {
		item->key = &schema->keys[i];
		if (row_of(schema, item->key) != item->row ||
			(!of->hidden && hp3_ini_hides(schema, item->key, of->obj)))
			continue;
		item->field = base + item->key->offset;
		ret = of->fn(of->arg, item);
		item->first = false;
	}
	return ret;
}

/* How many sections of this row *obj has. */
static uint32_t count_sections(const struct hp3_ini_section *row, const void *obj)
{
	uint32_t n = 1;

	if (row->max > 0)
		memcpy(&n, (const char *)obj + row->count, sizeof(n));
	return n;
}

int hp3_ini_each(const struct hp3_ini_schema *schema, const void *obj, bool hidden,
	hp3_ini_item_fn *fn, void *arg)
{
	const struct each of = {schema, obj, hidden, fn, arg};
	int ret = 0;

	for (size_t i = 0; i < schema->n_sections && ret == 0; i++) {
		const struct hp3_ini_section *row = &schema->sections[i];
		struct hp3_ini_item item = {.row = row};
		uint32_t n = count_sections(row, obj);

		for (uint32_t at = 0; at < n && ret == 0; at++) {
			const char *base = (const char *)obj + row->array + at * row->stride;

			snprintf(item.section, sizeof(item.section), "%s%s%s", row->name,
				row->max > 0 ? "." : "", row->max > 0 ? base : "");
			ret = each_key(&of, &item, base);
		}
	}
	return ret;
}

static void dump_comment(FILE *out, const struct hp3_ini_key *key)
{
	char allowed[128], def[HP3_INI_DEFAULT_MAX];

	hp3_ini_allowed(key, allowed, sizeof(allowed));
	hp3_ini_default(key, def, sizeof(def));
	fprintf(out, "\n# %s\n# %s; %s; %s\n", key->help, allowed, def,
		key->reloadable ? "reloadable" : "needs a restart");
}

/* Without '\n' at its end. What is not shown is a comment. */
static void dump_value(FILE *out, const struct hp3_ini_item *item)
{
	char value[HP3_INI_VALUE_MAX], shown[2 * HP3_INI_VALUE_MAX];
	const char *quote = "";

	hp3_ini_format(item->key, item->field, value, sizeof(value));
	if (item->key->secret && value[0] != '\0') {
		fprintf(out, "# %s = (set, and not shown)", item->key->key);
		return;
	}
	if (item->key->urls && strcmp(hp3_urls_shown(value, shown, sizeof(shown)), value) != 0) {
		fprintf(out, "# %s = \"%s\" (set, and *** not shown)", item->key->key, shown);
		return;
	}
	if (item->key->type == HP3_INI_STRING)
		quote = strchr(value, '"') != NULL ? "'" : "\"";
	fprintf(out, "%s = %s%s%s", item->key->key, quote, value, quote);
}

struct dump {
	FILE *out;
	const struct hp3_ini_section *row; /* the section of the last key */
};

static int dump_item(void *arg, const struct hp3_ini_item *item)
{
	struct dump *d = arg;

	if (item->first) {
		fputc('\n', d->out);
		if (item->row != d->row)
			fprintf(d->out, "# %s\n", item->row->help);
		d->row = item->row;
		fprintf(d->out, "[%s]\n", item->section);
	}
	dump_comment(d->out, item->key);
	dump_value(d->out, item);
	fputc('\n', d->out);
	return 0;
}

void hp3_ini_dump(const struct hp3_ini_schema *schema, const void *obj, FILE *out)
{
	struct dump d = {.out = out};

	fprintf(out, "# %s\n", schema->title);
	hp3_ini_each(schema, obj, false, dump_item, &d);
	for (size_t i = 0; i < schema->n_sections; i++) {
		const struct hp3_ini_section *row = &schema->sections[i];

		if (count_sections(row, obj) > 0)
			continue;
		fprintf(out, "\n# %s\n# [%s.NAME]\n", row->help, row->name);
		for (size_t k = 0; k < schema->n_keys; k++)
			if (row_of(schema, &schema->keys[k]) == row)
				fprintf(out, "# %s = (%s)\n", schema->keys[k].key,
					schema->keys[k].help);
	}
}

static bool is_default(const struct hp3_ini_item *item)
{
	if (item->key->required)
		return false;
	if (item->key->type == HP3_INI_STRING)
		return strcmp(item->field, item->key->def_string) == 0;
	return load_int(item->key, item->field) == item->key->def;
}

struct dump_short {
	FILE *out;
	const struct hp3_ini_schema *schema;
	char section[HP3_INI_NAME_MAX]; /* of the last key */
};

static const char *comment_of_common(
	const struct hp3_ini_schema *schema, const struct hp3_ini_key *key)
{
	for (size_t i = 0; i < schema->n_common; i++)
		if (strcmp(schema->common[i].section, key->section) == 0 &&
			strcmp(schema->common[i].key, key->key) == 0)
			return schema->common[i].comment;
	return NULL;
}

static int dump_short_item(void *arg, const struct hp3_ini_item *item)
{
	struct dump_short *d = arg;
	const char *comment = comment_of_common(d->schema, item->key);
	char def[HP3_INI_DEFAULT_MAX];

	if (comment == NULL && is_default(item))
		return 0;
	if (strcmp(d->section, item->section) != 0)
		fprintf(d->out, "\n[%s]\n", item->section);
	strcpy(d->section, item->section);
	dump_value(d->out, item);
	if (comment == NULL && item->key->required)
		comment = item->key->help;
	hp3_ini_default(item->key, def, sizeof(def));
	fprintf(d->out, " # %s\n", comment != NULL ? comment : def);
	return 0;
}

void hp3_ini_dump_short(const struct hp3_ini_schema *schema, const void *obj, FILE *out)
{
	struct dump_short d = {.out = out, .schema = schema};

	fprintf(out, "# %s\n", schema->title_short);
	hp3_ini_each(schema, obj, false, dump_short_item, &d);
}
