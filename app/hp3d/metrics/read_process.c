/* SPDX-License-Identifier: BSD-3-Clause */
/* The process: version and mode, threads, memory. */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include "app/clock.h"
#include "app/hp3d/verbs/verbs_mode.h"
#include "app/hp3d/control/mode.h"
#include "app/hp3d/control/watch.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/worker.h"
#include "app/hp3d/metrics/page.h"
#include "app/hp3d/metrics/source.h"
#include "app/hp3d/pipe/pipe.h"
#include "app/hp3d/pipe/pool.h"
#include "engine/policy.h"
#include "roce/icrc.h"

#define NS 1e9

void hp3d_read_build(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	const struct hp3_engine *e = hp3d_pipe_engine(hp3d_worker_pipe(hp3d_worker(0), 0));

	hp3d_page_count(
		page, (struct hp3d_labels){{HP3_VERSION, hp3_isa_in_use(e), hp3_icrc_in_use()}}, 1);
}

void hp3d_read_mode(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	enum hp3_policy_mode mode = hp3d_mode(); /* read once: exactly one sample is 1 */

	for (unsigned i = 0; hp3_policy_modes[i] != NULL; i++)
		hp3d_page_count(
			page, (struct hp3d_labels){{hp3_policy_modes[i]}}, (unsigned)mode == i);
}

void hp3d_read_started(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	hp3d_page_number(page, (struct hp3d_labels){{NULL}}, from->started);
}

void hp3d_read_cpu(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u) < 0)
		return;
	hp3d_page_number(page, (struct hp3d_labels){{NULL}},
		(double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
			(double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
}

void hp3d_read_memory(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	FILE *f = fopen("/proc/self/statm", "re");
	unsigned long size, resident;

	if (f == NULL)
		return;
	if (fscanf(f, "%lu %lu", &size, &resident) == 2)
		hp3d_page_count(page, (struct hp3d_labels){{NULL}},
			resident * (uint64_t)sysconf(_SC_PAGESIZE));
	fclose(f);
}

static void put_heartbeat(struct hp3d_page *page, const char *thread, uint64_t at)
{
	uint64_t now = hp3d_now(), age = at < now ? now - at : 0;

	hp3d_page_number(page, (struct hp3d_labels){{thread}},
		(double)(hp3_clock_ns(CLOCK_REALTIME) - age) / NS);
}

void hp3d_read_heartbeat(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	put_heartbeat(page, "control", __atomic_load_n(&from->heartbeat, __ATOMIC_RELAXED));
	for (unsigned w = 0; w < hp3d_worker_count(); w++) {
		char thread[24];

		snprintf(thread, sizeof(thread), "lcore%u", w);
		put_heartbeat(page, thread, hp3d_worker_round_at(hp3d_worker(w)));
	}
}

void hp3d_read_lcore_time(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned w = 0; w < hp3d_worker_count(); w++) {
		struct hp3d_worker_time t = hp3d_worker_time(hp3d_worker(w));
		char lcore[16];

		snprintf(lcore, sizeof(lcore), "%u", w);
		hp3d_page_number(
			page, (struct hp3d_labels){{lcore, "busy"}}, (double)t.busy_ns / NS);
		hp3d_page_number(
			page, (struct hp3d_labels){{lcore, "idle"}}, (double)t.idle_ns / NS);
	}
}

void hp3d_read_events_lost(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	for (unsigned w = 0; w < hp3d_worker_count(); w++) {
		char lcore[16];

		snprintf(lcore, sizeof(lcore), "%u", w);
		hp3d_page_count(page, (struct hp3d_labels){{lcore}},
			hp3d_worker_events_lost(hp3d_worker(w)));
	}
}

struct pools {
	struct hp3d_page *page;
	enum hp3d_pool_value which;
};

static void put_pool(struct rte_mempool *pool, void *arg)
{
	const struct pools *p = arg;

	if (!hp3d_pool_is_ready(pool))
		return;
	hp3d_page_count(p->page, (struct hp3d_labels){{pool->name}},
		p->which == HP3D_POOL_SIZE ? pool->size : rte_mempool_avail_count(pool));
}

void hp3d_read_pool(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	struct pools p = {page, (enum hp3d_pool_value)which};

	rte_mempool_walk(put_pool, &p);
}

void hp3d_read_watch(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	struct hp3d_watch_stats s = hp3d_watch_stats();

	hp3d_page_count(page, (struct hp3d_labels){{"up"}}, s.up);
	hp3d_page_count(page, (struct hp3d_labels){{"down"}}, s.down);
	hp3d_page_count(page, (struct hp3d_labels){{"refused"}}, s.refused);
	hp3d_page_count(page, (struct hp3d_labels){{"no_rail"}}, s.no_rail);
}

void hp3d_read_watch_ends(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	hp3d_page_count(page, (struct hp3d_labels){0}, hp3d_watch_stats().ends);
}

void hp3d_read_verbs(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	const struct hp3d_verbs_mode *b = hp3d_worker_verbs_mode(hp3d_worker(0));

	if (b != NULL)
		hp3d_page_count(page, (struct hp3d_labels){0},
			hp3d_read_counter(hp3d_verbs_counters(b), which));
}

void hp3d_read_datagrams(struct hp3d_page *page, const struct hp3d_source *from, size_t which)
{
	const struct hp3d_verbs_mode *b = hp3d_worker_verbs_mode(hp3d_worker(0));

	if (b != NULL && hp3d_verbs_ud_counters(b) != NULL)
		hp3d_page_count(page, (struct hp3d_labels){0},
			hp3d_read_counter(hp3d_verbs_ud_counters(b), which));
}
