/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * INI files whose keys a table defines (struct hp3_ini_schema). The row of a key has the key's
 * type, unit, range, default and help text, and the field that the key sets. Configurations
 * (hp3.ini), topologies and scenarios are such files, and each of them has its own table.
 *
 * iniparser reads the values, but accepts too much. If a key is set twice, iniparser uses the last
 * value. It ends an unquoted value at ';' or '#', changes names to lower case, and stops at the
 * first bad line. So scan.c reads the text first, and reports all lines that violate the syntax
 * below. iniparser gets only the lines without errors.
 *
 * Invariants: a load reports all errors of a file, in line order. An error names the file and, if
 * they apply, line, section, key and value; it also states what would be right. If a load reports
 * no error, every field of the object has a value within the range of its key.
 *
 * Syntax: a line is [section], key = value, or a comment that begins with ';' or '#'. A comment may
 * also follow a value and a blank. Values that contain ';', '#' or a quote must be quoted, "..." or
 * '...'. There are no escapes and no continuation lines. Names are lower case. A line has at most
 * HP3_INI_LINE_MAX bytes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* iniparser 4.1 has a buffer of 1,024 bytes for a line, including '\n' and NUL */
#define HP3_INI_LINE_MAX  1022u
#define HP3_INI_FILE_MAX  (1u << 20) /* bytes */
#define HP3_INI_NAME_MAX  64u /* bytes of section and key names, with NUL */
#define HP3_INI_VALUE_MAX 512u /* bytes of string fields, with NUL */

enum hp3_ini_type {
	HP3_INI_INT, /* decimal integer; the field is unsigned, of 1, 2, 4 or 8 bytes */
	HP3_INI_ENUM, /* one of `choices`; the field (an enum, byte or bool) has its index */
	HP3_INI_STRING, /* the field is a char array; the text has min..max bytes */
};

/*
 * The row of a key. `section` is the name of a section row. `offset` is relative to the object or,
 * for a family, to the element.
 */
struct hp3_ini_key {
	const char *section, *key;
	enum hp3_ini_type type;
	const char *unit; /* of an integer; "": no unit */
	uint64_t scale; /* integer: the field is the value times `scale`; 0: times 1 */
	uint64_t def; /* default: integer, or index of the choice */
	const char *word; /* a word that is allowed in place of the integer; stored as max + 1 */
	const char *def_string;
	uint64_t min, max;
	const char *const *choices; /* NULL-terminated */
	/* strings: a check in addition to the length; not called for "" */
	bool (*valid)(const char *);
	const char *rule; /* requirement that `valid` checks, as part of a sentence */
	bool required; /* no default: each section must have it */
	bool reloadable; /* a reload may change the value */
	bool study; /* only for studies: an error if schema.takes_studies() is false */
	bool secret; /* logs and bundles do not show the value */
	bool urls; /* the value has URLs: logs and bundles show no users and passwords */
	const char *help; /* one line */
	size_t offset, size;
};

/*
 * A plain section, or (if max > 0) a family of sections. Each [name.NAME] of a family sets the next
 * element of an array. An element begins with a field `char [name_size]` for NAME. NAME matches
 * [a-z0-9_-]{1,name_size-1}.
 */
struct hp3_ini_section {
	const char *name, *help;
	uint32_t max; /* number of elements of the array */
	size_t array, stride, count /* offset of the uint32_t */, name_size;
};

struct hp3_ini_doc;

/* A key that most files set, and the comment on this key in a short dump. */
struct hp3_ini_common {
	const char *section, *key, *comment;
};

struct hp3_ini_schema {
	const struct hp3_ini_section *sections;
	size_t n_sections;
	const struct hp3_ini_key *keys; /* grouped by section */
	size_t n_keys;
	const char *title; /* first line of a dump */
	/* For hp3_ini_dump_short(). */
	const char *title_short;
	const struct hp3_ini_common *common;
	size_t n_common;
	/*
	 * Checks rules between keys, and reports errors with hp3_ini_complain(). Ignores keys for
	 * which hp3_ini_good() is false.
	 */
	void (*check)(struct hp3_ini_doc *doc, const void *obj, unsigned flags);
	/*
	 * May the file that set *obj also set keys for studies? NULL: the table has no such keys.
	 */
	bool (*takes_studies)(const void *obj);
	/* the setting that allows such keys, for messages: "[policy] study = on" */
	const char *switch_of_studies;
};

/* Collected errors. The caller sets the struct to zero before use, and frees it afterwards. */
struct hp3_config_error {
	uint32_t line; /* 0: about the whole file */
	char *text; /* a complete message: one line without '\n' */
};
struct hp3_config_errors {
	struct hp3_config_error *list; /* sorted by line; errors about the whole file are last */
	unsigned count;
	unsigned lost; /* number of errors that are not listed, because there was no memory */
};
void hp3_config_errors_print(const struct hp3_config_errors *errs, FILE *out);
void hp3_config_errors_free(struct hp3_config_errors *errs);

void hp3_ini_defaults(const struct hp3_ini_schema *schema, void *obj);

#define HP3_INI_KEEP 0x80000000u /* flag: fields of keys that are not set keep their values */

/*
 * Sets *obj from a file, or from a text that messages call `file`. The caller initializes *obj,
 * because fields without a key keep their values. With HP3_INI_KEEP, fields of keys that are not
 * set keep their values, too. Returns 0; -EINVAL: *errs lists the errors; otherwise the negative
 * errno of opening or reading the file, which *errs also lists. After an error, *obj is not valid.
 */
int hp3_ini_load(const struct hp3_ini_schema *schema, const char *path, unsigned flags, void *obj,
	struct hp3_config_errors *errs);
int hp3_ini_parse(const struct hp3_ini_schema *schema, const char *file, const char *text,
	size_t len, unsigned flags, void *obj, struct hp3_config_errors *errs);

/*
 * For schema.check(). hp3_ini_complain() reports an error about a key, about a section (key is
 * NULL), or about the file (key and section are NULL). The function adds line and value to the
 * message; `fmt` states what would be right. hp3_ini_good() is false if an error about this key was
 * reported before.
 */
void hp3_ini_complain(struct hp3_ini_doc *doc, const char *section, const char *key,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
bool hp3_ini_good(const struct hp3_ini_doc *doc, const char *section, const char *key);

struct hp3_ini_item {
	const struct hp3_ini_section *row;
	const struct hp3_ini_key *key;
	char section[HP3_INI_NAME_MAX]; /* "rfr", "rail.rail0" */
	const void *field;
	bool first; /* the first key of its section */
};
typedef int hp3_ini_item_fn(void *arg, const struct hp3_ini_item *item);
/*
 * Calls fn for every key of every section of *obj, in the order of the table, while fn returns 0.
 * Returns the last value of fn. If `hidden`, calls fn also for keys that the file of *obj may not
 * set (schema.takes_studies()).
 */
int hp3_ini_each(const struct hp3_ini_schema *schema, const void *obj, bool hidden,
	hp3_ini_item_fn *fn, void *arg);

/*
 * Writes the value to buf as in a file, without quotes. If `cap` >= HP3_INI_VALUE_MAX, the value is
 * never cut.
 */
void hp3_ini_format(const struct hp3_ini_key *key, const void *field, char *buf, size_t cap);
/* Writes the allowed values: "100..1000000 us", "0..63|data", "on|off", "text of 0..255 bytes". */
void hp3_ini_allowed(const struct hp3_ini_key *key, char *buf, size_t cap);
/* Writes "default 5", or "must be set". */
#define HP3_INI_DEFAULT_MAX (HP3_INI_VALUE_MAX + 16u) /* bytes, with NUL */
void hp3_ini_default(const struct hp3_ini_key *key, char *buf, size_t cap);

/*
 * Writes a complete file with comments. Loading this file gives the same values. Exceptions are
 * secrets, and URLs with users or passwords, which are written as comments.
 */
void hp3_ini_dump(const struct hp3_ini_schema *schema, const void *obj, FILE *out);
/*
 * Writes a file with the keys that most files set (schema->common), keys without a default, and
 * keys whose values differ from their defaults. In all other respects, the file is as from
 * hp3_ini_dump().
 */
void hp3_ini_dump_short(const struct hp3_ini_schema *schema, const void *obj, FILE *out);
