/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/workers.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_ring.h>
#include <rte_ring_elem.h>
#include "app/hp3d/eal.h"
#include "app/hp3d/link.h"
#include "app/hp3d/pipe.h"
#include "app/hp3d/ports.h"
#include "roce/wire.h"

#define WORKERS_MAX  64u
#define HANDOVER     2048u
#define EVENT_RING   4096u
#define LINK_EXTRA   1024u
#define SLEEP_MIN_NS 10000u
#define CALL_WAIT_NS 1000000000ull

enum call_state { CALL_NONE, CALL_ASKED, CALL_RUNNING, CALL_DONE };

struct hp3d_worker {
	unsigned index, lcore;
	struct hp3d_pipe *pipes[HP3_CONFIG_RAILS_MAX];
	uint64_t due;
	uint64_t dispatch_drops;
	uint64_t sleep_ns;
	uint32_t idle_loops;
	/* written by the control thread */
	int call; /* enum call_state, atomic */
	int quit; /* atomic */
	void (*call_fn)(struct hp3d_worker *w, void *arg);
	void *call_arg;
	struct rte_ring *events;
	uint64_t events_lost;
} __rte_cache_aligned;

static struct hp3d_worker *workers;
static unsigned n_workers, n_rails;
static struct hp3d_link links[HP3_CONFIG_RAILS_MAX][2]; /* by rail and direction: where it leaves */
/* [from][to]: packets to be handled, packets to be sent; several workers only */
static struct rte_ring *work[WORKERS_MAX][WORKERS_MAX], *back[WORKERS_MAX][WORKERS_MAX];
static uint16_t burst;
static bool may_sleep;
static uint64_t sleep_max_ns;
static uint32_t idle_spins;

static unsigned owner_of(unsigned rail, enum hp3_dir in)
{
	return (2 * rail + in) % n_workers;
}

/* The worker that sends what leaves in this direction: it owns the port at the other side. */
static unsigned sender_of(unsigned rail, enum hp3_dir dir)
{
	return owner_of(rail, dir == HP3_DIR_TX ? HP3_DIR_RX : HP3_DIR_TX);
}

/* mbuf.port carries rail and direction through the rings. */
static inline uint16_t tag_of(unsigned rail, enum hp3_dir dir)
{
	return (uint16_t)(2 * rail + dir);
}

struct way {
	struct hp3d_worker *w;
	uint16_t tag;
};

static struct way ways[WORKERS_MAX][2 * HP3_CONFIG_RAILS_MAX];

static void send_direct(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	hp3d_link_send(ctx, m, n);
}

static void send_by_owner(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	const struct way *way = ctx;
	unsigned rail = way->tag / 2;
	enum hp3_dir dir = way->tag & 1;
	unsigned to = sender_of(rail, dir), sent;

	if (to == way->w->index) {
		hp3d_link_send(&links[rail][dir], m, n);
		return;
	}
	for (uint16_t i = 0; i < n; i++)
		m[i]->port = way->tag;
	sent = rte_ring_sp_enqueue_burst(back[way->w->index][to], (void **)m, n, NULL);
	if (unlikely(sent < n)) {
		way->w->dispatch_drops += n - sent;
		rte_pktmbuf_free_bulk(m + sent, n - sent);
	}
}

static void keep_event(void *ctx, const struct hp3d_event *ev)
{
	struct hp3d_worker *w = ctx;

	if (rte_ring_sp_enqueue_elem(w->events, (void *)(uintptr_t)ev, sizeof(*ev)) != 0)
		w->events_lost++;
}

/* Equal for both directions of an address pair; 0 for everything that is not IP. */
static uint32_t pair_hash(const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *);
	uint16_t len = rte_pktmbuf_data_len(m), at = 12;
	uint32_t h = 0;

	while (at + 4 <= len && (hp3_be16(p + at) == 0x8100 || hp3_be16(p + at) == 0x88a8))
		at += 4;
	if (at + 2 + 20 <= len && hp3_be16(p + at) == 0x0800) {
		h = hp3_be32(p + at + 14) ^ hp3_be32(p + at + 18);
	} else if (at + 2 + 40 <= len && hp3_be16(p + at) == 0x86dd) {
		for (unsigned i = 0; i < 16; i += 4)
			h ^= hp3_be32(p + at + 10 + i) ^ hp3_be32(p + at + 26 + i);
	}
	return h * 2654435761u >> 7;
}

static void handle(struct hp3d_worker *w, struct rte_mbuf **m, unsigned n)
{
	uint64_t now = hp3d_now();

	for (unsigned from = 0, i = 0; from < n; from = i) {
		uint16_t tag = m[from]->port;

		while (i < n && m[i]->port == tag)
			i++;
		hp3d_pipe_burst(w->pipes[tag / 2], tag & 1, m + from, (uint16_t)(i - from), now);
	}
}

/* Several workers: runs for the same worker are handed over together, in order. */
static void dispatch(
	struct hp3d_worker *w, unsigned rail, enum hp3_dir dir, struct rte_mbuf **m, uint16_t n)
{
	struct rte_mbuf *mine[HP3D_BURST_MAX];
	unsigned n_mine = 0;

	for (uint16_t i = 0; i < n; i++) {
		unsigned to = pair_hash(m[i]) % n_workers;

		m[i]->port = tag_of(rail, dir);
		if (to == w->index) {
			mine[n_mine++] = m[i];
		} else if (rte_ring_sp_enqueue(work[w->index][to], m[i]) != 0) {
			w->dispatch_drops++;
			rte_pktmbuf_free(m[i]);
		}
	}
	if (n_mine > 0)
		handle(w, mine, n_mine);
}

static unsigned poll_ports(struct hp3d_worker *w)
{
	struct rte_mbuf *m[HP3D_BURST_MAX];
	unsigned total = 0;

	for (unsigned rail = 0; rail < n_rails; rail++) {
		for (unsigned dir = 0; dir < 2; dir++) {
			struct hp3d_link *out = &links[rail][dir];
			uint16_t n;

			if (owner_of(rail, dir) != w->index)
				continue;
			/* Backpressure: what cannot be sent is not received. */
			if (sender_of(rail, dir) == w->index && out->n > 0)
				continue;
			n = rte_eth_rx_burst(hp3d_rail_ports(rail)->in[dir], 0, m, burst);
			if (n == 0)
				continue;
			total += n;
			if (n_workers == 1)
				hp3d_pipe_burst(w->pipes[rail], dir, m, n, hp3d_now());
			else
				dispatch(w, rail, dir, m, n);
		}
	}
	return total;
}

static unsigned poll_rings(struct hp3d_worker *w)
{
	struct rte_mbuf *m[HP3D_BURST_MAX];
	unsigned total = 0;

	for (unsigned from = 0; from < n_workers; from++) {
		unsigned n;

		if (from == w->index)
			continue;
		n = rte_ring_sc_dequeue_burst(work[from][w->index], (void **)m, burst, NULL);
		if (n > 0)
			handle(w, m, n);
		total += n;
		n = rte_ring_sc_dequeue_burst(back[from][w->index], (void **)m, burst, NULL);
		for (unsigned i = 0; i < n; i++)
			hp3d_link_send(&links[m[i]->port / 2][m[i]->port & 1], &m[i], 1);
		total += n;
	}
	return total;
}

static unsigned drain_links(struct hp3d_worker *w)
{
	unsigned waiting = 0;

	for (unsigned rail = 0; rail < n_rails; rail++) {
		for (unsigned dir = 0; dir < 2; dir++) {
			if (sender_of(rail, dir) != w->index || links[rail][dir].n == 0)
				continue;
			hp3d_link_drain(&links[rail][dir]);
			waiting += links[rail][dir].n;
		}
	}
	return waiting;
}

static void tick(struct hp3d_worker *w)
{
	uint64_t now = hp3d_now(), due;

	if (now < w->due)
		return;
	w->due = UINT64_MAX;
	for (unsigned rail = 0; rail < n_rails; rail++) {
		due = hp3d_pipe_tick(w->pipes[rail], now);
		w->due = RTE_MIN(w->due, due);
	}
}

static void answer_call(struct hp3d_worker *w)
{
	int asked = CALL_ASKED;

	if (likely(__atomic_load_n(&w->call, __ATOMIC_RELAXED) != CALL_ASKED) ||
		!__atomic_compare_exchange_n(
			&w->call, &asked, CALL_RUNNING, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	w->call_fn(w, w->call_arg);
	w->due = 0; /* a command may have set an earlier deadline */
	__atomic_store_n(&w->call, CALL_DONE, __ATOMIC_RELEASE);
}

static void rest(struct hp3d_worker *w, bool idle)
{
	struct timespec ts = {0};
	uint64_t now, ns;

	if (!idle || !may_sleep) {
		w->idle_loops = 0;
		w->sleep_ns = SLEEP_MIN_NS;
		return;
	}
	if (++w->idle_loops < idle_spins)
		return;
	now = hp3d_now();
	ns = w->sleep_ns;
	if (w->due <= now)
		return;
	if (ns > w->due - now)
		ns = w->due - now;
	ts.tv_nsec = (long)ns;
	nanosleep(&ts, NULL);
	w->sleep_ns = RTE_MIN(2 * w->sleep_ns, sleep_max_ns);
}

static int run(void *arg)
{
	struct hp3d_worker *w = arg;

	w->sleep_ns = SLEEP_MIN_NS;
	while (!__atomic_load_n(&w->quit, __ATOMIC_RELAXED)) {
		unsigned n = poll_ports(w);

		if (n_workers > 1)
			n += poll_rings(w);
		n += drain_links(w);
		tick(w);
		answer_call(w);
		rest(w, n == 0);
	}
	return 0;
}

static struct rte_ring *make_ring(
	const char *kind, unsigned a, unsigned b, unsigned size, unsigned elem)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "hp3d_%s_%u_%u", kind, a, b);
	return rte_ring_create_elem(name, elem, size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

static int make_worker(struct hp3d_worker *w, const struct hp3_config *cfg)
{
	w->events = make_ring("events", w->index, 0, EVENT_RING, sizeof(struct hp3d_event));
	if (w->events == NULL)
		return -1;
	for (unsigned to = 0; to < n_workers && n_workers > 1; to++) {
		work[w->index][to] = make_ring("work", w->index, to, HANDOVER, sizeof(void *));
		back[w->index][to] = make_ring("back", w->index, to, HANDOVER, sizeof(void *));
		if (work[w->index][to] == NULL || back[w->index][to] == NULL)
			return -1;
	}
	for (unsigned rail = 0; rail < n_rails; rail++) {
		struct hp3d_pipe *p = hp3d_pipe_create(cfg, rail, w->index,
			cfg->policy.seed + rail * WORKERS_MAX + w->index, SOCKET_ID_ANY);

		if (p == NULL)
			return -1;
		w->pipes[rail] = p;
		hp3d_pipe_on_event(p, keep_event, w);
		for (unsigned dir = 0; dir < 2; dir++) {
			struct way *way = &ways[w->index][tag_of(rail, dir)];

			*way = (struct way){w, tag_of(rail, dir)};
			if (n_workers == 1)
				hp3d_pipe_output(p, dir, send_direct, &links[rail][dir]);
			else
				hp3d_pipe_output(p, dir, send_by_owner, way);
		}
	}
	return 0;
}

static int make_links(const struct hp3_config *cfg)
{
	for (unsigned rail = 0; rail < n_rails; rail++) {
		const struct hp3d_rail_ports *ports = hp3d_rail_ports(rail);

		for (unsigned dir = 0; dir < 2; dir++) {
			if (hp3d_link_init(&links[rail][dir], ports->in[!dir],
				    cfg->rfr.hold_packets + LINK_EXTRA) < 0)
				return -1;
		}
	}
	return 0;
}

int hp3d_workers_start(const struct hp3_config *cfg)
{
	unsigned lcore = rte_get_main_lcore();

	n_workers = cfg->eal.lcores;
	n_rails = hp3d_rail_count();
	burst = (uint16_t)cfg->eal.burst;
	may_sleep = cfg->eal.idle == HP3_IDLE_SLEEP;
	sleep_max_ns = cfg->eal.idle_sleep_us * 1000ull;
	idle_spins = cfg->eal.idle_spins;
	if (posix_memalign((void **)&workers, RTE_CACHE_LINE_SIZE, n_workers * sizeof(*workers)) !=
		0)
		goto no_memory;
	memset(workers, 0, n_workers * sizeof(*workers));
	if (make_links(cfg) < 0)
		goto no_memory;
	for (unsigned i = 0; i < n_workers; i++) {
		workers[i].index = i;
		workers[i].lcore = lcore = rte_get_next_lcore(lcore, 1, 0);
		if (make_worker(&workers[i], cfg) < 0)
			goto no_memory;
	}
	if (n_workers > 1)
		fprintf(stderr,
			"hp3d: %u lcores; packets are spread over them in software, by address "
			"pair\n",
			n_workers);
	for (unsigned i = 0; i < n_workers; i++)
		rte_eal_remote_launch(run, &workers[i], workers[i].lcore);
	return 0;
no_memory:
	fprintf(stderr, "hp3d: no memory for the flow tables; raise [eal] memory_mb or lower "
			"[flows] max_flows, max_pairs, "
			"[rfr] hold_packets\n");
	n_workers = 0;
	return -1;
}

struct stop_state {
	uint64_t now;
	unsigned away, moving;
};

static void go_home(struct hp3d_worker *w, void *arg)
{
	struct stop_state *s = arg;

	for (unsigned rail = 0; rail < n_rails; rail++) {
		hp3d_pipe_home_all(w->pipes[rail], hp3d_now());
		s->away += hp3_engine_moved(hp3d_pipe_engine(w->pipes[rail]));
		s->moving += hp3_engine_moves(hp3d_pipe_engine(w->pipes[rail]));
	}
}

static void cancel(struct hp3d_worker *w, void *arg)
{
	for (unsigned rail = 0; rail < n_rails; rail++)
		hp3d_pipe_cancel_all(w->pipes[rail], hp3d_now());
}

unsigned hp3d_workers_stop(const struct hp3_config *cfg, void (*poll)(int timeout_ms))
{
	uint64_t end = hp3d_now() + cfg->control.stop_drain_ms * 1000000ull;
	struct stop_state s;

	do {
		s = (struct stop_state){0};
		for (unsigned i = 0; i < n_workers; i++)
			hp3d_worker_call(&workers[i], go_home, &s);
		poll(5);
	} while (s.away + s.moving > 0 && hp3d_now() < end);
	for (unsigned i = 0; i < n_workers; i++)
		hp3d_worker_call(&workers[i], cancel, NULL);
	poll(20); /* let the lcores send what was released */
	for (unsigned i = 0; i < n_workers; i++)
		__atomic_store_n(&workers[i].quit, 1, __ATOMIC_RELAXED);
	rte_eal_mp_wait_lcore();
	for (unsigned i = 0; i < n_workers; i++) {
		if (n_workers > 1)
			poll_rings(&workers[i]);
	}
	for (unsigned i = 0; i < n_workers; i++)
		drain_links(&workers[i]);
	poll(0);
	return s.away;
}

unsigned hp3d_workers_free(void)
{
	unsigned used = 0;

	for (unsigned i = 0; i < n_workers; i++) {
		for (unsigned rail = 0; rail < n_rails; rail++)
			hp3d_pipe_free(workers[i].pipes[rail]);
		rte_ring_free(workers[i].events);
		for (unsigned to = 0; to < n_workers; to++) {
			rte_ring_free(work[i][to]);
			rte_ring_free(back[i][to]);
		}
	}
	for (unsigned rail = 0; rail < n_rails; rail++) {
		hp3d_link_free(&links[rail][0]);
		hp3d_link_free(&links[rail][1]);
		used += rte_mempool_in_use_count(hp3d_rail_ports(rail)->pool);
	}
	free(workers);
	n_workers = 0;
	return used;
}

uint64_t hp3d_workers_tx_drops(void)
{
	uint64_t drops = 0;

	for (unsigned rail = 0; rail < n_rails; rail++)
		drops += links[rail][0].drops + links[rail][1].drops;
	for (unsigned i = 0; i < n_workers; i++)
		drops += workers[i].dispatch_drops;
	return drops;
}

unsigned hp3d_worker_count(void)
{
	return n_workers;
}

struct hp3d_worker *hp3d_worker(unsigned index)
{
	return &workers[index];
}

struct hp3d_pipe *hp3d_worker_pipe(struct hp3d_worker *w, unsigned rail)
{
	return w->pipes[rail];
}

int hp3d_worker_call(struct hp3d_worker *w, void (*fn)(struct hp3d_worker *w, void *arg), void *arg)
{
	uint64_t end = hp3d_now() + CALL_WAIT_NS;
	struct timespec ts = {.tv_nsec = 20000};

	if (__atomic_load_n(&w->quit, __ATOMIC_RELAXED))
		return -ETIMEDOUT;
	w->call_fn = fn;
	w->call_arg = arg;
	__atomic_store_n(&w->call, CALL_ASKED, __ATOMIC_RELEASE);
	while (__atomic_load_n(&w->call, __ATOMIC_ACQUIRE) != CALL_DONE) {
		int asked = CALL_ASKED;

		/* Take the question back, unless it is being answered right now. */
		if (hp3d_now() > end && __atomic_compare_exchange_n(&w->call, &asked, CALL_NONE,
						false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return -ETIMEDOUT;
		nanosleep(&ts, NULL);
	}
	__atomic_store_n(&w->call, CALL_NONE, __ATOMIC_RELAXED);
	return 0;
}

unsigned hp3d_worker_events(struct hp3d_worker *w, struct hp3d_event *ev, unsigned n)
{
	return rte_ring_sc_dequeue_burst_elem(w->events, ev, sizeof(*ev), n, NULL);
}

uint64_t hp3d_worker_events_lost(const struct hp3d_worker *w)
{
	return w->events_lost;
}
