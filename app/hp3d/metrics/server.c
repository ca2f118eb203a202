/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/metrics/server.h"
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <rte_lcore.h>
#include "app/clock.h"

#define PATH        "/metrics"
#define TEXT_TYPE   "text/plain; version=0.0.4; charset=utf-8"
#define OPEN_TYPE   "application/openmetrics-text; version=1.0.0; charset=utf-8"
#define ALL_CLIENTS (HP3D_SERVER_LISTENERS * HP3D_SERVER_CONNECTIONS)

struct client {
	struct MHD_Connection *connection; /* NULL: free */
	uint64_t until_ms; /* when it is closed */
};

struct kept {
	struct MHD_Response *response; /* NULL: none yet */
	uint64_t at_ms;
};

static struct {
	pthread_t thread;
	int stop; /* eventfd; readable: the thread is to end */
	unsigned n; /* daemons; 0: not started */
	struct MHD_Daemon *daemon[HP3D_SERVER_LISTENERS];
	hp3d_page_fn *page;
	void *arg;
	/* only for the thread */
	struct client clients[ALL_CLIENTS];
	struct kept kept[2]; /* by format */
	bool closed; /* the last MHD_run() closed a connection: the next one listens again */
} server;

static void add_header(struct MHD_Response *r, const char *name, const char *value)
{
	MHD_add_response_header(r, name, value);
}

static struct MHD_Response *make_page(bool openmetrics)
{
	struct MHD_Response *r;
	char *text;
	size_t len;

	if (!server.page(server.arg, openmetrics, &text, &len))
		return NULL;
	r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
	if (r == NULL) {
		free(text);
		return NULL;
	}
	add_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, openmetrics ? OPEN_TYPE : TEXT_TYPE);
	add_header(r, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
	add_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	return r;
}

/* The page in this format, built again if it is too old. NULL: no memory. */
static struct MHD_Response *fresh_page(bool openmetrics)
{
	struct kept *k = &server.kept[openmetrics];
	uint64_t now = hp3_clock_ms();

	if (k->response != NULL && now - k->at_ms < HP3D_SERVER_FRESH_MS)
		return k->response;
	if (k->response != NULL)
		MHD_destroy_response(
			k->response); /* connections that send this page keep a reference */
	k->response = make_page(openmetrics);
	k->at_ms = now;
	return k->response;
}

static enum MHD_Result answer_text(
	struct MHD_Connection *c, unsigned status, const char *text, const char *allow)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result ret;

	if (r == NULL)
		return MHD_NO;
	add_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
	add_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	if (allow != NULL)
		add_header(r, MHD_HTTP_HEADER_ALLOW, allow);
	ret = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return ret;
}

static enum MHD_Result answer_request(void *cls, struct MHD_Connection *c, const char *url,
	const char *method, const char *version, const char *data, size_t *size, void **context)
{
	struct MHD_Response *r;

	if (strcmp(url, PATH) != 0)
		return answer_text(c, MHD_HTTP_NOT_FOUND, "hp3d's metrics are at " PATH "\n", NULL);
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer_text(
			c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD only\n", "GET, HEAD");
	r = fresh_page(hp3d_accepts_openmetrics(
		MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT)));
	if (r == NULL)
		return answer_text(
			c, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory for the page\n", NULL);
	return MHD_queue_response(c, MHD_HTTP_OK, r);
}

static void note_client(void *cls, struct MHD_Connection *c, void **context,
	enum MHD_ConnectionNotificationCode code)
{
	struct MHD_Connection *looked_for = code == MHD_CONNECTION_NOTIFY_STARTED ? NULL : c;

	server.closed |= code == MHD_CONNECTION_NOTIFY_CLOSED;
	for (unsigned i = 0; i < ALL_CLIENTS; i++) {
		struct client *at = &server.clients[i];

		if (at->connection != looked_for)
			continue;
		*at = (struct client){.connection = looked_for == NULL ? c : NULL,
			.until_ms = hp3_clock_ms() + HP3D_SERVER_LIFE_MS};
		return;
	}
}

/* Ends expired connections; returns the milliseconds until the next one expires, -1: none. */
static int cut_off(void)
{
	uint64_t now = hp3_clock_ms(), next = UINT64_MAX;

	for (unsigned i = 0; i < ALL_CLIENTS; i++) {
		struct client *at = &server.clients[i];
		const union MHD_ConnectionInfo *info;

		if (at->connection == NULL)
			continue;
		if (at->until_ms <= now) {
			info = MHD_get_connection_info(
				at->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
			shutdown(info->connect_fd, SHUT_RDWR);
			at->until_ms = now + HP3D_SERVER_LIFE_MS;
		}
		next = at->until_ms < next ? at->until_ms : next;
	}
	return next == UINT64_MAX ? -1 : (int)(next - now);
}

static int earlier_timeout(int a, int b)
{
	if (a < 0 || b < 0)
		return a < 0 ? b : a;
	return a < b ? a : b;
}

static void *serve_metrics(void *arg)
{
	struct pollfd polled[HP3D_SERVER_LISTENERS + 1] = {{.fd = server.stop, .events = POLLIN}};

	for (unsigned i = 0; i < server.n; i++)
		polled[i + 1] = (struct pollfd){.events = POLLIN,
			.fd = MHD_get_daemon_info(server.daemon[i], MHD_DAEMON_INFO_EPOLL_FD)
				      ->epoll_fd};
	for (;;) {
		int timeout = cut_off();

		for (unsigned i = 0; i < server.n; i++) {
			MHD_UNSIGNED_LONG_LONG ms;

			if (MHD_get_timeout(server.daemon[i], &ms) == MHD_YES)
				timeout = earlier_timeout(timeout, (int)ms);
		}
		poll(polled, server.n + 1, server.closed ? 0 : timeout);
		if (polled[0].revents != 0)
			return NULL;
		server.closed = false;
		for (unsigned i = 0; i < server.n; i++)
			MHD_run(server.daemon[i]);
	}
}

/* MHD closes its listener: it gets a duplicate descriptor. */
static struct MHD_Daemon *start_daemon(int listener)
{
	int fd = fcntl(listener, F_DUPFD_CLOEXEC, 0);
	struct MHD_Daemon *d = NULL;

	if (fd < 0)
		return NULL;
	errno = ENOMEM; /* MHD seldom sets it */
	d = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer_request, NULL,
		MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, HP3D_SERVER_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, HP3D_SERVER_SILENCE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HP3D_SERVER_REQUEST_BYTES,
		MHD_OPTION_NOTIFY_CONNECTION, note_client, NULL, MHD_OPTION_END);
	if (d == NULL)
		close(fd);
	return d;
}

static void stop_daemons(void)
{
	while (server.n > 0)
		MHD_stop_daemon(server.daemon[--server.n]);
	for (unsigned i = 0; i < 2; i++)
		if (server.kept[i].response != NULL)
			MHD_destroy_response(server.kept[i].response);
	memset(server.kept, 0, sizeof(server.kept));
	close(server.stop);
}

int hp3d_server_start(const int *listener, unsigned n, hp3d_page_fn *page_fn, void *arg)
{
	int ret;

	server.page = page_fn;
	server.arg = arg;
	server.stop = eventfd(0, EFD_CLOEXEC);
	if (server.stop < 0)
		return -errno;
	for (server.n = 0; server.n < n; server.n++) {
		server.daemon[server.n] = start_daemon(listener[server.n]);
		if (server.daemon[server.n] == NULL) {
			ret = -errno;
			stop_daemons();
			return ret;
		}
	}
	ret = rte_ctrl_thread_create(&server.thread, "hp3d-metrics", NULL, serve_metrics, NULL);
	if (ret != 0) {
		stop_daemons();
		return ret;
	}
	return 0;
}

void hp3d_server_stop(void)
{
	if (server.n == 0)
		return;
	eventfd_write(server.stop, 1);
	pthread_join(server.thread, NULL);
	stop_daemons();
}
