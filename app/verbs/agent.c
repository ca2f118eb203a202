/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/clock.h"
#include "app/verbs/shim.h"
#include "app/verbs/account.h"
#include "app/verbs/cells.h"
#include "app/verbs/move.h"
#include "app/verbs/qps.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WELCOME_MS 1000
#define MOVING_NS  50000L
#define SOON_NS    100000000L /* an hp3d that restarts is ready within seconds, */
#define SOON_TRIES 50 /* or not for a longer time */

static pthread_once_t forking = PTHREAD_ONCE_INIT;
static bool running; /* under hp3v_lock() */
static bool looked; /* the agent has tried to connect; atomic */
static int hp3d = -1, tries;
static struct hp3v_shared shared;

static int ask_for_hp3d(void)
{
	const char *path = secure_getenv("HP3_VERBS_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	strncpy(to.sun_path, path != NULL ? path : HP3_VERBS_SOCKET, sizeof(to.sun_path) - 1u);
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
		return fd;
	close(fd);
	return -1;
}

static bool send_hello(int fd)
{
	struct hp3_verbs_hello hello = {.magic = HP3_VERBS_MAGIC,
		.version = HP3_VERBS_VERSION,
		.pid = (uint32_t)getpid(),
		.cells = HP3_VERBS_CELLS,
		.cell_size = sizeof(struct hp3_verbs_cell),
		.shim = HP3_VERSION};
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(2 * sizeof(int))];
	} control = {0};
	struct iovec iov = {&hello, sizeof(hello)};
	struct msghdr m = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	int fds[2] = {shared.memory, shared.hp3d_bell};

	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(&control.header), fds, sizeof(fds));
	return sendmsg(fd, &m, MSG_NOSIGNAL) == sizeof(hello);
}

static bool is_welcome(int fd)
{
	struct pollfd p = {fd, POLLIN, 0};
	struct hp3_verbs_welcome w;

	if (poll(&p, 1, WELCOME_MS) != 1 || recv(fd, &w, sizeof(w), 0) != sizeof(w) ||
		w.magic != HP3_VERBS_MAGIC || w.version != HP3_VERBS_VERSION || !w.accepted)
		return false;
	hp3v_move_bounds(w.drain_us, w.hold_us, w.place_us);
	return true;
}

static void look_for_hp3d(void)
{
	hp3d = ask_for_hp3d();
	tries++;
	if (hp3d < 0)
		return;
	if (send_hello(hp3d) && is_welcome(hp3d))
		return;
	close(hp3d);
	hp3d = -1;
}

bool hp3v_agent_looked(void)
{
	return __atomic_load_n(&looked, __ATOMIC_ACQUIRE);
}

static void leave_hp3d(void)
{
	hp3v_move_bounds(0, 0, 0); /* there is no hp3d for which to wait */
	close(hp3d);
	hp3d = -1;
	tries = 0;
}

/*
 * Handles commands and moves of all queue pairs. True: a queue pair is being moved. A post may have
 * a queue pair's lock until a hold ends (hp3v_hold_give_up()). The other queue pairs must not wait
 * for that.
 */
static bool go_round(void)
{
	uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC), want;
	bool moving = false;

	for (uint32_t i = 0; i < hp3v_cells_used(); i++) {
		struct hp3v_qp *q = hp3v_cell_owner(i);

		if (q == NULL)
			continue;
		if (pthread_mutex_trylock(&q->lock) != 0) {
			moving = true;
			continue;
		}
		if (q->qp != NULL && q->index == (int)i) {
			want = __atomic_load_n(&q->cell->want, __ATOMIC_ACQUIRE);
			if (hp3d < 0)
				hp3v_move_forsaken(q, want, now);
			else
				hp3v_move_command(q, want, now);
			hp3v_move_tick(q, now);
			hp3v_grow_older(q);
			moving |= hp3v_is_moving(q);
		}
		pthread_mutex_unlock(&q->lock);
	}
	return moving;
}

/* Reads hp3d's bell bytes from the socket, and detects its end. */
static void listen_to_hp3d(void)
{
	char rung;
	ssize_t n;

	do
		n = recv(hp3d, &rung, sizeof(rung), MSG_DONTWAIT);
	while (n > 0);
	if (n == 0 || (errno != EAGAIN && errno != EINTR))
		leave_hp3d();
}

static void wait_a_while(bool moving)
{
	struct pollfd p = {hp3d, POLLIN, 0}; /* -1: ignored */
	struct timespec soon = {0, moving ? MOVING_NS : SOON_NS}, late = {1, 0};

	ppoll(&p, 1, moving || (hp3d < 0 && tries < SOON_TRIES) ? &soon : &late, NULL);
	if (hp3d >= 0 && p.revents != 0)
		listen_to_hp3d();
}

static void *run_agent(void *unused)
{
	bool moving = false;

	for (;;) {
		if (hp3d < 0 && !moving)
			look_for_hp3d();
		__atomic_store_n(&looked, true, __ATOMIC_RELEASE);
		moving = go_round();
		wait_a_while(moving);
	}
	return unused;
}

/*
 * In a forked child: the shared memory belongs to the parent; new queue pairs of the child start a
 * new agent.
 */
static void in_child(void)
{
	hp3v_lock_init();
	hp3v_qps_orphan();
	hp3v_cells_abandon();
	if (hp3d >= 0)
		leave_hp3d();
	running = false;
	looked = false;
}

static void watch_forks(void)
{
	pthread_atfork(hp3v_lock, hp3v_unlock, in_child);
}

void hp3v_agent_start(void)
{
	sigset_t all, were;
	pthread_t thread;
	bool start;

	pthread_once(&forking, watch_forks);
	hp3v_lock();
	start = !running;
	running = true;
	hp3v_unlock();
	if (!start || !hp3v_cells_open(&shared))
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &were);
	if (pthread_create(&thread, NULL, run_agent, NULL) == 0) {
		pthread_setname_np(thread, "hp3-verbs");
		pthread_detach(thread);
	}
	pthread_sigmask(SIG_SETMASK, &were, NULL);
}
