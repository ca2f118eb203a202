/* SPDX-License-Identifier: BSD-3-Clause */
/* The loop of an lcore: receive, spread, handle, send, timers, calls, sleep. */
#include <rte_ethdev.h>
#include <rte_prefetch.h>
#include "app/hp3d/verbs/verbs_mode.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/internal.h"
#include "app/hp3d/lcores/ports.h"
#include "app/hp3d/pipe/pipe.h"

#define SLEEP_MIN_NS 10000u
#define DEEP_LOG2    6u
#define DEEP_NS      1000000u /* longest sleep of an lcore that stays idle */
#define DOZE_NS      10000000u
#define IDLE_SPINS   64u /* empty polls before the first sleep */

/* A packet may set an earlier deadline: a drain, the pacer, a round. */
static void handle_packets(
	struct hp3d_worker *w, unsigned rail, enum hp3_dir dir, struct rte_mbuf **m, uint16_t n)
{
	uint64_t due;

	hp3d_pipe_of_rail(w->pipes[rail], rail);
	hp3d_pipe_burst(w->pipes[rail], dir, m, n, hp3d_now());
	due = hp3_engine_due(hp3d_pipe_engine(w->pipes[rail]));
	if (unlikely(due < w->own.due))
		w->own.due = due;
}

/* Number of first packets of m[0..n) with the same tag. */
static uint16_t run_of(struct rte_mbuf **m, unsigned n)
{
	uint16_t i = 1;

	while (i < n && m[i]->port == m[0]->port)
		i++;
	return i;
}

/* Collects the packets of m[0..n) that belong to worker `to`, in order. */
static uint16_t those_of(
	unsigned to, const uint8_t *owner, struct rte_mbuf **m, uint16_t n, struct rte_mbuf **some)
{
	uint16_t got = 0;

	for (uint16_t i = 0; i < n; i++) {
		some[got] = m[i];
		got += owner[i] == to;
	}
	return got;
}

static void hand_over(struct hp3d_worker *w, unsigned rail, enum hp3_dir dir, unsigned to,
	struct rte_mbuf **m, uint16_t n)
{
	struct hp3d_pipe_counters *c = hp3d_pipe_counters(w->pipes[rail]);
	unsigned taken;

	for (uint16_t i = 0; i < n; i++)
		m[i]->port = hp3d_tag(rail, dir);
	taken = rte_ring_sp_enqueue_burst(hp3d_lcores.work[w->index][to], (void **)m, n, NULL);
	hp3d_sleeper_wake(&hp3d_lcores.workers[to].sleeper);
	c->handed_over += taken;
	if (unlikely(taken < n)) {
		c->drop_handover += n - taken;
		rte_pktmbuf_free_bulk(m + taken, n - taken);
	}
}

/* Packets for the same worker are handed over in order. */
static void dispatch_packets(
	struct hp3d_worker *w, unsigned rail, enum hp3_dir dir, struct rte_mbuf **m, uint16_t n)
{
	const struct hp3d_spread *s = hp3d_ports_spread();
	struct rte_mbuf *some[HP3D_BURST_MAX];
	uint8_t owner[HP3D_BURST_MAX];
	uint64_t others = 0;

	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(m[i], void *));
	for (uint16_t i = 0; i < n; i++) {
		owner[i] = (uint8_t)hp3d_spread_frame(
			s, rte_pktmbuf_mtod(m[i], uint8_t *), rte_pktmbuf_data_len(m[i]));
		others |= (uint64_t)(owner[i] != w->index) << owner[i];
	}
	if (likely(others == 0)) {
		handle_packets(w, rail, dir, m, n);
		return;
	}
	for (; others != 0; others &= others - 1) {
		unsigned to = (unsigned)__builtin_ctzll(others);

		hand_over(w, rail, dir, to, some, those_of(to, owner, m, n, some));
	}
	n = those_of(w->index, owner, m, n, some);
	if (n > 0)
		handle_packets(w, rail, dir, some, n);
}

static bool work_rings_have_room(const struct hp3d_worker *w)
{
	for (unsigned to = 0; to < hp3d_lcores.n; to++) {
		if (to != w->index &&
			rte_ring_free_count(hp3d_lcores.work[w->index][to]) < hp3d_lcores.burst)
			return false;
	}
	return true;
}

/* True: receive and handle the frames in the rings. If frames are to be dropped, this function
 * drops them. */
static bool bypass_receives(struct hp3d_worker *w, unsigned rail, enum hp3_dir dir, uint16_t queue)
{
	struct hp3d_bypass *b = w->out[hp3d_tag(rail, dir)].egress.bypass;
	struct rte_mbuf *m[HP3D_BURST_MAX];
	enum hp3d_bypass_use use = b == NULL ? HP3D_BYPASS_HANDLE : hp3d_bypass_use(b);
	uint16_t n;

	if (likely(use == HP3D_BYPASS_HANDLE) || use == HP3D_BYPASS_WAIT)
		return use == HP3D_BYPASS_HANDLE;
	n = rte_eth_rx_burst(hp3d_rail_ports(rail)->in[dir], queue, m, hp3d_lcores.burst);
	if (n > 0)
		hp3d_bypass_give_up(b, w->pipes[rail], m, n, hp3d_now());
	return false;
}

static void leave_unread(struct hp3d_worker *w, unsigned rail)
{
	uint32_t *n = &w->own.rx_left[rail];

	__atomic_store_n(n, *n + 1, __ATOMIC_RELAXED);
}

static unsigned poll_ports(struct hp3d_worker *w)
{
	struct rte_mbuf *m[HP3D_BURST_MAX];
	unsigned total = 0;

	for (unsigned tag = 0; tag < hp3d_lcores.tags; tag++) {
		unsigned rail = tag / 2, dir = tag & 1, sender, way;
		bool alone = hp3d_lcores.n == 1 || hp3d_rail_ports(rail)->whole;
		uint16_t queue, out, n;

		if (!hp3d_receives(w->index, rail, dir, &queue))
			continue;
		/* Backpressure: do not receive packets that cannot be sent or handed over. */
		way = hp3d_members_way(rail, (enum hp3_dir)dir);
		sender = hp3d_sender(w->index, way, dir, &out);
		if (hp3d_link_backlog(&hp3d_lcores.workers[sender].out[hp3d_tag(way, dir)]) > 0 ||
			(!alone && !work_rings_have_room(w))) {
			if (dir == HP3_DIR_RX)
				leave_unread(w, rail);
			continue;
		}
		if (unlikely(!bypass_receives(w, rail, (enum hp3_dir)dir, queue)))
			continue;
		/* Another rail of the bond bypassed hp3d: the flows that they share are being
		 * reset. */
		if (unlikely(hp3d_pipe_is_resetting(w->pipes[rail])))
			continue;
		n = rte_eth_rx_burst(hp3d_rail_ports(rail)->in[dir], queue, m, hp3d_lcores.burst);
		if (n == 0)
			continue;
		total += n;
		if (w->out[tag].egress.bypass != NULL)
			hp3d_bypass_received(w->out[tag].egress.bypass, (enum hp3_dir)dir, n);
		if (alone)
			handle_packets(w, rail, dir, m, n);
		else
			dispatch_packets(w, rail, dir, m, n);
	}
	return total;
}

/* Packets in a ring from another worker: to be handled here, or already handled and to be sent
 * here. */
static unsigned poll_ring(struct hp3d_worker *w, struct rte_ring *ring, bool handled)
{
	struct rte_mbuf *m[HP3D_BURST_MAX];
	unsigned n = rte_ring_sc_dequeue_burst(ring, (void **)m, hp3d_lcores.burst, NULL);

	for (unsigned i = 0, run = 0; i < n; i += run) {
		uint16_t tag = m[i]->port;

		run = run_of(m + i, n - i);
		if (handled)
			hp3d_link_send(&w->out[tag], m + i, (uint16_t)run);
		else
			handle_packets(w, tag / 2, tag & 1, m + i, (uint16_t)run);
	}
	return n;
}

static unsigned poll_rings(struct hp3d_worker *w)
{
	unsigned total = 0;
	bool stalled = false;

	for (unsigned tag = 0; tag < hp3d_lcores.tags; tag++)
		stalled |= w->out[tag].egress.ring != NULL && hp3d_link_backlog(&w->out[tag]) > 0;
	for (unsigned rail = 0; stalled && rail < hp3d_lcores.rails; rail++)
		leave_unread(w, rail);
	for (unsigned from = 0; from < hp3d_lcores.n; from++) {
		if (from == w->index)
			continue;
		total += poll_ring(w, hp3d_lcores.back[from][w->index], true);
		if (!stalled)
			total += poll_ring(w, hp3d_lcores.work[from][w->index], false);
	}
	return total;
}

static uint32_t drain_links(struct hp3d_worker *w)
{
	uint32_t sent = 0;

	for (unsigned tag = 0; tag < hp3d_lcores.tags; tag++) {
		if (unlikely(hp3d_link_backlog(&w->out[tag]) > 0))
			sent += hp3d_members_rescue(w, tag / 2, (enum hp3_dir)(tag & 1));
		sent += hp3d_link_drain(&w->out[tag]);
	}
	return sent;
}

/* Were packets of the rail from the network left unread since the last tick? */
static bool rail_was_blocked(struct hp3d_worker *w, unsigned rail)
{
	uint32_t left = 0, seen = w->own.rx_seen[rail];

	for (unsigned i = 0; i < hp3d_lcores.n; i++)
		left += __atomic_load_n(
			&hp3d_lcores.workers[i].own.rx_left[rail], __ATOMIC_RELAXED);
	w->own.rx_seen[rail] = left;
	return left != seen;
}

/* The same for any rail of the bond. */
static bool rx_was_blocked(struct hp3d_worker *w, unsigned lead)
{
	unsigned rail = lead;
	bool blocked = false;

	do {
		blocked |= rail_was_blocked(w, rail);
		rail = hp3d_rail_ports(rail)->next;
	} while (rail != lead);
	return blocked;
}

static void tick_worker(struct hp3d_worker *w, uint64_t now)
{
	if (now < w->own.due)
		return;
	w->own.due = UINT64_MAX;
	if (w->verbs != NULL)
		w->own.due = hp3d_verbs_tick(w->verbs, now);
	for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++) {
		bool blocked;
		uint64_t due;

		if (!hp3d_is_lead(rail))
			continue;
		blocked = rx_was_blocked(w, rail);
		hp3_rx_blocked(
			hp3d_pipe_engine(w->pipes[rail]), blocked, blocked ? w->own.ticked : now);
		due = hp3d_pipe_tick(w->pipes[rail], now);
		w->own.due = RTE_MIN(w->own.due, due);
	}
	w->own.ticked = now;
}

/* Packets of the rail that are still inside hp3d. Those of other rails of its bond count, too: the
 * rails share the engine, and their packets may leave by another member. */
static uint64_t packets_inside(struct hp3d_worker *w, unsigned rail, enum hp3_dir dir)
{
	uint64_t n = hp3_engine_held(hp3d_pipe_engine(w->pipes[rail]), dir);
	unsigned member = rail;

	do {
		n += hp3d_link_backlog(&w->out[hp3d_tag(member, dir)]);
		member = hp3d_rail_ports(member)->next;
	} while (member != rail);
	return n;
}

/* Writes the heartbeats of this worker's rails, and how many of each rail's packets are still
 * inside hp3d. */
static void run_bypasses(struct hp3d_worker *w, uint64_t now)
{
	for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++) {
		struct hp3d_bypass *b = hp3d_bypass(rail);
		struct hp3d_pipe *p = w->pipes[rail];

		if (b == NULL || hp3d_owner(rail) != w->index)
			continue;
		for (enum hp3_dir dir = HP3_DIR_TX; dir <= HP3_DIR_RX; dir++)
			hp3d_bypass_inside(b, dir, packets_inside(w, rail, dir));
		hp3d_bypass_round(b, p, now);
	}
}

static void answer_call(struct hp3d_worker *w)
{
	int asked = HP3D_CALL_ASKED;

	if (likely(__atomic_load_n(&w->call.state, __ATOMIC_RELAXED) != HP3D_CALL_ASKED) ||
		!__atomic_compare_exchange_n(&w->call.state, &asked, HP3D_CALL_RUNNING, false,
			__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	w->call.fn(w, w->call.arg);
	w->own.due = 0; /* a command may have set an earlier deadline */
	__atomic_store_n(&w->call.state, HP3D_CALL_DONE, __ATOMIC_RELEASE);
}

/*
 * Sleeps double up to sleep_ns. After long idleness they may be longer: 1/64 of the idle time, up
 * to DEEP_NS. If packets wake the lcore, only the engine's deadline and DOZE_NS (in case a driver
 * fails to wake the lcore) bound the sleeps. An lcore that writes heartbeats wakes for each of
 * them.
 */
static uint64_t longest_sleep(const struct hp3d_worker *w, uint64_t now)
{
	uint64_t deep = RTE_MIN((now - w->own.busy_until) >> DEEP_LOG2, DEEP_NS);

	if (w->sleeper.by_packets)
		return DOZE_NS;
	return RTE_MIN(RTE_MAX(__atomic_load_n(&hp3d_lcores.sleep_ns, __ATOMIC_RELAXED), deep),
		hp3d_lcores.heartbeat_ns);
}

/* Atomic: other threads read these times. */
static void count_time(struct hp3d_worker *w, uint64_t *of, uint64_t now)
{
	__atomic_store_n(of, *of + now - w->own.round, __ATOMIC_RELAXED);
	__atomic_store_n(&w->own.round, now, __ATOMIC_RELAXED);
}

/* A worker whose links accept no packets counts as idle: retrying at once would only waste CPU
 * time. */
static void rest_worker(struct hp3d_worker *w, bool idle)
{
	uint64_t now;
	bool woken;

	if (!idle || !__atomic_load_n(&hp3d_lcores.may_sleep, __ATOMIC_RELAXED)) {
		w->own.idle_loops = 0;
		w->own.sleep_ns = SLEEP_MIN_NS;
		if (w->sleeper.armed)
			hp3d_sleeper_disarm(&w->sleeper);
		return;
	}
	if (++w->own.idle_loops < (w->verbs != NULL ? 1u : IDLE_SPINS))
		return;
	now = hp3d_now();
	if (w->own.due <= now)
		return;
	if (!w->sleeper.armed) {
		hp3d_sleeper_arm(&w->sleeper);
		return; /* poll once more */
	}
	woken = hp3d_sleeper_sleep(&w->sleeper, RTE_MIN(w->own.sleep_ns, w->own.due - now));
	now = hp3d_now();
	count_time(w, &w->own.time.idle_ns, now);
	w->own.sleep_ns = RTE_MIN(2 * w->own.sleep_ns, longest_sleep(w, now));
	/* The packet that woke the lcore may be readable a moment later: net_tap also waits for a
	 * signal. */
	if (woken)
		w->own.sleep_ns = SLEEP_MIN_NS;
}

/* A request of an application may have set an earlier deadline. */
static uint32_t poll_verbs_mode(struct hp3d_worker *w)
{
	uint32_t n = hp3d_verbs_poll(w->verbs, hp3d_now());

	if (n > 0)
		w->own.due = 0;
	return n;
}

uint32_t hp3d_worker_round(struct hp3d_worker *w)
{
	uint32_t n = w->verbs != NULL ? poll_verbs_mode(w) : poll_ports(w);

	if (hp3d_lcores.n > 1)
		n += poll_rings(w);
	return n + drain_links(w);
}

int hp3d_worker_run(void *worker)
{
	struct hp3d_worker *w = worker;

	w->own.sleep_ns = SLEEP_MIN_NS;
	w->own.busy_until = hp3d_now();
	__atomic_store_n(&w->own.round, w->own.busy_until, __ATOMIC_RELAXED);
	while (!__atomic_load_n(&w->call.quit, __ATOMIC_RELAXED)) {
		uint32_t n = hp3d_worker_round(w);
		uint64_t now = hp3d_now();

		tick_worker(w, now);
		answer_call(w);
		if (hp3d_lcores.heartbeat_ns != UINT64_MAX)
			run_bypasses(w, now);
		count_time(w, n != 0 ? &w->own.time.busy_ns : &w->own.time.idle_ns, now);
		if (n != 0)
			w->own.busy_until = now;
		rest_worker(w, n == 0);
	}
	__atomic_store_n(&w->call.state, HP3D_CALL_ENDED, __ATOMIC_RELEASE);
	return 0;
}

uint32_t hp3d_worker_finish(struct hp3d_worker *w)
{
	return (hp3d_lcores.n > 1 ? poll_rings(w) : 0) + drain_links(w);
}
