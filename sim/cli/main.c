/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3-sim: the commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim/cli/cli.h"
#include "sim/core/config.h"
#include "sim/host/host.h"
#include "sim/lb/lb.h"
#include "sim/results/settings.h"
#include "sim/work/builtin.h"

static const char usage_text[] =
	"usage: hp3-sim run NAME|FILE|all [options]\n"
	"  --quick                  small: seconds per scenario\n"
	"  --out DIR                results (hp3-sim-results); those that are there are kept\n"
	"  --jobs N                 runs at a time (number of processors)\n"
	"  --lbs A,B                balancers instead of the scenario's\n"
	"       hp3-sim trace --topology FILE --flows FILE --lb NAME --json OUT [options]\n"
	"  --topology FILE, --flows FILE   in the formats of the ns-3 RDMA simulators\n"
	"  --lb NAME                load balancer\n"
	"  --json OUT               the result; - is the standard output\n"
	"  --seed N                 of every random choice (1)\n"
	"  --per-flow               add every flow\n"
	"  --pcap HOST:FILE         what this host sees, for hp3d --replay\n"
	"       hp3-sim report DIR  results.csv, figures, report.html from what run wrote\n"
	"       hp3-sim list        balancers, scenarios, flow size distributions\n"
	"       hp3-sim keys        every setting, with unit, range and default\n"
	"       hp3-sim sizes       bytes per packet, flow, port and host\n"
	"       hp3-sim --help, --version\n"
	"run and trace:\n"
	"  --set SECTION.KEY=VALUE  change a setting; any number\n"
	"Exit codes: 0 done, 1 a run failed or a file is wrong, 2 usage. See hp3-sim(1), and\n"
	"docs/sim.md for what the model is and what the results mean.\n";

int sim_usage(const char *problem)
{
	if (problem != NULL)
		fprintf(stderr, "hp3-sim: %s\n", problem);
	fputs(usage_text, stderr);
	return 2;
}

static void list_builtins(const char *title, const char *kind)
{
	puts(title);
	for (const struct sim_builtin *b = sim_builtins; b->name != NULL; b++)
		if (strcmp(b->kind, kind) == 0)
			printf("  %s\n", b->name);
}

static int list(void)
{
	puts("balancers:");
	for (unsigned i = 0; sim_lb_list(i) != NULL; i++)
		printf("  %s\n", sim_lb_list(i)->name);
	list_builtins("scenarios:", "ini");
	list_builtins("flow sizes:", "txt");
	return 0;
}

static int sizes(void)
{
	printf("{\"packet\": %zu, \"flow\": %zu, \"port\": %zu, \"host\": %zu, "
	       "\"flow to come or gone\": %zu}\n",
		sizeof(struct sim_packet), sizeof(struct sim_flow), sizeof(struct sim_port),
		sizeof(struct sim_host), sizeof(struct sim_demand) + sizeof(struct sim_outcome));
	return 0;
}

static int print_keys(void)
{
	static struct sim_config cfg;

	hp3_ini_defaults(&sim_schema, &cfg);
	hp3_ini_dump(&sim_schema, &cfg, stdout);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return sim_usage(NULL);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
			fputs(usage_text, stdout);
			return 0;
		}
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("hp3-sim %s, commit %s\n", HP3_VERSION, sim_commit());
		return 0;
	}
	if (strcmp(argv[1], "trace") == 0)
		return sim_trace_main(argc - 1, argv + 1);
	if (strcmp(argv[1], "run") == 0)
		return sim_run_main(argc - 1, argv + 1);
	if (strcmp(argv[1], "report") == 0)
		return sim_report_main(argc - 1, argv + 1);
	if (strcmp(argv[1], "list") == 0)
		return list();
	if (strcmp(argv[1], "sizes") == 0)
		return sizes();
	if (strcmp(argv[1], "keys") == 0)
		return print_keys();
	if (strcmp(argv[1], "help") == 0) {
		fputs(usage_text, stdout);
		return 0;
	}
	return sim_usage("no such command");
}
