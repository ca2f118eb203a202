/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* A clock of the kernel (clock_gettime(2)) in ns. Any module may include this. */
#include <stdint.h>
#include <time.h>

static inline uint64_t hp3_clock_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The monotonic clock in ms. */
static inline uint64_t hp3_clock_ms(void)
{
	return hp3_clock_ns(CLOCK_MONOTONIC) / 1000000;
}
