/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of hp3ctl's commands is valid, and hp3ctl(1) describes all its commands and options,
 * and no others.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3ctl/commands.h"
#include "engine/unpaired.h"

/* hp3ctl(1): commands in order, and the options that its text has for each. */
struct described {
	char name[32];
	uint64_t titled; /* with a paragraph of its own, or in the command's title */
	uint64_t named; /* anywhere in its part */
};

#define MANUAL_MAX 64u

struct manual {
	struct described command[MANUAL_MAX];
	unsigned n;
	uint64_t common; /* of the section OPTIONS */
};

/* The options that a line names, as HP3CTL_BIT(); one that is in no row fails the test. */
static uint64_t options_in(const char *line)
{
	uint64_t found = 0;

	/* troff: \-\-name, a dash within a name is \-, too */
	for (const char *at = line; (at = strstr(at, "\\-\\-")) != NULL;) {
		char name[32];
		size_t n = 0;
		int i;

		for (at += 4; n < sizeof(name) - 1 && (*at == '\\' || (*at >= 'a' && *at <= 'z'));
			at++) {
			if (*at == '\\' && at[1] != '-')
				break;
			name[n++] = *at == '\\' ? '-' : *at;
			at += *at == '\\';
		}
		name[n] = '\0';
		for (i = 0; i < HP3CTL_OPTION_MAX && strcmp(hp3ctl_options[i].name, name) != 0; i++)
			;
		if (i == HP3CTL_OPTION_MAX)
			fail_msg("hp3ctl(1) has --%s, hp3ctl has not", name);
		found |= 1ull << i;
	}
	return found;
}

/* ".BR move " [" ...": the word behind the request, without quotes and blanks. */
static void title(const char *line, char *name, size_t cap)
{
	size_t n = 0;

	line += strcspn(line, " ");
	line += strspn(line, " \"");
	while (n < cap - 1 && (*line == '-' || (*line >= 'a' && *line <= 'z')))
		name[n++] = *line++;
	name[n] = '\0';
}

/* A .TP of the section COMMANDS, not one of those inside .RS and .RE, begins a command. */
static void read_line(
	struct manual *m, const char *section, int depth, bool titled, const char *line)
{
	struct described *c;

	if (strcmp(section, ".SH OPTIONS\n") == 0 && titled)
		m->common |= options_in(line);
	if (strcmp(section, ".SH COMMANDS\n") != 0)
		return;
	if (titled && depth == 0) {
		assert_true(m->n < MANUAL_MAX);
		title(line, m->command[m->n++].name, sizeof(m->command[0].name));
	}
	if (m->n == 0)
		return;
	c = &m->command[m->n - 1];
	c->named |= options_in(line);
	if (titled && depth > 0)
		c->titled |= options_in(line);
}

static void read_manual(struct manual *m)
{
	char line[512], section[64] = "";
	FILE *f = fopen(HP3CTL_MANUAL, "r");
	bool titled = false;
	int depth = 0;

	assert_non_null(f);
	memset(m, 0, sizeof(*m));
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, ".SH", 3) == 0)
			snprintf(section, sizeof(section), "%.63s", line);
		depth += strcmp(line, ".RS\n") == 0;
		depth -= strcmp(line, ".RE\n") == 0;
		read_line(m, section, depth, titled, line);
		titled = strcmp(line, ".TP\n") == 0;
	}
	fclose(f);
	assert_int_equal(depth, 0);
}

static uint64_t common_options(void)
{
	static const struct hp3ctl_command none;

	return hp3ctl_command_options(&none);
}

static void manual_has_each_command_and_no_other(void **state)
{
	struct manual m;

	read_manual(&m);
	for (unsigned i = 0; i < m.n; i++)
		if (!hp3ctl_command(m.command[i].name))
			fail_msg("hp3ctl(1) has %s, hp3ctl has not", m.command[i].name);
	for (const struct hp3ctl_command *c = hp3ctl_commands; c->name; c++) {
		unsigned n = 0;

		for (unsigned i = 0; i < m.n; i++)
			n += strcmp(m.command[i].name, c->name) == 0;
		if (n != 1)
			fail_msg("hp3ctl(1) describes %s %u times", c->name, n);
	}
}

static void manual_has_each_option_and_no_other(void **state)
{
	struct manual m;

	read_manual(&m);
	assert_int_equal(m.common, common_options());
	for (unsigned i = 0; i < m.n; i++) {
		const struct hp3ctl_command *c = hp3ctl_command(m.command[i].name);
		uint64_t has = hp3ctl_command_options(c) & ~common_options();

		if (m.command[i].titled != has)
			fail_msg("paragraphs about options of %s in hp3ctl(1): %#llx, in the table "
				 "%#llx (bits of enum hp3ctl_option)",
				c->name, (unsigned long long)m.command[i].titled,
				(unsigned long long)has);
		if (m.command[i].named & ~(has | common_options()))
			fail_msg("hp3ctl(1) names an option with %s that it has not", c->name);
	}
}

/* The file has the text. */
static bool has_text(const char *file, const char *text)
{
	static char all[1u << 18];
	FILE *f = fopen(file, "r");
	size_t n;

	assert_non_null(f);
	n = fread(all, 1, sizeof(all) - 1, f);
	fclose(f);
	assert_true(n < sizeof(all) - 1);
	all[n] = '\0';
	return strstr(all, text) != NULL;
}

/* The troff text of a code: each dash is \-. */
static void write_troff(const char *code, char *text)
{
	for (; *code != '\0'; code++) {
		if (*code == '-')
			*text++ = '\\';
		*text++ = *code;
	}
	*text = '\0';
}

/* hp3ctl(1) and the page about captures have each reason why a flow is not paired, and its help. */
static void pages_have_each_reason(void **state)
{
	for (unsigned i = HP3_UNPAIRED_PAIRED + 1; i < HP3_UNPAIRED_MAX; i++) {
		enum hp3_unpaired_reason r = (enum hp3_unpaired_reason)i;
		char code[64], text[512];

		write_troff(hp3_unpaired_name(r), code);
		snprintf(text, sizeof(text), ".TP\n.B %s\n", code);
		if ((hp3_unpaired_help(r) != NULL) != has_text(HP3CTL_MANUAL, text))
			fail_msg("hp3ctl(1): reason %s", hp3_unpaired_name(r));
		if (hp3_unpaired_help(r) && !has_text(HP3CTL_MANUAL, hp3_unpaired_help(r) + 1))
			fail_msg("hp3ctl(1): help of reason %s", hp3_unpaired_name(r));
		if (hp3_unpaired_capture_help(r) == NULL)
			continue;
		snprintf(text, sizeof(text), "| %s | %s |\n", hp3_unpaired_text(r),
			hp3_unpaired_capture_help(r));
		if (!has_text(HP3_CAPTURES_PAGE, text))
			fail_msg("captures.md has no row %s", text);
	}
}

/* The usage line names each option of the row, and the row has each that is named. */
static void usage_is_that_of_the_row(void **state)
{
	for (const struct hp3ctl_command *c = hp3ctl_commands; c->name; c++) {
		uint64_t has = hp3ctl_command_options(c) & ~common_options(), said = 0;

		for (int i = 0; i < HP3CTL_OPTION_MAX; i++) {
			char text[40];
			size_t n;

			n = (size_t)snprintf(text, sizeof(text), "--%s", hp3ctl_options[i].name);
			for (const char *at = c->usage; (at = strstr(at, text)) != NULL; at += n)
				if (!strchr("-abcdefghijklmnopqrstuvwxyz", at[n]) || at[n] == '\0')
					said |= 1ull << i;
		}
		if (said != has)
			fail_msg("usage of %s names %#llx, its row %#llx", c->name,
				(unsigned long long)said, (unsigned long long)has);
	}
}

static void rows_are_complete(void **state)
{
	for (int i = 0; i < HP3CTL_OPTION_MAX; i++) {
		assert_non_null(hp3ctl_options[i].name);
		assert_true(hp3ctl_options[i].max == 0 || hp3ctl_options[i].value);
	}
	for (const struct hp3ctl_command *c = hp3ctl_commands; c->name; c++) {
		assert_ptr_equal(hp3ctl_command(c->name), c); /* no name twice */
		assert_true(!c->alias || hp3ctl_command(c->alias) == c);
		assert_non_null(c->run);
		assert_non_null(c->usage);
		assert_true(strlen(c->help) > 10 && strlen(c->help) < 80);
		assert_int_equal(c->takes == HP3CTL_TAKES_WORD, c->words != NULL);
		if (c->details)
			assert_int_equal(c->details[strlen(c->details) - 1], '\n');
	}
	assert_null(hp3ctl_command("no-such"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_complete),
		cmocka_unit_test(usage_is_that_of_the_row),
		cmocka_unit_test(manual_has_each_command_and_no_other),
		cmocka_unit_test(manual_has_each_option_and_no_other),
		cmocka_unit_test(pages_have_each_reason),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
