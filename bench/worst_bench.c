/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the inputs of tests/unit/worst.c take at the largest configuration: packets, commands,
 * calls of hp3_tick(). Prints a line for each; judges nothing.
 *
 * usage: hp3-worst-bench [TIMES [MAX_FLOWS]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "tests/unit/worst.h"

#define TIMES     9
#define TIMES_MAX 1000
#define FLOWS     (1u << 20)

static const char *const kinds[] = {"packet", "action", "tick"};
static const unsigned goals[] = {2000, 0, 50000}; /* ns; 0: none, an operator's command */

/* CPU time: being preempted does not count. */
uint64_t worst_count(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* What reading the clock takes itself. */
static uint64_t clock_takes(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t from = worst_count(), took = worst_count() - from;

		least = took < least ? took : least;
	}
	return least;
}

static void measure(const struct worst *w, int times)
{
	uint64_t took[TIMES_MAX], clock = clock_takes();
	unsigned goal = goals[w->kind];
	const char *verdict = "";

	for (int i = 0; i < times; i++)
		took[i] = w->run(WORST_MANY);
	for (int i = 0; i < times; i++)
		took[i] -= took[i] < clock ? took[i] : clock;
	qsort(took, (size_t)times, sizeof(took[0]), by_size);
	if (goal != 0)
		verdict = took[times / 2] <= goal ? "within" : "beyond";
	printf("%-6s %-50s %9.2f %9.2f %9.2f  %s\n", kinds[w->kind], w->name, (double)took[0] / 1e3,
		(double)took[times / 2] / 1e3, (double)took[times - 1] / 1e3, verdict);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : TIMES;

	worst_flows = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : FLOWS;
	if (times < 1 || times > TIMES_MAX || worst_flows < WORST_MANY) {
		fprintf(stderr,
			"usage: hp3-worst-bench [TIMES [MAX_FLOWS]]: 1 to %d times, %u flows or "
			"more\n",
			TIMES_MAX, WORST_MANY);
		return 2;
	}
	printf("%u agreements and moves, %u flows, %d times; us; goals: %g for a packet, %g for a "
	       "tick\n%-6s %-50s %9s %9s %9s  %s\n",
		WORST_MANY, worst_flows, times, goals[WORST_PACKET] / 1e3, goals[WORST_TICK] / 1e3,
		"call", "with", "quiet", "median", "worst", "goal (median)");
	for (unsigned i = 0; i < worst_n; i++)
		measure(&worst_cases[i], times);
	worst_end();
	return 0;
}
