/* SPDX-License-Identifier: BSD-3-Clause */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "app/xfer/bench.h"
#include "config/message.h"

static volatile sig_atomic_t stopped;

static void on_stop(int number)
{
	stopped = 1;
}

struct hp3x_domain *bench_domain_open(const struct bench_options *o, const char *listen)
{
	struct hp3x_options options = {.provider = "tcp",
		.rails = o->n_rails == 0 ? NULL : o->rails,
		.n_rails = o->n_rails,
		.listen = listen,
		.peer_timeout_ms = o->peer_timeout_ms};
	struct hp3x_domain *d;

	if (hp3x_open(&options, &d) == 0)
		return d;
	hp3_message("hp3x-bench: %s", hp3x_error());
	return NULL;
}

/* Clients that are gone leave the table. */
static void clients_update(struct hp3x_domain *d, const void *text, size_t length)
{
	static struct hp3x_peer *client[64];
	struct hp3x_completion c;
	struct hp3x_peer *peer;

	while (hp3x_poll(d, &c, 1) > 0)
		;
	for (uint32_t i = 0; i < 64; i++) {
		if (client[i] != NULL && hp3x_peer_state(client[i]) == HP3X_PEER_GONE) {
			hp3x_peer_close(client[i]);
			client[i] = NULL;
		}
		if (client[i] == NULL && hp3x_accept(d, &peer) > 0) {
			client[i] = peer;
			hp3x_send(peer, text, length, NULL);
		}
	}
}

int bench_serve(const struct bench_options *o)
{
	struct sigaction stop = {.sa_handler = on_stop};
	void *memory = malloc(BENCH_REGION);
	char listen[32], text[HP3X_DESCRIPTION];
	struct hp3x_region *region;
	struct hp3x_domain *d;
	bool has_ipv6;
	uint64_t n;
	int length;

	/* All addresses; without IPv6 in the kernel, those of IPv4. */
	has_ipv6 = access("/proc/net/if_inet6", F_OK) == 0;
	snprintf(listen, sizeof(listen), has_ipv6 ? "[::]:%u" : "0.0.0.0:%u", o->port);
	d = memory == NULL ? NULL : bench_domain_open(o, listen);
	if (d == NULL)
		return 1;
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGTERM, &stop, NULL);
	length = hp3x_region_add(d, memory, BENCH_REGION, &region);
	if (length == 0)
		length = hp3x_region_describe(region, text, sizeof(text));
	if (length < 0)
		hp3_message("hp3x-bench: %s", hp3x_error());
	else
		hp3_message("hp3x-bench: serves on port %u", o->port);
	while (!stopped && length > 0) {
		struct pollfd p = {.fd = hp3x_fd(d), .events = POLLIN};

		if (poll(&p, 1, 1000) > 0 && read(p.fd, &n, sizeof(n)) < 0)
			continue;
		clients_update(d, text, (size_t)length);
	}
	hp3x_close(d);
	free(memory);
	return length < 0;
}
