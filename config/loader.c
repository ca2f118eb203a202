/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads a file: reads it once, scans it, lets iniparser read the correct lines, converts, and
 * checks.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <iniparser/iniparser.h>
#include "config/doc.h"

const struct hp3_ini_section *hp3_ini_section_row(const struct hp3_ini_schema *s, const char *name)
{
	size_t stem = strcspn(name, ".");

	for (size_t i = 0; i < s->n_sections; i++)
		if (strlen(s->sections[i].name) == stem &&
			strncmp(s->sections[i].name, name, stem) == 0)
			return &s->sections[i];
	return NULL;
}

static void store_int(const struct hp3_ini_key *key, void *field, uint64_t value)
{
	value *= key->scale != 0 ? key->scale : 1;
	memcpy(field, &value, key->size); /* the low bytes: the CPU is little-endian */
}

void hp3_ini_defaults(const struct hp3_ini_schema *schema, void *obj)
{
	for (size_t i = 0; i < schema->n_keys; i++) {
		const struct hp3_ini_key *key = &schema->keys[i];
		const struct hp3_ini_section *row = hp3_ini_section_row(schema, key->section);

		/* All elements of a family get defaults now, whether the file has them or not. */
		for (uint32_t n = 0; n < (row->max > 0 ? row->max : 1); n++) {
			char *field = (char *)obj + key->offset + row->array + n * row->stride;

			if (key->type != HP3_INI_STRING)
				store_int(key, field, key->def);
			else
				snprintf(field, key->size, "%s",
					key->def_string ? key->def_string : "");
		}
	}
}

/* Reports an error of a number, always with unit and range. */
static void bad_int(struct hp3_ini_doc *doc, const char *section, const struct hp3_ini_key *key,
	const char *problem)
{
	char allowed[128], def[32] = "";

	hp3_ini_allowed(key, allowed, sizeof(allowed));
	if (!key->required)
		snprintf(def, sizeof(def), ", default %" PRIu64, key->def);
	hp3_ini_complain(
		doc, section, key->key, "%s: write a plain number, %s%s", problem, allowed, def);
}

static bool unit_in_name(const struct hp3_ini_key *key)
{
	const char *suffix = strrchr(key->key, '_');

	return suffix != NULL && strcmp(suffix + 1, key->unit) == 0;
}

static void set_int(struct hp3_ini_doc *doc, const char *section, const struct hp3_ini_key *key,
	void *field, const char *text)
{
	size_t digits = strspn(text, "0123456789");
	uint64_t value;
	char problem[128];

	if (key->word != NULL && strcmp(text, key->word) == 0) {
		store_int(key, field, key->max + 1);
		return;
	}
	if (digits == 0 || text[digits] != '\0') {
		if (*text == '\0')
			snprintf(problem, sizeof(problem), "value is empty");
		else if (digits > 0)
			snprintf(problem, sizeof(problem), "'%.20s' after the number%s",
				text + digits,
				unit_in_name(key) ? "; the unit is in the key's name" : "");
		else
			snprintf(problem, sizeof(problem), "only digits%s%s are allowed",
				key->word != NULL ? " or " : "",
				key->word != NULL ? key->word : "");
		bad_int(doc, section, key, problem);
		return;
	}
	errno = 0;
	value = strtoull(text, NULL, 10);
	if (errno == ERANGE || value > key->max)
		bad_int(doc, section, key, "too large");
	else if (value < key->min)
		bad_int(doc, section, key, "too small");
	else
		store_int(key, field, value);
}

static void set_enum(struct hp3_ini_doc *doc, const char *section, const struct hp3_ini_key *key,
	void *field, const char *text)
{
	char allowed[128];

	for (uint32_t i = 0; key->choices[i] != NULL; i++) {
		if (strcmp(key->choices[i], text) == 0) {
			store_int(key, field, i);
			return;
		}
	}
	hp3_ini_allowed(key, allowed, sizeof(allowed));
	hp3_ini_complain(doc, section, key->key, "%s: allowed is %s, default %s",
		*text == '\0' ? "value is empty" : "not a choice", allowed, key->choices[key->def]);
}

static void set_string(struct hp3_ini_doc *doc, const char *section, const struct hp3_ini_key *key,
	void *field, const char *text)
{
	size_t len = strlen(text);

	if (len == 0 && key->min > 0)
		hp3_ini_complain(doc, section, key->key, "value is empty: write %s",
			key->rule != NULL ? key->rule : "a text");
	else if (len < key->min || len > key->max)
		hp3_ini_complain(doc, section, key->key,
			"text of %zu bytes: allowed are %" PRIu64 "..%" PRIu64, len, key->min,
			key->max);
	else if (len > 0 && key->valid != NULL && !key->valid(text))
		hp3_ini_complain(doc, section, key->key, "not allowed: write %s", key->rule);
	else
		memcpy(field, text, len + 1);
}

static int set_values(struct hp3_ini_doc *doc, const dictionary *values)
{
	for (size_t i = 0; i < doc->n_entries; i++) {
		const struct hp3_ini_entry *e = &doc->entries[i];
		const struct hp3_ini_instance *inst = &doc->instances[e->instance];
		void *field = doc->obj + inst->base + e->key->offset;
		char name[2 * HP3_INI_NAME_MAX];
		const char *text;

		if (e->bad)
			continue;
		snprintf(name, sizeof(name), "%s:%s", inst->name, e->key->key);
		text = iniparser_getstring(values, name, NULL);
		if (text == NULL)
			return -ENOMEM;
		if (e->key->type == HP3_INI_INT)
			set_int(doc, inst->name, e->key, field, text);
		else if (e->key->type == HP3_INI_ENUM)
			set_enum(doc, inst->name, e->key, field, text);
		else
			set_string(doc, inst->name, e->key, field, text);
	}
	return 0;
}

bool hp3_ini_hides(
	const struct hp3_ini_schema *schema, const struct hp3_ini_key *key, const void *obj)
{
	return key->study && schema->takes_studies != NULL && !schema->takes_studies(obj);
}

static void check_studies(struct hp3_ini_doc *doc)
{
	for (size_t i = 0; i < doc->n_entries; i++) {
		const struct hp3_ini_entry *e = &doc->entries[i];

		if (!e->bad && hp3_ini_hides(doc->schema, e->key, doc->obj))
			hp3_ini_complain(doc, doc->instances[e->instance].name, e->key->key,
				"a key for studies and emulated networks: remove it, or set %s",
				doc->schema->switch_of_studies);
	}
}

static bool has_entry(const struct hp3_ini_doc *doc, size_t inst, const struct hp3_ini_key *key)
{
	for (size_t i = 0; i < doc->n_entries; i++)
		if (doc->entries[i].instance == inst && doc->entries[i].key == key)
			return true;
	return false;
}

static void check_required(struct hp3_ini_doc *doc)
{
	char allowed[128];

	for (size_t n = 0; n < doc->n_instances; n++) {
		const struct hp3_ini_instance *inst = &doc->instances[n];

		for (size_t i = 0; !inst->touched && i < doc->schema->n_keys; i++) {
			const struct hp3_ini_key *key = &doc->schema->keys[i];

			if (!key->required || strcmp(key->section, inst->row->name) != 0 ||
				has_entry(doc, n, key))
				continue;
			hp3_ini_allowed(key, allowed, sizeof(allowed));
			hp3_ini_complain(doc, inst->name, key->key, "missing: add %s = %s (%s)",
				key->key, key->rule != NULL ? key->rule : allowed, key->help);
		}
	}
}

/*
 * iniparser 4.1 opens its input by name. To avoid a file on a disk, the checked lines are in a
 * memfd.
 */
static int read_values(struct hp3_ini_doc *doc, const char *text, size_t len)
{
	int fd = memfd_create("hp3-config", MFD_CLOEXEC), ret;
	dictionary *values = NULL;
	char path[64];

	if (fd < 0)
		return -errno;
	doc->clean = fdopen(fd, "w");
	if (doc->clean == NULL) {
		ret = -errno;
		close(fd);
		return ret;
	}
	ret = hp3_ini_scan(doc, text, len);
	if (ret == 0 && (fflush(doc->clean) != 0 || ferror(doc->clean)))
		ret = -EIO;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ret == 0) {
		values = iniparser_load(path);
		ret = values != NULL ? set_values(doc, values) : -EIO;
	}
	if (values != NULL)
		iniparser_freedict(values);
	fclose(doc->clean);
	return ret;
}

int hp3_ini_parse(const struct hp3_ini_schema *schema, const char *file, const char *text,
	size_t len, unsigned flags, void *obj, struct hp3_config_errors *errs)
{
	struct hp3_ini_doc doc = {.schema = schema, .file = file, .obj = obj, .errs = errs};
	unsigned before = errs->count + errs->lost;
	int ret;

	if ((flags & HP3_INI_KEEP) == 0)
		hp3_ini_defaults(schema, obj);
	ret = read_values(&doc, text, len);
	if (ret == 0) {
		check_studies(&doc);
		check_required(&doc);
		if (schema->check != NULL)
			schema->check(&doc, obj, flags);
		ret = errs->count + errs->lost > before ? -EINVAL : 0;
	} else {
		hp3_ini_complain(&doc, NULL, NULL,
			"cannot be parsed: %s; is /proc mounted, is memory left?", strerror(-ret));
	}
	free(doc.entries);
	free(doc.instances);
	return ret;
}

/* Reads the whole file, at most HP3_INI_FILE_MAX bytes. */
static int read_config_file(const char *path, char *text, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret = 0;
	ssize_t n = 1;

	if (fd < 0)
		return -errno;
	for (*len = 0; n > 0 && *len <= HP3_INI_FILE_MAX; *len += n > 0 ? (size_t)n : 0)
		n = read(fd, text + *len, HP3_INI_FILE_MAX + 1 - *len);
	if (n < 0)
		ret = -errno;
	else if (*len > HP3_INI_FILE_MAX)
		ret = -EFBIG;
	close(fd);
	return ret;
}

static const char *open_fix(int err)
{
	switch (-err) {
	case ENOENT:
	case ENOTDIR:
		return "check the path";
	case EACCES:
		return "make it readable for the user that hp3 runs as";
	case EISDIR:
		return "name the file in it";
	case EFBIG:
		return "a configuration has at most 1 MiB; is this the right file?";
	default:
		return "is this the right file?";
	}
}

int hp3_ini_load(const struct hp3_ini_schema *schema, const char *path, unsigned flags, void *obj,
	struct hp3_config_errors *errs)
{
	struct hp3_ini_doc doc = {.schema = schema, .file = path, .errs = errs};
	char *text = malloc(HP3_INI_FILE_MAX + 1);
	size_t len = 0;
	int ret = text != NULL ? read_config_file(path, text, &len) : -ENOMEM;

	if (ret != 0)
		hp3_ini_complain(
			&doc, NULL, NULL, "cannot be read: %s; %s", strerror(-ret), open_fix(ret));
	else
		ret = hp3_ini_parse(schema, path, text, len, flags, obj, errs);
	free(text);
	return ret;
}
