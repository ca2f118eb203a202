/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <getopt.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include "config/message.h"
#include "options.h"

#define WIDTH 27

enum kind { HEADING, NUMBER, TEXT, FLAG, LIST, SPORTS, LOAD_KIND, HELP, VERSION };

struct option_row {
	const char *name;
	enum kind kind;
	const char *arg, *help;
	size_t at; /* in struct gen_options */
	uint64_t def, min, max;
	size_t more; /* NUMBER: bool "was given"; LIST: its count, which is at most max */
};

#define AT(field) offsetof(struct gen_options, field)
#define TXT(name, arg, field, text)                                                                \
	{                                                                                          \
		name, TEXT, arg, text, AT(field)                                                   \
	}
#define ON(name, field, text)                                                                      \
	{                                                                                          \
		name, FLAG, NULL, text, AT(field)                                                  \
	}
#define HEAD(text)                                                                                 \
	{                                                                                          \
		NULL, HEADING, NULL, text                                                          \
	}
#define N(name, field, d, lo, hi, t)                                                               \
	{                                                                                          \
		name, NUMBER, "N", t, AT(field), d, lo, hi                                         \
	}

static const struct option_row rows[] = {
	HEAD("Who"),
	TXT("interface", "NAME", interface, "network interface; required"),
	TXT("listen", "WHERE", listen,
		"take set-up connections: a path (Unix socket), or ADDRESS:PORT (TCP)"),
	{"connect", LIST, "WHERE", "set queue pairs up with a peer that listens; repeatable",
		AT(peers), 0, 0, GEN_PEERS_MAX, AT(n_peers)},
	N("expect", expect, 1, 0, 64, "peers to wait for with --listen; 0: serve until a signal"),
	{"static", LIST, "SPEC",
		"no set-up connection: IP,QPN,PSN[,RKEY,VA] of the peer's first "
		"queue pair; repeatable",
		AT(fixed), 0, 0, GEN_PEERS_MAX, AT(n_fixed)},
	TXT("address", "IP", address_text, "own address (first one of the interface)"),
	TXT("dst-mac", "MAC", dst_mac_text, "MAC of the next hop (asked of the kernel)"),
	ON("ipv6", ipv6, "use the interface's IPv6 address"),
	TXT("name", "TEXT", name, "name in the report (interface)"),
	HEAD("Load"),
	{"load", LOAD_KIND, "KIND", "closed, poisson, rounds, allreduce or none (closed)",
		AT(load)},
	N("qps", qps, 1, 1, 16384, "queue pairs for each peer"),
	TXT("op", "OPS", ops,
		"write, write-imm, send, read, or a mix such as read:70,write:30 (write)"),
	N("size", size, 65536, 0, GEN_LEN_MAX, "bytes of a message; allreduce: of the vector"),
	TXT("cdf", "FILE", cdf, "message sizes by a cumulative distribution instead"),
	N("depth", depth, 1, 1, 32768, "closed: messages outstanding on a queue pair"),
	N("load-mbps", load_mbps, 0, 0, 1000000, "poisson: payload offered, over all queue pairs"),
	N("gap-us", gap_us, 0, 0, 60000000, "rounds: pause between rounds"),
	N("ranks", ranks, 0, 0, 4096, "allreduce: hosts in the ring; each connects to the next"),
	N("messages", messages, 0, 0, UINT64_MAX >> 1,
		"closed: on each queue pair; poisson: in all; rounds, allreduce: how often; 0: no "
		"end"),
	N("duration-ms", duration_ms, 0, 0, 86400000, "stop posting after; 0: no end"),
	ON("bidirectional", bidirectional, "load on accepted queue pairs, too"),
	HEAD("Reliable connection"),
	N("mtu", mtu, 1024, 256, 4096, "path MTU: 256, 512, 1024, 2048 or 4096"),
	N("window", window, 128, 1, 32768, "packets unacknowledged on a queue pair"),
	N("ack-every", ack_every, 64, 1, 32768, "AckReq on every N-th packet"),
	N("max-reads", max_reads, 16, 1, GEN_READS_MAX, "READ requests outstanding"),
	N("timeout", timeout, 18, 0, 31, "retransmission: 4.096 us * 2^N; 0: never"),
	N("retry-count", retry_count, 7, 0, 7, "retries without progress"),
	N("rnr-retry", rnr_retry, 7, 0, 7, "retries after RNR NAKs; 7: no end"),
	N("rnr-every", rnr_every, 0, 0, 1000000, "every N-th message finds no receive buffer"),
	N("rnr-timer", rnr_timer, 12, 0, 31, "IBTA code in RNR NAKs (12: 0.64 ms)"),
	N("read-service-us", read_service_us, 0, 0, 10000000,
		"a READ's data come so long after its request"),
	N("ack-delay-us", ack_delay_us, 0, 0, 1000000,
		"ACKs wait so long for others to merge with"),
	{"first-qpn", NUMBER, "N", "first queue pair number (by the seed)", AT(first_qpn), 0, 2,
		0xffffff - GEN_QPS_MAX, AT(have_qpn)},
	{"first-psn", NUMBER, "N", "first PSN of every queue pair (by the seed)", AT(first_psn), 0,
		0, 0xffffff, AT(have_psn)},
	ON("no-check", no_check, "do not check content (peers that are not roce-gen)"),
	HEAD("Rates and congestion"),
	N("link-mbps", link_mbps, 0, 0, 1000000, "rate of the port; 0: as fast as it goes"),
	N("qp-mbps", qp_mbps, 0, 0, 1000000, "rate of a queue pair without --dcqcn; 0: no limit"),
	N("burst-us", burst_us, 250, 1, 100000, "tokens saved up when idle, as time at the rate"),
	N("catch-up-us", catch_up_us, 5000, 1, 1000000, "the same when the scheduler was late"),
	TXT("dcqcn", "PRESET", dcqcn, "react to CNPs: paper, connectx, hpcc or conweave"),
	{"dcqcn-set", LIST, "KEY=N", "a parameter of it, such as rpg_ai_rate=2; repeatable",
		AT(sets), 0, 0, GEN_SETS_MAX, AT(n_sets)},
	ON("no-np", no_np, "no CNPs for packets marked CE"),
	N("cnp-interval-us", cnp_interval_us, 50, 0, 1000000,
		"least time between CNPs of a queue pair"),
	N("pfc-priority", priority, 3, 0, 7, "priority that pause frames must name"),
	N("cnp-priority", cnp_priority, 6, 0, 7, "the same for CNPs"),
	HEAD("Headers"),
	{"sports", SPORTS, "LIST",
		"UDP source ports, dealt out in turn: 49152,50000 (by a hash, 49152 to 65535)"},
	N("dscp", dscp, 26, 0, 63, "DSCP of data and ACKs"),
	N("cnp-dscp", cnp_dscp, 48, 0, 63, "DSCP of CNPs"),
	ON("no-ect", no_ect, "data is not ECN-capable"),
	N("vlan", vlan, 0, 0, 65535, "tag control information; 0: untagged"),
	N("ttl", ttl, 64, 1, 255, "time to live"),
	HEAD("Run and report"),
	{"seed", NUMBER, "N", "of all that is random (drawn, and printed)", AT(seed), 0, 0,
		UINT64_MAX >> 1, AT(have_seed)},
	N("start-at-ms", start_at_ms, 0, 0, UINT64_MAX >> 1,
		"begin at this Unix time; 0: as soon as all are set up"),
	N("setup-ms", setup_ms, 30000, 1, 3600000, "longest wait for peers"),
	N("drain-ms", drain_ms, 10000, 0, 3600000, "longest wait for what is open at the end"),
	N("interval-ms", interval_ms, 1000, 10, 3600000, "width of the report's time series"),
	ON("live", live, "print each interval as it ends"),
	TXT("messages-out", "FILE", messages_out, "every message: a line of JSON each"),
	TXT("output", "FILE", output, "report there (standard output)"),
	{"version", VERSION, NULL, "version"},
	{"help", HELP, NULL, "this text"},
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static const char *const load_names[] = {[GEN_LOAD_NONE] = "none",
	[GEN_LOAD_CLOSED] = "closed",
	[GEN_LOAD_POISSON] = "poisson",
	[GEN_LOAD_ROUNDS] = "rounds",
	[GEN_LOAD_ALLREDUCE] = "allreduce"};

static void *option_field(struct gen_options *o, size_t at)
{
	return (char *)o + at;
}

static int reject_option(const char *name, const char *value, const char *rule)
{
	hp3_message("roce-gen: --%s %s: %s; see roce-gen --help", name, value, rule);
	return GEN_EXIT_USAGE;
}

static bool parse_number(const char *text, uint64_t *out)
{
	char *end;

	errno = 0;
	*out = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && *end == '\0' && errno == 0;
}

static int take_number(struct gen_options *o, const struct option_row *row, const char *value)
{
	char rule[96];
	uint64_t n;

	if (!parse_number(value, &n) || n < row->min || n > row->max) {
		snprintf(rule, sizeof(rule), "write a number from %llu to %llu",
			(unsigned long long)row->min, (unsigned long long)row->max);
		return reject_option(row->name, value, rule);
	}
	*(uint64_t *)option_field(o, row->at) = n;
	if (row->more != 0)
		*(bool *)option_field(o, row->more) = true;
	return -1;
}

static int take_list(struct gen_options *o, const struct option_row *row, const char *value)
{
	uint32_t *n = option_field(o, row->more);
	const char **list = option_field(o, row->at);

	if (*n == row->max)
		return reject_option(row->name, value, "given too often");
	list[(*n)++] = value;
	return -1;
}

static int take_sports(struct gen_options *o, const char *value)
{
	const char *at = value;

	for (o->n_sports = 0; *at != '\0'; at += *at == ',') {
		char *end;
		unsigned long n = strtoul(at, &end, 10);

		if (end == at || (*end != ',' && *end != '\0') || n == 0 || n > UINT16_MAX ||
			o->n_sports == GEN_SPORTS_MAX)
			return reject_option(
				"sports", value, "write ports from 1 to 65535: 49152,50000");
		o->sports[o->n_sports++] = (uint16_t)n;
		at = end;
	}
	return -1;
}

static int take_load(struct gen_options *o, const char *value)
{
	for (unsigned i = 0; i < sizeof(load_names) / sizeof(load_names[0]); i++) {
		if (strcmp(load_names[i], value) == 0) {
			o->load = i;
			return -1;
		}
	}
	return reject_option("load", value, "write closed, poisson, rounds, allreduce or none");
}

static void print_help(void)
{
	printf("Usage: roce-gen --interface NAME [OPTIONS]\n\n"
	       "RoCEv2 load from user space: reliable connections over a packet socket.\n");
	for (size_t i = 0; i < N_ROWS; i++) {
		const struct option_row *r = &rows[i];
		char left[64];

		if (r->kind == HEADING) {
			printf("\n%s\n", r->help);
			continue;
		}
		snprintf(left, sizeof(left), "--%s%s%s", r->name, r->arg != NULL ? " " : "",
			r->arg != NULL ? r->arg : "");
		printf("  %-*s%s", WIDTH, left, r->help);
		if (r->kind == NUMBER && r->more == 0)
			printf(" (%llu)", (unsigned long long)r->def);
		printf("\n");
	}
	printf("\nExit codes: 0 done, 1 could not start or a peer was lost, 2 usage, 3 messages "
	       "did not\ncomplete, 4 wrong content.\n");
}

static int take_option(struct gen_options *o, const struct option_row *row, const char *value)
{
	switch (row->kind) {
	case NUMBER:
		return take_number(o, row, value);
	case TEXT:
		*(const char **)option_field(o, row->at) = value;
		return -1;
	case FLAG:
		*(bool *)option_field(o, row->at) = true;
		return -1;
	case LIST:
		return take_list(o, row, value);
	case SPORTS:
		return take_sports(o, value);
	case LOAD_KIND:
		return take_load(o, value);
	case HELP:
		print_help();
		return GEN_EXIT_OK;
	case VERSION:
		printf("roce-gen %s\n", HP3_VERSION);
		return GEN_EXIT_OK;
	case HEADING:
		break;
	}
	return GEN_EXIT_USAGE;
}

static void set_defaults(struct gen_options *o)
{
	*o = (struct gen_options){.load = GEN_LOAD_CLOSED, .ops = "write"};
	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].kind == NUMBER)
			*(uint64_t *)option_field(o, rows[i].at) = rows[i].def;
}

int gen_options_parse(struct gen_options *o, int argc, char **argv)
{
	struct option longs[N_ROWS + 1] = {0};
	int n = 0, opt, ret;

	opterr = 0; /* getopt's own message has the option as it is */
	set_defaults(o);
	for (size_t i = 0; i < N_ROWS; i++)
		if (rows[i].kind != HEADING)
			longs[n++] = (struct option){rows[i].name,
				rows[i].arg != NULL ? required_argument : no_argument, NULL,
				(int)i + 256};
	while ((opt = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		if (opt == 'h') {
			print_help();
			return GEN_EXIT_OK;
		}
		if (opt < 256) {
			hp3_message("roce-gen: %s: unrecognized option, or its value is missing; "
				    "see roce-gen --help",
				argv[optind - 1]);
			return GEN_EXIT_USAGE;
		}
		ret = take_option(o, &rows[opt - 256], optarg);
		if (ret >= 0)
			return ret;
	}
	if (optind < argc)
		return reject_option("", argv[optind], "not an option");
	return gen_options_check(o);
}
