/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of errors, and the text of each. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/plain.h"
#include "config/doc.h"

void hp3_config_errors_add(struct hp3_config_errors *errs, uint32_t line, char *text)
{
	size_t size = (errs->count + 1) * sizeof(*errs->list);
	struct hp3_config_error *list = text != NULL ? realloc(errs->list, size) : NULL;
	unsigned at;

	if (list == NULL) {
		free(text);
		errs->lost++;
		return;
	}
	/* Keeps the list sorted by line. Line 0 wraps to the greatest number, so it is last. */
	for (at = errs->count; at > 0 && list[at - 1].line - 1 > line - 1; at--)
		list[at] = list[at - 1];
	list[at] = (struct hp3_config_error){line, text};
	errs->list = list;
	errs->count++;
}

void hp3_config_errors_print(const struct hp3_config_errors *errs, FILE *out)
{
	for (unsigned i = 0; i < errs->count; i++)
		fprintf(out, "%s\n", errs->list[i].text);
	if (errs->lost > 0)
		fprintf(out, "out of memory: %u more errors not listed\n", errs->lost);
}

void hp3_config_errors_free(struct hp3_config_errors *errs)
{
	for (unsigned i = 0; i < errs->count; i++)
		free(errs->list[i].text);
	free(errs->list);
	*errs = (struct hp3_config_errors){0};
}

static void report_error(struct hp3_ini_doc *doc, uint32_t line, const char *section,
	const char *key, const char *value, const char *fmt, va_list ap)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (out == NULL) {
		doc->errs->lost++;
		return;
	}
	fputs(doc->file, out);
	if (line > 0)
		fprintf(out, ":%u", line);
	if (section != NULL || key != NULL || value != NULL)
		fputs(": ", out);
	if (section != NULL)
		fprintf(out, "[%s]%s", section, key != NULL || value != NULL ? " " : "");
	if (key != NULL)
		fputs(key, out);
	if (value != NULL)
		fprintf(out, "%s%s", key != NULL ? " = " : "", value);
	fputs(": ", out);
	vfprintf(out, fmt, ap);
	if (fclose(out) != 0) {
		free(text);
		text = NULL;
	}
	if (text != NULL)
		hp3_plain(text); /* the text may be written to JSON or a terminal */
	hp3_config_errors_add(doc->errs, line, text);
}

void hp3_ini_report(struct hp3_ini_doc *doc, const char *section, const char *key,
	const char *value, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report_error(doc, doc->line, section, key, value, fmt, ap);
	va_end(ap);
}

/* NULL: the file does not set this key. */
static struct hp3_ini_entry *find_entry(
	const struct hp3_ini_doc *doc, const char *section, const char *key)
{
	for (size_t i = 0; i < doc->n_entries; i++) {
		struct hp3_ini_entry *e = &doc->entries[i];

		if (strcmp(doc->instances[e->instance].name, section) == 0 &&
			strcmp(e->key->key, key) == 0)
			return e;
	}
	return NULL;
}

void hp3_ini_complain(
	struct hp3_ini_doc *doc, const char *section, const char *key, const char *fmt, ...)
{
	struct hp3_ini_entry *e =
		section != NULL && key != NULL ? find_entry(doc, section, key) : NULL;
	const char *value = NULL;
	uint32_t line = 0;
	va_list ap;

	for (size_t i = 0; section != NULL && i < doc->n_instances; i++)
		if (strcmp(doc->instances[i].name, section) == 0)
			line = doc->instances[i].line;
	if (e != NULL) {
		line = e->line;
		value = e->shown;
		e->bad = true;
	}
	va_start(ap, fmt);
	report_error(doc, line, section, key, value, fmt, ap);
	va_end(ap);
}

bool hp3_ini_good(const struct hp3_ini_doc *doc, const char *section, const char *key)
{
	const struct hp3_ini_entry *e = find_entry(doc, section, key);

	return e == NULL || !e->bad;
}
