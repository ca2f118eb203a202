/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hp3-metrics(7) is what metrics.def says, row for row. Where it is not, what it has to be is left
 * beside the program, for docs/.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/metrics/page.h"
#include "app/hp3d/metrics/table.h"

static const char head[] =
	".\\\" SPDX-License-Identifier: BSD-3-Clause\n"
	".\\\" From app/hp3d/metrics/metrics.def; the test metrics/manual holds it to that.\n"
	".TH HP3-METRICS 7 \"\" \"hp3\" \"Miscellaneous\"\n"
	".SH NAME\n"
	"hp3-metrics \\- metrics of hp3d\n"
	".SH DESCRIPTION\n"
	".BR hp3d (8)\n"
	"answers GET of\n"
	".I /metrics\n"
	"by HTTP on the UNIX socket, and the TCP port if there is one, that section\n"
	".B [metrics]\n"
	"of\n"
	".BR hp3.ini (5)\n"
	"names: in OpenMetrics 1.0.0 for who asks for application/openmetrics\\-text, else in\n"
	"Prometheus' text format 0.0.4.\n"
	"A thread of its own does that, and only reads: no packet waits for it.\n"
	"Two who ask within 100 ms get the same page.\n"
	".PP\n"
	".EX\n"
	"curl \\-\\-unix\\-socket /run/hp3/hp3\\-metrics.sock http://hp3/metrics\n"
	".EE\n"
	".PP\n"
	"Counters count from the start of hp3d.\n"
	"All times are in seconds; histograms have buckets of 1 us, 2 us, 4 us and so on up to\n"
	"8.4 s, where no others are named.\n"
	"Labels have few values: no queue pair, UDP port or address is one.\n"
	".B rail\n"
	"and\n"
	".B lcore\n"
	"are those of the configuration,\n"
	".B cause\n"
	"and\n"
	".B outcome\n"
	"the words of\n"
	".BR \"hp3ctl events\" .\n"
	"What is not there (an RNIC, a counter that its driver does not have) has no series.\n"
	".SH METRICS\n";
static const char tail[] = ".SH FILES\n"
			   ".TP\n"
			   ".I PREFIX/share/hp3/prometheus/hp3\\-alerts.yml\n"
			   "Alert rules for Prometheus.\n"
			   ".TP\n"
			   ".I PREFIX/share/hp3/grafana/hp3.json\n"
			   "A dashboard for Grafana.\n"
			   ".SH SEE ALSO\n.BR hp3d (8),\n.BR hp3.ini (5),\n.BR hp3ctl (1)\n";

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

static const char *suffix(const struct hp3d_metric *m)
{
	if (m->type == HP3D_METRIC_COUNTER)
		return "_total";
	return m->type == HP3D_METRIC_INFO ? "_info" : "";
}

static void say_metric(FILE *out, const struct hp3d_metric *m)
{
	fprintf(out, ".TP\n.BR %s%s \" (%s", m->name, suffix(m), hp3d_metric_type_name(m->type));
	for (const char *l = m->labels; *l != '\0'; l += strcspn(l, ","), l += *l == ',')
		fprintf(out, "%s%.*s", l == m->labels ? "; " : ", ", (int)strcspn(l, ","), l);
	fputs(")\"\n", out);
	say(out, m->help);
	fputs(".\n", out);
}

static char *manual(void)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fputs(head, out);
	for (unsigned i = 0; i < hp3d_metric_count; i++)
		say_metric(out, &hp3d_metrics[i]);
	fputs(tail, out);
	fclose(out);
	return text;
}

static void every_metric_is_there(void **state)
{
	static char have[1 << 17];
	char *want = manual();
	FILE *f = fopen(HP3_METRICS_MANUAL, "r");

	if (f != NULL) {
		have[fread(have, 1, sizeof(have) - 1, f)] = '\0';
		fclose(f);
	}
	if (strcmp(have, want) != 0) {
		f = fopen("hp3-metrics.7", "w");
		assert_non_null(f);
		fputs(want, f);
		fclose(f);
		fail_msg("docs/hp3-metrics.7 differs from metrics.def: replace it by "
			 "hp3-metrics.7, which is in this folder now");
	}
	free(want);
}

static bool is_name(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!islower((unsigned char)s[i]) && s[i] != '_' &&
			(i == 0 || !isdigit((unsigned char)s[i])))
			return false;
	return n > 0;
}

/* The conventions: what a label must not be, names that stand once and end as they have to. */
static void names_are_sound(void **state)
{
	static const char *const many[] = {"qpn", "port_number", "sport", "udp_port", "address",
		"local", "remote", "flow", "pair"};

	for (unsigned i = 0; i < hp3d_metric_count; i++) {
		const struct hp3d_metric *m = &hp3d_metrics[i];
		unsigned labels = 0;

		assert_true(is_name(m->name, strlen(m->name)));
		assert_true(
			strncmp(m->name, "hp3_", 4) == 0 || strncmp(m->name, "process_", 8) == 0);
		assert_null(strstr(m->name, "_total"));
		assert_true(*m->help != '\0');
		assert_true(m->type != HP3D_METRIC_HISTOGRAM ||
			    strcmp(hp3d_metric_unit(m), "seconds") == 0);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(m->name, hp3d_metrics[k].name);
		for (const char *l = m->labels; *l != '\0'; l += *l == ',') {
			size_t n = strcspn(l, ",");

			assert_true(is_name(l, n));
			for (unsigned k = 0; k < sizeof(many) / sizeof(many[0]); k++)
				assert_false(strlen(many[k]) == n && strncmp(l, many[k], n) == 0);
			labels++;
			l += n;
		}
		assert_true(labels <= HP3D_LABELS_MAX);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_metric_is_there),
		cmocka_unit_test(names_are_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
