/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/control.h"
#include <poll.h>
#include <stdio.h>
#include "app/clock.h"
#include "app/control/clients.h"
#include "app/control/socket.h"
#include "app/hp3d/control/events.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/control/watch.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/worker.h"
#include "base/minmax.h"
#include "rfr/spraying.h"

#define STOP_EXTRA_MS   3000u /* after its drain, an earlier hp3d ends threads */
#define EVENTS_PER_TAKE 32u
#define EVENTS_PER_POLL 4096u /* per worker: bounds the delay of an answer */

static struct {
	const struct hp3_config *cfg; /* NULL: not started */
	struct hp3d_control_socket socket;
	struct hp3d_clients clients;
} control = {.socket = {.fd = -1, .lock = -1}};

int hp3d_control_reserve(const struct hp3_config *cfg)
{
	uint32_t lease_ms = (uint32_t)(HP3_SPRAY_BOUND * cfg->engine.spray.keepalive_ns / 1000000);

	return hp3d_control_claim(&control.socket, cfg->control.socket, "control",
		hp3_max_u32(cfg->control.stop_drain_ms, lease_ms) + STOP_EXTRA_MS);
}

void hp3d_control_leave(void)
{
	hp3d_control_release(&control.socket);
}

int hp3d_control_start(const struct hp3_config *cfg)
{
	int rc = hp3d_events_init(cfg, HP3D_EVENTS_KEPT);

	if (rc < 0) {
		fprintf(stderr, "hp3d: no memory to keep %u events\n", HP3D_EVENTS_KEPT);
		return rc;
	}
	rc = hp3d_control_group(&control.socket, cfg->control.group);
	if (rc == 0)
		rc = hp3d_control_listen(&control.socket);
	if (rc < 0) {
		hp3d_events_free();
		return rc;
	}
	control.cfg = cfg;
	return 0;
}

void hp3d_control_stop(void)
{
	if (!control.cfg)
		return;
	hp3d_clients_close(&control.clients);
	hp3d_control_unlisten(&control.socket);
	hp3d_events_free();
	control.cfg = NULL;
}

static void add_worker_event(const struct hp3d_event *e, uint64_t wall_ns)
{
	hp3d_events_add(e, wall_ns);
	hp3d_flow_state_note(e);
}

static void take_events(void)
{
	/* Wall-clock time minus time of the events' clock. */
	uint64_t apart = hp3_clock_ns(CLOCK_REALTIME) - hp3d_now();
	struct hp3d_event event[EVENTS_PER_TAKE];

	for (unsigned i = 0; i < hp3d_worker_count(); i++) {
		struct hp3d_worker *w = hp3d_worker(i);
		unsigned n, taken = 0;
		do {
			n = hp3d_worker_events(w, event, EVENTS_PER_TAKE);
			for (unsigned k = 0; k < n; k++)
				add_worker_event(&event[k], event[k].event.t_ns + apart);
			taken += n;
		} while (n && taken < EVENTS_PER_POLL);
	}
}

static uint64_t now_ms(void)
{
	return hp3_clock_ms() + 1;
}

/* Members of [control] group may send only some requests. */
static hp3d_answer_fn answer_for(const struct hp3d_client *c)
{
	bool is_member = c->guest && control.cfg->control.group[0] != '\0';

	return is_member ? hp3d_json_answer_group : hp3d_json_answer;
}

static void serve_clients(const struct pollfd *polled)
{
	uint64_t now = now_ms();

	for (unsigned i = control.clients.n; i-- > 0;) {
		struct hp3d_client *c = &control.clients.c[i];
		bool open = hp3d_client_service(
			c, polled[i].revents, now, answer_for(c), (void *)control.cfg);
		take_events(); /* events of the moves, before the rings are full */
		if (!open)
			hp3d_clients_end(&control.clients, i);
	}
}

void hp3d_control_poll(int timeout_ms)
{
	struct pollfd polled[HP3D_CLIENTS_MAX + 3];
	unsigned n = control.clients.n;

	if (!control.cfg) {
		poll(NULL, 0, timeout_ms);
		return;
	}
	for (unsigned i = 0; i < n; i++) {
		const struct hp3d_client *c = &control.clients.c[i];
		polled[i] = (struct pollfd){.fd = c->fd, .events = hp3d_client_wants(c)};
		if (hp3d_client_ready(c))
			timeout_ms = 0;
	}
	polled[n] = (struct pollfd){
		.fd = hp3d_clients_open(&control.clients, now_ms()) ? control.socket.fd : -1,
		.events = POLLIN};
	polled[n + 1] = (struct pollfd){.fd = hp3d_watch_fd(), .events = POLLIN};
	polled[n + 2] = (struct pollfd){.fd = hp3d_links_fd(), .events = POLLIN};
	int rc = poll(polled, n + 3, timeout_ms);
	take_events();
	hp3d_flow_state_poll();
	if (rc < 0) /* interrupted by a signal: revents are undefined */
		return;
	if (polled[n + 1].revents & POLLIN)
		hp3d_watch_poll();
	if (polled[n + 2].revents & POLLIN)
		hp3d_links_changed();
	serve_clients(polled);
	if (polled[n].revents & POLLIN)
		hp3d_clients_accept(&control.clients, control.socket.fd, now_ms());
}
