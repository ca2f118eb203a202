/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Internal to the INI reader: one file while it is parsed. scan.c checks the lines, and sets
 * `entries`, `instances` and `clean`. Then loader.c gets the values from iniparser.
 */
#include "config/ini.h"

#define HP3_INI_SHOWN_MAX 64u /* bytes of a value as a message shows it, with NUL */

/* A section of the file: a plain one ([NAME]), or an element of a family ([FAMILY.NAME]). */
struct hp3_ini_instance {
	const struct hp3_ini_section *row;
	char name[HP3_INI_NAME_MAX]; /* name in the file: "rfr", "rail.rail0" */
	size_t base; /* offset of the element in `obj`; key offsets add to it. Plain section: 0 */
	uint32_t line;
	bool touched; /* an error of the section was reported: do not report missing keys */
};

struct hp3_ini_entry {
	uint32_t instance; /* an index, as the array moves when it grows */
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
	uint32_t line; /* the current one, from 1 */
};

/*
 * Checks the lines, and reports errors to *doc->errs. Returns -ENOMEM; otherwise 0, even if there
 * are errors.
 */
int hp3_ini_scan(struct hp3_ini_doc *doc, const char *text, size_t len);

/* Adds an error of the current line; section, key, value may be NULL. */
void hp3_ini_report(struct hp3_ini_doc *doc, const char *section, const char *key,
	const char *value, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* True: the key is for studies, and the file that set *obj may not set it. */
bool hp3_ini_hides(
	const struct hp3_ini_schema *schema, const struct hp3_ini_key *key, const void *obj);
void hp3_config_errors_add(struct hp3_config_errors *errs, uint32_t line, char *text);

const struct hp3_ini_section *hp3_ini_section_row(const struct hp3_ini_schema *s, const char *name);
