/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How long the inputs of tests/unit/worst.c take at the largest configuration: packets, commands,
 * calls of hp3_tick(). Prints a line for each; judges nothing.
 *
 * usage: hp3-worst-bench [TIMES [MAX_FLOWS [TEXT]]]: only the rows whose names have this text
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "tests/unit/worst.h"

#define TIMES     9
#define TIMES_MAX 100
#define FLOWS     (1u << 20)
#define CALLS     (1u << 17) /* of one run, at most */

/* What each call of each run took, run by run. */
static uint64_t *took;
static int times, run;
static uint32_t calls;
static uint64_t clock_ns; /* what reading the clock takes itself */

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

static uint64_t clock_takes(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 1000; i++) {
		uint64_t from = worst_count(), ns = worst_count() - from;

		least = ns < least ? ns : least;
	}
	return least;
}

void worst_call(uint64_t ns)
{
	if (calls == CALLS) {
		fprintf(stderr, "hp3-worst-bench: a run makes more than %u calls\n", CALLS);
		exit(1);
	}
	took[(size_t)run * CALLS + calls++] = ns;
}

/* The quickest, the median and the slowest time of one call, of all runs. */
struct times {
	uint64_t quick, median, slow;
};

static struct times times_of(uint32_t call)
{
	uint64_t of[TIMES_MAX] = {0};

	for (int i = 0; i < times; i++) {
		of[i] = took[(size_t)i * CALLS + call];
		of[i] -= of[i] < clock_ns ? of[i] : clock_ns;
	}
	qsort(of, (size_t)times, sizeof(of[0]), by_size);
	return (struct times){of[0], of[times / 2], of[times - 1]};
}

/* Each run makes the same calls: which of them is the longest is judged by its median. */
static struct times longest(uint64_t *p99)
{
	static uint64_t medians[CALLS];
	struct times most = {0};

	for (uint32_t i = 0; i < calls; i++) {
		struct times of = times_of(i);

		medians[i] = of.median;
		if (of.median > most.median)
			most = of;
	}
	qsort(medians, calls, sizeof(medians[0]), by_size);
	*p99 = medians[(calls - 1) * 99ull / 100];
	return most;
}

static void measure(const struct worst *w)
{
	unsigned goal = goals[w->kind];
	const char *verdict = "";
	struct times t;
	uint64_t p99;

	clock_ns = clock_takes();
	for (run = 0; run < times; run++) {
		uint64_t one;

		calls = 0;
		one = w->run(WORST_MANY);
		if (calls == 0)
			worst_call(one);
	}
	t = longest(&p99);
	if (goal != 0)
		verdict = t.median <= goal ? "within" : "beyond";
	printf("%-6s %-50s %6u %9.2f %9.2f %9.2f %9.2f  %s\n", kinds[w->kind], w->name, calls,
		(double)p99 / 1e3, (double)t.quick / 1e3, (double)t.median / 1e3,
		(double)t.slow / 1e3, verdict);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *text = argc > 3 ? argv[3] : "";

	times = argc > 1 ? atoi(argv[1]) : TIMES;
	worst_flows = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : FLOWS;
	if (times < 1 || times > TIMES_MAX || worst_flows < WORST_MANY) {
		fprintf(stderr,
			"usage: hp3-worst-bench [TIMES [MAX_FLOWS [TEXT]]]: 1 to %d times, %u "
			"flows or more, rows whose names have the text\n",
			TIMES_MAX, WORST_MANY);
		return 2;
	}
	took = malloc((size_t)times * CALLS * sizeof(*took));
	if (took == NULL)
		return 1;
	printf("%u agreements and moves, %u flows, %d times; us; goals: %g for a packet, %g for a "
	       "tick\n%-6s %-50s %6s %9s %9s %9s %9s  %s\n",
		WORST_MANY, worst_flows, times, goals[WORST_PACKET] / 1e3, goals[WORST_TICK] / 1e3,
		"call", "with", "calls", "99 %", "quiet", "median", "worst", "goal (median)");
	for (unsigned i = 0; i < worst_n; i++)
		if (strstr(worst_cases[i].name, text) != NULL)
			measure(&worst_cases[i]);
	worst_end();
	free(took);
	return 0;
}
