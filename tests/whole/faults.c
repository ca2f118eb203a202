/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults, and actions of operators. */
#include <signal.h>
#include "tests/whole/sim.h"

#define FAULT_NS (8 * MS) /* between two, about */
#define ACT_NS   (3 * MS)
#define LOOK_NS  (3 * MS)
#define STOP_NS  (400 * MS)

static void act(struct sim *s, void *arg, uint64_t n)
{
	if (s->calm)
		return;
	clients_act(&s->p[draw(s, 2)]);
	sim_at(s, s->now + 1 + draw(s, 2 * ACT_NS), act, NULL, 0);
}

static void begin_again(struct sim *s, void *arg, uint64_t n)
{
	struct process *p = arg;

	if (p->state != GONE)
		return;
	process_configure(p, "on", true); /* the file may be one that was refused */
	process_start(p);
}

static void crash(struct sim *s, struct process *p)
{
	if (p->state == GONE)
		return;
	process_kill(p);
	rnics_crashed(s, p->host);
	s->r.crashes++;
	sim_at(s, s->now + 1 + draw(s, 15 * MS), begin_again, p, 0);
}

/* What a stop may take: stop_drain_ms, and what there is beside. */
static void stopping(struct sim *s, void *arg, uint64_t end)
{
	struct process *p = arg;

	if (!p->closing)
		return; /* it was killed meanwhile */
	if (p->state != ENDED && s->now < end) {
		sim_at(s, s->now + LOOK_NS, stopping, p, end);
		return;
	}
	process_ended(p);
	process_kill(p);
	begin_again(s, p, 0);
}

static void stop(struct sim *s, struct process *p)
{
	uint64_t from = s->now > p->frozen_until ? s->now : p->frozen_until;

	if (p->state != ALIVE || p->closing || p->handler[SIGTERM] == NULL)
		return;
	p->closing = true;
	s->r.stops++;
	process_signal(p, SIGTERM);
	stopping(s, p, from + STOP_NS);
}

static void reload(struct sim *s, struct process *p)
{
	static const char *const modes[] = {"on", "on", "on", "observe"};
	const char *mode = modes[draw(s, 4)];
	bool sound = draw(s, 6) != 0;

	process_configure(p, mode, sound);
	process_signal(p, SIGHUP);
	s->r.reloads++;
}

static void fed(struct sim *s, void *arg, uint64_t n)
{
	ports_starve(arg, false);
}

static void strike_path(struct sim *s)
{
	struct path *p = &s->paths[draw(s, s->n_paths)];

	switch (draw(s, 3)) {
	case 0:
		p->dead_until = s->now + draw(s, s->liveness ? 30 * MS : 100 * MS);
		break;
	case 1:
		p->delay = (5 + draw(s, 300)) * US;
		break;
	default:
		p->hot = !p->hot;
	}
}

static void strike_network(struct sim *s)
{
	static const uint32_t rates[] = {0, 0, 100, 2000, 20000};
	static const uint32_t worse[] = {0, 5000, 50000, 200000, 1000000};
	uint32_t which = draw(s, 3), rate = (s->liveness ? rates : worse)[draw(s, 5)];

	if (which == 0)
		s->loss_ppm = rate;
	else if (which == 1)
		s->damage_ppm = rate;
	else
		s->copy_ppm = rate / 2;
}

/* Of the RNIC or of the network; hp3d shows the other one that there is none. */
static void strike_link(struct sim *s, struct process *p)
{
	uint64_t until = s->now + draw(s, 300 * MS);

	p->down_until[draw(s, sim_sides(s))] = until;
	s->r.flaps++;
}

static void strike_process(struct sim *s, struct process *p)
{
	uint64_t long_ns = s->liveness ? 20 * MS : 60 * MS;

	switch (draw(s, 8)) {
	case 0:
		crash(s, p);
		break;
	case 1:
		stop(s, p);
		break;
	case 2:
		p->frozen_until = s->now + draw(s, (uint32_t)long_ns);
		s->r.freezes++;
		break;
	case 3:
		if (p->state == ALIVE && ports_started(p)) {
			ports_starve(p, true);
			sim_at(s, s->now + draw(s, (uint32_t)long_ns), fed, p, 0);
		}
		break;
	case 4:
		ports_stick(p, draw(s, sim_sides(s)), s->now + draw(s, (uint32_t)long_ns));
		break;
	case 5:
		p->wall_off += (int64_t)draw(s, 2000) * (int64_t)(50 * MS) - (int64_t)(40000 * MS);
		break;
	default:
		reload(s, p);
	}
}

static void fault(struct sim *s, void *arg, uint64_t n)
{
	uint32_t what = draw(s, 16);

	if (s->calm)
		return;
	if (s->flaps && draw(s, 12) == 0)
		strike_link(s, &s->p[draw(s, 2)]);
	else if (what < 6)
		strike_path(s);
	else if (what < 9)
		strike_network(s);
	else if (what == 9)
		rnics_restart(s, draw(s, 2));
	else
		strike_process(s, &s->p[draw(s, 2)]);
	sim_at(s, s->now + 1 + draw(s, 2 * FAULT_NS), fault, NULL, 0);
}

void faults_begin(struct sim *s)
{
	sim_at(s, s->now + 40 * MS, fault, NULL, 0);
	sim_at(s, s->now + 10 * MS, act, NULL, 0);
}
