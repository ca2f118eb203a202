/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CONFIG_DOC_H
#define HP3_CONFIG_DOC_H
/*
 * Inside of the INI reader: one file on its way from text to values. scan.c checks the lines and
 * fills `entries`, `instances` and `clean`; loader.c then takes the values from iniparser.
 */
#include "config/ini.h"

#define HP3_INI_SHOWN_MAX 64u /* bytes of a value that a message repeats */

/* A section of the file: plain, or one element of a family. */
struct hp3_ini_instance {
	const struct hp3_ini_section *row;
	char name[HP3_INI_NAME_MAX]; /* as in the file: "rfr", "rail.rail0" */
	size_t base; /* offset in the object that key offsets count from */
	uint32_t line;
	bool touched; /* had an error of its own: say nothing about what it lacks */
};

struct hp3_ini_entry {
	uint32_t instance; /* index: the array moves when it grows */
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
	FILE *clean; /* the lines without error, for iniparser */
};

/* Reports through *doc->errs. -ENOMEM, else 0 whatever the text is like. */
int hp3_ini_scan(struct hp3_ini_doc *doc, const char *text, size_t len);

/* One more error; section, key, value may be NULL. */
void hp3_ini_report(struct hp3_ini_doc *doc, uint32_t line, const char *section, const char *key,
	const char *value, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
void hp3_config_errors_add(struct hp3_config_errors *errs, uint32_t line, char *text);

const struct hp3_ini_section *hp3_ini_section_row(const struct hp3_ini_schema *s, const char *name);

#endif
