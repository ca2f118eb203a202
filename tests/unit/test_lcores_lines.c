/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cache lines that two workers write: the test compares all writable memory before and after each
 * of them has handled packets. Both may write only lines of the rings between them, and with a NIC
 * that spreads, none. (A line overwritten with its old content is not detected; static assertions
 * check the layout of struct hp3d_worker.)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <rte_launch.h>
#include "app/hp3d/lcores/eal.h"
#include "lcores_traffic.h"

#define LINE 64u

/* All memory that can be written, but for what the test itself looks with. */
struct region {
	uint8_t *at, *before, *dirty[2]; /* a flag per line */
	size_t n;
};

static struct region regions[4096];
static unsigned n_regions;

static void find_regions(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[512];

	assert_non_null(f);
	n_regions = 0;
	while (fgets(line, sizeof(line), f) != NULL) {
		unsigned long from, to;

		if (sscanf(line, "%lx-%lx rw", &from, &to) != 2 || strstr(line, " rw") == NULL ||
			strstr(line, "[stack]") != NULL)
			continue;
		assert_true(n_regions < RTE_DIM(regions));
		regions[n_regions++] = (struct region){.at = (uint8_t *)from, .n = to - from};
	}
	fclose(f);
	for (unsigned i = 0; i < n_regions; i++) {
		struct region *r = &regions[i];

		r->before = mmap(NULL, r->n + 2 * (r->n / LINE), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		assert_ptr_not_equal(r->before, MAP_FAILED);
		r->dirty[0] = r->before + r->n;
		r->dirty[1] = r->dirty[0] + r->n / LINE;
	}
}

static void take_picture(void)
{
	for (unsigned i = 0; i < n_regions; i++)
		memcpy(regions[i].before, regions[i].at, regions[i].n);
}

static uint32_t compare(unsigned worker)
{
	uint32_t written = 0;

	for (unsigned i = 0; i < n_regions; i++) {
		struct region *r = &regions[i];

		for (size_t k = 0; k < r->n / LINE; k++) {
			if (memcmp(r->at + k * LINE, r->before + k * LINE, LINE) == 0)
				continue;
			r->dirty[worker][k] = 1;
			written++;
		}
	}
	return written;
}

static void forget_regions(void)
{
	for (unsigned i = 0; i < n_regions; i++)
		munmap(regions[i].before, regions[i].n + 2 * (regions[i].n / LINE));
}

/* A worker that makes its rounds when it is told to. */
struct turns {
	struct hp3d_worker *w;
	uint32_t told, done; /* how many times; atomic */
	const uint8_t *scheduled; /* as below, of its thread */
	bool end;
} __attribute__((aligned(LINE)));

static struct turns turns[2];

/* Where the kernel notes on which CPU this thread runs, whenever that changes (rseq). */
static const uint8_t *noted_by_kernel(void)
{
	return (const uint8_t *)__builtin_thread_pointer() + __rseq_offset;
}

static int make_rounds(void *arg)
{
	struct turns *t = arg;

	t->scheduled = noted_by_kernel();
	for (uint32_t n = 0; !__atomic_load_n(&t->end, __ATOMIC_ACQUIRE);) {
		if (__atomic_load_n(&t->told, __ATOMIC_ACQUIRE) == n) {
			sched_yield();
			continue;
		}
		for (unsigned i = 0; i < LCORES_FLOWS * LCORES_EACH / 16; i++)
			hp3d_worker_round(t->w);
		__atomic_store_n(&t->done, ++n, __ATOMIC_RELEASE);
	}
	return 0;
}

static void end_turns(void)
{
	__atomic_store_n(&turns[0].end, true, __ATOMIC_RELEASE);
	__atomic_store_n(&turns[1].end, true, __ATOMIC_RELEASE);
	rte_eal_mp_wait_lcore();
}

static void tell(unsigned worker)
{
	struct turns *t = &turns[worker];
	uint64_t start = hp3d_now();

	__atomic_store_n(&t->told, t->told + 1, __ATOMIC_RELEASE);
	while (__atomic_load_n(&t->done, __ATOMIC_ACQUIRE) != t->told) {
		assert_true(hp3d_now() - start < LCORES_PATIENT);
		sched_yield();
	}
}

/* net_ring counts the packets of its queues beside its pointers to the rings: not ours to part. */
static bool is_of_net_ring(const struct ring_rail *r, const uint8_t *line)
{
	for (unsigned i = 0; i < LINE / sizeof(void *); i++) {
		const void *p;

		memcpy(&p, line + i * sizeof(p), sizeof(p));
		for (unsigned q = 0; q < 2 * r->queues; q++) {
			if (p == r->in[q / r->queues][q % r->queues] ||
				p == r->out[q / r->queues][q % r->queues])
				return true;
		}
	}
	return false;
}

/* A thread that waits for its turn is moved to another CPU now and then. */
static bool is_of_kernel(const uint8_t *line)
{
	const uint8_t *notes[] = {turns[0].scheduled, turns[1].scheduled, noted_by_kernel()};

	for (unsigned i = 0; i < RTE_DIM(notes); i++) {
		if (notes[i] >= line && notes[i] < line + LINE)
			return true;
	}
	return false;
}

static uint32_t written_by_both(const struct ring_rail *rail)
{
	uint32_t both = 0;

	for (unsigned i = 0; i < n_regions; i++) {
		const struct region *r = &regions[i];

		for (size_t k = 0; k < r->n / LINE; k++) {
			if (!r->dirty[0][k] || !r->dirty[1][k] ||
				is_of_net_ring(rail, r->at + k * LINE) ||
				is_of_kernel(r->at + k * LINE))
				continue;
			print_message("written by both: %p\n", (void *)(r->at + k * LINE));
			both++;
		}
	}
	return both;
}

/* Each twice, after a turn in which libraries are bound and tables touched for the first time. */
static void write_apart(const char *name, unsigned queues)
{
	static struct ring_rail r;
	uint32_t next[2][LCORES_FLOWS] = {0}, lines[2] = {0}, both;

	lcores_begin(&r, name, queues, false);
	for (unsigned w = 0; w < 2; w++) {
		turns[w] = (struct turns){.w = hp3d_worker(w)};
		rte_eal_remote_launch(make_rounds, &turns[w], hp3d_lcores.workers[w].lcore);
	}
	for (uint32_t n = 0; n < LCORES_EACH; n++) {
		if (n == LCORES_EACH / 2)
			find_regions();
		lcores_feed(&r, HP3_DIR_TX, n, false);
		if (n > 0)
			lcores_feed(&r, HP3_DIR_RX, n - 1, false);
		if (n % (LCORES_EACH / 4) != LCORES_EACH / 4 - 1)
			continue;
		for (unsigned turn = 0; turn < 4; turn++) {
			if (n >= LCORES_EACH / 2)
				take_picture();
			tell(turn & 1);
			if (n >= LCORES_EACH / 2)
				lines[turn & 1] += compare(turn & 1);
		}
		lcores_collect(&r, HP3_DIR_TX, next[0]);
		lcores_collect(&r, HP3_DIR_RX, next[1]);
	}
	both = written_by_both(&r);
	print_message("%s: %u and %u lines written, %u by both\n", name, lines[0], lines[1], both);
	assert_true(lines[0] > 100 && lines[1] > 100);
	assert_int_equal(both, 0);
	for (unsigned i = 0; i < LCORES_FLOWS; i++)
		assert_true(next[0][i] == LCORES_EACH && next[1][i] == LCORES_EACH - 1);
	forget_regions();
	end_turns();
	assert_int_equal(hp3d_workers_free(), 0);
}

/* With the address sanitizer its own books, and poisoned bytes, would be looked at. */
#if defined(__SANITIZE_ADDRESS__)
#define LOOK_AT_ALL_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LOOK_AT_ALL_MEMORY 0
#endif
#endif
#ifndef LOOK_AT_ALL_MEMORY
#define LOOK_AT_ALL_MEMORY 1
#endif

static void lines_apart_where_the_nic_spreads(void **state)
{
	if (LOOK_AT_ALL_MEMORY)
		write_apart("lines_nic", 2);
}

static void lines_apart_in_software(void **state)
{
	if (LOOK_AT_ALL_MEMORY)
		write_apart("lines_soft", 1);
}

static int stop(void **state)
{
	end_turns(); /* where a test failed half-way */
	return lcores_stop(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_apart_where_the_nic_spreads),
		cmocka_unit_test(lines_apart_in_software),
	};

	return cmocka_run_group_tests(tests, lcores_start, stop);
}
