/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "app/fleet/answer.h"
#include "config/address.h"

#define CONNECTIONS 32u
#define SILENCE_S   10u
#define REQUEST     4096u /* bytes */
#define PAGE_ROWS   1000
#define POLICY                                                                                     \
	"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src "  \
	"'self'"

static struct MHD_Daemon *daemon_;

static enum MHD_Result send_text(
	struct MHD_Connection *c, unsigned status, const char *type, char *text)
{
	struct MHD_Response *r;
	enum MHD_Result ret;

	if (text == NULL)
		return MHD_NO;
	r = MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE);
	if (r == NULL) {
		free(text);
		return MHD_NO;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(r, "Content-Security-Policy", POLICY);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	ret = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return ret;
}

static enum MHD_Result send_state(struct MHD_Connection *c, struct fleet_planner *p)
{
	char question[64];
	int n = snprintf(question, sizeof(question), "{\"ask\":\"page\",\"limit\":%d}", PAGE_ROWS);

	return send_text(c, MHD_HTTP_OK, "application/json", fleet_answer(p, question, (size_t)n));
}

static enum MHD_Result answer_request(void *arg, struct MHD_Connection *c, const char *url,
	const char *method, const char *version, const char *data, size_t *size, void **context)
{
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return send_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain",
			strdup("GET and HEAD only\n"));
	if (strcmp(url, "/state.json") == 0)
		return send_state(c, arg);
	if (strcmp(url, "/metrics") == 0)
		return send_text(c, MHD_HTTP_OK, FLEET_METRICS_TYPE, fleet_metrics(arg));
	if (strcmp(url, "/") == 0)
		return send_text(c, MHD_HTTP_OK, "text/html; charset=utf-8", strdup(fleet_page));
	return send_text(
		c, MHD_HTTP_NOT_FOUND, "text/plain", strdup("/, /state.json or /metrics\n"));
}

int fleet_http_start(struct fleet_planner *p)
{
	const char *where = p->cfg->fleet.listen;
	struct hp3_address a;

	if (*where == '\0' || !hp3_address_parse(where, &a))
		return 0;
	errno = 0;
	daemon_ = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | (a.addr.ss_family == AF_INET6 ? MHD_USE_IPv6 : 0),
		0, NULL, NULL, answer_request, p, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&a.addr,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, SILENCE_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST, MHD_OPTION_END);
	if (daemon_ != NULL)
		return 0;
	fprintf(stderr,
		"hp3-fleet: [fleet] listen = %s: %s; stop who listens there, or set another one\n",
		where, errno != 0 ? strerror(errno) : "cannot be had");
	return -EADDRINUSE;
}

void fleet_http_stop(void)
{
	if (daemon_ != NULL)
		MHD_stop_daemon(daemon_);
	daemon_ = NULL;
}
