/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3-sim list: what there is to name, a line each. */
#include <stdio.h>
#include <string.h>
#include "sim/cli/cli.h"
#include "sim/lb/lb.h"
#include "sim/work/builtin.h"
#include "sim/work/cdf.h"

/* A scenario's second line is a comment that describes it (data/embed.py insists). */
static void describe_scenario(const struct sim_builtin *b)
{
	const char *line = strchr(b->text, '\n') + strlen("\n; ");

	printf("  %-16s %.*s\n", b->name, (int)strcspn(line, "\n"), line);
}

static void describe_sizes(const struct sim_builtin *b)
{
	static struct sim_cdf c;
	char err[256];

	if (sim_cdf_load(&c, b->name, err, sizeof(err)) == 0)
		printf("  %-16s mean %llu bytes, at most %llu\n", b->name,
			(unsigned long long)hp3_cdf_mean(&c.cdf),
			(unsigned long long)c.cdf.size[c.cdf.n - 1]);
}

static void list_builtins(
	const char *title, const char *kind, void (*describe)(const struct sim_builtin *))
{
	puts(title);
	for (const struct sim_builtin *b = sim_builtins; b->name != NULL; b++)
		if (strcmp(b->kind, kind) == 0)
			describe(b);
}

int sim_list_main(int argc, char **argv)
{
	puts("balancers:");
	for (unsigned i = 0; sim_lb_list(i) != NULL; i++)
		printf("  %-16s %s\n", sim_lb_list(i)->name, sim_lb_list(i)->about);
	list_builtins("scenarios:", "ini", describe_scenario);
	list_builtins("flow sizes:", "txt", describe_sizes);
	return 0;
}
