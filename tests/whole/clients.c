/* SPDX-License-Identifier: BSD-3-Clause */
/* hp3ctl and other clients at the control socket of an hp3d: valid and invalid requests, in pieces,
 * and clients that leave without reading. */
#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "tests/whole/sim.h"

#define OVERDUE (3000 * MS)

static void end(struct client *c)
{
	close(c->fd);
	free(c->in);
	*c = (struct client){.fd = -1};
}

void clients_close(struct process *p)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		if (p->clients[i].in != NULL)
			end(&p->clients[i]);
	}
	p->flow[0] = '\0';
}

/* Nobody there yet, or not any more: no client. */
static bool come(struct process *p, struct client *c)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/hp3.sock", p->dir);
	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) < 0) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	*c = (struct client){.fd = fd, .in = malloc(CLIENT_LINE)};
	return true;
}

static void say(struct process *p, struct client *c, const char *text, size_t n)
{
	if (send(c->fd, text, n, MSG_NOSIGNAL) != (ssize_t)n) {
		end(c);
		return;
	}
	if (c->waits == 0)
		c->asked = p->sim->now;
	fiber_kick(p, false);
}

/* Draws stand in statements of their own: compilers order those within one as they like. */
static int request(struct process *p, char *text, size_t cap)
{
	static const char *const plain[] = {"flows", "stats", "health", "config", "mode", "paths",
		"events", "bypass", "trace", "nonsense"};
	static const char *const modes[] = {"on", "on", "off", "observe"};
	static const char *const odd[] = {"{", "[1,2]", "{\"cmd\":7}", "\"\\ud800\"", "{}", "nul",
		"{\"cmd\":\"events\",\"since\":-1}", "{\"cmd\":\"flow\"}"};
	struct sim *s = p->sim;
	uint32_t kind = draw(s, 16), which = draw(s, 64);

	if (kind < 7 && p->flow[0] != '\0')
		return snprintf(text, cap, "{\"cmd\":\"move\",\"flow\":\"%s\",%s}\n", p->flow,
			which % 4 == 0 ? "\"home\":true" : "\"random\":true");
	if (kind == 7)
		return snprintf(
			text, cap, "{\"cmd\":\"mode\",\"mode\":\"%s\"}\n", modes[which % 4]);
	if (kind == 8)
		return snprintf(text, cap, "%s\n", odd[which % 8]);
	if (kind == 9 && p->flow[0] != '\0')
		return snprintf(text, cap, "{\"cmd\":\"flow\",\"flow\":\"%s\"}\n", p->flow);
	if (kind < 12)
		return snprintf(text, cap, "{\"cmd\":\"flows\"}\n");
	return snprintf(text, cap, "{\"cmd\":\"%s\"}\n", plain[which % 10]);
}

void clients_act(struct process *p)
{
	struct sim *s = p->sim;
	struct client *c = &p->clients[draw(s, CLIENTS)];
	uint32_t what = draw(s, 20);
	char text[256];

	if (p->state != ALIVE)
		return;
	if (c->in == NULL && !come(p, c))
		return;
	if (what == 0) {
		end(c);
		return;
	}
	say(p, c, text, (size_t)request(p, text, sizeof(text)));
	if (c->in != NULL)
		c->waits++;
}

void clients_ask(struct process *p, const char *line)
{
	struct client *c = &p->clients[0];

	if (c->in == NULL && !come(p, c)) {
		WRONG(p->sim, "hp3d %c takes no client", p->calls.letter);
		return;
	}
	say(p, c, line, strlen(line));
	if (c->in != NULL)
		c->waits++;
}

/* What was filed, and how it is. */
static void note_state(struct process *p, json_t *answer)
{
	json_t *data = json_object_get(answer, "data");
	json_t *hold = json_object_get(json_object_get(data, "rfr"), "max_hold_us");
	const char *status = json_string_value(json_object_get(data, "status"));

	if (json_is_integer(hold))
		p->reported_hold_us = json_integer_value(hold);
	if (status != NULL)
		p->ok = strcmp(status, "ok") == 0;
}

/* One of the flows listed, for later requests. */
static void note_flow(struct process *p, json_t *answer)
{
	json_t *flows = json_object_get(answer, "flows");
	size_t n = json_array_size(flows);
	const char *id;

	if (n == 0)
		return;
	id = json_string_value(
		json_object_get(json_array_get(flows, draw(p->sim, (uint32_t)n)), "id"));
	if (id != NULL)
		snprintf(p->flow, sizeof(p->flow), "%s", id);
}

static void hear(struct process *p, struct client *c, const char *line, size_t n)
{
	json_error_t at;
	json_t *answer = json_loadb(line, n, JSON_REJECT_DUPLICATES, &at);

	p->sim->r.answers++;
	if (!json_is_boolean(json_object_get(answer, "ok")))
		WRONG(p->sim, "hp3d %c answers %.*s", p->calls.letter, (int)n, line);
	note_flow(p, answer);
	note_state(p, answer);
	json_decref(answer);
	if (c->waits == 0)
		WRONG(p->sim, "hp3d %c answers what nobody asked", p->calls.letter);
	else
		c->waits--;
	c->asked = p->sim->now;
}

static void read_one(struct process *p, struct client *c)
{
	ssize_t got = recv(c->fd, c->in + c->n, CLIENT_LINE - c->n, 0);
	char *nl;

	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		if (p->state == ALIVE && c->waits > 0 && !p->closing)
			WRONG(p->sim, "hp3d %c hangs up on a client", p->calls.letter);
		end(c);
		return;
	}
	c->n += got > 0 ? (size_t)got : 0;
	while ((nl = memchr(c->in, '\n', c->n)) != NULL) {
		size_t n = (size_t)(nl - c->in);

		hear(p, c, c->in, n);
		c->n -= n + 1;
		memmove(c->in, nl + 1, c->n);
	}
	if (c->n == CLIENT_LINE)
		WRONG(p->sim, "hp3d %c: an answer without an end", p->calls.letter);
}

void clients_read(struct process *p)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		if (p->clients[i].in != NULL && p->clients[i].waits > 0)
			read_one(p, &p->clients[i]);
	}
}

void clients_check(struct process *p)
{
	for (unsigned i = 0; i < CLIENTS; i++) {
		const struct client *c = &p->clients[i];

		if (c->in != NULL && c->waits > 0 && p->sim->now > c->asked + OVERDUE)
			WRONG(p->sim, "hp3d %c does not answer", p->calls.letter);
	}
}
