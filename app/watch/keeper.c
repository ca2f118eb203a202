/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "app/clock.h"
#include "app/watch/internal.h"
#include "app/watch/message.h"

#define PAUSE_MS     200u
#define PAUSE_MAX_MS 60000u
#define WENT_WELL_MS 60000u /* after this time, the next pause is PAUSE_MS again */

/*
 * A hang is detected by rounds of the keeper, not by a clock: if the machine stalls, the watching
 * process and the keeper are delayed alike.
 */
#define ROUND_MS      400
#define ROUNDS_OPEN   75u /* 30 s: to load programs into a slow kernel */
#define ROUNDS_SILENT 10u /* 4 s: twenty times SIGN_MS (report.c) */

enum ending { LEFT, DIED, HUNG };

struct keeper {
	int socket; /* to hp3d */
	const struct hp3_watch_options *o;
	pid_t worker;
	int life; /* pipe from the worker: a byte every SIGN_MS */
	uint64_t start; /* ms */
	bool served; /* a watcher has run */
	unsigned times, pause_ms;
};

/* hp3d has closed its end, or has ended. */
static bool has_left(const struct pollfd *p)
{
	return (p->revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

static int start_worker(struct keeper *k)
{
	pid_t keeper = getpid();
	int life[2];

	if (pipe2(life, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	k->worker = fork();
	if (k->worker == 0) {
		close(life[0]);
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		_exit(getppid() == keeper ? hp3_report(k->socket, life[1], k->o) : 0);
	}
	close(life[1]);
	k->life = life[0];
	k->start = hp3_clock_ms();
	return k->worker < 0 ? -errno : 0;
}

static enum ending watch_over(struct keeper *k)
{
	unsigned silent = 0, limit = ROUNDS_OPEN;
	char signs[64];

	while (silent < limit) {
		struct pollfd p[2] = {{.fd = k->socket}, {.fd = k->life, .events = POLLIN}};
		int n = poll(p, 2, ROUND_MS);

		if (has_left(&p[0]))
			return LEFT;
		if ((p[1].revents & POLLIN) != 0 && read(k->life, signs, sizeof(signs)) > 0) {
			k->served = true;
			limit = ROUNDS_SILENT;
			silent = 0;
		} else if (p[1].revents != 0) {
			return DIED;
		} else if (n == 0) {
			silent++;
		}
	}
	return HUNG;
}

/* Makes the message to hp3d about the worker's end. */
static struct hp3_watch_message reap_worker(struct keeper *k, enum ending ending)
{
	struct hp3_watch_message m = {.magic = HP3_WATCH_MAGIC, .kind = HP3_WATCH_MSG_ENDED};
	int status = 0;

	kill(k->worker, SIGKILL);
	while (waitpid(k->worker, &status, 0) < 0 && errno == EINTR)
		;
	close(k->life);
	m.ended.times = ++k->times;
	m.ended.how = ending == HUNG        ? HP3_ENDED_HUNG
		      : WIFSIGNALED(status) ? HP3_ENDED_SIGNAL
					    : HP3_ENDED_EXIT;
	if (ending == DIED)
		m.ended.number =
			(uint32_t)(WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return m;
}

/* False: hp3d has closed the socket meanwhile. */
static bool pause_a_while(struct keeper *k)
{
	struct pollfd p = {.fd = k->socket};
	uint64_t end = hp3_clock_ms();

	if (end - k->start > WENT_WELL_MS)
		k->pause_ms = PAUSE_MS;
	end += k->pause_ms;
	k->pause_ms = k->pause_ms * 2 > PAUSE_MAX_MS ? PAUSE_MAX_MS : k->pause_ms * 2;
	for (uint64_t now = hp3_clock_ms(); now < end && !has_left(&p); now = hp3_clock_ms())
		poll(&p, 1, (int)(end - now));
	return !has_left(&p);
}

int hp3_keep(int socket, const struct hp3_watch_options *o)
{
	struct keeper k = {.socket = socket, .o = o, .pause_ms = PAUSE_MS};
	struct hp3_watch_message m;

	do {
		enum ending ending;

		if (start_worker(&k) < 0)
			return -1;
		ending = watch_over(&k);
		m = reap_worker(&k, ending);
		if (ending == LEFT)
			return 0;
		if (!k.served && m.ended.how == HP3_ENDED_EXIT)
			return -1;
		send(socket, &m, sizeof(m), MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (pause_a_while(&k));
	return 0;
}
