/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3-fleet: command line. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "app/fleet/answer.h"
#include "app/fleet/commands.h"
#include "app/fleet/planner.h"
#include "app/fleet/process.h"
#include "app/fleet/rank_order.h"
#include "base/urls.h"

static const char usage_text[] =
	"usage: hp3-fleet [OPTION...] run                 join the reports of hosts, advise moves\n"
	"       hp3-fleet [OPTION...] agent               report this host's flows\n"
	"       hp3-fleet [OPTION...] top|links|flows|hosts|alarms|plan   query a running one\n"
	"       hp3-fleet [OPTION...] why FLOW             why a flow should move, or not\n"
	"       hp3-fleet order --hosts FILE [--ranks-per-host N] [--ports] [--format NAME]\n"
	"                                                  a rank order for collectives\n"
	"       hp3-fleet --dump-config                    every key, as FILE sets it or by "
	"default\n"
	"\n"
	"  -c, --config FILE         configuration (without it, all keys have their defaults)\n"
	"  -s, --servers URLS        NATS servers, separated by commas\n"
	"  -n, --limit N             rows, 1 to 1000 (default 50)\n"
	"  -j, --json                answers as JSON\n"
	"      --hosts FILE          order: lines of HOST LEAF; -: standard input\n"
	"      --ranks-per-host N    order: ranks, and rings (default 1)\n"
	"      --ports               order: also source ports, so that each ring has its own "
	"switches\n"
	"      --format NAME         order: text (default), or a file for openmpi, slurm or "
	"torchrun\n"
	"  -V, --version             print the version\n"
	"  -h, --help                print this\n"
	"\n"
	"FLOW is any part of a flow's name, as flows prints it.\n"
	"Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 no answer. See "
	"hp3-fleet(1).\n";

enum { OPT_HOSTS = 256, OPT_RANKS, OPT_PORTS, OPT_FORMAT, OPT_DUMP };

struct line {
	struct fleet_options o;
	const char *config, *servers;
	bool dump;
};

static int fail_usage(const char *what)
{
	fprintf(stderr, "hp3-fleet: %s; try hp3-fleet --help\n", what);
	return FLEET_USAGE;
}

/* 0: not a number from 1 to max. */
static unsigned parse_number(const char *text, unsigned max)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	return errno == 0 && end != text && *end == '\0' && *text != '-' && n <= max ? (unsigned)n
										     : 0;
}

/* -1: go on. */
static int parse_options(int argc, char **argv, struct line *l)
{
	static const struct option longs[] = {
		{"config", required_argument, NULL, 'c'},
		{"servers", required_argument, NULL, 's'},
		{"limit", required_argument, NULL, 'n'},
		{"json", no_argument, NULL, 'j'},
		{"hosts", required_argument, NULL, OPT_HOSTS},
		{"ranks-per-host", required_argument, NULL, OPT_RANKS},
		{"ports", no_argument, NULL, OPT_PORTS},
		{"format", required_argument, NULL, OPT_FORMAT},
		{"dump-config", no_argument, NULL, OPT_DUMP},
		{"version", no_argument, NULL, 'V'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "c:s:n:jVh", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			l->config = optarg;
			break;
		case 's':
			l->servers = optarg;
			break;
		case 'n':
			l->o.limit = parse_number(optarg, FLEET_ROWS_MAX);
			if (l->o.limit == 0)
				return fail_usage("--limit wants 1 to 1000");
			break;
		case 'j':
			l->o.json = true;
			break;
		case OPT_HOSTS:
			l->o.hosts = optarg;
			break;
		case OPT_RANKS:
			l->o.ranks = parse_number(optarg, 64);
			if (l->o.ranks == 0)
				return fail_usage("--ranks-per-host wants 1 to 64");
			break;
		case OPT_PORTS:
			l->o.ports = true;
			break;
		case OPT_FORMAT:
			l->o.format = fleet_order_format(optarg);
			if (l->o.format < 0)
				return fail_usage(
					"--format wants text, openmpi, slurm or torchrun");
			break;
		case OPT_DUMP:
			l->dump = true;
			break;
		case 'V':
			puts("hp3-fleet " HP3_VERSION);
			return FLEET_DONE;
		case 'h':
			fputs(usage_text, stdout);
			return FLEET_DONE;
		default:
			fputs("try hp3-fleet --help\n", stderr);
			return FLEET_USAGE;
		}
	}
	if (optind < argc)
		l->o.command = argv[optind++];
	if (l->o.command != NULL && strcmp(l->o.command, "why") == 0 && optind < argc)
		l->o.flow = argv[optind++];
	return optind < argc ? fail_usage("unexpected argument") : -1;
}

static int load_config(const struct line *l, struct fleet_config *cfg)
{
	struct hp3_config_errors errs = {0};
	int ret = 0;

	hp3_ini_defaults(&fleet_schema, cfg);
	if (l->config != NULL)
		ret = hp3_ini_load(&fleet_schema, l->config, 0, cfg, &errs);
	hp3_config_errors_print(&errs, stderr);
	hp3_config_errors_free(&errs);
	if (l->servers != NULL)
		snprintf(cfg->fleet.servers, sizeof(cfg->fleet.servers), "%s", l->servers);
	return ret;
}

static void warn_of_password(const char *file, const struct fleet_config *cfg)
{
	char shown[sizeof(cfg->fleet.servers) + 128];
	struct stat st;

	if (file == NULL || stat(file, &st) != 0 || (st.st_mode & (S_IROTH | S_IWOTH)) == 0 ||
		strcmp(hp3_urls_shown(cfg->fleet.servers, shown, sizeof(shown)),
			cfg->fleet.servers) == 0)
		return;
	fprintf(stderr,
		"hp3-fleet: %s has a password in servers=, and its mode is %04o: other users can "
		"read it; use nkey= and nkey_seed= instead, or chmod 640 %s\n",
		file, (unsigned)st.st_mode & 07777, file);
}

static int do_order(const struct fleet_config *cfg, const struct fleet_options *o)
{
	if (o->hosts == NULL)
		return fail_usage("order wants --hosts FILE");
	if (o->format != FLEET_ORDER_TEXT && (o->ports || o->json))
		return fail_usage("files for openmpi, slurm and torchrun have no source ports and "
				  "no JSON: leave out --ports and --json, or --format");
	return fleet_order(cfg, o);
}

static int do_command(const struct fleet_config *cfg, const struct fleet_options *o)
{
	if (strcmp(o->command, "run") == 0)
		return fleet_run(cfg);
	if (strcmp(o->command, "agent") == 0)
		return fleet_agent(cfg);
	if (strcmp(o->command, "order") == 0)
		return do_order(cfg, o);
	if (!fleet_command_is_known(o->command))
		return fail_usage("unknown command");
	if (strcmp(o->command, "why") == 0 && o->flow == NULL)
		return fail_usage("why wants a flow, or a part of its name");
	return fleet_ask(cfg, o);
}

int main(int argc, char **argv)
{
	struct line l = {.o = {.limit = 50, .ranks = 1}};
	static struct fleet_config cfg;
	int ret = parse_options(argc, argv, &l);

	if (ret >= 0)
		return ret;
	if (load_config(&l, &cfg) < 0)
		return FLEET_USAGE;
	if (l.dump) {
		hp3_ini_dump(&fleet_schema, &cfg, stdout);
		return FLEET_DONE;
	}
	if (l.o.command == NULL)
		return fail_usage("a command is missing");
	warn_of_password(l.config, &cfg);
	fleet_config_find_files(&cfg);
	ret = do_command(&cfg, &l.o);
	if (fflush(stdout) != 0 && ret == FLEET_DONE) {
		fprintf(stderr, "hp3-fleet: cannot write the output: %s\n", strerror(errno));
		ret = FLEET_FAILED;
	}
	return ret;
}
