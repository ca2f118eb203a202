/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any bytes on two connections, one after the other, of a control channel of libhp3x: the
 * hello, and frames of any kind. The first byte chooses which end has connected, and the length of
 * the pieces in which bytes arrive; the next two are the length of the first connection. A provider
 * without I/O makes endpoints. Checks: there is a peer only after a right hello; what this end
 * sends is a hello, or a refusal with a sentence, and then frames whose numbers go up by one; an op
 * ends exactly once; after peers were closed, nothing is left of them.
 */
#include <endian.h>
#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include "app/clock.h"
#include "base/minmax.h"
#include "input.h"
#include "xfer/lib/channel.h"

#define ENDPOINTS 64u

/* The provider: all endpoints connect, all requests succeed. */
struct hp3x_endpoint {
	struct hp3x_place place;
	bool used;
};

static struct hp3x_endpoint endpoints[ENDPOINTS];
static struct hp3x_event events[4096];
static uint32_t n_events;

static void event_put(const struct hp3x_endpoint *e, struct hp3x_event event)
{
	MUST(n_events < 4096);
	event.peer = e->place.peer;
	event.path = e->place.path;
	events[n_events++] = event;
}

static int endpoint_open(struct hp3x_rails *rails, const struct hp3x_place *place,
	void *description, struct hp3x_endpoint **endpoint)
{
	for (struct hp3x_endpoint *e = endpoints; e < endpoints + ENDPOINTS; e++)
		if (!e->used) {
			*e = (struct hp3x_endpoint){*place, true};
			memcpy(description, "end", 3);
			*endpoint = e;
			return 3;
		}
	return -ENOMEM;
}

static int endpoint_connect(struct hp3x_endpoint *e, const void *description, size_t length)
{
	MUST(e->used && length > 0 && length <= HP3X_ENDPOINT);
	event_put(e, (struct hp3x_event){.kind = HP3X_EVENT_CONNECTED, .success = true});
	return 0;
}

static int endpoint_post(struct hp3x_endpoint *e, const struct hp3x_post *post)
{
	MUST(e->used);
	event_put(e, (struct hp3x_event){.kind = HP3X_EVENT_COMPLETED, .token = post->token});
	return 0;
}

static void endpoint_shut(struct hp3x_endpoint *e)
{
	MUST(e->used);
	e->used = false;
	event_put(e, (struct hp3x_event){.kind = HP3X_EVENT_SHUT});
}

static int rails_poll(struct hp3x_rails *rails, struct hp3x_event *event, int n)
{
	uint32_t taken = hp3_min_u32(n_events, (uint32_t)n);

	memcpy(event, events, taken * sizeof(*event));
	memmove(events, events + taken, (n_events - taken) * sizeof(*event));
	n_events -= taken;
	return (int)taken;
}

static void rails_flush(struct hp3x_rails *rails)
{
}

static struct hp3x_domain *domain;
static uint32_t begun, ended;

static void domain_open(void)
{
	static const char *const rail = "127.0.0.1";
	static struct hp3x_provider fake;
	struct hp3x_options o = {.provider = "tcp",
		.rails = &rail,
		.n_rails = 1,
		.listen = "127.0.0.1:0",
		.own_progress = true,
		.seed = 1};

	MUST(hp3x_open(&o, &domain) == 0);
	fake = *domain->provider;
	fake.rails_poll = rails_poll;
	fake.rails_flush = rails_flush;
	fake.endpoint_open = endpoint_open;
	fake.endpoint_connect = endpoint_connect;
	fake.endpoint_post = endpoint_post;
	fake.endpoint_shut = endpoint_shut;
	domain->provider = &fake;
}

static void op_done(const struct hp3x_completion *c)
{
	ended++;
}

static void op_submit(struct hp3x_peer *peer)
{
	struct hp3x_common common = {.done = op_done};

	begun += hp3x_send(peer, "message", 7, &common) > 0;
}

/* What this end has sent on a connection: the first frame is a hello or a refusal. */
static void output_check(int fd)
{
	static uint8_t bytes[1u << 20];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	size_t at = 0;
	uint64_t seq = 0;
	bool first = true;

	while (n > 0 && (size_t)n - at >= sizeof(struct hp3x_frame)) {
		struct hp3x_frame f;

		memcpy(&f, bytes + at, sizeof(f));
		at += sizeof(f) + le32toh(f.length);
		if (at > (size_t)n)
			break;
		MUST(first == (f.kind == HP3X_FRAME_HELLO || f.kind == HP3X_FRAME_REFUSE));
		if (f.kind == HP3X_FRAME_HELLO)
			MUST(le32toh(f.length) == sizeof(struct hp3x_hello));
		if (f.kind == HP3X_FRAME_REFUSE)
			MUST(le32toh(f.length) > 10 && at == (size_t)n);
		if (f.kind == HP3X_FRAME_MESSAGE) {
			MUST(seq == 0 || le64toh(f.seq) == seq + 1);
			seq = le64toh(f.seq);
		}
		MUST(f.kind >= HP3X_FRAME_HELLO && f.kind <= HP3X_FRAME_REFUSE);
		first = false;
	}
}

static void guest_begin(int fd)
{
	struct hp3x_guest *g = domain->guest;

	MUST(g->source.fd < 0);
	g->source = (struct hp3x_source){HP3X_SOURCE_GUEST, fd};
	g->n = 0;
	g->since = hp3_clock_ms();
	MUST(hp3x_watch(domain, &g->source, EPOLLIN, false) == 0);
}

/* The connection of a peer to which this end connects. */
static void dialler_begin(struct hp3x_peer *p, int fd)
{
	struct hp3x_channel *c = &p->channel;
	uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC);

	c->source.fd = fd;
	c->said = now;
	c->state = HP3X_CHANNEL_CONNECTING;
	hp3x_channel_watch(p, false);
	hp3x_channel_connected(p, now);
}

static struct hp3x_peer *dialler_new(void)
{
	struct hp3x_peer *p = hp3x_peer_new(domain, hp3_clock_ns(CLOCK_MONOTONIC));

	MUST(p != NULL);
	p->channel.dialler = true;
	p->channel.n_addresses = 1;
	hp3x_hello_make(p);
	return p;
}

/* One turn of the domain. The addresses that a hello names are not used. */
static void domain_work(void)
{
	struct hp3x_peer *p;

	hp3x_progress(domain);
	LIST_FOREACH (p, &domain->peers, next) {
		struct hp3x_channel *c = &p->channel;

		MUST(c->n_addresses <= 1 + HP3X_RAILS);
		MUST(c->n_addresses == 0 ||
			(c->place < c->n_addresses && c->reached < c->n_addresses));
		memset(c->address, 0, sizeof(c->address));
	}
}

static void letters_take(void)
{
	static uint8_t letter[HP3X_MOST_SEND];
	struct hp3x_peer *from;
	int n;

	while ((n = hp3x_receive(domain, letter, sizeof(letter), &from)) != -EAGAIN)
		MUST(n >= 0 && from != NULL);
}

/* One connection. `dialler` NULL: the other end connects. */
static void connection_run(
	struct hp3x_peer *dialler, const uint8_t *data, size_t size, size_t piece)
{
	int pair[2];
	struct hp3x_peer *p;

	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
	if (dialler == NULL)
		guest_begin(pair[0]);
	else if (dialler->channel.state == HP3X_CHANNEL_BROKEN)
		dialler_begin(dialler, pair[0]);
	else
		close(pair[0]);
	for (size_t at = 0; at < size; at += piece) {
		size_t n = hp3_min_u64(piece, size - at);

		if (send(pair[1], data + at, n, MSG_NOSIGNAL) < (ssize_t)n)
			break;
		domain_work();
		LIST_FOREACH (p, &domain->peers, next)
			if (p->channel.met && begun < 8)
				op_submit(p);
		letters_take();
	}
	domain_work();
	output_check(pair[1]);
	close(pair[1]);
	for (uint32_t i = 0; i < 3; i++) /* what was sent, then the end */
		domain_work();
	MUST(dialler != NULL || domain->guest[0].source.fd < 0);
}

static void peers_end(void)
{
	struct hp3x_peer *p;

	while (hp3x_accept(domain, &p) == 1)
		MUST(p->channel.met);
	while ((p = LIST_FIRST(&domain->peers)) != NULL) {
		hp3x_peer_close(p);
		domain_work();
	}
	domain_work();
	MUST(LIST_EMPTY(&domain->peers) && domain->n_closing == 0 && begun == ended);
	MUST(STAILQ_EMPTY(&domain->letters) && STAILQ_EMPTY(&domain->waiting));
	MUST(SLIST_EMPTY(&domain->flush) && n_events == 0);
	for (uint32_t i = 0; i < ENDPOINTS; i++)
		MUST(!endpoints[i].used);
	for (uint32_t i = 0; i < HP3X_GUESTS; i++)
		hp3x_guest_close(&domain->guest[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hp3x_peer *dialler = NULL;
	size_t piece, first;

	if (size < 3)
		return 0;
	if (domain == NULL)
		domain_open();
	begun = ended = 0;
	piece = data[0] >> 1 == 0 ? 100000 : data[0] >> 1;
	first = hp3_min_u64(data[1] | (size_t)data[2] << 8, size - 3);
	if (data[0] & 1)
		dialler = dialler_new();
	connection_run(dialler, data + 3, first, piece);
	connection_run(dialler, data + 3 + first, size - 3 - first, piece);
	peers_end();
	return 0;
}
