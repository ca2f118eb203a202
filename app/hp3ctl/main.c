/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line: one table of commands, one of options; everything else follows from them. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "app/hp3ctl/hp3ctl.h"

#define DEFAULT_SOCKET  "/run/hp3/hp3.sock"
#define DEFAULT_WAIT_MS 2000u
#define WAIT_MS_MAX     600000u
#define TTL_MAX         16u
#define REPEAT_MAX      1000000000u
#define COMMON          (HP3CTL_BIT(SOCKET) | HP3CTL_BIT(JSON) | HP3CTL_BIT(HELP) | HP3CTL_BIT(VERSION))
#define TARGET          (HP3CTL_BIT(PORT) | HP3CTL_BIT(RANDOM) | HP3CTL_BIT(HOME))

struct command {
	const char *name, *args, *text, *details;
	uint32_t options;
	int (*run)(struct hp3ctl *ctl);
	bool wants_flow, wants_ports;
};

static const struct command commands[] = {
	{"flows", "", "list the flows: one requester stream each", NULL, 0, hp3ctl_flows},
	{"show", "FLOW", "everything about one flow",
		"FLOW is a flow id or what is enough of it: its beginning, its end from a '/' on,\n"
		"or its QPN such as 0x1c.\n",
		0, hp3ctl_show, true},
	{"stats", "[--nonzero] [--explain]", "counters, lcores and packet buffers",
		"  --nonzero  leave out counters that are 0\n"
		"  --explain  say what each counter counts\n",
		HP3CTL_BIT(NONZERO) | HP3CTL_BIT(EXPLAIN), hp3ctl_stats},
	{"move",
		"FLOW|--all --port N|--random|--home [--wait MS|--no-wait] [--repeat N [--interval "
		"MS]]",
		"move a flow to another source port behind a drain",
		"  --port N   to UDP source port N\n"
		"  --random   to a random port from 49152 to 65535\n"
		"  --home     back to the port that the RNIC writes\n"
		"  --all      every paired flow instead of one\n"
		"  --wait MS  wait so long for the result (2000)\n"
		"  --no-wait  return as soon as the move is under way\n"
		"  --repeat N, --interval MS\n"
		"             N times, with a pause (0) in between\n"
		"FLOW is a flow id or what is enough of it: its beginning, its end from a '/' on,\n"
		"or its QPN such as 0x1c.\n",
		TARGET | HP3CTL_BIT(ALL) | HP3CTL_BIT(WAIT) | HP3CTL_BIT(NO_WAIT) |
			HP3CTL_BIT(REPEAT) | HP3CTL_BIT(INTERVAL),
		hp3ctl_move, true},
	{"events", "[--all] [--follow] [--since N]", "what was decided, with its evidence",
		"  --all      samples of rounds that found nothing, too\n"
		"  --since N  only events with a number above N\n"
		"  --follow   go on with new ones until interrupted\n",
		HP3CTL_BIT(ALL) | HP3CTL_BIT(FOLLOW) | HP3CTL_BIT(SINCE), hp3ctl_events},
	{"why", "FLOW", "the evidence behind the last decisions about a flow",
		"FLOW is a flow id or what is enough of it: its beginning, its end from a '/' on,\n"
		"or its QPN such as 0x1c.\n",
		0, hp3ctl_why, true},
	{"paths", "", "address pairs, who answers there, and what is known of their paths",
		"A path is named by a source port that draws it, and by its id where that is "
		"known.\n",
		0, hp3ctl_paths},
	{"trace", "FLOW [--ttl N|--known] PORT...",
		"which switch do these source ports lead to, between the ends of a flow",
		"  --ttl N    so many hops away; else where the ways part, if that is known\n"
		"  --known    say what is known or predicted, send nothing\n"
		"FLOW as for show.\n",
		HP3CTL_BIT(TTL) | HP3CTL_BIT(KNOWN), hp3ctl_trace, true, true},
	{"probes", "", "what probing costs and what it brings", NULL, 0, hp3ctl_probes},
	{"watch", "[--interval MS]", "flows, paths and the latest events, again and again",
		"  --interval MS  pause in between (1000)\n", HP3CTL_BIT(INTERVAL), hp3ctl_watch},
	{"config", "", "the configuration in effect", NULL, 0, hp3ctl_config},
	{"health", "", "whether hp3d and its lcores answer", NULL, 0, hp3ctl_health},
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char *const option_names[] = {
#define X(sym, name, arg) "--" name,
	HP3CTL_OPTIONS(X)
#undef X
};

static void help(void)
{
	printf("Usage: hp3ctl [--socket PATH] [--json] COMMAND\n\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("  %-8s%s\n", commands[i].name, commands[i].text);
	printf("\n  --socket PATH  control socket of hp3d (" DEFAULT_SOCKET ")\n"
	       "  --json         JSON instead of tables; lists: one object per line\n"
	       "  --version      version\n"
	       "  --help         this text; behind a command: its own\n\n"
	       "Exit codes: 0 done, 1 refused or failed, 2 usage, 3 hp3d not reachable, 4 not "
	       "found.\n");
}

static void command_help(const struct command *c)
{
	printf("Usage: hp3ctl %s%s%s\n\n%s\n", c->name, *c->args ? " " : "", c->args, c->text);
	if (c->details)
		printf("\n%s", c->details);
}

static const struct command *command_by_name(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static bool number(const char *text, uint64_t min, uint64_t max, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0 && *out >= min &&
	       *out <= max;
}

static int take_option(struct hp3ctl *ctl, int opt)
{
	bool good = true;

	ctl->given |= 1u << opt;
	switch ((enum hp3ctl_option)opt) {
	case HP3CTL_SOCKET:
		ctl->socket = optarg;
		break;
	case HP3CTL_JSON:
		ctl->json = true;
		break;
	case HP3CTL_PORT:
		good = number(optarg, 1, UINT16_MAX, &ctl->port);
		break;
	case HP3CTL_WAIT:
		good = number(optarg, 1, WAIT_MS_MAX, &ctl->wait_ms);
		break;
	case HP3CTL_REPEAT:
		good = number(optarg, 1, REPEAT_MAX, &ctl->repeat);
		break;
	case HP3CTL_INTERVAL:
		good = number(optarg, 0, WAIT_MS_MAX, &ctl->interval_ms);
		break;
	case HP3CTL_TTL:
		good = number(optarg, 1, TTL_MAX, &ctl->ttl);
		break;
	case HP3CTL_SINCE:
		good = number(optarg, 0, INT64_MAX, &ctl->since);
		break;
	default:
		break;
	}
	return good ? HP3CTL_DONE
		    : hp3ctl_fail(ctl, HP3CTL_USAGE, "usage", "see hp3ctl COMMAND --help",
			      "%s does not take %s", option_names[opt], optarg);
}

static int parse_options(struct hp3ctl *ctl, int argc, char **argv)
{
	static const struct option options[] = {
#define X(sym, name, arg) {name, (arg) ? required_argument : no_argument, NULL, HP3CTL_##sym},
		HP3CTL_OPTIONS(X)
#undef X
			{0}};
	int opt, rc = HP3CTL_DONE;

	opterr = 0;
	while (rc == HP3CTL_DONE && (opt = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		if (opt == ':' || opt == '?')
			rc = hp3ctl_fail(ctl, HP3CTL_USAGE, "usage", "see hp3ctl --help",
				opt == ':' ? "%s wants a value" : "unknown option %s",
				argv[optind - 1]);
		else
			rc = take_option(ctl, opt);
	}
	return rc;
}

/* The command, as often as asked for; the exit code is that of the first run that failed. */
static int run_command(struct hp3ctl *ctl, const struct command *c)
{
	int rc = c->run(ctl);

	for (uint64_t i = 1; i < ctl->repeat; i++) {
		int again;

		if (rc == HP3CTL_UNREACHABLE || fflush(stdout) != 0)
			break;
		usleep((useconds_t)(ctl->interval_ms * 1000));
		again = c->run(ctl);
		if (again == HP3CTL_UNREACHABLE)
			return again;
		if (rc == HP3CTL_DONE)
			rc = again;
	}
	return rc;
}

/* What the command's row demands of options and arguments. */
static int check_usage(struct hp3ctl *ctl, const struct command *c, int n_args)
{
	uint32_t wrong = ctl->given & ~(c->options | COMMON);
	uint32_t target = ctl->given & TARGET;
	bool all = ctl->given & HP3CTL_BIT(ALL);
	const char *fix = "see hp3ctl COMMAND --help";

	if (wrong)
		return hp3ctl_fail(ctl, HP3CTL_USAGE, "usage", fix, "%s does not know %s", c->name,
			option_names[__builtin_ctz(wrong)]);
	if (c->wants_ports && n_args < 2)
		return hp3ctl_fail(ctl, HP3CTL_USAGE, "usage", fix,
			"%s wants a FLOW and one PORT or more", c->name);
	if (!c->wants_ports && n_args != (c->wants_flow && !all))
		return hp3ctl_fail(ctl, HP3CTL_USAGE, "usage", fix,
			c->wants_flow ? "%s wants one FLOW" : "%s takes no argument", c->name);
	if (c->options & TARGET && __builtin_popcount(target) != 1)
		return hp3ctl_fail(ctl, HP3CTL_USAGE, "usage", fix,
			"%s wants one of --port N, --random, --home", c->name);
	if (ctl->given & HP3CTL_BIT(WAIT) && ctl->given & HP3CTL_BIT(NO_WAIT))
		return hp3ctl_fail(
			ctl, HP3CTL_USAGE, "usage", fix, "--wait and --no-wait exclude each other");
	return HP3CTL_DONE;
}

static int run(struct hp3ctl *ctl, int argc, char **argv)
{
	const struct command *c;
	int rc = parse_options(ctl, argc, argv);

	if (rc != HP3CTL_DONE)
		return rc;
	if (ctl->given & HP3CTL_BIT(VERSION)) {
		printf("hp3ctl " HP3_VERSION "\n");
		return HP3CTL_DONE;
	}
	if (optind == argc) {
		if (ctl->given & HP3CTL_BIT(HELP)) {
			help();
			return HP3CTL_DONE;
		}
		return hp3ctl_fail(ctl, HP3CTL_USAGE, "usage", "see hp3ctl --help", "no command");
	}
	c = command_by_name(argv[optind++]);
	if (!c)
		return hp3ctl_fail(ctl, HP3CTL_USAGE, "usage", "see hp3ctl --help",
			"unknown command %s", argv[optind - 1]);
	if (ctl->given & HP3CTL_BIT(HELP)) {
		command_help(c);
		return HP3CTL_DONE;
	}
	rc = check_usage(ctl, c, argc - optind);
	if (rc != HP3CTL_DONE)
		return rc;
	ctl->flow = argv[optind];
	if (c->wants_ports) {
		ctl->ports = argv + optind + 1;
		ctl->n_ports = argc - optind - 1;
	}
	rc = hp3ctl_connect(ctl);
	return rc == HP3CTL_DONE ? run_command(ctl, c) : rc;
}

int main(int argc, char **argv)
{
	struct hp3ctl ctl = {.socket = DEFAULT_SOCKET, .wait_ms = DEFAULT_WAIT_MS, .fd = -1};
	int rc = run(&ctl, argc, argv);

	hp3ctl_disconnect(&ctl);
	if (fflush(stdout) != 0 && rc == HP3CTL_DONE) {
		fprintf(stderr, "hp3ctl: cannot write the output: %s\n", strerror(errno));
		rc = HP3CTL_FAILED;
	}
	return rc;
}
