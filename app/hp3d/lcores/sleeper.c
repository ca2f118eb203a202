/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/lcores/sleeper.h"
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <rte_ethdev.h>
#include <rte_log.h>

#define NS 1000000000ull

int hp3d_sleeper_init(struct hp3d_sleeper *s)
{
	int err;

	*s = (struct hp3d_sleeper){.epoll = epoll_create1(EPOLL_CLOEXEC),
		.bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC),
		.by_packets = true,
		.bell_event.epdata.event = EPOLLIN};
	if (s->epoll >= 0 && s->bell >= 0 &&
		rte_epoll_ctl(s->epoll, EPOLL_CTL_ADD, s->bell, &s->bell_event) == 0)
		return 0;
	err = errno != 0 ? errno : EIO;
	hp3d_sleeper_free(s);
	return -err;
}

void hp3d_sleeper_free(struct hp3d_sleeper *s)
{
	if (s->epoll >= 0)
		close(s->epoll);
	if (s->bell >= 0)
		close(s->bell);
	s->epoll = s->bell = -1;
}

/* Without log messages: a driver without interrupts is no error. */
static int descriptor_of_queue(uint16_t port, uint16_t queue)
{
	int type = rte_log_register("lib.ethdev"), level = rte_log_get_level(type), fd;

	rte_log_set_level(type, RTE_LOG_EMERG);
	fd = rte_eth_dev_rx_intr_ctl_q_get_fd(port, queue);
	rte_log_set_level(type, (uint32_t)level);
	return fd;
}

/*
 * A driver without a call to arm a queue (net_tap) may still have a descriptor that is readable
 * when a packet waits: such a descriptor needs no arming. */
void hp3d_sleeper_add(struct hp3d_sleeper *s, uint16_t port, uint16_t queue)
{
	if (s->n == HP3D_SLEEPER_QUEUES || descriptor_of_queue(port, queue) < 0 ||
		rte_eth_dev_rx_intr_ctl_q(port, queue, s->epoll, RTE_INTR_EVENT_ADD, NULL) != 0) {
		s->by_packets = false;
		return;
	}
	s->queues[s->n].port = port;
	s->queues[s->n++].queue = queue;
}

int hp3d_sleeper_watch(struct hp3d_sleeper *s, int fd)
{
	s->work_event = (struct rte_epoll_event){.epdata.event = EPOLLIN};
	return rte_epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &s->work_event) == 0 ? 0 : -EIO;
}

void hp3d_sleeper_arm(struct hp3d_sleeper *s)
{
	s->armed = true;
	__atomic_store_n(&s->asleep, 1, __ATOMIC_RELAXED);
	/* If another thread does not see `asleep`, the poll that follows sees that thread's work.
	 * This fence pairs with the fence of hp3d_sleeper_wake(). Without it, the CPU may execute
	 * the poll before the store to `asleep`, whatever the store's memory order is (arm64). */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < s->n; i++)
		rte_eth_dev_rx_intr_enable(s->queues[i].port, s->queues[i].queue);
}

void hp3d_sleeper_disarm(struct hp3d_sleeper *s)
{
	s->armed = false;
	__atomic_store_n(&s->asleep, 0, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < s->n; i++)
		rte_eth_dev_rx_intr_disable(s->queues[i].port, s->queues[i].queue);
}

bool hp3d_sleeper_sleep(struct hp3d_sleeper *s, uint64_t ns)
{
	struct timespec ts = {.tv_sec = (time_t)(ns / NS), .tv_nsec = (long)(ns % NS)};
	struct rte_epoll_event event[HP3D_SLEEPER_QUEUES + 1];
	struct pollfd fd = {.fd = s->epoll, .events = POLLIN};
	uint64_t rung;
	bool woken;

	/* An epoll descriptor in ppoll(): rte_epoll_wait() has only milliseconds. */
	woken = ppoll(&fd, 1, &ts, NULL) > 0;
	if (woken) {
		rte_epoll_wait(s->epoll, event, HP3D_SLEEPER_QUEUES + 1, 0);
		if (read(s->bell, &rung, sizeof(rung)) < 0)
			rung = 0; /* a packet ended the sleep */
	}
	hp3d_sleeper_disarm(s);
	return woken;
}

/* Only the first of several rings writes the eventfd. */
void hp3d_sleeper_ring_bell(struct hp3d_sleeper *s)
{
	const uint64_t one = 1;

	if (__atomic_exchange_n(&s->asleep, 0, __ATOMIC_RELAXED) != 0)
		while (write(s->bell, &one, sizeof(one)) < 0 && errno == EINTR)
			;
}
