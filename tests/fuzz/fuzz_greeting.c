/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any bytes from the other end of roce-gen's control connection, in pieces; both to the
 * end that listens and to the end that connects. Checks: roce-gen sends only lines of JSON of
 * the protocol; queue pairs send only to a peer that a complete hello has described, with all
 * values within their ranges; a connection that ends too early is reported as lost; messages to
 * the user are printable text.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <jansson.h>
#include "input.h"
#include "p4-testbed/roce-gen/control.h"
#include "p4-testbed/roce-gen/stream.h"

#define QPS     3u
#define QPS_MAX 16u
#define SECOND  UINT64_C(1000000000)

static struct sockaddr_un meeting; /* a name that the kernel found */
static socklen_t meeting_len;

/* In place of roce-gen's sockets: nothing is left behind where a finding ends the process. */
int gen_stream_listen(const char *where, char *path)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	const struct sockaddr_un any = {.sun_family = AF_UNIX};

	meeting_len = sizeof(meeting);
	MUST(fd >= 0 && bind(fd, (const struct sockaddr *)&any, sizeof(sa_family_t)) == 0);
	MUST(listen(fd, 1) == 0);
	MUST(getsockname(fd, (struct sockaddr *)&meeting, &meeting_len) == 0);
	return fd;
}

int gen_stream_connect(const char *where, bool *pending)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	*pending = false;
	MUST(fd >= 0 && connect(fd, (const struct sockaddr *)&meeting, meeting_len) == 0);
	return fd;
}

int gen_stream_connected(int fd)
{
	return 0;
}

int gen_stream_send(int fd, const char *text, size_t len)
{
	return send(fd, text, len, MSG_NOSIGNAL) == (ssize_t)len ? 0 : -EPIPE;
}

static void check_peer(const struct gen_control *c, const struct gen_peer *p)
{
	uint32_t connected = 0;

	MUST((p->state == GEN_PEER_GONE) == (p->fd < 0));
	MUST(p->first + p->n <= c->ep->n_qps && c->ep->n_qps <= QPS_MAX);
	for (uint32_t i = p->first; i < c->ep->n_qps; i++) {
		const struct gen_qp *q = &c->ep->qps[i];

		connected += q->connected;
		if (!q->connected)
			continue;
		MUST(i < p->first + p->n && q->rqpn <= HP3_QPN_MASK && q->peer_psn <= HP3_PSN_MASK);
		MUST(memcmp(q->to.dst_ip, p->address.ip, 4) == 0 && q->to.sport != 0);
		MUST(q->memory_size <= INT64_MAX && q->memory <= INT64_MAX);
	}
	MUST(connected == (p->sent_ready ? p->n : 0));
	MUST(p->state != GEN_PEER_UP || (p->sent_ready && p->ready));
}

/* What we said: one hello at most, then what may follow; nothing behind an error. */
static void check_sent(int fd)
{
	static char text[1u << 16];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);
	bool hello = false, error = false;
	char *save = NULL;

	if (n <= 0)
		return;
	text[n] = '\0';
	MUST(text[n - 1] == '\n');
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		json_t *j = json_loads(line, 0, NULL);
		const char *type = json_string_value(json_object_get(j, "type"));

		MUST(type != NULL && !error);
		error = strcmp(type, "error") == 0;
		MUST(error || strcmp(type, "hello") == 0 || strcmp(type, "ready") == 0 ||
			strcmp(type, "done") == 0);
		MUST(!hello || strcmp(type, "hello") != 0);
		hello |= strcmp(type, "hello") == 0;
		json_decref(j);
	}
}

static void event(struct gen_control *c, struct gen_peer *p, uint64_t now)
{
	static char told[4096];
	FILE *own = fuzz_keep(&stderr, told, sizeof(told));

	gen_control_event(c, (uintptr_t)p, now);
	gen_control_tick(c, now);
	fuzz_keep_end(&stderr, own);
	for (const char *s = told; *s != '\0'; s++)
		MUST(*s == '\n' || (*s >= ' ' && *s <= '~'));
	check_peer(c, p);
}

static void run(const struct gen_options *o, bool listens, const uint8_t *data, size_t size)
{
	const struct gen_endpoint_params params = {.first_qpn = 0x100, .max_qps = QPS_MAX};
	struct gen_port port = {0};
	struct gen_endpoint ep;
	struct gen_control c;
	int epoll = epoll_create1(EPOLL_CLOEXEC), there = -1, here = -1;
	struct gen_peer *p;
	uint64_t now = SECOND;
	bool pending, done;

	MUST(gen_endpoint_init(&ep, &params, now) == 0);
	if (!listens)
		there = gen_stream_listen(NULL, (char[1]){0});
	MUST(gen_control_open(&c, o, &ep, &port, epoll, now) == 0);
	gen_control_tick(&c, now);
	if (listens) {
		here = gen_stream_connect(NULL, &pending);
		gen_control_event(&c, GEN_CONTROL_LISTEN, now);
	} else {
		here = accept4(there, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	}
	MUST(here >= 0 && c.n_peers == 1);
	p = c.peers[0];
	for (size_t at = 0, n; at < size; at += n) {
		n = data[at] < size - at ? data[at] + 1u : size - at;
		if (send(here, data + at, n, MSG_NOSIGNAL) < 0)
			break;
		event(&c, p, now += SECOND);
	}
	gen_control_done(&c);
	done = p->done && p->sent_done;
	shutdown(here, SHUT_WR);
	event(&c, p, now);
	MUST(p->state == GEN_PEER_GONE && gen_control_all_done(&c) && c.lost != done);
	check_sent(here);
	close(here);
	if (there >= 0)
		close(there);
	gen_control_close(&c);
	gen_endpoint_free(&ep);
	close(epoll);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gen_options o = {.name = "fuzz",
		.interface = "none",
		.listen = "here",
		.expect = 1,
		.qps = QPS,
		.mtu = 1024,
		.ttl = 64,
		.have_address = true,
		.have_dst_mac = true,
		.address = {.ip = {10, 0, 0, 1}}};

	run(&o, true, data, size);
	o.listen = NULL;
	o.peers[o.n_peers++] = "there";
	run(&o, false, data, size);
	return 0;
}
