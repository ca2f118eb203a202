/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of other threads to a worker. */
#include <errno.h>
#include <time.h>
#include <rte_ring_elem.h>
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/internal.h"

#define CALL_WAIT_NS 1000000000ull

unsigned hp3d_worker_count(void)
{
	return hp3d_lcores.n;
}

struct hp3d_worker *hp3d_worker(unsigned index)
{
	return &hp3d_lcores.workers[index];
}

unsigned hp3d_worker_of(unsigned rail, bool ipv6, const uint8_t *a, const uint8_t *b)
{
	if (hp3d_rail_ports(rail)->whole)
		return hp3d_owner(rail);
	return hp3d_spread_of(hp3d_ports_spread(), ipv6, a, b);
}

bool hp3d_rail_is_lead(unsigned rail)
{
	return hp3d_is_lead(rail);
}

struct hp3d_pipe *hp3d_worker_pipe(struct hp3d_worker *w, unsigned rail)
{
	return w->pipes[rail];
}

struct hp3d_verbs_mode *hp3d_worker_verbs_mode(struct hp3d_worker *w)
{
	return w->verbs;
}

int hp3d_worker_call(struct hp3d_worker *w, void (*fn)(struct hp3d_worker *w, void *arg), void *arg)
{
	uint64_t end = hp3d_now() + CALL_WAIT_NS;
	struct timespec ts = {.tv_nsec = 20000};

	if (__atomic_load_n(&w->call.quit, __ATOMIC_RELAXED))
		return -ETIMEDOUT;
	w->call.fn = fn;
	w->call.arg = arg;
	__atomic_store_n(&w->call.state, HP3D_CALL_ASKED, __ATOMIC_RELEASE);
	hp3d_sleeper_wake(&w->sleeper);
	while (__atomic_load_n(&w->call.state, __ATOMIC_ACQUIRE) != HP3D_CALL_DONE) {
		int asked = HP3D_CALL_ASKED;

		/* Withdraw the call unless it has begun. */
		if (hp3d_now() > end &&
			__atomic_compare_exchange_n(&w->call.state, &asked, HP3D_CALL_NONE, false,
				__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return -ETIMEDOUT;
		nanosleep(&ts, NULL);
	}
	__atomic_store_n(&w->call.state, HP3D_CALL_NONE, __ATOMIC_RELAXED);
	return 0;
}

unsigned hp3d_worker_events(struct hp3d_worker *w, struct hp3d_event *event, unsigned n)
{
	return rte_ring_sc_dequeue_burst_elem(w->events, event, sizeof(*event), n, NULL);
}

uint64_t hp3d_worker_events_lost(const struct hp3d_worker *w)
{
	return __atomic_load_n(&w->own.events_lost, __ATOMIC_RELAXED);
}

struct hp3d_worker_time hp3d_worker_time(const struct hp3d_worker *w)
{
	return (struct hp3d_worker_time){__atomic_load_n(&w->own.time.busy_ns, __ATOMIC_RELAXED),
		__atomic_load_n(&w->own.time.idle_ns, __ATOMIC_RELAXED)};
}

uint64_t hp3d_worker_round_at(const struct hp3d_worker *w)
{
	return __atomic_load_n(&w->own.round, __ATOMIC_RELAXED);
}
