/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks the raw lines before iniparser reads them. Lines that iniparser would misread silently are
 * errors. All other lines go to doc->clean.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/nearest.h"
#include "base/urls.h"
#include "config/doc.h"

#define NO_SECTION   (-1L) /* before the first section */
#define BAD_SECTION  (-2L) /* in a section with an error: its keys are skipped */
#define SHOWN_SECRET "(secret)" /* shown in place of a secret */

struct scan {
	struct hp3_ini_doc *doc;
	long current; /* index of the instance, or one of the above */
};

static char *trim_blanks(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	for (n = strlen(s); n > 0 && isspace((unsigned char)s[n - 1]); n--)
		;
	s[n] = '\0';
	return s;
}

static bool is_comment(const char *s)
{
	return *s == ';' || *s == '#';
}

static struct hp3_ini_instance *instance_of(struct scan *s)
{
	return &s->doc->instances[s->current];
}

static void unknown_section(struct scan *s, const char *name)
{
	const struct hp3_ini_schema *schema = s->doc->schema;
	const char *dot = strchr(name, '.');
	size_t len = dot != NULL ? (size_t)(dot - name) : strlen(name);
	char stem[HP3_INI_NAME_MAX], known[512] = "";
	struct hp3_nearest near = {.asked = stem};
	const struct hp3_ini_section *row;

	snprintf(stem, sizeof(stem), "%.*s", (int)(len < sizeof(stem) ? len : sizeof(stem) - 1),
		name);
	for (size_t i = 0; i < schema->n_sections; i++) {
		size_t used = strlen(known);

		row = &schema->sections[i];
		hp3_nearest_offer(&near, row->name);
		snprintf(known + used, sizeof(known) - used, "%s[%s%s]", i > 0 ? " " : "",
			row->name, row->max > 0 ? ".NAME" : "");
	}
	if (near.best == NULL) {
		hp3_ini_report(s->doc, name, NULL, NULL, "unknown section; known: %s", known);
		return;
	}
	row = hp3_ini_section_row(schema, near.best);
	if (row->max == 0)
		dot = NULL;
	hp3_ini_report(s->doc, name, NULL, NULL, "unknown section: did you mean [%s%s]?", near.best,
		row->max == 0 ? ""
		: dot != NULL ? dot
			      : ".NAME");
}

static const struct hp3_ini_section *known_section(struct scan *s, const char *name)
{
	const struct hp3_ini_section *row = hp3_ini_section_row(s->doc->schema, name);
	const char *dot = strchr(name, '.');

	if (row == NULL || (row->max == 0) != (dot == NULL)) {
		unknown_section(s, name);
		return NULL;
	}
	if (row->max == 0)
		return row;
	dot++;
	if (*dot == '\0' || strlen(dot) >= row->name_size ||
		dot[strspn(dot, "abcdefghijklmnopqrstuvwxyz0123456789_-")] != '\0') {
		hp3_ini_report(s->doc, name, NULL, NULL,
			"bad name: write [%s.NAME] with 1 to %zu of a-z, 0-9, '_' and '-'",
			row->name, row->name_size - 1);
		return NULL;
	}
	return row;
}

/* Appends an instance. For a family, the instance is the next element of the array. */
static int add_section(struct scan *s, const struct hp3_ini_section *row, const char *name)
{
	struct hp3_ini_doc *doc = s->doc;
	struct hp3_ini_instance *list, *inst;
	uint32_t n = 0;

	if (row->max > 0)
		memcpy(&n, doc->obj + row->count, sizeof(n));
	if (row->max > 0 && n >= row->max) {
		hp3_ini_report(doc, name, NULL, NULL, "one too many: at most %u sections [%s.NAME]",
			row->max, row->name);
		s->current = BAD_SECTION;
		return 0;
	}
	list = realloc(doc->instances, (doc->n_instances + 1) * sizeof(*list));
	if (list == NULL)
		return -ENOMEM;
	doc->instances = list;
	inst = &list[doc->n_instances];
	*inst = (struct hp3_ini_instance){.row = row, .line = s->doc->line};
	snprintf(inst->name, sizeof(inst->name), "%s", name);
	if (row->max > 0) {
		inst->base = row->array + n * row->stride;
		snprintf(doc->obj + inst->base, row->name_size, "%s", strchr(name, '.') + 1);
		n++;
		memcpy(doc->obj + row->count, &n, sizeof(n));
	}
	s->current = (long)doc->n_instances++;
	fprintf(doc->clean, "[%s]\n", name);
	return 0;
}

static int take_section(struct scan *s, char *text)
{
	char *end = strchr(text, ']'), *name;
	const struct hp3_ini_section *row;

	s->current = BAD_SECTION;
	if (end == NULL) {
		hp3_ini_report(s->doc, NULL, NULL, text, "the section's ] is missing");
		return 0;
	}
	if (end[1] != '\0') {
		hp3_ini_report(s->doc, NULL, NULL, text,
			"nothing may follow the ] of a section: put it on a line of its own");
		return 0;
	}
	*end = '\0';
	name = trim_blanks(text + 1);
	row = known_section(s, name);
	if (row == NULL)
		return 0;
	for (size_t i = 0; i < s->doc->n_instances; i++) {
		if (strcmp(s->doc->instances[i].name, name) != 0)
			continue;
		hp3_ini_report(s->doc, name, NULL, NULL,
			"section began at line %u already: put all its keys there",
			s->doc->instances[i].line);
		s->current = (long)i;
		fprintf(s->doc->clean, "[%s]\n", name);
		return 0;
	}
	return add_section(s, row, name);
}

/* May the value of this key be a secret? The key may be misspelt, or in the wrong section. */
static bool is_secret(const struct hp3_ini_schema *schema, const char *name)
{
	struct hp3_nearest near = {.asked = name};

	for (size_t i = 0; i < schema->n_keys; i++)
		hp3_nearest_offer(&near, schema->keys[i].key);
	for (size_t i = 0; i < schema->n_keys; i++) {
		const struct hp3_ini_key *k = &schema->keys[i];

		if (k->secret && (strcmp(k->key, name) == 0 ||
					 (near.best != NULL && strcmp(k->key, near.best) == 0)))
			return true;
	}
	return false;
}

/* Does a line without a key contain the name of a secret key? */
static bool has_secret(const struct hp3_ini_schema *schema, const char *line)
{
	for (size_t i = 0; i < schema->n_keys; i++)
		if (schema->keys[i].secret && strstr(line, schema->keys[i].key) != NULL)
			return true;
	return false;
}

static void unknown_key(struct scan *s, const char *key, const char *shown)
{
	const struct hp3_ini_schema *schema = s->doc->schema;
	struct hp3_ini_instance *inst = instance_of(s);
	struct hp3_nearest near = {.asked = key};
	const char *elsewhere = NULL;
	char known[1024] = "";

	for (size_t i = 0; i < schema->n_keys; i++) {
		const struct hp3_ini_key *k = &schema->keys[i];
		size_t used = strlen(known);

		if (strcmp(k->section, inst->row->name) == 0) {
			hp3_nearest_offer(&near, k->key);
			if (k->study) /* most files may not set these */
				continue;
			snprintf(known + used, sizeof(known) - used, "%s%s", used > 0 ? ", " : "",
				k->key);
		} else if (strcmp(k->key, key) == 0) {
			elsewhere = k->section;
		}
	}
	if (elsewhere != NULL)
		hp3_ini_report(s->doc, inst->name, key, shown,
			"unknown key here: it belongs to section [%s%s]", elsewhere,
			hp3_ini_section_row(schema, elsewhere)->max > 0 ? ".NAME" : "");
	else if (near.best != NULL)
		hp3_ini_report(s->doc, inst->name, key, shown, "unknown key: did you mean '%s'?",
			near.best);
	else
		hp3_ini_report(s->doc, inst->name, key, shown,
			"unknown key; keys of this section: %s", known);
	inst->touched = true;
}

/* Cuts a trailing comment off `value`. Returns the error of the text, or NULL. */
static const char *cut_value(char *value)
{
	char *end, *rest;

	if (strchr(value, '\\') != NULL)
		return "a backslash is not allowed: there are no escapes and no continuation lines";
	if (*value == '"' || *value == '\'') {
		end = strchr(value + 1, *value);
		if (end == NULL)
			return "the quote is never closed: end the value with the quote it begins "
			       "with";
		for (rest = end + 1; isspace((unsigned char)*rest); rest++)
			;
		if (*rest != '\0' && !is_comment(rest))
			return "text after the closing quote: enclose the whole value in one pair "
			       "of quotes";
		end[1] = '\0';
		return NULL;
	}
	end = value + strcspn(value, ";#");
	if (*end != '\0' && end > value && !isspace((unsigned char)end[-1]))
		return *end == ';' ? "an unquoted value ends at ';': enclose it in double quotes "
				     "(or put a blank before a comment)"
				   : "an unquoted value ends at '#': enclose it in double quotes "
				     "(or put a blank before a comment)";
	*end = '\0';
	trim_blanks(value);
	if (strpbrk(value, "\"'") != NULL)
		return "a quote inside the value: enclose the whole value in the other kind of "
		       "quotes";
	return NULL;
}

/* Copies a value for a message. Whatever its key, passwords in URLs are hidden. */
static void copy_shown(char *buf, const char *value)
{
	char text[HP3_INI_LINE_MAX + 1];

	hp3_urls_shown(value, text, sizeof(text));
	if (strlen(text) < HP3_INI_SHOWN_MAX)
		strcpy(buf, text);
	else
		snprintf(buf, HP3_INI_SHOWN_MAX, "%.*s...", (int)HP3_INI_SHOWN_MAX - 4, text);
}

/*
 * Adds an entry for a known key, even if its value is bad, so that the key is not reported as
 * missing.
 */
static int known_key(struct scan *s, const struct hp3_ini_key *key, char *value, const char *shown)
{
	struct hp3_ini_doc *doc = s->doc;
	const char *section = instance_of(s)->name, *problem;
	struct hp3_ini_entry *list, *e;

	for (size_t i = 0; i < doc->n_entries; i++) {
		e = &doc->entries[i];
		if (e->instance != s->current || e->key != key)
			continue;
		hp3_ini_report(doc, section, key->key, shown,
			"already set to %s at line %u: remove one of the two", e->shown, e->line);
		return 0;
	}
	list = realloc(doc->entries, (doc->n_entries + 1) * sizeof(*list));
	if (list == NULL)
		return -ENOMEM;
	doc->entries = list;
	e = &list[doc->n_entries++];
	*e = (struct hp3_ini_entry){
		.instance = (uint32_t)s->current, .key = key, .line = s->doc->line};
	strcpy(e->shown, shown);
	problem = cut_value(value);
	if (problem != NULL) {
		hp3_ini_report(doc, section, key->key, shown, "%s", problem);
		e->bad = true;
		return 0;
	}
	copy_shown(e->shown, key->secret ? SHOWN_SECRET : value);
	fprintf(doc->clean, "%s = %s\n", key->key, value);
	return 0;
}

static int key_line(struct scan *s, char *text)
{
	const struct hp3_ini_schema *schema = s->doc->schema;
	char *equals = strchr(text, '='), *name, *value, shown[HP3_INI_SHOWN_MAX];
	const char *section = s->current >= 0 ? instance_of(s)->name : NULL;

	if (s->current == BAD_SECTION)
		return 0;
	if (equals == NULL) {
		copy_shown(shown, has_secret(schema, text) ? SHOWN_SECRET : text);
		hp3_ini_report(s->doc, section, NULL, shown,
			"neither [section] nor comment nor key: write key = value");
		return 0;
	}
	*equals = '\0';
	name = trim_blanks(text);
	value = trim_blanks(equals + 1);
	copy_shown(shown, value);
	if (section == NULL) {
		copy_shown(shown, is_secret(schema, name) ? SHOWN_SECRET : value);
		hp3_ini_report(s->doc, NULL, name, shown,
			"key before the first section: write its [section] above it");
		return 0;
	}
	for (size_t i = 0; i < schema->n_keys; i++) {
		const struct hp3_ini_key *k = &schema->keys[i];

		if (strcmp(k->key, name) != 0 || strcmp(k->section, instance_of(s)->row->name) != 0)
			continue;
		if (k->secret)
			copy_shown(shown, SHOWN_SECRET);
		return known_key(s, k, value, shown);
	}
	copy_shown(shown, is_secret(schema, name) ? SHOWN_SECRET : value);
	unknown_key(s, name, shown);
	return 0;
}

/* Number of bytes of the UTF-8 character at p (RFC 3629); 0: invalid. */
static size_t utf8_length(const unsigned char *p, size_t len)
{
	size_t n = *p < 0x80   ? 1
		   : *p < 0xc2 ? 0
		   : *p < 0xe0 ? 2
		   : *p < 0xf0 ? 3
		   : *p < 0xf5 ? 4
			       : 0;

	if (n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] > 0x9f) ||
		(*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

/* Values are written to JSON, which is UTF-8, and to terminals. */
static bool is_plain(const char *raw, size_t len)
{
	size_t n;

	for (; len > 0; raw += n, len -= n) {
		n = utf8_length((const unsigned char *)raw, len);
		if (n == 0 || (iscntrl((unsigned char)*raw) && *raw != '\t' && *raw != '\r'))
			return false;
	}
	return true;
}

static int scan_line(struct scan *s, const char *raw, size_t len)
{
	char text[HP3_INI_LINE_MAX + 1] = "", shown[HP3_INI_SHOWN_MAX], *p;
	bool plain = is_plain(raw, len);

	memcpy(text, raw, len < HP3_INI_LINE_MAX ? len : HP3_INI_LINE_MAX);
	p = trim_blanks(text);
	if (len > HP3_INI_LINE_MAX || !plain) {
		copy_shown(shown, has_secret(s->doc->schema, p) ? SHOWN_SECRET : p);
		if (s->current >= 0)
			instance_of(s)->touched = true;
		if (!plain)
			hp3_ini_report(s->doc, NULL, NULL, shown,
				"control character in the line: the file has to be plain text, in "
				"UTF-8");
		else
			hp3_ini_report(s->doc, NULL, NULL, shown,
				"line of %zu bytes: at most %u are allowed", len, HP3_INI_LINE_MAX);
		return 0;
	}
	if (*p == '\0' || is_comment(p))
		return 0;
	return *p == '[' ? take_section(s, p) : key_line(s, p);
}

int hp3_ini_scan(struct hp3_ini_doc *doc, const char *text, size_t len)
{
	struct scan s = {.doc = doc, .current = NO_SECTION};
	int ret = 0;

	while (len > 0 && ret == 0) {
		const char *newline = memchr(text, '\n', len);
		size_t n = newline != NULL ? (size_t)(newline - text) : len;

		doc->line++;
		ret = scan_line(&s, text, n);
		n += newline != NULL;
		text += n;
		len -= n;
	}
	return ret;
}
