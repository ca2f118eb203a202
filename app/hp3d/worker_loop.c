/* SPDX-License-Identifier: BSD-3-Clause */
/* What an lcore does: receive, spread, handle, send, timers, calls, rest. */
#include <time.h>
#include <rte_ethdev.h>
#include "app/hp3d/eal.h"
#include "app/hp3d/pipe.h"
#include "app/hp3d/ports.h"
#include "app/hp3d/workers_internal.h"
#include "engine/hash.h"
#include "roce/wire.h"

#define SLEEP_MIN_NS 10000u

static uint64_t mix(uint64_t address)
{
	return hp3_mix(address ^ 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u);
}

/*
 * Equal for both directions of an address pair. Each address is mixed by itself: the plain xor of
 * two would be the same for all pairs of hosts N and N + 1.
 */
static inline uint32_t address_hash(bool ipv6, const uint8_t *a, const uint8_t *b)
{
	uint64_t h = 0;

	if (!ipv6)
		return (uint32_t)((mix(hp3_be32(a)) + mix(hp3_be32(b))) >> 32);
	for (unsigned i = 0; i < 16; i += 8)
		h += mix(hp3_be64(a + i)) + mix(hp3_be64(b + i));
	return (uint32_t)(h >> 32);
}

/*
 * The IP header that tells whom the packet is about: what a switch says of a packet whose TTL ended
 * goes where that packet came from. n: bytes from ip on.
 */
static const uint8_t *subject(const uint8_t *ip, uint32_t n, bool ipv6)
{
	uint32_t quote = 8 + (ipv6 ? 40u : (ip[0] & 15) * 4u);
	bool icmp = ipv6 ? ip[6] == 58 : ip[9] == 1;

	if (!icmp || quote + (ipv6 ? 40u : 20u) > n || ip[quote - 8] != (ipv6 ? 3 : 11))
		return ip;
	return ip + quote;
}

/* 0 for everything that is not IP. */
static uint32_t pair_hash(const struct rte_mbuf *m)
{
	const uint8_t *p = rte_pktmbuf_mtod(m, const uint8_t *), *ip;
	uint16_t len = rte_pktmbuf_data_len(m), at = 12;

	while (at + 4 <= len && (hp3_be16(p + at) == 0x8100 || hp3_be16(p + at) == 0x88a8))
		at += 4;
	if (at + 2 + 20 <= len && hp3_be16(p + at) == 0x0800) {
		ip = subject(p + at + 2, len - at - 2u, false);
		return address_hash(false, ip + 12, ip + 16);
	}
	if (at + 2 + 40 <= len && hp3_be16(p + at) == 0x86dd) {
		ip = subject(p + at + 2, len - at - 2u, true);
		return address_hash(true, ip + 8, ip + 24);
	}
	return 0;
}

unsigned hp3d_worker_of(bool ipv6, const uint8_t *a, const uint8_t *b)
{
	return address_hash(ipv6, a, b) % hp3d_lcores.n;
}

/* A packet may set a deadline before the one that we know: a drain, the pacer, a round. */
static void handle(
	struct hp3d_worker *w, unsigned rail, enum hp3_dir dir, struct rte_mbuf **m, uint16_t n)
{
	uint64_t due;

	hp3d_pipe_burst(w->pipes[rail], dir, m, n, hp3d_now());
	due = hp3_engine_due(hp3d_pipe_engine(w->pipes[rail]));
	if (unlikely(due < w->due))
		w->due = due;
}

/* First packets of m[0..n) that have the same tag. */
static uint16_t run_of(struct rte_mbuf **m, unsigned n)
{
	uint16_t i = 1;

	while (i < n && m[i]->port == m[0]->port)
		i++;
	return i;
}

/* Packets for the same worker are handed over in order. */
static void dispatch(
	struct hp3d_worker *w, unsigned rail, enum hp3_dir dir, struct rte_mbuf **m, uint16_t n)
{
	struct rte_mbuf *mine[HP3D_BURST_MAX];
	uint16_t n_mine = 0;

	for (uint16_t i = 0; i < n; i++) {
		unsigned to = pair_hash(m[i]) % hp3d_lcores.n;

		m[i]->port = hp3d_tag(rail, dir);
		if (to == w->index) {
			mine[n_mine++] = m[i];
		} else if (rte_ring_sp_enqueue(hp3d_lcores.work[w->index][to], m[i]) != 0) {
			hp3d_pipe_counters(w->pipes[rail])->drop_handover++;
			rte_pktmbuf_free(m[i]);
		}
	}
	if (n_mine > 0)
		handle(w, rail, dir, mine, n_mine);
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

static unsigned poll_ports(struct hp3d_worker *w)
{
	struct rte_mbuf *m[HP3D_BURST_MAX];
	unsigned total = 0;

	for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++) {
		for (unsigned dir = 0; dir < 2; dir++) {
			uint16_t n;

			if (hp3d_owner(rail, dir) != w->index)
				continue;
			/* Backpressure: what cannot be sent or handed over is not received. */
			if (hp3d_link_backlog(&hp3d_lcores.links[rail][dir]) > 0 ||
				(hp3d_lcores.n > 1 && !work_rings_have_room(w)))
				continue;
			n = rte_eth_rx_burst(
				hp3d_rail_ports(rail)->in[dir], 0, m, hp3d_lcores.burst);
			if (n == 0)
				continue;
			total += n;
			if (hp3d_lcores.n == 1)
				handle(w, rail, dir, m, n);
			else
				dispatch(w, rail, dir, m, n);
		}
	}
	return total;
}

/* Packets that others handled and this worker's ports send. */
static unsigned poll_back(struct hp3d_worker *w, unsigned from)
{
	struct rte_mbuf *m[HP3D_BURST_MAX];
	unsigned n = rte_ring_sc_dequeue_burst(
		hp3d_lcores.back[from][w->index], (void **)m, hp3d_lcores.burst, NULL);

	for (unsigned i = 0, run = 0; i < n; i += run) {
		uint16_t tag = m[i]->port;

		run = run_of(m + i, n - i);
		hp3d_link_send(&hp3d_lcores.links[tag / 2][tag & 1], m + i, (uint16_t)run);
	}
	return n;
}

/* Packets that others received and this worker handles. */
static unsigned poll_work(struct hp3d_worker *w, unsigned from)
{
	struct rte_mbuf *m[HP3D_BURST_MAX];
	unsigned n = rte_ring_sc_dequeue_burst(
		hp3d_lcores.work[from][w->index], (void **)m, hp3d_lcores.burst, NULL);

	for (unsigned i = 0, run = 0; i < n; i += run) {
		uint16_t tag = m[i]->port;

		run = run_of(m + i, n - i);
		handle(w, tag / 2, tag & 1, m + i, (uint16_t)run);
	}
	return n;
}

static unsigned poll_rings(struct hp3d_worker *w)
{
	unsigned total = 0;
	bool stalled = false;

	for (unsigned tag = 0; tag < 2 * hp3d_lcores.rails; tag++)
		stalled |= hp3d_link_backlog(&w->away[tag]) > 0;
	for (unsigned from = 0; from < hp3d_lcores.n; from++) {
		if (from == w->index)
			continue;
		total += poll_back(w, from);
		if (!stalled)
			total += poll_work(w, from);
	}
	return total;
}

static uint32_t drain_links(struct hp3d_worker *w)
{
	uint32_t sent = 0;

	for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++) {
		for (unsigned dir = 0; dir < 2; dir++) {
			struct hp3d_link *away = &w->away[hp3d_tag(rail, dir)];

			if (hp3d_sender(rail, dir) == w->index)
				sent += hp3d_link_drain(&hp3d_lcores.links[rail][dir]);
			else
				sent += hp3d_link_drain(away);
		}
	}
	return sent;
}

static void tick(struct hp3d_worker *w, uint64_t now)
{
	if (now < w->due)
		return;
	w->due = UINT64_MAX;
	for (unsigned rail = 0; rail < hp3d_lcores.rails; rail++) {
		uint64_t due = hp3d_pipe_tick(w->pipes[rail], now);

		w->due = RTE_MIN(w->due, due);
	}
}

static void answer_call(struct hp3d_worker *w)
{
	int asked = HP3D_CALL_ASKED;

	if (likely(__atomic_load_n(&w->call, __ATOMIC_RELAXED) != HP3D_CALL_ASKED) ||
		!__atomic_compare_exchange_n(&w->call, &asked, HP3D_CALL_RUNNING, false,
			__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return;
	w->call_fn(w, w->call_arg);
	w->due = 0; /* a command may have set an earlier deadline */
	__atomic_store_n(&w->call, HP3D_CALL_DONE, __ATOMIC_RELEASE);
}

/* A link that takes nothing counts as idle: it will not sooner for being asked without pause. */
static void rest(struct hp3d_worker *w, bool idle)
{
	struct timespec ts = {0};
	uint64_t now, ns;

	if (!idle || !hp3d_lcores.may_sleep) {
		w->idle_loops = 0;
		w->sleep_ns = SLEEP_MIN_NS;
		return;
	}
	if (++w->idle_loops < hp3d_lcores.idle_spins)
		return;
	now = hp3d_now();
	if (w->due <= now)
		return;
	ns = RTE_MIN(w->sleep_ns, w->due - now);
	ts.tv_nsec = (long)ns;
	nanosleep(&ts, NULL);
	now = hp3d_now();
	w->time.idle_ns += now - w->round;
	w->round = now;
	w->sleep_ns = RTE_MIN(2 * w->sleep_ns, hp3d_lcores.sleep_max_ns);
}

int hp3d_worker_run(void *worker)
{
	struct hp3d_worker *w = worker;

	w->sleep_ns = SLEEP_MIN_NS;
	w->round = hp3d_now();
	while (!__atomic_load_n(&w->quit, __ATOMIC_RELAXED)) {
		uint32_t n = poll_ports(w);
		uint64_t now;

		if (hp3d_lcores.n > 1)
			n += poll_rings(w);
		n += drain_links(w);
		now = hp3d_now();
		tick(w, now);
		answer_call(w);
		*(n != 0 ? &w->time.busy_ns : &w->time.idle_ns) += now - w->round;
		w->round = now;
		rest(w, n == 0);
	}
	return 0;
}

uint32_t hp3d_worker_finish(struct hp3d_worker *w)
{
	return (hp3d_lcores.n > 1 ? poll_rings(w) : 0) + drain_links(w);
}
