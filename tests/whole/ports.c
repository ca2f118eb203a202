/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ports of an hp3d: DPDK's ring driver, whose rings the world fills and drains. What a
 * buffer carries is noted beside it, so that what comes out is known again.
 */
#include <rte_bus_vdev.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_mbuf_dyn.h>
#include <string.h>
#include "probes/answer.h"
#include "tests/whole/sim.h"

#define BACKLOG_NS (200 * US) /* until hp3d has sent what a port did not take */

#define SLOTS_IN  256u
#define SLOTS_OUT 64u
#define SPINS     16u /* empty polls, ... */
#define SPINS_NS  5000u /* ... for so long together */

#define TCI_AT      14u /* of the outer VLAN tag */
#define ANSWER_DSCP 48u /* default of [ppp] answer_dscp */

static int note_at = -1;

static struct frame **note(struct rte_mbuf *m)
{
	return RTE_MBUF_DYNFIELD(m, note_at, struct frame **);
}

static void enter(struct process *p, struct frame *f)
{
	f->next = p->inside;
	f->link = &p->inside;
	if (f->next != NULL)
		f->next->link = &f->next;
	p->inside = f;
}

static void exit_from(struct frame *f)
{
	*f->link = f->next;
	if (f->next != NULL)
		f->next->link = f->link;
}

/* An lcore that finds nothing goes to sleep; for one that does not, time passes, too. */
static uint16_t polled(
	uint16_t port, uint16_t queue, struct rte_mbuf *m[], uint16_t n, uint16_t max, void *arg)
{
	struct process *p = arg;

	if (n == 0 && ++p->empty % SPINS == 0)
		fiber_sleep(p, p->sim->now + SPINS_NS);
	return n;
}

static void name_of(const struct process *p, enum side side, char buf[32])
{
	snprintf(buf, 32, "%c%d", p->calls.letter, side);
}

static struct rte_ring *make_ring(const struct process *p, enum side side, bool in)
{
	char text[32];

	snprintf(text, sizeof(text), "%c%d_%s", p->calls.letter, side, in ? "in" : "out");
	return rte_ring_create(text, in ? SLOTS_IN : SLOTS_OUT, 0,
		RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
}

void ports_plug(struct process *p)
{
	const struct rte_mbuf_dynfield field = {.name = "whole_frame",
		.size = sizeof(struct frame *),
		.align = __alignof__(struct frame *)};

	if (note_at < 0)
		note_at = rte_mbuf_dynfield_register(&field);
	for (enum side side = RNIC; side < sim_sides(p->sim); side++) {
		char text[32];
		int port;

		p->in[side] = make_ring(p, side, true);
		p->out[side] = make_ring(p, side, false);
		name_of(p, side, text);
		port = rte_eth_from_rings(text, &p->in[side], 1, &p->out[side], 1, 0);
		if (port < 0 || p->in[side] == NULL || p->out[side] == NULL || note_at < 0) {
			fprintf(stderr, "no port %s\n", text);
			abort();
		}
		p->port[side] = (uint16_t)port;
		p->up[side] = p->closed[side] = false;
		p->stuck_until[side] = 0;
	}
	p->pool = NULL;
	p->n_taken = 0;
}

/* What is still there was dropped: with the process, or by it. */
static void forget(struct process *p)
{
	while (p->inside != NULL) {
		struct frame *f = p->inside;

		exit_from(f);
		free(f);
		p->sim->r.dropped++;
	}
}

static void empty(struct rte_ring *r)
{
	struct rte_mbuf *m;

	while (rte_ring_dequeue(r, (void **)&m) == 0)
		rte_pktmbuf_free(m);
}

static void remove_callback(struct process *p, enum side side)
{
	if (p->callback[side] == NULL)
		return;
	rte_eth_remove_rx_callback(p->port[side], 0, p->callback[side]);
	rte_free((void *)(uintptr_t)p->callback[side]);
	p->callback[side] = NULL;
}

void ports_unplug(struct process *p)
{
	ports_starve(p, false);
	for (enum side side = RNIC; side < sim_sides(p->sim); side++) {
		char text[32], device[64];

		empty(p->in[side]);
		empty(p->out[side]);
		p->up[side] = false;
		name_of(p, side, text);
		snprintf(device, sizeof(device), "net_ring_%s", text);
		remove_callback(p, side);
		if (!p->closed[side]) {
			rte_eth_dev_stop(p->port[side]);
			rte_eth_dev_close(p->port[side]);
		}
		rte_vdev_uninit(device);
		rte_ring_free(p->in[side]);
		rte_ring_free(p->out[side]);
	}
	forget(p);
}

static void find_pool(struct process *p)
{
	char text[32];

	snprintf(text, sizeof(text), "%c_hp3d_%c", p->calls.letter, p->calls.letter);
	p->pool = rte_mempool_lookup(text);
}

static enum side side_of(const struct process *p, uint16_t port)
{
	enum side side = RNIC;

	while (side < sim_sides(p->sim) - 1u && p->port[side] != port)
		side++;
	return side;
}

/* The driver is told to begin; or to end, and gives its buffers back. */
void ports_changed(void *arg, uint16_t port, bool up)
{
	struct process *p = arg;
	enum side side = side_of(p, port);

	if (up) {
		find_pool(p);
		p->callback[side] = rte_eth_add_rx_callback(port, 0, polled, p);
		p->up[side] = true;
		return;
	}
	remove_callback(p, side);
	p->stuck_until[side] = 0;
	ports_starve(p, false);
	ports_drain(p);
	empty(p->in[side]);
	p->up[side] = false;
	p->closed[side] = true;
}

bool ports_link(void *arg, uint16_t port)
{
	const struct process *p = arg;

	return p->sim->now >= p->down_until[side_of(p, port)];
}

bool ports_up(const struct process *p, enum side side)
{
	struct rte_eth_link link;

	return p->sim->now >= p->down_until[side] &&
	       rte_eth_link_get_nowait(p->port[side], &link) == 0 &&
	       link.link_status == RTE_ETH_LINK_UP;
}

bool ports_started(const struct process *p)
{
	bool all = true;

	for (enum side side = RNIC; side < sim_sides(p->sim); side++)
		all &= p->up[side];
	return all;
}

bool ports_all_up(const struct process *p)
{
	bool all = ports_started(p);

	for (enum side side = RNIC; all && side < sim_sides(p->sim); side++)
		all &= ports_up(p, side);
	return all;
}

/* True: this member of the bond has no link, and the other one has. */
static bool is_out(const struct process *p, enum side side)
{
	return p->state == ALIVE && p->up[side] && p->up[side ^ 2] && !ports_up(p, side) &&
	       ports_up(p, side ^ 2);
}

enum side ports_choose(struct process *p, enum side kind, uint32_t hash)
{
	enum side side = kind + 2 * (hash & 1);

	if (!p->sim->bond)
		return kind;
	if (is_out(p, side) != p->other_member[side]) {
		p->other_member[side] ^= true;
		rnics_change_members(p->sim);
	}
	return p->other_member[side] ? side ^ 2 : side;
}

/* The copy bears the note of its original. */
void ports_copied(void *arg, struct rte_mbuf *copy)
{
	struct process *p = arg;
	struct frame *f = malloc(sizeof(*f));

	if (*note(copy) == NULL) {
		WRONG(p->sim, "hp3d %c copies a packet that it does not hold", p->calls.letter);
		free(f);
		return;
	}
	*f = **note(copy);
	f->shown = true;
	*note(copy) = f;
	enter(p, f);
}

/* A buffer that comes back from the pool: what it carried before is gone. */
static void reuse(struct process *p, struct rte_mbuf *m)
{
	struct frame *was = *note(m);

	if (was == NULL)
		return;
	exit_from(was);
	free(was);
	p->sim->r.dropped++;
}

void ports_receive(struct process *p, enum side side, struct frame *f)
{
	bool there = p->state == ALIVE && p->up[side] && ports_up(p, side);
	struct rte_mbuf *m = there ? rte_pktmbuf_alloc(p->pool) : NULL;

	if (m != NULL) {
		reuse(p, m);
		*note(m) = NULL;
		if (rte_ring_full(p->in[side])) {
			rte_pktmbuf_free(m);
			m = NULL;
		}
	}
	if (m == NULL) {
		p->sim->r.dropped++;
		free(f);
		return;
	}
	sim_trace(p->sim, is_net(side) ? "gets" : "emits", p->host, f);
	m->data_len = f->len;
	m->pkt_len = f->len;
	memcpy(rte_pktmbuf_mtod(m, void *), f->data, f->len);
	*note(m) = f;
	enter(p, f);
	rte_ring_enqueue(p->in[side], m);
	p->got++;
}

/* The priority is the sender's to choose. */
static bool is_of_the_vlan(const struct sim *s, struct rte_mbuf *m)
{
	return where_in(rte_pktmbuf_mtod(m, const uint8_t *)).vlan == s->vlan;
}

/*
 * Messages to hp3's own port, such as answers and agreements to spray, have the class of
 * [ppp] answer_dscp: its DSCP, not ECT, and the priority of its upper three bits in VLAN tags.
 */
static bool is_of_the_class(struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct where at = where_in(frame);
	const uint8_t *ip = frame + at.ip;

	if (at.udp == 0 || hp3_be16(frame + at.udp + 2) != HP3_PROBE_PORT)
		return true;
	for (uint32_t tci = TCI_AT; tci < at.ip; tci += HP3_TAG_LEN)
		if (frame[tci] >> 5 != ANSWER_DSCP >> 3)
			return false;
	return (at.ipv6 ? hp3_be16(ip) >> 4 & 0xff : ip[1]) == ANSWER_DSCP << 2;
}

static struct frame *take(struct process *p, struct rte_mbuf *m)
{
	struct frame *f;

	if (m->pool == p->pool) {
		p->put++;
		f = *note(m);
		*note(m) = NULL;
		if (f == NULL) {
			WRONG(p->sim, "hp3d %c sends a frame twice", p->calls.letter);
			return NULL;
		}
		exit_from(f);
	} else {
		f = calloc(1, sizeof(*f));
		f->kind = FRAME_OWN;
		f->from = (uint8_t)p->host;
		if (!is_of_the_vlan(p->sim, m))
			WRONG(p->sim, "hp3d %c makes a frame of another VLAN", p->calls.letter);
		if (!is_of_the_class(m))
			WRONG(p->sim, "hp3d %c makes a message of another class", p->calls.letter);
	}
	if (m->nb_segs != 1 || m->data_len > FRAME_ROOM) {
		WRONG(p->sim, "hp3d %c sends %u bytes in %u segments", p->calls.letter, m->data_len,
			m->nb_segs);
		m->data_len = FRAME_ROOM;
	}
	f->len = m->data_len;
	memcpy(f->data, rte_pktmbuf_mtod(m, void *), f->len);
	return f;
}

static void remember(struct sim *s, const struct process *p, enum side side, const struct frame *f)
{
	uint64_t h = s->r.hash ^ s->now ^ (uint64_t)(2 * p->host + side % 2) << 60 ^
		     (uint64_t)(side / 2) << 59;

	for (uint32_t i = 0; i < f->len; i++)
		h = (h ^ f->data[i]) * 1099511628211ull;
	s->r.hash = h;
	s->r.frames++;
}

void ports_drain(struct process *p)
{
	struct sim *s = p->sim;
	struct rte_mbuf *m;

	for (enum side side = RNIC; side < sim_sides(p->sim); side++) {
		bool empty = rte_ring_empty(p->out[side]);

		while (s->now >= p->stuck_until[side] &&
			rte_ring_dequeue(p->out[side], (void **)&m) == 0) {
			struct frame *f = take(p, m);

			rte_pktmbuf_free(m);
			if (f == NULL)
				continue;
			remember(s, p, side, f);
			if (!ports_up(p, side)) {
				s->r.lost++;
				free(f);
			} else if (is_net(side)) {
				rnics_leave(s, p->host, f, p->stuck_since[side]);
				sim_trace(s, "sends", p->host, f);
				network_send(s, p->host, f);
			} else {
				sim_trace(s, "delivers", p->host, f);
				if (f->kind == FRAME_OWN)
					f->emitted = p->stuck_since[side] != 0
							     ? p->stuck_since[side]
							     : s->now;
				rnics_take(s, p->host, f);
			}
		}
		if (empty && s->now >= p->stuck_until[side] + BACKLOG_NS)
			p->stuck_since[side] = 0;
	}
}

void ports_stick(struct process *p, enum side side, uint64_t until)
{
	if (p->stuck_since[side] == 0)
		p->stuck_since[side] = p->sim->now;
	p->stuck_until[side] = until;
}

/* Somebody has all buffers. */
void ports_starve(struct process *p, bool starve)
{
	if (p->pool == NULL)
		return;
	while (starve && p->n_taken < RTE_DIM(p->taken)) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(p->pool);

		if (m == NULL)
			break;
		reuse(p, m);
		*note(m) = NULL;
		p->taken[p->n_taken++] = m;
	}
	while (!starve && p->n_taken > 0)
		rte_pktmbuf_free(p->taken[--p->n_taken]);
}
