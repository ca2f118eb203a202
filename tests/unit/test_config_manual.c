/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3.ini(5) is what the table of keys says, key for key. Where it is not, what it has to be is
 * left beside the program, for docs/.
 */
#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "config/config.h"
#include "config/keys.h"

static const char head[] =
	".\\\" SPDX-License-Identifier: BSD-3-Clause\n"
	".\\\" From engine/policy.def and config/keys.c; the test config/manual holds it to them.\n"
	".TH HP3.INI 5 \"\" \"hp3\" \"File Formats\"\n"
	".SH NAME\n"
	"hp3.ini \\- configuration of hp3d\n"
	".SH DESCRIPTION\n"
	"Sections, and in each\n"
	".IR \"key = value\" ;\n"
	"comments begin with ; or #.\n"
	"Numbers are plain decimals in the unit that is named; values with ; # or quotes are "
	"quoted.\n"
	"Unknown keys, keys that stand twice, and values out of range are errors.\n"
	"A key that is not there has its default;\n"
	".B hp3d \\-\\-dump\\-config\n"
	"prints them all.\n"
	"Reloadable keys take effect on SIGHUP, the others with a restart.\n"
	".BR hp3\\-sim (1)\n"
	"reads the same file, and has the sections policy, flows, pairing, ppp, rfr and cc, which\n"
	"are what the engine is told.\n";
static const char tail[] = ".SH SEE ALSO\n.BR hp3d (8),\n.BR hp3ctl (1),\n.BR hp3\\-sim (1)\n";

/* Text for troff: dashes and backslashes as they are, no request at the beginning of a line. */
static void say(FILE *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", out);
	for (; *text != '\0'; text++) {
		if (*text == '-')
			fputc('\\', out);
		fputs(*text == '\\' ? "\\e" : (char[]){*text, '\0'}, out);
	}
}

static void say_key(FILE *out, const struct hp3_ini_key *key)
{
	char allowed[128], def[HP3_INI_VALUE_MAX + 16] = "must be set";

	hp3_ini_allowed(key, allowed, sizeof(allowed));
	if (!key->required && key->type == HP3_INI_INT)
		snprintf(def, sizeof(def), "default %" PRIu64, key->def);
	else if (!key->required && key->type == HP3_INI_ENUM)
		snprintf(def, sizeof(def), "default %s", key->choices[key->def]);
	else if (!key->required)
		snprintf(def, sizeof(def), "default \"%s\"", key->def_string);
	fprintf(out, ".TP\n.BR %s \" (", key->key);
	say(out, allowed);
	fputs("; ", out);
	for (const char *c = def; *c != '\0'; c++)
		fputs(*c == '"' ? "\\(dq" : (char[]){*c, '\0'}, out);
	fputs(key->reloadable ? "; reloadable)\"\n" : ")\"\n", out);
	say(out, key->help);
	fputc('\n', out);
}

static char *manual(void)
{
	const struct hp3_ini_schema *s = &hp3_config_schema;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs(head, out);
	for (size_t i = 0; i < s->n_sections; i++) {
		const struct hp3_ini_section *row = &s->sections[i];

		fprintf(out, ".SH [%s%s]\n", row->name, row->max > 0 ? ".NAME" : "");
		say(out, row->help);
		fputc('\n', out);
		for (size_t k = 0; k < s->n_keys; k++)
			if (strcmp(s->keys[k].section, row->name) == 0)
				say_key(out, &s->keys[k]);
	}
	fputs(tail, out);
	fclose(out);
	return text;
}

static void every_key_is_there(void **state)
{
	static char have[1 << 17];
	char *want = manual();
	FILE *f = fopen(HP3_INI_MANUAL, "r");

	if (f != NULL) {
		have[fread(have, 1, sizeof(have) - 1, f)] = '\0';
		fclose(f);
	}
	if (strcmp(have, want) != 0) {
		f = fopen("hp3.ini.5", "w");
		assert_non_null(f);
		fputs(want, f);
		fclose(f);
		fail_msg("docs/hp3.ini.5 differs from the tables of keys: replace it by hp3.ini.5, "
			 "which is in this folder now");
	}
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
