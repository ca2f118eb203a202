/* SPDX-License-Identifier: BSD-3-Clause */
/* The phases of a rail's bypass on its lcore. */
#include "app/hp3d/lcores/bypass.h"
#include <rte_mbuf.h>
#include "app/hp3d/lcores/bypass_internal.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/ports.h"

#define MS           1000000ull
#define HEARTBEAT_NS MS
#define EMPTY_NS     (2 * MS) /* with rings empty for so long, no frame is on its way */
#define SETTLE_NS    MS
#define BACK_NS      (200 * MS) /* how long hp3d has to run after a hang, until it takes over */
#define HOME_NS      (250 * MS) /* longest wait for moved flows to return home */
#define LEAVE_NS     (200 * MS) /* longest wait for frames that are still inside */

/* The control thread reads it. */
static void enter_phase(struct hp3d_bypass *b, enum hp3d_bypass_phase phase)
{
	b->since = b->heartbeat_at;
	b->ready = false;
	__atomic_store_n(&b->phase, phase, __ATOMIC_RELEASE);
}

/* True: a frame arrived when the heartbeat was too old. It went direct, and so do all later frames.
 */
static bool went_stale(const struct hp3d_bypass *b)
{
	return hp3_bypass_state(b->port[0]) == HP3_BYPASS_STALE ||
	       hp3_bypass_state(b->port[1]) == HP3_BYPASS_STALE;
}

/* All frames taken so far have been sent or dropped. */
static void count_anew(struct hp3d_bypass *b)
{
	for (unsigned dir = 0; dir < 2; dir++) {
		struct hp3_bypass_port *p = b->port[dir];

		hp3_bypass_settle(b->side[dir]);
		b->received[dir] = hp3_bypass_taken(p);
		__atomic_store_n(&p->lost, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&p->done, b->received[dir], __ATOMIC_RELEASE);
	}
}

/* Enters QUIET, from any state of the ports. */
static void go_quiet(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now, uint64_t back_ns)
{
	for (unsigned dir = 0; dir < 2; dir++) {
		hp3_bypass_change(b->port[dir], HP3_BYPASS_TAKEN, HP3_BYPASS_DIRECT);
		hp3_bypass_change(b->port[dir], HP3_BYPASS_LEAVING, HP3_BYPASS_DIRECT);
		hp3_bypass_change(b->port[dir], HP3_BYPASS_STALE, HP3_BYPASS_DIRECT);
	}
	enter_phase(b, HP3D_BYPASS_QUIET);
	b->back_at = now + back_ns;
	b->emptied = now;
	if (b->wish != HP3D_BYPASS_END)
		hp3d_pipe_missed(p, now);
}

/* False: the ports are still TAKEN by an earlier hp3d, so no packet has gone direct since. Call it
 * before hp3_bypass_own(). */
static bool was_used(const struct hp3d_bypass *b)
{
	return hp3_bypass_state(b->port[0]) != HP3_BYPASS_TAKEN ||
	       hp3_bypass_state(b->port[1]) != HP3_BYPASS_TAKEN;
}

/* Counts frames that the kernel dropped, because the port's state changed after hp3d had checked
 * it. */
static void count_late(struct hp3d_bypass *b, struct hp3d_pipe_counters *c)
{
	for (unsigned dir = 0; dir < 2; dir++) {
		uint64_t late = hp3_bypass_late(b->port[dir]);

		c->drop_bypassed += late - b->late[dir];
		b->late[dir] = late;
	}
}

static void take_ownership(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now)
{
	uint64_t wall = hp3_bypass_now();

	if (hp3_bypass_is_used(b->port[0], b->owner, wall) ||
		hp3_bypass_is_used(b->port[1], b->owner, wall))
		return;
	if (was_used(b))
		hp3d_pipe_missed(p, now);
	for (unsigned dir = 0; dir < 2; dir++)
		b->late[dir] = hp3_bypass_late(b->port[dir]);
	hp3_bypass_own(b->side[0], wall);
	hp3_bypass_own(b->side[1], wall);
	b->back_at = b->emptied = now;
	enter_phase(b, HP3D_BYPASS_QUIET);
}

/* Resets the engine in parts, while frames go direct. True: done, and the rings are still empty. */
static bool is_ready(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now)
{
	if (now < b->back_at || now - b->emptied < EMPTY_NS) {
		b->ready = false;
		return false;
	}
	if (!b->ready)
		hp3d_pipe_missed(p, now);
	b->ready = true;
	return hp3d_pipe_is_anew(p, now);
}

/* The next rail of the bond that fails open; NULL: there are no more. Begin with *rail = b->rail.
 */
static const struct hp3d_bypass *next_of_bond(const struct hp3d_bypass *b, unsigned *rail)
{
	do {
		*rail = hp3d_rail_ports(*rail)->next;
	} while (*rail != b->rail && hp3d_bypass(*rail) == NULL);
	return *rail != b->rail ? hp3d_bypass(*rail) : NULL;
}

/* Could all other rails of the bond take over now, or have they? */
static bool is_bond_ready(const struct hp3d_bypass *b)
{
	const struct hp3d_bypass *other;
	unsigned rail = b->rail;

	while ((other = next_of_bond(b, &rail)) != NULL) {
		if (other->phase == HP3D_BYPASS_WAITING ||
			(other->phase == HP3D_BYPASS_QUIET && !other->ready))
			return false;
	}
	return true;
}

/* Has another rail of the bond gone direct because of a hang, since this rail took over? */
static bool has_bond_fallen(const struct hp3d_bypass *b)
{
	const struct hp3d_bypass *other;
	unsigned rail = b->rail;

	while ((other = next_of_bond(b, &rail)) != NULL) {
		if (other->fell_at > b->since)
			return true;
	}
	return false;
}

/* Flows continue on the ports that the kernel has stored. */
static void take_over(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now)
{
	hp3d_bypass_restore(b, p, now);
	count_anew(b);
	for (unsigned dir = 0; dir < 2; dir++)
		hp3_bypass_change(b->port[dir], HP3_BYPASS_DIRECT, HP3_BYPASS_TAKEN);
	enter_phase(b, HP3D_BYPASS_SETTLING);
}

static void stay_quiet(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now, uint64_t gap)
{
	uint32_t wish = __atomic_load_n(&b->wish, __ATOMIC_ACQUIRE);

	/* An lcore whose heartbeats have such gaps does not take over yet. */
	if (gap > b->stale_ns / 2)
		b->back_at = now + BACK_NS;
	if (wish == HP3D_BYPASS_END) {
		__atomic_store_n(&b->port[0]->owner, 0, __ATOMIC_RELEASE);
		__atomic_store_n(&b->port[1]->owner, 0, __ATOMIC_RELEASE);
		enter_phase(b, HP3D_BYPASS_WAITING);
	} else if (wish == HP3D_BYPASS_TAKE && is_ready(b, p, now) && is_bond_ready(b)) {
		take_over(b, p, now);
	}
}

/* Frames given to the drivers may still wait in the drivers' rings if the kernel had no room. */
static void begin_leaving(struct hp3d_bypass *b)
{
	if (!hp3_bypass_flush(b->side[0]) || !hp3_bypass_flush(b->side[1]))
		return; /* the next round tries again */
	for (unsigned dir = 0; dir < 2; dir++)
		hp3_bypass_change(b->port[dir], HP3_BYPASS_TAKEN, HP3_BYPASS_LEAVING);
	enter_phase(b, HP3D_BYPASS_LEAVING);
}

/* Each direction goes direct separately, at a moment when none of its frames is inside hp3d. */
static void keep_leaving(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now)
{
	bool gone = true;
	uint32_t left = 0;

	for (unsigned dir = 0; dir < 2; dir++) {
		hp3_bypass_settle(b->side[dir]);
		gone &= hp3_bypass_gone(b->port[dir]);
	}
	if (!gone && now - b->since < LEAVE_NS)
		return;
	for (unsigned dir = 0; dir < 2; dir++)
		left += (uint32_t)(hp3_bypass_taken(b->port[dir]) - b->port[dir]->done -
				   b->port[dir]->lost);
	__atomic_store_n(&b->left_behind, b->left_behind + left, __ATOMIC_RELAXED);
	go_quiet(b, p, now, 0);
}

/*
 * Before a rail goes direct on request, moved flows return to their home ports, each behind a
 * drain. Agreements to spray continue until both hosts have ended them (rule 35).
 */
static bool is_home(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now)
{
	const struct hp3_engine *e = hp3d_pipe_engine(p);
	uint64_t until;
	uint32_t away;

	if (b->homing == 0)
		b->homing = now;
	until = hp3d_pipe_leave(p, now);
	away = hp3_engine_moved(e) + hp3_engine_moves(e);
	if (away > 0)
		hp3d_pipe_home_all(p, now);
	if ((away > 0 && now - b->homing < HOME_NS) || now < until)
		return false;
	hp3d_pipe_cancel_all(p, now);
	b->homing = 0;
	return true;
}

/* `gap`: time since the last heartbeat. */
static void step_phase(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now, uint64_t gap)
{
	if (b->phase == HP3D_BYPASS_WAITING) {
		if (__atomic_load_n(&b->wish, __ATOMIC_ACQUIRE) != HP3D_BYPASS_END)
			take_ownership(b, p, now);
		return;
	}
	count_late(b, hp3d_pipe_counters(p));
	if (b->phase == HP3D_BYPASS_REPLACED)
		return;
	if (b->port[0]->owner != b->owner || b->port[1]->owner != b->owner) {
		enter_phase(b, HP3D_BYPASS_REPLACED);
		hp3d_pipe_missed(p, now);
		return;
	}
	if (b->phase == HP3D_BYPASS_QUIET) {
		stay_quiet(b, p, now, gap);
		return;
	}
	if (went_stale(b)) {
		__atomic_store_n(&b->hangs, b->hangs + 1, __ATOMIC_RELAXED);
		b->fell_at = now;
		go_quiet(b, p, now, BACK_NS);
	} else if (has_bond_fallen(b)) {
		go_quiet(b, p, now, BACK_NS);
	} else if (b->phase == HP3D_BYPASS_LEAVING) {
		keep_leaving(b, p, now);
	} else if (__atomic_load_n(&b->wish, __ATOMIC_ACQUIRE) != HP3D_BYPASS_TAKE) {
		if (is_home(b, p, now))
			begin_leaving(b);
	} else if (b->homing != 0) {
		b->homing = 0;
		hp3_spray_go_on(hp3d_pipe_engine(p));
	} else if (b->phase == HP3D_BYPASS_SETTLING && now - b->since >= SETTLE_NS) {
		enter_phase(b, HP3D_BYPASS_RUNNING);
	}
}

/* Call it before reading the ports' states: a frame that arrives after the new heartbeat does not
 * change a state. */
static void write_keep_alive(struct hp3d_bypass *b, uint64_t now)
{
	uint64_t wall = hp3_bypass_now();

	b->heartbeat_at = now;
	if (b->phase == HP3D_BYPASS_WAITING || b->phase == HP3D_BYPASS_REPLACED)
		return;
	hp3_bypass_heartbeat(b->port[0], wall);
	hp3_bypass_heartbeat(b->port[1], wall);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void hp3d_bypass_round(struct hp3d_bypass *b, struct hp3d_pipe *p, uint64_t now)
{
	uint64_t gap = now - b->stepped;

	if (likely(gap < HEARTBEAT_NS))
		return;
	b->stepped = now;
	write_keep_alive(b, now);
	step_phase(b, p, now, gap);
}

enum hp3d_bypass_use hp3d_bypass_use(const struct hp3d_bypass *b)
{
	if (likely(b->phase == HP3D_BYPASS_RUNNING || b->phase == HP3D_BYPASS_LEAVING))
		return HP3D_BYPASS_HANDLE;
	return b->phase == HP3D_BYPASS_SETTLING ? HP3D_BYPASS_WAIT : HP3D_BYPASS_GIVE_UP;
}

void hp3d_bypass_give_up(
	struct hp3d_bypass *b, struct hp3d_pipe *p, struct rte_mbuf **m, uint16_t n, uint64_t now)
{
	b->emptied = now;
	hp3d_pipe_counters(p)->drop_bypassed += n;
	rte_pktmbuf_free_bulk(m, n);
}

void hp3d_bypass_received(struct hp3d_bypass *b, enum hp3_dir dir, uint16_t n)
{
	b->received[dir] += n;
}

void hp3d_bypass_inside(struct hp3d_bypass *b, enum hp3_dir dir, uint64_t n)
{
	uint64_t done = b->received[dir] - RTE_MIN(n, b->received[dir]);

	/* After `done` is written, newer frames may go direct, so flush older frames first. */
	if (unlikely(b->phase == HP3D_BYPASS_LEAVING) && b->port[dir]->done != done &&
		!hp3_bypass_flush(b->side[!dir]))
		return;
	if (b->port[dir]->done != done)
		__atomic_store_n(&b->port[dir]->done, done, __ATOMIC_RELEASE);
}

bool hp3d_bypass_may_send(struct hp3d_bypass *b, enum hp3_dir dir)
{
	enum hp3_bypass_state state;
	uint64_t now = hp3d_now();

	if (hp3d_bypass_use(b) != HP3D_BYPASS_HANDLE)
		return false;
	if (unlikely(now - b->heartbeat_at >= HEARTBEAT_NS))
		write_keep_alive(b, now);
	state = hp3_bypass_state(b->port[dir]);
	return (state == HP3_BYPASS_TAKEN || state == HP3_BYPASS_LEAVING) &&
	       b->port[dir]->owner == b->owner;
}
