/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes hp3-metrics(7) from metrics.def. The build runs it. */
#include <stdio.h>
#include <string.h>
#include "app/hp3d/metrics/table.h"
#include "config/troff.h"

static const char head[] =
	".\\\" SPDX-License-Identifier: BSD-3-Clause\n"
	".\\\" Written by app/hp3d/metrics/write_manual.c from metrics.def.\n"
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
	"names: in OpenMetrics 1.0.0 for clients that accept application/openmetrics\\-text, else "
	"in\n"
	"Prometheus' text format 0.0.4.\n"
	"A separate thread does that, and only reads: no packet waits for it.\n"
	"Requests within 100 ms get the same page.\n"
	".PP\n"
	".EX\n"
	"curl \\-\\-unix\\-socket /run/hp3/hp3\\-metrics.sock http://hp3/metrics\n"
	".EE\n"
	".PP\n"
	"Counters count from the start of hp3d.\n"
	"All times are in seconds; histograms have buckets of 1 us, 2 us, 4 us and so on up to\n"
	"8.4 s, unless others are named.\n"
	"Labels have few values: no queue pair, UDP port or address is one.\n"
	".B rail\n"
	"and\n"
	".B lcore\n"
	"are those of the configuration; the rails of a bond have the name of the bond, except in\n"
	"metrics of ports and of fail\\-open.\n"
	".B cause\n"
	"and\n"
	".B outcome\n"
	"are the words of\n"
	".BR \"hp3ctl events\" .\n"
	"A missing RNIC, or a counter that its driver lacks, has no series.\n"
	".SH METRICS\n";
static const char tail[] = ".SH FILES\n"
			   ".TP\n"
			   ".I PREFIX/share/hp3/prometheus/hp3\\-alerts.yml\n"
			   "Alert rules for Prometheus.\n"
			   ".TP\n"
			   ".I PREFIX/share/hp3/grafana/hp3.json\n"
			   "A dashboard for Grafana.\n"
			   ".SH SEE ALSO\n.BR hp3d (8),\n.BR hp3.ini (5),\n.BR hp3ctl (1)\n";

static void write_metric(const struct hp3d_metric *m)
{
	printf(".TP\n.BR %s%s \" (%s", m->name, hp3d_metric_suffix(m),
		hp3d_metric_type_name(m->type));
	for (const char *l = m->labels; *l != '\0'; l += strcspn(l, ","), l += *l == ',')
		printf("%s%.*s", l == m->labels ? "; " : ", ", (int)strcspn(l, ","), l);
	fputs(")\"\n", stdout);
	hp3_troff_text(stdout, m->help);
	fputs(".\n", stdout);
}

int main(void)
{
	fputs(head, stdout);
	for (unsigned i = 0; i < hp3d_metric_count; i++)
		write_metric(&hp3d_metrics[i]);
	fputs(tail, stdout);
	return fflush(stdout) == 0 ? 0 : 1;
}
