/* SPDX-License-Identifier: BSD-3-Clause */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "config/message.h"
#include "p4-testbed/fabric/fabric_main.h"
#include "p4-testbed/fabric/scenario.h"
#include "p4-testbed/spec/program.h"

static int print_usage(FILE *out)
{
	fprintf(out,
		"usage: hp3-fabric COMMAND ...\n"
		"  check TOPOLOGY            errors of the file, with line, section and key\n"
		"  plan TOPOLOGY             hosts, switches, links, addresses as JSON\n"
		"  path TOPOLOGY SRC DST SPORT [--ipv6] [--qpn N] [--dport N]\n"
		"                            switches that a packet passes\n"
		"  entries TOPOLOGY SWITCH [--target swx|bmv2]\n"
		"                            table entries, one a line\n"
		"  scenario SCENARIO         a scenario file as JSON\n"
		"  program                   the switch program as JSON\n"
		"  run TOPOLOGY --socket PATH [--name NAME] [--devargs DEVARGS] [--memory MIB]\n"
		"                            carry traffic until SIGTERM; %%s in DEVARGS is the "
		"host\n"
		"  inject TOPOLOGY           packets on stdin (JSON lines), what came of them on "
		"stdout\n"
		"  bench TOPOLOGY [--quick]  packets per second through switches, without ports\n"
		"hp3-testbed runs it.\n");
	return out == stdout ? 0 : 2;
}

static const struct option options[] = {
	{"socket", required_argument, NULL, 's'},
	{"name", required_argument, NULL, 'n'},
	{"devargs", required_argument, NULL, 'd'},
	{"memory", required_argument, NULL, 'm'},
	{"target", required_argument, NULL, 't'},
	{"qpn", required_argument, NULL, 'q'},
	{"dport", required_argument, NULL, 'p'},
	{"ipv6", no_argument, NULL, '6'},
	{"quick", no_argument, NULL, 'k'},
	{"help", no_argument, NULL, 'h'},
	{0},
};

static bool parse_number(const char *what, const char *text, unsigned long max, uint32_t *out)
{
	char *end;
	unsigned long v = strtoul(text, &end, 0);

	if (*text < '0' || *text > '9' || *end != '\0' || v > max) {
		hp3_message("hp3-fabric: %s '%s': write a number up to %lu", what, text, max);
		return false;
	}
	*out = (uint32_t)v;
	return true;
}

static int parse_arguments(struct hp3_fabric_args *a, int argc, char **argv)
{
	bool good = true;
	int c;

	*a = (struct hp3_fabric_args){
		.name = "fabric", .target = "swx", .memory_mb = 256, .dport = 4791};
	opterr = 0; /* getopt's own message has the option as it is */
	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1 && good) {
		switch (c) {
		case 's':
			a->socket = optarg;
			break;
		case 'n':
			a->name = optarg;
			break;
		case 'd':
			a->devargs = optarg;
			break;
		case 't':
			a->target = optarg;
			break;
		case 'm':
			good = parse_number("--memory", optarg, 65536, &a->memory_mb);
			break;
		case 'q':
			good = parse_number("--qpn", optarg, 0xffffff, &a->qpn);
			break;
		case 'p':
			good = parse_number("--dport", optarg, 65535, &a->dport);
			break;
		case '6':
			a->ipv6 = true;
			break;
		case 'k':
			a->quick = true;
			break;
		case 'h':
			exit(print_usage(stdout));
		default:
			hp3_message("hp3-fabric: %s: no such option, or its value is missing",
				argv[optind - 1]);
			return print_usage(stderr);
		}
	}
	if (!good || optind >= argc || argc - optind > (int)(1 + RTE_DIM(a->word)))
		return print_usage(stderr);
	a->command = argv[optind++];
	while (optind < argc)
		a->word[a->n_words++] = argv[optind++];
	return 0;
}

static int print_json(json_t *j)
{
	json_dumpf(j, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
	putchar('\n');
	json_decref(j);
	return 0;
}

static int print_path(const struct hp3_fabric_args *a, const struct hp3_net *net)
{
	int src = HP3_TOPO_FIND(net->host, net->n_hosts, a->word[1]);
	int dst = HP3_TOPO_FIND(net->host, net->n_hosts, a->word[2]);
	struct hp3_net_flow flow = {
		.ipv6 = a->ipv6, .dport = (uint16_t)a->dport, .protocol = 17, .qpn = a->qpn};
	uint32_t sport;
	json_t *j;

	if (src < 0 || dst < 0) {
		hp3_message("hp3-fabric: no host '%s': there are h1 to h%u",
			a->word[src < 0 ? 1 : 2], net->n_hosts);
		return 1;
	}
	if (!parse_number("source port", a->word[3], 65535, &sport))
		return 2;
	flow.src = (uint32_t)src;
	flow.dst = (uint32_t)dst;
	flow.sport = (uint16_t)sport;
	j = hp3_plan_path(net, &flow);
	if (j == NULL) {
		hp3_message("hp3-fabric: no path from %s to %s", a->word[1], a->word[2]);
		return 1;
	}
	return print_json(j);
}

/* Commands on a topology that need no DPDK. */
static int run_topology_command(const struct hp3_fabric_args *a, const struct hp3_topo *topo)
{
	struct hp3_net net;
	int code = 2;

	if (hp3_net_build(&net, topo) != 0) {
		hp3_message("hp3-fabric: out of memory");
		return 1;
	}
	if (strcmp(a->command, "check") == 0 && a->n_words == 1)
		code = 0;
	else if (strcmp(a->command, "plan") == 0 && a->n_words == 1)
		code = print_json(hp3_plan(&net));
	else if (strcmp(a->command, "path") == 0 && a->n_words == 4)
		code = print_path(a, &net);
	else if (strcmp(a->command, "entries") == 0 && a->n_words == 2)
		code = hp3_plan_entries(&net, a->word[1], a->target);
	else
		print_usage(stderr);
	hp3_net_free(&net);
	return code;
}

static int report_errors(struct hp3_config_errors *errs)
{
	hp3_config_errors_print(errs, stderr);
	hp3_config_errors_free(errs);
	return 1;
}

static int print_scenario(const char *path)
{
	static struct hp3_scenario s;
	struct hp3_config_errors errs = {0};

	if (hp3_scenario_load(path, &s, &errs) != 0)
		return report_errors(&errs);
	return print_json(hp3_scenario_json(&s));
}

int main(int argc, char **argv)
{
	static struct hp3_topo topo;
	struct hp3_config_errors errs = {0};
	struct hp3_fabric_args a;
	int code = parse_arguments(&a, argc, argv);

	if (code != 0)
		return code;
	/* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): print_usage(stderr) is not 0 */
	if (strcmp(a.command, "program") == 0 && a.n_words == 0) {
		hp3_program_dump(stdout);
		return 0;
	}
	if (a.n_words == 0)
		return print_usage(stderr);
	if (strcmp(a.command, "scenario") == 0 && a.n_words == 1)
		return print_scenario(a.word[0]);
	if (hp3_topo_load(a.word[0], &topo, &errs) != 0)
		return report_errors(&errs);
	if (strcmp(a.command, "run") == 0 && a.n_words == 1 && a.socket != NULL)
		return hp3_fabric_run(&a, &topo);
	if (strcmp(a.command, "inject") == 0 && a.n_words == 1)
		return hp3_fabric_inject(&a, &topo);
	if (strcmp(a.command, "bench") == 0 && a.n_words == 1)
		return hp3_fabric_bench(&a, &topo);
	return run_topology_command(&a, &topo);
}
