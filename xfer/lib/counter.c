/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of a domain: what ops of peers have added. */
#include <errno.h>
#include <poll.h>
#include "app/clock.h"
#include "xfer/lib/internal.h"

static int counter_check(uint32_t counter)
{
	if (counter < HP3X_COUNTERS)
		return 0;
	return hp3x_error_set(
		-EINVAL, "counter %u: counters are 0 to %u", counter, HP3X_COUNTERS - 1);
}

int hp3x_counter(struct hp3x_domain *d, uint32_t counter, uint64_t *value)
{
	int error = counter_check(counter);

	if (error < 0)
		return error;
	hp3x_lock(d);
	*value = d->counter[counter];
	hp3x_unlock(d);
	return 0;
}

int hp3x_counter_take(struct hp3x_domain *d, uint32_t counter, uint64_t *value)
{
	int error = counter_check(counter);

	if (error < 0)
		return error;
	hp3x_lock(d);
	*value = d->counter[counter];
	d->counter[counter] = 0;
	hp3x_unlock(d);
	return 0;
}

static int timed_out(uint32_t counter, uint64_t value)
{
	return hp3x_error_set(-ETIMEDOUT, "counter %u has not reached %llu before the deadline",
		counter, (unsigned long long)value);
}

/* The thread of the domain wakes the caller. */
static int wait_for_thread(
	struct hp3x_domain *d, uint32_t counter, uint64_t value, uint64_t deadline)
{
	struct timespec until = {(time_t)(deadline / 1000000000u), (long)(deadline % 1000000000u)};
	int error = 0;

	hp3x_lock(d);
	d->waiters++;
	while (d->counter[counter] < value && error == 0)
		error = deadline == 0 ? pthread_cond_wait(&d->counted, &d->lock)
				      : pthread_cond_timedwait(&d->counted, &d->lock, &until);
	d->waiters--;
	error = d->counter[counter] < value ? -ETIMEDOUT : 0;
	hp3x_unlock(d);
	return error == 0 ? 0 : timed_out(counter, value);
}

/* The caller does the thread's work. */
static int wait_and_progress(
	struct hp3x_domain *d, uint32_t counter, uint64_t value, uint64_t deadline)
{
	for (;;) {
		struct pollfd p = {.fd = hp3x_fd(d), .events = POLLIN};
		int64_t wait = hp3x_progress(d);
		uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC), is;

		hp3x_counter(d, counter, &is);
		if (is >= value)
			return 0;
		if (deadline != 0 && now >= deadline)
			return timed_out(counter, value);
		if (deadline != 0 && (uint64_t)wait > deadline - now)
			wait = (int64_t)(deadline - now);
		poll(&p, 1, wait > 1000000000 ? 1000 : (int)((wait + 999999) / 1000000));
	}
}

int hp3x_counter_wait(struct hp3x_domain *d, uint32_t counter, uint64_t value, uint64_t deadline)
{
	int error = counter_check(counter);

	if (error < 0)
		return error;
	return d->own_progress ? wait_and_progress(d, counter, value, deadline)
			       : wait_for_thread(d, counter, value, deadline);
}
