/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/lcores/internal.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_launch.h>
#include <rte_lcore.h>
#include <rte_random.h>
#include <rte_ring_elem.h>
#include "app/dpdk/failure.h"
#include "app/hp3d/verbs/verbs_mode.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/ports.h"
#include "app/hp3d/pipe/pipe.h"
#include "app/hp3d/pipe/sockets.h"

#define HANDOVER   2048u
#define EVENT_RING 4096u
#define LINK_EXTRA 1024u
#define HOMING     2048u /* records per call */

struct hp3d_lcores hp3d_lcores;

static void send_link(void *ctx, struct rte_mbuf **m, uint16_t n)
{
	hp3d_link_send(ctx, m, n);
}

static void keep_event(void *ctx, const struct hp3d_event *event)
{
	struct hp3d_worker *w = ctx;
	unsigned rail = event->rail;

	do { /* a flow of a bond may leave by each of its rails */
		if (hp3d_bypass(rail) != NULL)
			hp3d_bypass_note(hp3d_bypass(rail), event);
		rail = hp3d_rail_ports(rail)->next;
	} while (rail != event->rail);
	if (rte_ring_sp_enqueue_elem(w->events, (void *)(uintptr_t)event, sizeof(*event)) != 0)
		__atomic_store_n(&w->own.events_lost, w->own.events_lost + 1, __ATOMIC_RELAXED);
}

/* The socket for a worker's memory; prints advice if its ports are on another one. */
static int find_socket(unsigned index, unsigned lcore)
{
	int own = (int)rte_lcore_to_socket_id(lcore), ports[HP3D_TAGS_MAX];
	unsigned n = 0;
	bool warned = false;

	for (unsigned tag = 0; tag < hp3d_lcores.tags; tag++) {
		char text[256];
		uint16_t queue;

		if (!hp3d_receives(index, tag / 2, tag & 1, &queue))
			continue;
		ports[n] = rte_eth_dev_socket_id(hp3d_rail_ports(tag / 2)->in[tag & 1]);
		if (!warned && hp3d_socket_advice(text, sizeof(text), lcore, own, ports[n],
				       rte_socket_count())) {
			fprintf(stderr, "hp3d: %s\n", text);
			warned = true;
		}
		n++;
	}
	return hp3d_socket_choose(own, ports, n);
}

static struct rte_ring *make_ring(
	const char *kind, unsigned a, unsigned b, unsigned size, unsigned elem, int socket)
{
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "hp3d_%s_%u_%u", kind, a, b);
	return rte_ring_create_elem(name, elem, size, socket, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

/* The rings from this worker to the others. */
static int make_rings(unsigned from, int socket)
{
	for (unsigned to = 0; to < hp3d_lcores.n; to++) {
		hp3d_lcores.work[from][to] =
			make_ring("work", from, to, HANDOVER, sizeof(void *), socket);
		hp3d_lcores.back[from][to] =
			make_ring("back", from, to, HANDOVER, sizeof(void *), socket);
		if (hp3d_lcores.work[from][to] == NULL || hp3d_lcores.back[from][to] == NULL)
			return -rte_errno;
	}
	return 0;
}

/* Where packets of a pipe leave: through a port that this worker owns, or to the worker that owns
 * the port. */
static int make_egress(
	struct hp3d_worker *w, unsigned rail, enum hp3_dir dir, const struct hp3_config *cfg)
{
	struct hp3d_pipe *p = w->pipes[rail];
	uint64_t *drops = &hp3d_pipe_counters(p)->drop_tx_full;
	uint32_t cap = cfg->engine.hold_packets + LINK_EXTRA;
	struct hp3d_link *link = &w->out[hp3d_tag(rail, dir)];
	struct hp3d_egress egress = {.port = hp3d_rail_ports(rail)->in[!dir],
		.tag = hp3d_tag(rail, dir),
		.bypass = hp3d_bypass(rail),
		.bypassed = &hp3d_pipe_counters(p)->drop_bypassed,
		.limit = hp3d_frame_limit(rail, !dir),
		.too_long = &hp3d_pipe_counters(p)->drop_too_long};
	unsigned sender = hp3d_sender(w->index, rail, dir, &egress.queue);

	if (sender != w->index) {
		egress.ring = hp3d_lcores.back[w->index][sender];
		egress.reader = &hp3d_lcores.workers[sender].sleeper;
	}
	w->members[dir] = (struct hp3d_members_out){w, dir};
	if (hp3d_rail_members(rail) > 1)
		hp3d_pipe_output(p, dir, hp3d_members_send, &w->members[dir]);
	else
		hp3d_pipe_output(p, dir, send_link, link);
	return hp3d_link_init(link, &egress, cap, drops);
}

static int start_verbs_mode(struct hp3d_worker *w, const struct hp3_config *cfg)
{
	w->verbs = hp3d_verbs_open(cfg, w->pipes[0], hp3d_now);
	if (w->verbs == NULL)
		return -ECANCELED;
	return hp3d_sleeper_watch(&w->sleeper, hp3d_verbs_fd(w->verbs));
}

/* 0 or a negative errno. */
static int make_pipe(struct hp3d_worker *w, unsigned rail, const struct hp3_config *cfg, int socket)
{
	struct hp3d_pipe *p = hp3d_pipe_create(
		cfg, rail, w->index, cfg->engine.seed + rail * HP3D_WORKERS_MAX + w->index, socket);
	int err;

	w->pipes[rail] = p;
	if (p == NULL)
		return -ENOMEM;
	hp3d_pipe_on_event(p, keep_event, w);
	err = hp3d_pipe_add_agent(p, cfg, socket);
	if (err == 0 && hp3d_rail_members(rail) > 1)
		err = hp3d_pipe_add_bond(p, cfg, socket);
	if (err == 0 && hp3d_lcores.tags > 0)
		hp3d_pipe_buffers(p, hp3d_rail_ports(rail)->pool, hp3d_lcores.n);
	return err;
}

/* 0 or a negative errno; -ECANCELED: the message has been printed. */
static int make_worker(struct hp3d_worker *w, const struct hp3_config *cfg)
{
	int socket = find_socket(w->index, w->lcore), err;

	w->events = make_ring("events", w->index, 0, EVENT_RING, sizeof(struct hp3d_event), socket);
	if (w->events == NULL)
		return -rte_errno;
	err = hp3d_lcores.n > 1 ? make_rings(w->index, socket) : 0;
	if (err == 0)
		err = hp3d_sleeper_init(&w->sleeper);
	if (err < 0)
		return err;
	for (unsigned tag = 0; tag < hp3d_lcores.tags; tag++) {
		uint16_t queue;

		if (hp3d_receives(w->index, tag / 2, tag & 1, &queue))
			hp3d_sleeper_add(&w->sleeper, hp3d_rail_ports(tag / 2)->in[tag & 1], queue);
	}
	for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++) {
		err = hp3d_is_lead(rail) ? make_pipe(w, rail, cfg, socket) : 0;
		if (err < 0)
			return err;
	}
	for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++)
		w->pipes[rail] = w->pipes[hp3d_rail_ports(rail)->lead];
	for (unsigned tag = 0; tag < hp3d_lcores.tags; tag++) {
		if (make_egress(w, tag / 2, (enum hp3_dir)(tag & 1), cfg) < 0)
			return -ENOMEM;
	}
	return hp3_config_is_verbs_mode(cfg) ? start_verbs_mode(w, cfg) : 0;
}

int hp3d_workers_make(const struct hp3_config *cfg)
{
	unsigned lcore = rte_get_main_lcore();
	int err = -ENOMEM;

	hp3d_lcores = (struct hp3d_lcores){.n = cfg->eal.lcores,
		.rails = hp3d_rail_count(),
		.tags = hp3_config_is_verbs_mode(cfg) ? 0 : 2 * hp3d_rail_count(),
		.burst = (uint16_t)cfg->eal.burst,
		.may_sleep = cfg->eal.idle == HP3_IDLE_SLEEP,
		.sleep_ns = cfg->eal.idle_sleep_us * 1000ull,
		.heartbeat_ns = hp3d_bypass_sleep_ns()};
	if (hp3d_lcores.tags != 0)
		hp3d_frame_limits_read();
	if (posix_memalign((void **)&hp3d_lcores.workers, RTE_CACHE_LINE_SIZE,
		    hp3d_lcores.n * sizeof(*hp3d_lcores.workers)) != 0) {
		hp3d_lcores.workers = NULL;
		hp3d_lcores.n = 0;
		goto fail;
	}
	memset(hp3d_lcores.workers, 0, hp3d_lcores.n * sizeof(*hp3d_lcores.workers));
	for (unsigned i = 0; i < hp3d_lcores.n; i++) /* so that all can be freed if one fails */
		hp3d_lcores.workers[i].sleeper.epoll = hp3d_lcores.workers[i].sleeper.bell = -1;
	for (unsigned i = 0; i < hp3d_lcores.n; i++) {
		hp3d_lcores.workers[i].index = i;
		hp3d_lcores.workers[i].lcore = lcore = rte_get_next_lcore(lcore, 1, 0);
		err = make_worker(&hp3d_lcores.workers[i], cfg);
		if (err < 0)
			goto fail;
	}
	return 0;
fail:
	if (err != -ECANCELED)
		fprintf(stderr, "hp3d: lcore %u: its tables and rings cannot be set up: %s\n",
			lcore,
			hp3_pool_failure(-err,
				"no memory for the flow tables: raise [eal] memory_mb or lower "
				"[flows] max_flows, max_pairs, [rfr] hold_packets"));
	hp3d_workers_free();
	return -1;
}

static void quit_worker(struct hp3d_worker *w)
{
	__atomic_store_n(&w->call.quit, 1, __ATOMIC_RELAXED);
	hp3d_sleeper_wake(&w->sleeper);
}

int hp3d_workers_start(const struct hp3_config *cfg, void (*before)(const struct hp3_config *cfg))
{
	if (hp3d_workers_make(cfg) < 0)
		return -1;
	before(cfg);
	for (unsigned i = 0; i < hp3d_lcores.n; i++) {
		struct hp3d_worker *w = &hp3d_lcores.workers[i];
		int err = rte_eal_remote_launch(hp3d_worker_run, w, w->lcore);

		if (err == 0)
			continue;
		fprintf(stderr, "hp3d: lcore %u does not start: %s\n", w->lcore,
			rte_strerror(-err));
		while (i-- > 0)
			quit_worker(&hp3d_lcores.workers[i]);
		rte_eal_mp_wait_lcore();
		hp3d_workers_free();
		return -1;
	}
	return 0;
}

struct leaving {
	unsigned away; /* flows that are not on their home ports, or that move */
	uint64_t until; /* end of agreements with peers; 0: there are none */
};

static void go_home(struct hp3d_worker *w, void *arg)
{
	struct leaving *l = arg;

	for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++) {
		struct hp3d_pipe *p = w->pipes[rail];
		uint64_t until;

		if (!hp3d_is_lead(rail))
			continue;
		until = hp3d_pipe_leave(p, hp3d_now());
		hp3d_pipe_home_all(p, hp3d_now());
		l->away += hp3_engine_moved(hp3d_pipe_engine(p));
		l->away += hp3_engine_moves(hp3d_pipe_engine(p));
		l->until = RTE_MAX(l->until, until);
	}
}

static void cancel_moves(struct hp3d_worker *w, void *arg)
{
	for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++)
		hp3d_pipe_cancel_all(w->pipes[rail], hp3d_now());
}

/* Checks that no packet is held any more, and that every packet is accounted for. */
static void check_pipe(const struct hp3d_worker *w, unsigned rail)
{
	const struct hp3d_pipe *p = w->pipes[rail];
	long long unknown = hp3d_pipe_unaccounted(p);
	uint32_t held = hp3d_pipe_held(p);

	if (unknown != 0 || held != 0)
		fprintf(stderr,
			"hp3d: rail %u, lcore %u: %lld packets unaccounted for, %u still held: "
			"please report this with the output of hp3ctl stats\n",
			rail, w->lcore, unknown, held);
}

/* After the end of the loops: sends packets left in rings, links and hold queues. The engine may
 * hold packets that come out of a ring, so this repeats. Returns how many flows are not on their
 * home ports. */
static unsigned finish_workers(void)
{
	unsigned moved = 0;
	uint32_t n;

	do {
		n = 0;
		for (unsigned i = 0; i < hp3d_lcores.n; i++) {
			cancel_moves(&hp3d_lcores.workers[i], NULL);
			n += hp3d_worker_finish(&hp3d_lcores.workers[i]);
		}
	} while (n > 0);
	for (unsigned i = 0; i < hp3d_lcores.n; i++) {
		for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++) {
			if (!hp3d_is_lead(rail))
				continue;
			moved += hp3_engine_moved(
				hp3d_pipe_engine(hp3d_lcores.workers[i].pipes[rail]));
			check_pipe(&hp3d_lcores.workers[i], rail);
		}
	}
	return moved;
}

/* If the new mode allows no moves, cancels those under way. */
static void reload_worker(struct hp3d_worker *w, void *arg)
{
	const struct hp3_config *cfg = arg;

	if (w->verbs != NULL)
		hp3d_verbs_reconfigure(w->verbs, cfg);
	for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++) {
		hp3d_pipe_reconfigure(w->pipes[rail], cfg);
		if (cfg->engine.words.mode != HP3_POLICY_ON)
			hp3d_pipe_call_off(w->pipes[rail], hp3d_now());
	}
}

struct homing {
	uint32_t from;
	bool away; /* out: a flow is not on its home port */
};

static void bring_home(struct hp3d_worker *w, void *arg)
{
	struct homing *h = arg;

	h->away = false;
	for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++) {
		if (hp3_engine_moved(hp3d_pipe_engine(w->pipes[rail])) == 0)
			continue;
		h->away = true;
		hp3d_pipe_home(w->pipes[rail], h->from, HOMING, hp3d_now());
	}
}

void hp3d_workers_home(uint32_t max_flows)
{
	for (unsigned i = 0; i < hp3d_lcores.n; i++) {
		struct homing h = {0};

		do {
			if (hp3d_worker_call(&hp3d_lcores.workers[i], bring_home, &h) < 0)
				break;
			h.from += HOMING;
		} while (h.away && h.from < max_flows);
	}
}

bool hp3d_workers_reload(const struct hp3_config *cfg)
{
	bool all = true;

	__atomic_store_n(&hp3d_lcores.may_sleep, cfg->eal.idle == HP3_IDLE_SLEEP, __ATOMIC_RELAXED);
	__atomic_store_n(&hp3d_lcores.sleep_ns, cfg->eal.idle_sleep_us * 1000ull, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < hp3d_lcores.n; i++)
		all &= hp3d_worker_call(
			       &hp3d_lcores.workers[i], reload_worker, (void *)(uintptr_t)cfg) == 0;
	return all;
}

/* Begins no more moves, and holds no packets. */
static void stand_still(struct hp3d_worker *w, void *arg)
{
	reload_worker(w, arg);
	cancel_moves(w, NULL);
}

/* Rails with a bypass go direct, each at a moment when no packet is inside. */
static void hand_back(const struct hp3_config *cfg, void (*poll)(int timeout_ms))
{
	struct hp3_config still = *cfg;

	still.engine.words.mode = HP3_POLICY_OFF;
	for (unsigned i = 0; i < hp3d_lcores.n; i++)
		hp3d_worker_call(&hp3d_lcores.workers[i], stand_still, &still);
	hp3d_bypass_end(poll);
}

/*
 * Waits until flows have returned to their home ports, for drain_ms at most, and until agreements
 * to spray have ended, for their lease at most (rule 35). Returns the number of moved flows on
 * rails that are still direct after a hang.
 */
static unsigned wait_until_home(uint32_t drain_ms, void (*poll)(int timeout_ms))
{
	uint64_t end = hp3d_now() + drain_ms * 1000000ull;
	unsigned kept;
	struct leaving l;

	do {
		kept = hp3d_bypass_flows_kept();
		l = (struct leaving){.away = kept};
		for (unsigned i = 0; i < hp3d_lcores.n; i++)
			hp3d_worker_call(&hp3d_lcores.workers[i], go_home, &l);
		poll(5);
	} while ((l.away != 0 || l.until != 0) && hp3d_now() < RTE_MAX(end, l.until));
	return kept;
}

unsigned hp3d_workers_stop(const struct hp3_config *cfg, void (*poll)(int timeout_ms))
{
	unsigned away = 0;

	if (!hp3_config_is_verbs_mode(cfg)) /* the next hp3d reads the RNICs' ports */
		away = wait_until_home(cfg->control.stop_drain_ms, poll);
	hand_back(cfg, poll);
	poll(20); /* let the lcores send what was released */
	for (unsigned i = 0; i < hp3d_lcores.n; i++)
		quit_worker(&hp3d_lcores.workers[i]);
	rte_eal_mp_wait_lcore();
	/* EAL has already ordered the lcores' writes, but ThreadSanitizer cannot see that. */
	for (unsigned i = 0; i < hp3d_lcores.n; i++)
		__atomic_load_n(&hp3d_lcores.workers[i].call.state, __ATOMIC_ACQUIRE);
	away += finish_workers();
	poll(0);
	return hp3_config_is_verbs_mode(cfg) ? 0 : away;
}

unsigned hp3d_workers_free(void)
{
	unsigned used = 0;

	for (unsigned i = 0; i < hp3d_lcores.n; i++) {
		hp3d_verbs_close(hp3d_lcores.workers[i].verbs);
		for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++) {
			if (hp3d_is_lead(rail))
				hp3d_pipe_free(hp3d_lcores.workers[i].pipes[rail]);
		}
		rte_ring_free(hp3d_lcores.workers[i].events);
		for (unsigned to = 0; to < hp3d_lcores.n; to++) {
			rte_ring_free(hp3d_lcores.work[i][to]);
			rte_ring_free(hp3d_lcores.back[i][to]);
		}
		for (unsigned tag = 0; tag < HP3D_TAGS_MAX; tag++)
			hp3d_link_free(&hp3d_lcores.workers[i].out[tag]);
		hp3d_sleeper_free(&hp3d_lcores.workers[i].sleeper);
	}
	for (unsigned rail = 0; rail < hp3d_lcores.tags / 2; rail++) {
		if (hp3d_is_lead(rail) && !hp3d_rail_ports(rail)->keeps)
			used += rte_mempool_in_use_count(hp3d_rail_ports(rail)->pool);
	}
	free(hp3d_lcores.workers);
	hp3d_lcores.workers = NULL;
	hp3d_lcores.n = 0;
	return used;
}

uint64_t hp3d_workers_tx_drops(void)
{
	uint64_t drops = 0;

	for (unsigned i = 0; i < hp3d_lcores.n; i++) {
		for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++) {
			const struct hp3d_pipe_counters *c =
				hp3d_pipe_counters(hp3d_lcores.workers[i].pipes[rail]);

			if (!hp3d_is_lead(rail))
				continue;
			drops += c->drop_tx_full + c->drop_too_long + c->drop_handover;
		}
	}
	return drops;
}
