/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3-sim: the commands. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/message.h"
#include "sim/cli/cli.h"
#include "sim/core/config.h"
#include "sim/core/memory.h"
#include "sim/host/host.h"
#include "sim/results/settings.h"

struct command {
	const char *name, *help;
	int (*main)(int argc, char **argv);
};

#define FIRST_OPTION 256 /* value of the first in a list; getopt uses lower ones */
#define PLAIN_NOT    " \t\n\"'\\$`&|;<>()*?[]{}~#!"
#define SET_HELP                                                                                   \
	"  --hp3 FILE               hp3 as hp3d would run it with this file\n"                     \
	"  --set SECTION.KEY=VALUE  change a setting (`hp3-sim keys`); any number\n"               \
	"  --progress               how far it is, also where standard error is no terminal\n"

static int print_sizes(int argc, char **argv)
{
	printf("{\"packet\": %zu, \"flow\": %zu, \"port\": %zu, \"host\": %zu, "
	       "\"flow to come or gone\": %zu}\n",
		sizeof(struct sim_packet), sizeof(struct sim_flow), sizeof(struct sim_port),
		sizeof(struct sim_host), sizeof(struct sim_demand) + sizeof(struct sim_outcome));
	return 0;
}

static int print_keys(int argc, char **argv)
{
	static struct sim_config cfg;

	hp3_ini_defaults(&sim_schema, &cfg);
	hp3_ini_dump(&sim_schema, &cfg, stdout);
	return 0;
}

static const struct command commands[] = {
	{"run",
		"usage: hp3-sim run SCENARIO|FILE|all... [options]\n"
		"Runs every balancer, load and seed of the scenarios, and writes the report.\n"
		"  --quick                  small: seconds per scenario\n"
		"  --out DIR                results (hp3-sim-results); those that are there are "
		"kept\n"
		"  --jobs N                 runs at a time (number of processors)\n"
		"  --lbs A,B                balancers instead of the scenario's\n"
		"  --sweep SECTION.KEY=A,B  a variant for each value, with a line plot\n"
		"  --no-report              results alone; `hp3-sim report DIR` makes it "
		"later\n" SET_HELP,
		sim_run_main},
	{"trace",
		"usage: hp3-sim trace --topology FILE --flows FILE --lb NAME --json OUT [options]\n"
		"One run on files in the formats of the ns-3 RDMA simulators.\n"
		"  --topology FILE          nodes and links\n"
		"  --flows FILE             who sends how much to whom, and when\n"
		"  --lb NAME                load balancer\n"
		"  --json OUT               the result; - is the standard output\n"
		"  --seed N                 of every random choice (1)\n"
		"  --per-flow               add every flow, and queues over time\n"
		"  --pcap HOST:FILE         what this host sees, for hp3d --replay\n" SET_HELP,
		sim_trace_main},
	{"report",
		"usage: hp3-sim report DIR\n"
		"results.csv, figures and report.html from what run wrote to DIR.\n",
		sim_report_main},
	{"list",
		"usage: hp3-sim list\n"
		"Balancers, scenarios and flow size distributions, a line each.\n",
		sim_list_main},
	{"keys",
		"usage: hp3-sim keys\n"
		"Every setting with unit, range and default: a scenario file.\n",
		print_keys},
	{"sizes",
		"usage: hp3-sim sizes\n"
		"Bytes per packet, flow, port and host.\n",
		print_sizes},
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const struct command *command; /* that is carried out */

static void print_help(FILE *out)
{
	if (command != NULL) {
		fputs(command->help, out);
		return;
	}
	fputs("usage: hp3-sim COMMAND [options]\n", out);
	for (size_t i = 0; i < N_COMMANDS; i++) {
		const char *what = strchr(commands[i].help, '\n') + 1;

		fprintf(out, "  %-8s %.*s\n", commands[i].name, (int)strcspn(what, "\n"), what);
	}
	fputs("hp3-sim COMMAND --help prints the options of one; also --help, --version.\n"
	      "Exit codes: 0 done, 1 a run failed or a file is wrong, 2 usage. See hp3-sim(1);\n"
	      "for scenarios, files and results /usr/share/doc/hp3/guide/simulate.md.\n",
		out);
}

int sim_usage(const char *problem)
{
	if (problem != NULL)
		hp3_message("hp3-sim: %s", problem);
	print_help(stderr);
	return 2;
}

int sim_parse_options(int argc, char **argv, const struct sim_option *list, struct sim_sets *sets)
{
	struct option longs[SIM_OPTIONS_MAX] = {0};
	int c;

	for (int i = 0; list[i].name != NULL; i++)
		longs[i] = (struct option){list[i].name,
			list[i].flag != NULL ? no_argument : required_argument, NULL,
			FIRST_OPTION + i};
	opterr = 0; /* getopt's own message has the option as it is */
	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= FIRST_OPTION) {
		const struct sim_option *o = &list[c - FIRST_OPTION];
		char *text;

		if (o->flag != NULL)
			*o->flag = true;
		if (o->once && *o->text != NULL)
			return sim_usage("an option was given twice");
		if (o->text != NULL)
			*o->text = optarg;
		if (o->setting == NULL)
			continue;
		if (sets->n == SIM_SETS_MAX)
			return sim_usage("too many --set: use a scenario file");
		text = sim_alloc(strlen(o->setting) + strlen(optarg) + 1, 1);
		strcpy(stpcpy(text, o->setting), optarg);
		sets->text[sets->n++] = text;
	}
	if (c == -1)
		return 0;
	hp3_message("hp3-sim: %s: no such option, or its value is missing", argv[optind - 1]);
	return sim_usage(NULL);
}

static char *command_line;

const char *sim_command(void)
{
	return command_line;
}

static void note_command(int argc, char **argv)
{
	size_t size;
	FILE *f = open_memstream(&command_line, &size);

	if (f == NULL) {
		hp3_message("hp3-sim: no memory");
		exit(1);
	}
	fputs("hp3-sim", f);
	for (int i = 1; i < argc; i++) {
		bool plain = argv[i][0] != '\0' && argv[i][strcspn(argv[i], PLAIN_NOT)] == '\0';

		fputs(plain ? " " : " '", f);
		for (const char *p = argv[i]; *p != '\0'; p++)
			fputs(*p == '\'' ? "'\\''" : (char[]){*p, '\0'}, f);
		fputs(plain ? "" : "'", f);
	}
	fclose(f);
	hp3_plain(command_line); /* it ends in results and on the page */
}

int main(int argc, char **argv)
{
	note_command(argc, argv);
	if (argc < 2)
		return sim_usage(NULL);
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			command = &commands[i];
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0 ||
			(i == 1 && strcmp(argv[i], "help") == 0)) {
			print_help(stdout);
			return 0;
		}
	}
	if (strcmp(argv[1], "--version") == 0) {
		printf("hp3-sim %s, commit %s\n", HP3_VERSION, sim_commit());
		return 0;
	}
	if (command == NULL)
		return sim_usage("no such command");
	return command->main(argc - 1, argv + 1);
}
