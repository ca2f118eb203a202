/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * How an lcore sleeps, and what ends its sleep early. Other threads end the sleep by ringing a bell
 * (an eventfd). Packets end it if they arrive at a queue whose driver has Rx interrupts. The
 * drivers of most NICs, virtio, net_tap and net_vhost have Rx interrupts; net_af_packet and
 * net_af_xdp have none.
 *
 * No wake-up is lost: the lcore first sets `asleep` (arm), polls all its inputs once more, and only
 * then sleeps. A thread that adds work to an input rings the bell afterwards. Ringing costs a fence
 * and a load, and a system call only if the lcore sleeps.
 */
#include <stdbool.h>
#include <stdint.h>
#include <rte_interrupts.h>
#include "base/likely.h"

#define HP3D_SLEEPER_QUEUES 32u

struct hp3d_sleeper {
	int epoll, bell; /* descriptors */
	unsigned n; /* queues that can end a sleep */
	bool by_packets; /* all queues can end a sleep */
	bool armed; /* written by the owner */
	struct {
		uint16_t port, queue;
	} queues[HP3D_SLEEPER_QUEUES];
	struct rte_epoll_event bell_event, work_event;
	/* Written by the owner around a sleep, and by threads that ring. On its own cache line. */
	int asleep __rte_cache_aligned;
} __rte_cache_aligned;

/* Returns 0 or a negative errno. */
int hp3d_sleeper_init(struct hp3d_sleeper *s);
void hp3d_sleeper_free(struct hp3d_sleeper *s);
/* Adds a queue that the lcore polls. The port must run. */
void hp3d_sleeper_add(struct hp3d_sleeper *s, uint16_t port, uint16_t queue);

/* Adds a descriptor that is readable when there is work. Returns 0 or a negative errno. */
int hp3d_sleeper_watch(struct hp3d_sleeper *s, int fd);

/* For the owner. hp3d_sleeper_arm() prepares to sleep, and hp3d_sleeper_disarm() cancels the
 * preparation. hp3d_sleeper_sleep() sleeps for at most `ns`; true: something ended the sleep
 * early. */
void hp3d_sleeper_arm(struct hp3d_sleeper *s);
void hp3d_sleeper_disarm(struct hp3d_sleeper *s);
bool hp3d_sleeper_sleep(struct hp3d_sleeper *s, uint64_t ns);

void hp3d_sleeper_ring_bell(struct hp3d_sleeper *s);

/* For other threads, after they have added work: if the lcore sleeps, ends the sleep. */
static inline void hp3d_sleeper_wake(struct hp3d_sleeper *s)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if (HP3_UNLIKELY(__atomic_load_n(&s->asleep, __ATOMIC_RELAXED) != 0))
		hp3d_sleeper_ring_bell(s);
}
