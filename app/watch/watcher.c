/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/watch/watcher.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include "app/clock.h"
#include "app/watch/message.h"
#include "base/names.h"
#include "base/plain.h"

#define PROGRAM            "hp3-watch"
#define CHILD_FD           3
#define OPEN_MS            10000u
#define STOP_MS            2000u
#define NAP_NS             5000000
#define MESSAGES_PER_POLL  256u
#define NOTICES_PER_MINUTE 32u
#define MINUTE_MS          60000u

struct hp3_watcher {
	struct hp3_watch_options o;
	int fd; /* -1: gone */
	pid_t pid; /* of the keeper; 0: gone */
	enum hp3_watch_by by;
	/* the watcher was once the library's: it is never accepted as the kernel's again */
	bool by_library;
	uint32_t ends;
	uint64_t minute; /* when the current minute began, ms */
	unsigned notices; /* in this minute */
	bool reported_noise, reported_end;
};

const char *const hp3_watch_verbs_names[HP3_WATCH_OFF] = {
	[HP3_WATCH_AUTO] = "auto", [HP3_WATCH_KERNEL] = "kernel", [HP3_WATCH_LIBRARY] = "library"};

const char *hp3_watch_by_name(enum hp3_watch_by by)
{
	static const char *const names[] = {
		[HP3_BY_NONE] = "none", [HP3_BY_KERNEL] = "kernel", [HP3_BY_LIBRARY] = "library"};

	return HP3_NAME(names, by);
}

void hp3_watch_notice(const struct hp3_watch_options *o, const char *fmt, ...)
{
	char text[HP3_WATCH_TEXT];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	o->notice(o->ctx, hp3_plain(text));
}

/* --- start --- */

/* The path of hp3-watch, in this program's folder. */
static int find_program(char *path, size_t cap)
{
	ssize_t n = readlink("/proc/self/exe", path, cap - sizeof(PROGRAM) - 1);
	char *slash;

	if (n < 0)
		return -errno;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL)
		return -ENOENT;
	memcpy(slash + 1, PROGRAM, sizeof(PROGRAM));
	return access(path, X_OK) < 0 ? -errno : 0;
}

static _Noreturn void exec_program(const char *path, int fd, const struct hp3_watch_options *o)
{
	const char *args[] = {PROGRAM, "--report", "3", "--verbs",
		HP3_NAME(hp3_watch_verbs_names, o->verbs), "--library",
		o->libraries != NULL ? o->libraries : "", o->discover ? "--discover" : NULL, NULL};

	/*
	 * dup2() to the same number would keep close-on-exec, so the descriptor first moves to
	 * another number.
	 */
	fd = fcntl(fd, F_DUPFD_CLOEXEC, CHILD_FD + 1);
	if (fd >= 0 && dup2(fd, CHILD_FD) == CHILD_FD) {
		close_range(CHILD_FD + 1, ~0u, 0);
		execv(path, (char **)args);
	}
	_exit(127);
}

static int start_program(struct hp3_watcher *w)
{
	char path[PATH_MAX];
	int pair[2], err = find_program(path, sizeof(path));

	if (err < 0)
		return err;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	w->pid = fork();
	if (w->pid == 0)
		exec_program(path, pair[1], &w->o);
	err = w->pid < 0 ? -errno : 0;
	close(pair[1]);
	if (err < 0)
		close(pair[0]);
	else
		w->fd = pair[0];
	return err;
}

int hp3_watcher_start(const struct hp3_watch_options *o, struct hp3_watcher **out)
{
	struct hp3_watcher *w = calloc(1, sizeof(*w));
	int err;

	if (w == NULL)
		return -ENOMEM;
	w->o = *o;
	w->fd = -1;
	w->by_library = o->verbs == HP3_WATCH_LIBRARY;
	err = start_program(w);
	if (err < 0) {
		hp3_watch_notice(&w->o,
			"queue-pair setup is not watched: " PROGRAM
			" beside this program cannot be started: %s",
			strerror(-err));
		free(w);
		return err;
	}
	*out = w;
	return 0;
}

/* --- messages --- */

/* The keeper is gone: the watcher will not be started again. */
static void forget_program(struct hp3_watcher *w)
{
	close(w->fd);
	w->fd = -1;
	kill(w->pid, SIGKILL);
	while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
		;
	w->pid = 0;
	if (w->by != HP3_BY_NONE || w->reported_end)
		hp3_watch_notice(&w->o,
			"queue-pair setup is not watched any more: the watcher is gone; set-ups "
			"are paired by what is on the wire until hp3d starts anew");
	w->by = HP3_BY_NONE;
}

static void note_end(struct hp3_watcher *w, const struct hp3_watch_message *m)
{
	static const char *const how[] = {[HP3_ENDED_EXIT] = "ended, exit code",
		[HP3_ENDED_SIGNAL] = "was ended by signal",
		[HP3_ENDED_HUNG] = "hung, and was ended:"};

	w->by = HP3_BY_NONE;
	__atomic_store_n(&w->ends, m->ended.times, __ATOMIC_RELAXED);
	if (!w->reported_end)
		hp3_watch_notice(&w->o,
			"the watcher of queue-pair setup %s %u: another one is started; meanwhile "
			"set-ups are paired by what is on the wire. Further times are counted only",
			HP3_NAME(how, m->ended.how), m->ended.number);
	w->reported_end = true;
}

/* Passes a notice on, up to a bound per minute: only a watcher that is attacked sends more. */
static void pass_notice(struct hp3_watcher *w, const char *text)
{
	uint64_t now = hp3_clock_ms();

	if (w->minute == 0 || now - w->minute > MINUTE_MS) {
		w->minute = now;
		w->notices = 0;
	}
	if (w->notices++ < NOTICES_PER_MINUTE)
		hp3_watch_notice(&w->o, "%s", text);
	else if (w->notices == NOTICES_PER_MINUTE + 1)
		hp3_watch_notice(&w->o,
			"the watcher sends too many messages: further ones within a minute are "
			"dropped");
}

static void take_message(struct hp3_watcher *w, const struct hp3_watch_message *m)
{
	struct hp3_watch_event event;

	switch ((enum hp3_watch_msg_kind)m->kind) {
	case HP3_WATCH_MSG_BY:
		w->by_library |= m->by == HP3_BY_LIBRARY;
		w->by = w->by_library ? HP3_BY_LIBRARY : HP3_BY_KERNEL;
		break;
	case HP3_WATCH_MSG_NOTICE:
		pass_notice(w, m->text);
		break;
	case HP3_WATCH_MSG_EVENT:
		event = m->event;
		hp3_plain(event.device);
		w->o.event(w->o.ctx, &event);
		break;
	case HP3_WATCH_MSG_ENDED:
		note_end(w, m);
		break;
	}
}

/* False: no message. */
static bool take_one(struct hp3_watcher *w)
{
	struct hp3_watch_message m;
	ssize_t n = recv(w->fd, &m, sizeof(m), MSG_DONTWAIT | MSG_TRUNC);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		forget_program(w);
		return false;
	}
	if (hp3_watch_message_ok(&m, (size_t)n)) {
		take_message(w, &m);
	} else if (!w->reported_noise) {
		w->reported_noise = true;
		hp3_watch_notice(&w->o,
			"the watcher sends messages that cannot be understood, which are "
			"ignored: is " PROGRAM " of the same version?");
	}
	return true;
}

void hp3_watcher_poll(struct hp3_watcher *w)
{
	for (unsigned i = 0; i < MESSAGES_PER_POLL && w->fd >= 0 && take_one(w); i++)
		;
}

int hp3_watcher_wait(struct hp3_watcher *w)
{
	uint64_t end = hp3_clock_ms() + OPEN_MS;

	while (w->by == HP3_BY_NONE) {
		struct pollfd p = {.fd = w->fd, .events = POLLIN};
		uint64_t now = hp3_clock_ms();

		if (w->fd < 0)
			return -ENOENT;
		if (now >= end)
			return -ETIMEDOUT;
		/*
		 * Reads messages one by one, because those about queue pairs have to wait until the
		 * workers run.
		 */
		if (poll(&p, 1, (int)(end - now)) > 0)
			take_one(w);
	}
	return 0;
}

int hp3_watcher_fd(const struct hp3_watcher *w)
{
	return w->fd;
}

enum hp3_watch_by hp3_watcher_by(const struct hp3_watcher *w)
{
	return w->by;
}

uint32_t hp3_watcher_ends(const struct hp3_watcher *w)
{
	return __atomic_load_n(&w->ends, __ATOMIC_RELAXED);
}

void hp3_watcher_stop(struct hp3_watcher *w)
{
	struct timespec nap = {.tv_nsec = NAP_NS};

	if (w == NULL)
		return;
	if (w->fd >= 0)
		close(w->fd);
	for (uint64_t end = hp3_clock_ms() + STOP_MS; w->pid > 0; nanosleep(&nap, NULL)) {
		if (hp3_clock_ms() > end)
			kill(w->pid, SIGKILL);
		if (waitpid(w->pid, NULL, WNOHANG) != 0)
			break;
	}
	free(w);
}
