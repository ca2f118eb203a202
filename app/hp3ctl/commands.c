/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3ctl/commands.h"
#include <string.h>
#include "app/hp3ctl/columns.h"
#include "engine/policy.h"
#include "ppp/ports.h"
#include "config/config_file.h"

#define WAIT_MS_MAX 600000u
#define REPEAT_MAX  1000000000u
#define TTL_MAX     16u
#define PORTS_MAX   64u
#define SINCE_RANGE "the number of an event, or a time such as 90s, 10m, 2h or 1d"

static const char *event_type(unsigned i)
{
	return i < HP3_EVENT_MAX ? hp3_event_name((enum hp3_event_type)i) : NULL;
}

const struct hp3ctl_option_row hp3ctl_options[HP3CTL_OPTION_MAX] = {
#define X(sym, ...) [HP3CTL_##sym] = {__VA_ARGS__},
	HP3CTL_OPTIONS(X)
#undef X
};

#define USES(...) ((const struct hp3ctl_use[]){__VA_ARGS__, {0}})

const struct hp3ctl_use hp3ctl_common[] = {
	{HP3CTL_SOCKET, "control socket of hp3d (" HP3CTL_DEFAULT_SOCKET ")"},
	{HP3CTL_JSON, "JSON instead of tables; lists: one object per line"},
	{HP3CTL_VERSION, "version"},
	{HP3CTL_HELP, "this text; after a command: the command's text"},
	{0},
};

#define A_FLOW                                                                                     \
	"FLOW is a flow id or a unique part of it: its beginning, its end from a '/' on,\n"        \
	"or its QPN such as 0x1c.\n"

#define A_FILTER                                                                                   \
	"TERMS are separated by blanks: a part of the id; a state (steady, draining ...); "        \
	"moved,\n"                                                                                 \
	"home, paired, unpaired, severe, barred; a number compared, such as rtt>100 (us),\n"       \
	"marked>50 (of 1000), idle<5 (ms), in_flight, moves, bytes, port; !TERM: negation.\n"

static const char *const bypass_words[] = {"auto", "on", "off", NULL};

const struct hp3ctl_command hp3ctl_commands[] = {
	{.name = "flows",
		.usage = "[--sort COLUMN [--reverse]] [--filter TERMS] [--interval MS]",
		.help = "list the flows: one requester stream each",
		.details = A_FILTER,
		.run = hp3ctl_flows,
		.uses = USES(
			{HP3CTL_SORT, "by flow, port, state, rate, rtt ..., largest number on top"},
			{HP3CTL_REVERSE, "in reverse order"},
			{HP3CTL_FILTER, "only flows for which all TERMS are true"},
			{HP3CTL_INTERVAL, "time between the two reads for the rate (200)"})},
	{.name = "qps",
		.usage = "",
		.help = "list the queue pairs that applications share in verbs mode",
		.run = hp3ctl_qps},
	{.name = "show",
		.usage = "FLOW",
		.help = "print everything about one flow",
		.details = A_FLOW,
		.run = hp3ctl_show,
		.takes = HP3CTL_TAKES_FLOW},
	{.name = "stats",
		.usage = "[--nonzero] [--explain]",
		.help = "counters, lcores and packet buffers",
		.run = hp3ctl_stats,
		.uses = USES({HP3CTL_NONZERO, "leave out counters that are 0"},
			{HP3CTL_EXPLAIN, "print what each counter counts"})},
	{.name = "move",
		.usage = "FLOW|--all --port N [--ask]|--random|--home [--wait MS|--no-wait] "
			 "[--repeat N [--interval MS]]",
		.help = "move a flow to another source port behind a drain",
		.details = A_FLOW,
		.run = hp3ctl_move,
		.uses = USES({HP3CTL_PORT, "to UDP source port N, from 49152 to 65535"},
			{HP3CTL_ASK, "only if probes find its path no worse"},
			{HP3CTL_RANDOM, "to a random port from 49152 to 65535"},
			{HP3CTL_HOME, "to the home port, which the RNIC writes"},
			{HP3CTL_ALL, "every paired flow instead of one"},
			{HP3CTL_WAIT, "wait this long for the result (2000)"},
			{HP3CTL_NO_WAIT, "return when the move has begun"},
			{HP3CTL_REPEAT, "do it N times"},
			{HP3CTL_INTERVAL, "with a pause in between (0)"}),
		.takes = HP3CTL_TAKES_FLOW},
	{.name = "events",
		.usage = "[--all] [--follow] [--since N|TIME] [--type TYPE]",
		.help = "list decisions with their evidence",
		.run = hp3ctl_events,
		.uses = USES({HP3CTL_ALL, "also samples of rounds that found no better path"},
			{HP3CTL_FOLLOW, "print new ones until interrupted"},
			{HP3CTL_SINCE,
				"only events after number N, or of this time: 90s, 10m, 2h, 1d"},
			{HP3CTL_TYPE, "only events of this type"})},
	{.name = "why",
		.usage = "FLOW",
		.help = "print the evidence for the last decisions about a flow",
		.details = A_FLOW,
		.run = hp3ctl_why,
		.takes = HP3CTL_TAKES_FLOW},
	{.name = "peers",
		.usage = "",
		.help = "list the peers: their hp3d, keys, and agreed capabilities",
		.run = hp3ctl_peers},
	{.name = "paths",
		.usage = "[FLOW]",
		.help = "list address pairs, what answers their probes, and their paths",
		.details = "A path is named by a source port that selects it, and by its id if "
			   "known.\nWith FLOW: only the address pair of this flow.\n" A_FLOW,
		.run = hp3ctl_paths,
		.takes = HP3CTL_TAKES_FLOW,
		.optional = true},
	{.name = "ports",
		.usage = "--peer PEER [--count N] [--distinct] [--format FORMAT]",
		.help = "list source ports to a peer on different paths, with the evidence",
		.details =
			"PEER is an address, or an address pair as in hp3ctl paths. If traces do "
			"not\nidentify paths, probes compare ports first, for a second or two.\n",
		.run = hp3ctl_ports,
		.uses = USES({HP3CTL_PEER, "the peer"}, {HP3CTL_COUNT, "number of ports (1)"},
			{HP3CTL_DISTINCT, "each on its own path; otherwise spread over the paths"},
			{HP3CTL_FORMAT, "list, flow_label, mooncake (its variable), json"})},
	{.name = "trace",
		.usage = "FLOW [--ttl N|--known] PORT...",
		.help = "trace the switches on the paths of these source ports of a flow",
		.details = A_FLOW,
		.run = hp3ctl_trace,
		.uses = USES(
			{HP3CTL_TTL,
				"at this hop; otherwise where the paths part, if that is known"},
			{HP3CTL_KNOWN, "print known or predicted switches, send nothing"}),
		.takes = HP3CTL_TAKES_FLOW_PORTS},
	{.name = "probes",
		.usage = "",
		.help = "print the cost and the results of probing",
		.run = hp3ctl_probes},
	{.name = "watch",
		.usage = "[--interval MS] [--plain]",
		.help = "show flows, their paths and last decisions on a screen, refreshed",
		.details = "Keys: q quits, < and > choose the column to sort by, r reverses, / "
			   "sets a\nfilter (as flows --filter), j and k scroll, the space bar "
			   "refreshes at once.\n",
		.run = hp3ctl_watch,
		.uses = USES({HP3CTL_INTERVAL, "pause in between (1000)"},
			{HP3CTL_PLAIN, "as lines, the default if the output is no terminal"})},
	{.name = "mode",
		.usage = "[off|observe|on]",
		.help = "whether hp3d moves flows, only watches them, or only forwards",
		.details = "off, observe: moved flows return to their home ports, each behind a "
			   "drain.\n",
		.run = hp3ctl_mode,
		.takes = HP3CTL_TAKES_WORD,
		.words = hp3_policy_modes,
		.optional = true},
	{.name = "bypass",
		.usage = "[auto|on|off] [--rail NAME]",
		.help = "whether RoCEv2 packets go direct: when needed, always, never",
		.details = "auto: when hp3d dies or hangs. on: now, after moved flows have "
			   "returned home.\n"
			   "off: RoCEv2 passes through hp3d or not at all.\n",
		.run = hp3ctl_bypass,
		.takes = HP3CTL_TAKES_WORD,
		.words = bypass_words,
		.optional = true,
		.uses = USES({HP3CTL_RAIL, "of this rail instead of all"})},
	{.name = "config",
		.usage = "[KEY]",
		.help = "the configuration in effect",
		.details = "KEY is a section, a key, or SECTION.KEY.\n",
		.run = hp3ctl_config,
		.takes = HP3CTL_TAKES_TEXT,
		.optional = true},
	{.name = "health",
		.alias = "status",
		.usage = "[--all]",
		.help = "a verdict, and what it rests on: packets, flows, peers, audit, warnings",
		.details = "Exit codes: 0 ok or warning, 1 hp3d does not work, or traffic is "
			   "harmed now\n(lcore-hangs, link-down, direct, silent, drops).\n",
		.run = hp3ctl_health,
		.uses = USES({HP3CTL_ALL, "all values, one per line"})},
	{.name = "doctor",
		.usage = "[--config FILE]",
		.help = "find what keeps hp3 from working well on this host, and the fix",
		.details = "Works without hp3d. Exit codes: 0 no problem, 1 an error or a warning "
			   "was found.\n",
		.run = hp3ctl_doctor,
		.uses = USES({HP3CTL_CONFIG, "hp3d's configuration (" HP3_CONFIG_FILE ")"}),
		.offline = true},
	{.name = "bundle",
		.usage = "[FILE]",
		.help = "write a file for support: data of hp3d and the host, no secrets",
		.details =
			"FILE (hp3-bundle-HOST-TIME.tar.gz) is never overwritten. Without hp3d it "
			"has only\ndata of the host.\n",
		.run = hp3ctl_bundle,
		.takes = HP3CTL_TAKES_TEXT,
		.optional = true,
		.offline = true},
	{.name = "keys",
		.usage = "HOSTS [--secret FILE] [--out DIR]",
		.help = "write the key files of hosts, for their probe_key",
		.details = "HOSTS has a line for each host, \"NAME ADDRESS...\"; its file is "
			   "DIR/NAME.keys.\nWith that file nobody can impersonate other hosts.\n",
		.run = hp3ctl_keys,
		.uses = USES({HP3CTL_SECRET, "derive keys from the 32 hexadecimal digits in FILE "
					     "(a new random secret)"},
			{HP3CTL_OUT, "folder of the files (.); none is overwritten"}),
		.takes = HP3CTL_TAKES_TEXT,
		.offline = true},
	{0},
};

const struct hp3ctl_command *hp3ctl_command(const char *name)
{
	for (const struct hp3ctl_command *c = hp3ctl_commands; c->name; c++)
		if (strcmp(c->name, name) == 0 || (c->alias && strcmp(c->alias, name) == 0))
			return c;
	return NULL;
}

static uint64_t option_bits(const struct hp3ctl_use *use)
{
	uint64_t given = 0;

	for (; use && use->help; use++)
		given |= 1ull << use->option;
	return given;
}

uint64_t hp3ctl_command_options(const struct hp3ctl_command *c)
{
	return option_bits(hp3ctl_common) | option_bits(c->uses);
}
