/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The state of one INI file while it is parsed; internal to the INI reader. First, scan.c checks
 * the lines, and sets `entries`, `instances` and `clean`. Then loader.c reads the values with
 * iniparser.
 */
#include "config/ini.h"

#define HP3_INI_SHOWN_MAX 64u /* longest text of a value in messages, bytes with NUL */

/* A section of the file: a plain one ([NAME]), or an element of a family ([FAMILY.NAME]). */
struct hp3_ini_instance {
	const struct hp3_ini_section *row;
	char name[HP3_INI_NAME_MAX]; /* name in the file: "rfr", "rail.rail0" */
	/* offset of the element in `obj`, to which offsets of keys are added; plain section: 0 */
	size_t base;
	uint32_t line;
	bool touched; /* an error of the section was reported, so do not report missing keys */
};

struct hp3_ini_entry {
	uint32_t instance; /* an index and not a pointer, because the array moves when it grows */
	const struct hp3_ini_key *key;
	uint32_t line;
	bool bad;
	char shown[HP3_INI_SHOWN_MAX];
};

struct hp3_ini_doc {
	const struct hp3_ini_schema *schema;
	const char *file;
	char *obj;
	struct hp3_config_errors *errs;
	struct hp3_ini_instance *instances;
	size_t n_instances;
	struct hp3_ini_entry *entries;
	size_t n_entries;
	FILE *clean; /* the lines without errors, for iniparser */
	uint32_t line; /* number of the current line, from 1 */
};

/*
 * Checks the lines, and adds errors to *doc->errs. Returns -ENOMEM, or 0 even if lines have errors.
 */
int hp3_ini_scan(struct hp3_ini_doc *doc, const char *text, size_t len);

/* Adds an error about the current line. section, key and value may be NULL. */
void hp3_ini_report(struct hp3_ini_doc *doc, const char *section, const char *key,
	const char *value, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* True: the key is only for studies, and the file that set *obj may not set such keys. */
bool hp3_ini_hides(
	const struct hp3_ini_schema *schema, const struct hp3_ini_key *key, const void *obj);
void hp3_config_errors_add(struct hp3_config_errors *errs, uint32_t line, char *text);

const struct hp3_ini_section *hp3_ini_section_row(const struct hp3_ini_schema *s, const char *name);
