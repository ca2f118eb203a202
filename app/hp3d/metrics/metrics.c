/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/metrics/metrics.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "app/clock.h"
#include "app/control/socket.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/metrics/page.h"
#include "app/hp3d/metrics/server.h"
#include "app/hp3d/metrics/source.h"
#include "config/address.h"

#define SOCK    ".sock"
#define BACKLOG 16

static struct {
	struct hp3d_source from;
	struct hp3d_control_socket socket; /* fd -1: none */
	int tcp; /* -1: none */
} metrics = {.socket = {.fd = -1, .lock = -1}, .tcp = -1};

/* [metrics] socket = auto: the control socket's path, with -metrics before its .sock. */
static void auto_path(const char *control, char *path, size_t cap)
{
	size_t n = strlen(control), end = strlen(SOCK);

	if (n > end && strcmp(control + n - end, SOCK) == 0)
		n -= end;
	snprintf(path, cap, "%.*s-metrics" SOCK, (int)n, control);
}

static int listen_unix(const struct hp3_config *cfg)
{
	char path[sizeof(cfg->control.socket) + sizeof("-metrics" SOCK)];
	int ret;

	if (strcmp(cfg->metrics.socket, "off") == 0)
		return 0;
	if (strcmp(cfg->metrics.socket, "auto") == 0)
		auto_path(cfg->control.socket, path, sizeof(path));
	else
		snprintf(path, sizeof(path), "%s", cfg->metrics.socket);
	ret = hp3d_control_claim(&metrics.socket, path, "metrics", 0);
	return ret == 0 ? hp3d_control_listen(&metrics.socket) : ret;
}

static int listen_tcp(const struct hp3_config *cfg)
{
	struct hp3_address a;
	int one = 1, err;

	if (*cfg->metrics.listen == '\0' || !hp3_address_parse(cfg->metrics.listen, &a))
		return 0;
	metrics.tcp = socket(a.addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (metrics.tcp >= 0 &&
		setsockopt(metrics.tcp, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) == 0 &&
		bind(metrics.tcp, (struct sockaddr *)&a.addr, a.len) == 0 &&
		listen(metrics.tcp, BACKLOG) == 0)
		return 0;
	err = errno;
	fprintf(stderr,
		"hp3d: [metrics] listen = %s: %s; %s, or set listen= to another address and port\n",
		cfg->metrics.listen, strerror(err),
		err == EADDRINUSE ? "stop who listens there"
				  : "see that the address is this host's");
	return -err;
}

bool hp3d_source_read(struct hp3d_page *page, const struct hp3d_source *from)
{
	for (unsigned i = 0; i < hp3d_metric_count; i++) {
		hp3d_page_family(page, &hp3d_metrics[i]);
		hp3d_metrics[i].read(page, from, hp3d_metrics[i].which);
	}
	return hp3d_page_end(page);
}

static bool write_page(void *arg, bool openmetrics, char **text, size_t *len)
{
	struct hp3d_page page;

	if (!hp3d_page_begin(&page, openmetrics))
		return false;
	if (!hp3d_source_read(&page, arg)) {
		free(page.text.at);
		return false;
	}
	*text = page.text.at;
	*len = page.text.len;
	return true;
}

int hp3d_metrics_start(const struct hp3_config *cfg)
{
	int listener[HP3D_SERVER_LISTENERS], ret;
	unsigned n = 0;

	metrics.from = (struct hp3d_source){.cfg = cfg,
		.started = (double)hp3_clock_ns(CLOCK_REALTIME) / 1e9,
		.heartbeat = hp3d_now()};
	ret = listen_tcp(cfg);
	if (ret == 0)
		ret = listen_unix(cfg); /* last: when the socket exists, both accept requests */
	if (ret < 0)
		return ret;
	if (metrics.socket.fd >= 0)
		listener[n++] = metrics.socket.fd;
	if (metrics.tcp >= 0)
		listener[n++] = metrics.tcp;
	if (n == 0)
		return 0;
	ret = hp3d_server_start(listener, n, write_page, &metrics.from);
	if (ret < 0)
		fprintf(stderr,
			"hp3d: metrics cannot be served: %s; free memory and descriptors, or set "
			"socket = off in [metrics]\n",
			strerror(-ret));
	return ret;
}

void hp3d_metrics_stop(void)
{
	hp3d_server_stop();
	hp3d_control_unlisten(&metrics.socket);
	hp3d_control_release(&metrics.socket);
	if (metrics.tcp >= 0)
		close(metrics.tcp);
	metrics.tcp = -1;
}

void hp3d_metrics_heartbeat(void)
{
	__atomic_store_n(&metrics.from.heartbeat, hp3d_now(), __ATOMIC_RELAXED);
}
