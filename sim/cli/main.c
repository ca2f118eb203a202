/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3-sim: the commands. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "sim/cli/cli.h"
#include "sim/core/config.h"
#include "sim/lb/lb.h"

static const char usage_text[] =
	"usage: hp3-sim trace --topology FILE --flows FILE --lb NAME --json OUT [options]\n"
	"       hp3-sim list            load balancers\n"
	"       hp3-sim keys            every setting, with unit, range and default\n"
	"options: --set section.key=value (any number), --seed N, --per-flow\n"
	"docs/sim.md says what the model is and what the results mean\n";

int sim_usage(const char *problem)
{
	if (problem != NULL)
		fprintf(stderr, "hp3-sim: %s\n", problem);
	fputs(usage_text, stderr);
	return 2;
}

static int list(void)
{
	for (unsigned i = 0; sim_lb_list(i) != NULL; i++)
		puts(sim_lb_list(i)->name);
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
	if (strcmp(argv[1], "trace") == 0)
		return sim_trace_main(argc - 1, argv + 1);
	if (strcmp(argv[1], "list") == 0)
		return list();
	if (strcmp(argv[1], "keys") == 0)
		return print_keys();
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "help") == 0) {
		fputs(usage_text, stdout);
		return 0;
	}
	return sim_usage("no such command");
}
