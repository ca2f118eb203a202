/* SPDX-License-Identifier: BSD-3-Clause */
/* Time, sleep, threads, signals, random numbers and short times of a process. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>
#include <rte_launch.h>
#include "engine/policy.h"
#include "tests/whole/host.h"

#define NS         1000000000ull
#define PAIRING_NS 20000000ull
#define FDS        512

const struct whole_host *whole_host;
void *whole_process;
static unsigned written; /* how often something was, */
static unsigned heard[FDS]; /* and when it was looked at, by descriptor */

whole_bind_fn whole_bind;
uint64_t __wrap_hp3d_now(void);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);
time_t __wrap_time(time_t *t);
ssize_t __wrap_getrandom(void *buf, size_t n, unsigned flags);
int __wrap_nanosleep(const struct timespec *ts, struct timespec *left);
int __wrap_usleep(useconds_t us);
int __real_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __wrap___poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t size);
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask);
int __wrap___ppoll_chk(
	struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask, size_t size);
ssize_t __real_write(int fd, const void *buf, size_t n);
ssize_t __wrap_write(int fd, const void *buf, size_t n);
int __wrap_sigaction(int sig, const struct sigaction *sa, struct sigaction *was);
int __wrap_rte_eal_remote_launch(lcore_function_t *fn, void *arg, unsigned lcore);
void __wrap_rte_eal_mp_wait_lcore(void);
struct hp3_engine_config __real_hp3_policy_settled(const struct hp3_engine_config *table);
struct hp3_engine_config __wrap_hp3_policy_settled(const struct hp3_engine_config *table);

void whole_bind(const struct whole_host *host, void *p)
{
	whole_host = host;
	whole_process = p;
}

uint64_t __wrap_hp3d_now(void)
{
	return whole_host->now(whole_process);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	uint64_t t = clock == CLOCK_REALTIME ? whole_host->wall(whole_process)
					     : whole_host->now(whole_process);

	*ts = (struct timespec){.tv_sec = (time_t)(t / NS), .tv_nsec = (long)(t % NS)};
	return 0;
}

time_t __wrap_time(time_t *t)
{
	time_t now = (time_t)(whole_host->wall(whole_process) / NS);

	if (t != NULL)
		*t = now;
	return now;
}

ssize_t __wrap_getrandom(void *buf, size_t n, unsigned flags)
{
	for (size_t i = 0; i < n; i += 8) {
		uint64_t r = whole_host->random(whole_process);

		memcpy((char *)buf + i, &r, n - i < 8 ? n - i : 8);
	}
	return (ssize_t)n;
}

static uint64_t in(const struct timespec *ts)
{
	return whole_host->now(whole_process) + (uint64_t)ts->tv_sec * NS + (uint64_t)ts->tv_nsec;
}

/* What it sleeps for is looked at when it awakes; a kick is not the end of a plain sleep. */
static void sleep_until(uint64_t end)
{
	while (whole_host->now(whole_process) < end)
		whole_host->sleep(whole_process, end);
}

int __wrap_nanosleep(const struct timespec *ts, struct timespec *left)
{
	sleep_until(in(ts));
	return 0;
}

int __wrap_usleep(useconds_t us)
{
	sleep_until(whole_host->now(whole_process) + us * 1000ull);
	return 0;
}

static int wait_for(struct pollfd *fds, nfds_t n, uint64_t end)
{
	for (;;) {
		int ready = n != 0 ? __real_poll(fds, n, 0) : 0;

		if (whole_host->interrupted(whole_process)) {
			errno = EINTR;
			return -1;
		}
		if (ready != 0 || whole_host->now(whole_process) >= end)
			return ready;
		whole_host->sleep(whole_process, end);
	}
}

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	uint64_t now = whole_host->now(whole_process);

	return wait_for(fds, n, timeout_ms < 0 ? UINT64_MAX : now + (uint64_t)timeout_ms * 1000000);
}

int __wrap___poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t size)
{
	return __wrap_poll(fds, n, timeout_ms);
}

/* Only lcores wait like this, for the bell, which is written to. Signals go to the main thread. */
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask)
{
	uint64_t end = in(ts);
	int ready = 0;

	do {
		if (heard[fds->fd % FDS] != written) {
			ready = __real_poll(fds, n, 0);
			heard[fds->fd % FDS] = written;
		}
		if (ready != 0)
			return ready;
		whole_host->sleep(whole_process, end);
	} while (whole_host->now(whole_process) < end);
	return 0;
}

int __wrap___ppoll_chk(
	struct pollfd *fds, nfds_t n, const struct timespec *ts, const sigset_t *mask, size_t size)
{
	return __wrap_ppoll(fds, n, ts, mask);
}

/* The bell of a sleeping lcore. */
ssize_t __wrap_write(int fd, const void *buf, size_t n)
{
	ssize_t done = __real_write(fd, buf, n);

	written++;
	whole_host->kick(whole_process);
	return done;
}

int __wrap_sigaction(int sig, const struct sigaction *sa, struct sigaction *was)
{
	whole_host->on_signal(whole_process, sig, sa->sa_handler);
	return 0;
}

int __wrap_rte_eal_remote_launch(lcore_function_t *fn, void *arg, unsigned lcore)
{
	whole_host->launch(whole_process, fn, arg);
	return 0;
}

void __wrap_rte_eal_mp_wait_lcore(void)
{
	whole_host->join(whole_process);
}

/* A world lasts for 120 ms: hp3d has to pair flows within that time. */
struct hp3_engine_config __wrap_hp3_policy_settled(const struct hp3_engine_config *table)
{
	struct hp3_engine_config c = __real_hp3_policy_settled(table);

	c.challenge_timeout_ns = c.challenge_quiet_ns = PAIRING_NS;
	return c;
}
