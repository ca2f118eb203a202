/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a file from the tables of keys: the sample hp3.ini, or the manual page hp3.ini(5). The
 * build runs it.
 *
 * usage: write_reference ini|manual
 */
#include <stdio.h>
#include <string.h>
#include "config/config.h"
#include "config/keys.h"
#include "config/troff.h"

static const char head[] =
	".\\\" SPDX-License-Identifier: BSD-3-Clause\n"
	".\\\" Written by config/write_reference.c from engine/policy.def and config/keys.c.\n"
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
	".B hp3d \\-\\-dump\\-config=all\n"
	"prints them all.\n"
	"Reloadable keys take effect on SIGHUP, the others with a restart.\n"
	".BR hp3\\-sim (1)\n"
	"reads the same file, and has the sections policy, flows, pairing, ppp, rfr and cc, which\n"
	"are what the engine is told. Its scenarios have more keys there, for studies. With\n"
	".BR \"study = on\" ,\n"
	"hp3d takes these, too.\n";
static const char tail[] = ".SH SEE ALSO\n.BR hp3d (8),\n.BR hp3ctl (1),\n.BR hp3\\-sim (1)\n";

static void write_key(const struct hp3_ini_key *key)
{
	char allowed[128], def[HP3_INI_DEFAULT_MAX];

	hp3_ini_allowed(key, allowed, sizeof(allowed));
	hp3_ini_default(key, def, sizeof(def));
	printf(".TP\n.BR %s \" (", key->key);
	hp3_troff_text(stdout, allowed);
	fputs("; ", stdout);
	for (const char *c = def; *c != '\0'; c++)
		fputs(*c == '"' ? "\\(dq" : (char[]){*c, '\0'}, stdout);
	fputs(key->reloadable ? "; reloadable)\"\n" : ")\"\n", stdout);
	hp3_troff_text(stdout, key->help);
	putchar('\n');
}

static void write_manual(void)
{
	const struct hp3_ini_schema *s = &hp3_config_schema;

	fputs(head, stdout);
	for (size_t i = 0; i < s->n_sections; i++) {
		const struct hp3_ini_section *row = &s->sections[i];

		printf(".SH [%s%s]\n", row->name, row->max > 0 ? ".NAME" : "");
		hp3_troff_text(stdout, row->help);
		putchar('\n');
		for (size_t k = 0; k < s->n_keys; k++)
			if (strcmp(s->keys[k].section, row->name) == 0 && !s->keys[k].study)
				write_key(&s->keys[k]);
	}
	fputs(tail, stdout);
}

static void write_ini(void)
{
	struct hp3_config cfg;

	hp3_config_defaults(&cfg);
	hp3_config_dump_short(stdout, &cfg);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "ini") == 0)
		write_ini();
	else if (argc == 2 && strcmp(argv[1], "manual") == 0)
		write_manual();
	else
		return 2;
	return fflush(stdout) == 0 ? 0 : 1;
}
