/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3x-bench: arguments and results. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/xfer/bench.h"
#include "config/message.h"

static const char help[] =
	"usage: hp3x-bench [OPTION...] ADDRESS\n"
	"       hp3x-bench [OPTION...] --serve\n"
	"\n"
	"Measures transfers to a host that runs hp3x-bench --serve. For an incast, or for many\n"
	"readers and writers of weights, start several clients at once. On a terminal, it shows\n"
	"how many transfers have ended.\n"
	"\n"
	"  --serve              serve clients, until SIGINT or SIGTERM\n"
	"  --pattern NAME       writes, reads, or kvcache: layers of 32 pages of 128 KiB and 32 "
	"of\n"
	"                       16 KiB, with a counter for each of 61 layers; or weights: as\n"
	"                       clients of a parameter server do, a read of weights and a write\n"
	"                       of gradients in turn, with a counter (default writes)\n"
	"  --size BYTES         of a write or read (default 1048576)\n"
	"  --ops N              transfers in all (default 1000)\n"
	"  --depth N            transfers under way at a time (default 16)\n"
	"  --port PORT          control port of the server (default 18516)\n"
	"  --rail NAME          use this rail: an interface or an address; may be repeated\n"
	"  --peer-timeout MS    silence after which the other host is lost (default 10000)\n"
	"  --json               print one line of JSON, with the paths\n"
	"  --version, --help\n"
	"\n"
	"Exit status: 0 all transfers succeeded, 1 some failed, 2 wrong usage.\n";

static int usage_error(const char *what)
{
	hp3_message("hp3x-bench: %s: see hp3x-bench --help", what);
	return 2;
}

/* Waits for the descriptor. */
static int descriptor_get(struct bench_client *c)
{
	char text[HP3X_DESCRIPTION];
	struct hp3x_peer *from;
	int n;

	while ((n = hp3x_receive(c->domain, text, sizeof(text), &from)) == -EAGAIN) {
		struct pollfd p = {.fd = hp3x_fd(c->domain), .events = POLLIN};

		if (hp3x_peer_state(c->peer) == HP3X_PEER_GONE) {
			hp3_message("hp3x-bench: %s", hp3x_peer_reason(c->peer));
			return 1;
		}
		poll(&p, 1, 20);
	}
	if (n > 0 && hp3x_remote_read(text, (size_t)n, &c->remote) == 0)
		return 0;
	hp3_message("hp3x-bench: %s", hp3x_error());
	return 1;
}

static void paths_print(const struct bench_client *c)
{
	struct hp3x_path path[128];
	int n = hp3x_paths(c->domain, path, 128);

	printf(",\"paths\":[");
	for (int i = 0; i < n && i < 128; i++)
		printf("%s{\"local_rail\":\"%s\",\"remote_rail\":%u,\"bytes\":%llu,\"again\":%llu,"
		       "\"failures\":%llu,\"rtt_us\":%.1f,\"gbits\":%.3f}",
			i == 0 ? "" : ",", hp3x_rail_name(c->domain, path[i].local_rail),
			path[i].remote_rail, (unsigned long long)path[i].bytes,
			(unsigned long long)path[i].again, (unsigned long long)path[i].failures,
			(double)path[i].rtt / 1000, (double)path[i].rate * 8 / 1e9);
	printf("]");
}

static void result_print(
	const struct bench_client *c, const struct bench_options *o, const struct bench_result *r)
{
	double gbits = (double)r->bytes * 8 / (double)r->ns;

	if (!o->json) {
		printf("%s: %llu transfers, %llu failed, %.3f Gb/s; "
		       "median %.0f us, p99 %.0f us, most %.0f us; %llu slices sent again\n",
			o->pattern, (unsigned long long)r->ops, (unsigned long long)r->failed,
			gbits, (double)r->took[0] / 1000, (double)r->took[1] / 1000,
			(double)r->took[2] / 1000, (unsigned long long)r->again);
		return;
	}
	printf("{\"pattern\":\"%s\",\"transfers\":%llu,\"failed\":%llu,\"bytes\":%llu,"
	       "\"seconds\":%.6f,\"gbits\":%.3f,\"median_us\":%.1f,\"p99_us\":%.1f,"
	       "\"most_us\":%.1f,\"again\":%llu",
		o->pattern, (unsigned long long)r->ops, (unsigned long long)r->failed,
		(unsigned long long)r->bytes, (double)r->ns / 1e9, gbits, (double)r->took[0] / 1000,
		(double)r->took[1] / 1000, (double)r->took[2] / 1000, (unsigned long long)r->again);
	paths_print(c);
	printf("}\n");
}

static int client_run(const struct bench_options *o, const char *host)
{
	struct bench_result result = {0};
	struct bench_client c = {0};
	void *memory = calloc(1, BENCH_REGION);
	char address[96];
	int code = 1;

	c.domain = memory == NULL ? NULL : bench_domain_open(o, NULL);
	if (c.domain == NULL)
		return 1;
	snprintf(address, sizeof(address),
		strchr(host, ':') == NULL || host[0] == '[' ? "%s:%u" : "[%s]:%u", host, o->port);
	if (hp3x_region_add(c.domain, memory, BENCH_REGION, &c.region) < 0 ||
		hp3x_connect(c.domain, address, &c.peer) < 0) {
		hp3_message("hp3x-bench: %s", hp3x_error());
	} else if (descriptor_get(&c) == 0 && bench_run(&c, o, &result) == 0) {
		result_print(&c, o, &result);
		code = result.failed > 0;
	}
	hp3x_close(c.domain);
	free(memory);
	return code;
}

static uint64_t number_read(const char *text, uint64_t most)
{
	char *end;
	unsigned long long n = strtoull(text, &end, 10);

	return *end == '\0' && text[0] != '-' && n <= most ? n : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"serve", 0, NULL, 's'}, {"port", 1, NULL, 'p'},
		{"rail", 1, NULL, 'r'}, {"pattern", 1, NULL, 'P'}, {"size", 1, NULL, 'S'},
		{"ops", 1, NULL, 'o'}, {"depth", 1, NULL, 'd'}, {"peer-timeout", 1, NULL, 't'},
		{"json", 0, NULL, 'j'}, {"version", 0, NULL, 'v'}, {"help", 0, NULL, 'h'}, {0}};
	struct bench_options o = {.pattern = "writes",
		.port = BENCH_PORT,
		.size = 1 << 20,
		.ops = 1000,
		.depth = 16,
		.peer_timeout_ms = 10000};
	bool serve = false;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 's':
			serve = true;
			break;
		case 'p':
			o.port = (uint32_t)number_read(optarg, 65535);
			break;
		case 'r':
			if (o.n_rails == HP3X_RAILS)
				return usage_error("--rail may be given 8 times");
			o.rails[o.n_rails++] = optarg;
			break;
		case 'P':
			o.pattern = optarg;
			break;
		case 'S':
			o.size = number_read(optarg, BENCH_REGION);
			break;
		case 'o':
			o.ops = number_read(optarg, 100000000);
			break;
		case 'd':
			o.depth = number_read(optarg, 2048);
			break;
		case 't':
			o.peer_timeout_ms = (uint32_t)number_read(optarg, 86400000);
			break;
		case 'j':
			o.json = true;
			break;
		case 'v':
			printf("hp3x-bench %s\n", HP3_VERSION);
			return 0;
		case 'h':
			fputs(help, stdout);
			return 0;
		default:
			return 2; /* getopt has printed why */
		}
	}
	if (o.port == 0 || o.size == 0 || o.ops == 0 || o.depth == 0)
		return usage_error(
			"--port, --size (to 268435456), --ops and --depth (to 2048) need "
			"a number from 1 on");
	if (o.peer_timeout_ms == 0)
		return usage_error("--peer-timeout needs a number of milliseconds from 1 on");
	if (!bench_pattern_known(o.pattern))
		return usage_error("--pattern is writes, reads, kvcache or weights");
	if (serve)
		return argc == optind ? bench_serve(&o) : usage_error("--serve has no argument");
	return argc - optind == 1 ? client_run(&o, argv[optind])
				  : usage_error("name the ADDRESS of the server");
}
