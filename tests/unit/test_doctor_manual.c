/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3ctl(1) describes every finding as the table of checks does. If not, the test writes the
 * expected text next to the program, for docs/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "app/doctor/doctor.h"

static const char head[] = ".SH FINDINGS OF DOCTOR\n"
			   "The findings are listed by their ids.\n"
			   "Those marked\n"
			   ".I start\n"
			   "are also looked for by\n"
			   ".BR hp3d (8)\n"
			   "when it starts, and an error keeps it from starting; those marked\n"
			   ".I check\\-config\n"
			   "also by\n"
			   ".BR \"hp3d \\-\\-check\\-config\" .\n";

static void say(FILE *out, const char *text)
{
	for (; *text != '\0'; text++)
		fputs(*text == '-' ? "\\-" : (char[]){*text, '\0'}, out);
}

static char *section(void)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs(head, out);
	for (unsigned i = 0; i < hp3_n_checks; i++) {
		const struct hp3_check *c = &hp3_checks[i];

		fputs(".TP\n.BR ", out);
		say(out, c->id);
		fprintf(out, " \" (%s%s%s)\"\n", hp3_severity_name(c->severity),
			c->when & HP3_CHECK_START ? "; start" : "",
			c->when & HP3_CHECK_CONFIG ? ", check\\-config" : "");
		say(out, c->about);
		fputc('\n', out);
		say(out, c->why);
		fputc('\n', out);
	}
	fclose(out);
	return text;
}

static void every_finding_is_there(void **state)
{
	static char have[1 << 17];
	char *want = section();
	FILE *f = fopen(HP3CTL_MANUAL, "r");

	if (f != NULL) {
		have[fread(have, 1, sizeof(have) - 1, f)] = '\0';
		fclose(f);
	}
	if (strstr(have, want) == NULL) {
		f = fopen("hp3ctl-doctor.1", "w");
		assert_non_null(f);
		fputs(want, f);
		fclose(f);
		fail_msg("docs/reference/hp3ctl.1 differs from the table of checks: its section "
			 "FINDINGS OF "
			 "DOCTOR "
			 "has to be hp3ctl-doctor.1, which is in this folder now");
	}
	free(want);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_finding_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
