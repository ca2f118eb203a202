/* SPDX-License-Identifier: BSD-3-Clause */
/* Carries traffic until a signal; answers the control socket between turns. */
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <rte_eal.h>
#include "app/clock.h"
#include "app/control/clients.h"
#include "app/control/socket.h"
#include "p4-testbed/fabric/fabric_main.h"

#define CONTROL_NS  2000000ull /* between two looks at the control socket */
#define TIMER_SLACK 1000ul /* ns: sleeps of 50 us shall not take 100 */

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	stop = 1;
}

struct control {
	struct hp3d_control_socket listener;
	struct hp3d_clients clients;
	struct hp3_fabric *fabric;
};

static json_t *answer_line(void *arg, const char *line, size_t len)
{
	struct control *c = arg;
	json_error_t err;
	json_t *rq = json_loadb(line, len, 0, &err), *rp;

	if (rq == NULL)
		return json_pack("{s:b, s:{s:s, s:s}}", "ok", 0, "error", "text", err.text, "fix",
			"send one JSON object a line");
	rp = hp3_control_answer(c->fabric, rq);
	json_decref(rq);
	return rp;
}

static void serve_clients(struct control *c, uint64_t now_ms)
{
	struct hp3d_clients *a = &c->clients;
	struct pollfd fds[HP3D_CLIENTS_MAX];

	hp3d_clients_accept(a, c->listener.fd, now_ms);
	for (unsigned i = 0; i < a->n; i++)
		fds[i] = (struct pollfd){.fd = a->c[i].fd, .events = hp3d_client_wants(&a->c[i])};
	if (a->n == 0 || poll(fds, a->n, 0) < 0)
		return;
	for (unsigned i = a->n; i-- > 0;)
		if (!hp3d_client_service(&a->c[i], fds[i].revents, now_ms, answer_line, c))
			hp3d_clients_end(a, i);
}

static void sleep_until_due(uint64_t now, uint64_t ns)
{
	uint64_t until = now + ns;
	struct timespec t = {
		.tv_sec = (time_t)(until / 1000000000), .tv_nsec = (long)(until % 1000000000)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void run_loop(struct control *c)
{
	uint64_t look = 0;

	while (!stop) {
		uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC), ns;

		ns = hp3_fabric_turn(c->fabric, now);
		if (now >= look) {
			serve_clients(c, now / 1000000 + 1);
			look = now + CONTROL_NS;
		}
		sleep_until_due(now, ns);
	}
}

int hp3_fabric_run(const struct hp3_fabric_args *a, const struct hp3_topo *topo)
{
	static struct hp3_fabric fabric;
	static struct control control = {.fabric = &fabric, .listener = {.fd = -1, .lock = -1}};
	struct sigaction sa = {.sa_handler = on_signal};
	char dir[PATH_MAX];
	int code = 1;

	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	prctl(PR_SET_TIMERSLACK, TIMER_SLACK);
	if (hp3_fabric_eal(a) != 0)
		return 1;
	if (hp3_fabric_open(&fabric, topo, hp3_clock_ns(CLOCK_MONOTONIC)) != 0)
		return 1;
	snprintf(dir, sizeof(dir), "%s", a->socket);
	if (hp3_fabric_attach(&fabric, a->devargs, dirname(dir)) == 0 &&
		hp3d_control_claim(&control.listener, a->socket, "control", 0) == 0 &&
		hp3d_control_listen(&control.listener) == 0) {
		run_loop(&control);
		hp3d_clients_close(&control.clients);
		hp3d_control_unlisten(&control.listener);
		code = 0;
	}
	hp3d_control_release(&control.listener);
	hp3_fabric_detach(&fabric);
	hp3_fabric_close(&fabric);
	rte_eal_cleanup();
	return code;
}
