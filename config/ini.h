/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CONFIG_INI_H
#define HP3_CONFIG_INI_H
/*
 * INI files against a table of keys (struct hp3_ini_schema). The table is the only place that knows
 * a key: type, unit, range, default, help and the field it fills. hp3.ini, topologies and scenarios
 * are files of this one kind, each with its own table.
 *
 * Values are read by iniparser, which by itself is too forgiving: it keeps the last of two equal
 * keys, ends an unquoted value at ';' or '#', lower-cases names and gives up at the first bad line.
 * So the text is scanned first, every line that is not exactly right is reported, and iniparser is
 * given only the lines that are.
 *
 * Invariant: a load reports all errors of a file, in line order, each with file, line, section,
 * key, value and what would be right; if it reports none, every field of the object holds a value
 * within its key's range.
 *
 * Syntax: [section], key = value, whole-line comments with ';' or '#', comments behind a value
 * after a blank. Values that hold ';', '#' or a quote are quoted, "..." or '...'; there are no
 * escapes and no continuation lines. Names are lower case. A line has at most HP3_INI_LINE_MAX
 * bytes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* iniparser 4.1 reads lines into 1024 bytes, '\n' and NUL included */
#define HP3_INI_LINE_MAX  1022u
#define HP3_INI_FILE_MAX  (1u << 20) /* bytes */
#define HP3_INI_NAME_MAX  64u /* section and key names, with NUL */
#define HP3_INI_VALUE_MAX 512u /* string fields, with NUL */

enum hp3_ini_type {
	HP3_INI_INT, /* plain decimal integer; the field is unsigned, of 1, 2, 4 or 8 bytes */
	HP3_INI_ENUM, /* one of `choices`; an enum, byte or bool that holds the index */
	HP3_INI_STRING, /* char array; min..max bytes long */
};

/* One key = one row. `section` names a section row; offsets count from the object or family
 * element. */
struct hp3_ini_key {
	const char *section, *key;
	enum hp3_ini_type type;
	const char *unit; /* of an integer; "" where the number has none */
	uint64_t scale; /* an integer's field holds the value times this; 0: 1 */
	uint64_t def; /* integer, or index of the choice */
	const char *word; /* that an integer may be instead: the field holds max + 1 */
	const char *def_string;
	uint64_t min, max;
	const char *const *choices; /* NULL-terminated */
	bool (*valid)(const char *); /* strings: rule beyond the length, never asked for "" */
	const char *rule; /* and what it demands, as part of a sentence */
	bool required; /* no default: each section must set it */
	bool reloadable; /* may change in a running process */
	bool secret; /* not for logs and bundles */
	bool urls; /* users and passwords in it are not for them either */
	const char *help; /* one line */
	size_t offset, size;
};

/*
 * A plain section, or (max > 0) a family: each [name.NAME] fills the next element of an array whose
 * elements begin with `char NAME[name_size]`; NAME matches [a-z0-9_-]{1,name_size-1}.
 */
struct hp3_ini_section {
	const char *name, *help;
	uint32_t max; /* elements of the array */
	size_t array, stride, count /* offset of the uint32_t */, name_size;
};

struct hp3_ini_doc;

struct hp3_ini_schema {
	const struct hp3_ini_section *sections;
	size_t n_sections;
	const struct hp3_ini_key *keys; /* those of a section follow one another */
	size_t n_keys;
	const char *title; /* first line of a dump */
	/* Rules between keys; reports by hp3_ini_complain() and leaves keys alone that are
	 * !hp3_ini_good(). */
	void (*check)(struct hp3_ini_doc *doc, const void *obj, unsigned flags);
};

/* Collected errors: zero it before use, free it after. */
struct hp3_config_error {
	uint32_t line; /* 0: about the file as a whole */
	char *text; /* one line without '\n', complete in itself */
};
struct hp3_config_errors {
	struct hp3_config_error *list; /* by line; those about the whole file last */
	unsigned count;
	unsigned lost; /* not listed for want of memory */
};
void hp3_config_errors_print(const struct hp3_config_errors *errs, FILE *out);
void hp3_config_errors_free(struct hp3_config_errors *errs);

void hp3_ini_defaults(const struct hp3_ini_schema *schema, void *obj);

#define HP3_INI_KEEP 0x80000000u /* flag: keys that are not set keep what *obj has */

/*
 * Fill *obj (which is zero, unless it is to keep something) from a file or a text named `file` in
 * messages. 0, -EINVAL with the errors listed, or the negative errno of opening and reading, listed
 * as well. After an error *obj is not to be used.
 */
int hp3_ini_load(const struct hp3_ini_schema *schema, const char *path, unsigned flags, void *obj,
	struct hp3_config_errors *errs);
int hp3_ini_parse(const struct hp3_ini_schema *schema, const char *file, const char *text,
	size_t len, unsigned flags, void *obj, struct hp3_config_errors *errs);

/*
 * For schema.check: report an error about a key (or with key NULL a section, with both NULL the
 * file). Line and value are added; `fmt` says what would be right. hp3_ini_good() is true unless an
 * error about this key was reported before.
 */
void hp3_ini_complain(struct hp3_ini_doc *doc, const char *section, const char *key,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
bool hp3_ini_good(const struct hp3_ini_doc *doc, const char *section, const char *key);

/* Every key of every section of *obj, in table order; fn returns 0 to go on, its last value is
 * returned. */
struct hp3_ini_item {
	const struct hp3_ini_section *row;
	const struct hp3_ini_key *key;
	char section[HP3_INI_NAME_MAX]; /* "rfr", "rail.rail0" */
	const void *field;
	bool first; /* first key of its section */
};
int hp3_ini_each(const struct hp3_ini_schema *schema, const void *obj,
	int (*fn)(void *arg, const struct hp3_ini_item *item), void *arg);

/* The value as it stands in a file, without quotes. `cap` >= HP3_INI_VALUE_MAX never cuts. */
void hp3_ini_format(const struct hp3_ini_key *key, const void *field, char *buf, size_t cap);
/* What is allowed: "100..1000000 us", "0..63|data", "on|off", "at most 255 characters". */
void hp3_ini_allowed(const struct hp3_ini_key *key, char *buf, size_t cap);

/* A complete file with comments that loads back to the same values. */
void hp3_ini_dump(const struct hp3_ini_schema *schema, const void *obj, FILE *out);

#endif
