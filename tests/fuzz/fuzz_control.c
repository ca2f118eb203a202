/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any bytes from a client of the control socket. They arrive in pieces, whose sizes are
 * also bytes of the input. hp3d answers every line that is not empty by one line of JSON, in
 * order.
 */
#include <poll.h>
#include <rte_launch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/socket.h>
#include "app/control/client.h"
#include "app/hp3d/control/events.h"
#include "app/hp3d/control/mode.h"
#include "app/hp3d/control/requests.h"
#include "input.h"
#include "../unit/lcores_traffic.h"

static unsigned asked;

/* LeakSanitizer does not look into memory of DPDK: what only workers refer to would be leaked. */
static void stop(void)
{
	hp3d_events_free();
	lcores_stop(NULL);
}

/* Two workers with flows on a rail of rings, as hp3d has them; no packet passes. */
static void start(void)
{
	static struct ring_rail rail;

	MUST(lcores_start(NULL) == 0);
	lcores_cfg.n_rails = 1;
	strcpy(lcores_cfg.rails[0].name, "rail0");
	lcores_cfg.eal.idle = HP3_IDLE_SLEEP;
	lcores_begin(&rail, "fuzz", 2, false);
	for (unsigned w = 0; w < 2; w++)
		rte_eal_remote_launch(
			hp3d_worker_run, hp3d_worker(w), hp3d_lcores.workers[w].lcore);
	MUST(hp3d_events_init(&lcores_cfg, 64) == 0);
	hp3d_mode_start(&lcores_cfg);
	MUST(atexit(stop) == 0);
}

static json_t *answer(void *arg, const char *line, size_t len)
{
	char *own = malloc(len); /* its own block: ASan sees the first byte beyond */
	json_t *j;

	MUST(own != NULL && len > 0);
	memcpy(own, line, len);
	j = hp3d_json_answer(arg, own, len);
	free(own);
	asked++;
	MUST(json_is_boolean(json_object_get(j, "ok")));
	return j;
}

static unsigned take_answers(int fd)
{
	static char text[1u << 20];
	static size_t have;
	unsigned n = 0;
	ssize_t got;
	char *end;

	while ((got = recv(fd, text + have, sizeof(text) - have, MSG_DONTWAIT)) > 0) {
		have += (size_t)got;
		while ((end = memchr(text, '\n', have)) != NULL) {
			json_t *j = json_loadb(text, (size_t)(end - text), 0, NULL);

			MUST(json_is_boolean(json_object_get(j, "ok")));
			json_decref(j);
			have -= (size_t)(end + 1 - text);
			memmove(text, end + 1, have);
			n++;
		}
	}
	if (got == 0)
		have = 0;
	return n;
}

static unsigned lines(const uint8_t *data, size_t size)
{
	unsigned n = 0;

	for (size_t i = 0, from = 0; i < size; i++) {
		if (data[i] == '\n') {
			n += i > from;
			from = i + 1;
		}
	}
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t piece = size > 0 ? 1 + data[size / 2] * 2u : 1, at = 0, n;
	struct hp3d_client c;
	unsigned answers = 0;
	bool open = true;
	int fd[2];

	if (lcores_cfg.n_rails == 0)
		start();
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd) == 0);
	MUST(hp3d_client_open(&c, fd[0], 1) == 0);
	asked = 0;
	while (open && (at < size || hp3d_client_ready(&c))) {
		n = size - at < piece ? size - at : piece;
		MUST(n == 0 || send(fd[1], data + at, n, 0) == (ssize_t)n);
		at += n;
		open = hp3d_client_service(&c, POLLIN | POLLOUT, 1, answer, &lcores_cfg);
		answers += take_answers(fd[1]);
	}
	MUST(c.in_len < HP3D_LINE_MAX);
	hp3d_client_close(&c);
	answers += take_answers(fd[1]);
	MUST(answers == asked && asked == lines(data, size));
	close(fd[1]);
	return 0;
}
