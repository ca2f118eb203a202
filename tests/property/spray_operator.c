/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What operators do while queue pairs are sprayed, as hp3d does it: the mode, keys that a reload
 * changes, a clean stop and a start, packets that go past hp3d for a while.
 */
#include "spray_inside.h"

#define LOOKS  (100 * US) /* of hp3d, whether it may leave */
#define ENOUGH 524288u /* bytes: all that a queue pair has in flight */

static void again(struct world *w, unsigned at, uint64_t ns)
{
	spray_at(w, w->now + ns, (struct event){.kind = EVENT_OPERATOR, .host = (uint8_t)at});
}

static void next(struct world *w, unsigned at)
{
	uint32_t us = at == A ? w->p.operator_us : w->p.receiver_operator_us;

	spray_every(w, us, EVENT_OPERATOR, at);
}

static void call_off_moves(struct world *w, unsigned at)
{
	struct hp3_engine *e = w->host[at].e;

	for (uint32_t i = hp3_engine_slots(e); i-- > 0;) {
		struct hp3_cmd cmd = {.kind = HP3_CMD_CANCEL, .cause = HP3_CAUSE_STOP};
		struct hp3_acts acts;

		if (!hp3_slot_open(e, i, &cmd.flow))
			continue;
		acts.n = 0;
		hp3_command(e, &cmd, spray_clock(w, at), &acts);
		spray_carry_out(w, at, &acts);
	}
}

static void set_mode(struct world *w, unsigned at, enum hp3_policy_mode mode)
{
	struct hp3_engine_config cfg = w->host[at].cfg;

	hp3_policy_mode(&cfg, mode);
	hp3_engine_reconfigure(w->host[at].e, &cfg);
	w->host[at].leaving = mode == HP3_POLICY_ON ? SPRAY_STAYS : SPRAY_MODE;
	w->r.modes += mode != HP3_POLICY_ON;
	if (mode != HP3_POLICY_ON)
		call_off_moves(w, at);
}

/* All that may be reloaded, but for how long it is waited for what is missing. */
static void reload(struct world *w, unsigned at)
{
	struct hp3_engine_config *cfg = &w->host[at].cfg;

	cfg->spray.keepalive_ns = (100ull << hp3_random_below(&w->rng, 8)) * US;
	cfg->spray.bytes = 1u << (12 + hp3_random_below(&w->rng, 7));
	cfg->spray.setup = hp3_random_below(&w->rng, 2) != 0;
	cfg->spray.reads = hp3_random_below(&w->rng, 2) != 0;
	cfg->hold_bytes = ENOUGH << hp3_random_below(&w->rng, 4);
	cfg->hold_bytes_total = (ENOUGH * w->p.qps) << hp3_random_below(&w->rng, 4);
	hp3_engine_reconfigure(w->host[at].e, cfg);
	w->r.reloads++;
}

/*
 * A reload brings keys: two that are believed, one of which signs, or one, or none. What the other
 * host signs may be believed no more, and the other way round.
 */
void spray_rekey(struct world *w, unsigned at)
{
	static const struct {
		uint8_t speaks, believes;
	} keys[] = {{1, 6}, {2, 6}, {1, 6}, {2, 6}, {1, 2}, {2, 4}, {0, 0}};
	uint32_t which = hp3_random_below(&w->rng, sizeof(keys) / sizeof(keys[0]));
	struct host *h = &w->host[at];

	h->speaks = keys[which].speaks;
	h->believes = keys[which].believes;
	h->cfg.unkeyed = h->believes == 0;
	hp3_engine_reconfigure(h->e, &h->cfg);
	spray_wake(w, at);
	w->r.rekeyed++;
	spray_every(w, w->p.keys_us, EVENT_KEYS, at);
}

/* So does hp3d before each of its packets. */
static void tick_now(struct world *w, unsigned at)
{
	w->host[at].tick_at = w->now;
	spray_tick(w, at);
}

/* As hp3d does before it leaves: flows that were moved come home behind a drain. */
static void bring_home(struct world *w, unsigned at)
{
	struct hp3_engine *e = w->host[at].e;

	for (uint32_t f = hp3_flow_next(e, 0); f != HP3_NO_FLOW; f = hp3_flow_next(e, f + 1)) {
		struct hp3_cmd cmd = {.kind = HP3_CMD_HOME, .cause = HP3_CAUSE_STOP, .flow = f};
		struct hp3_acts acts = {.n = 0};

		if (!hp3_flow_is_moved(e, f))
			continue;
		hp3_command(e, &cmd, spray_clock(w, at), &acts);
		spray_carry_out(w, at, &acts);
	}
}

/* False: what was promised is not over yet, or flows are not at home. */
static bool has_left(struct world *w, unsigned at)
{
	struct host *h = &w->host[at];
	uint64_t until = hp3_spray_stop(h->e, spray_clock(w, at));
	struct hp3_acts acts;

	if (until > spray_clock(w, at)) {
		tick_now(w, at);
		return false;
	}
	if (hp3_engine_moved(h->e) != 0) {
		bring_home(w, at);
		return false;
	}
	call_off_moves(w, at);
	do
		acts.n = 0;
	while (hp3_spray_abandon(h->e, spray_clock(w, at), &acts) &&
		(spray_carry_out(w, at, &acts), true));
	CHECK(w, h->nheld == 0, "host %u leaves, and keeps %u packets", at, h->nheld);
	return true;
}

static void comes_back(struct world *w, unsigned at)
{
	struct hp3_acts acts;
	uint32_t from = 0;

	for (uint32_t i = 0; at == A && i < w->p.qps; i++)
		w->seen[i % 64].missed = true;
	w->host[at].direct = false;
	w->host[at].leaving = SPRAY_STAYS;
	do {
		acts.n = 0;
		from = hp3_missed(w->host[at].e, from, spray_clock(w, at), &acts);
		spray_carry_out(w, at, &acts);
	} while (from != HP3_NO_FLOW);
	if (at == A)
		spray_announce(w);
	spray_wake(w, at);
}

static void leaves(struct world *w, unsigned at)
{
	struct host *h = &w->host[at];

	if (!has_left(w, at)) {
		again(w, at, LOOKS);
	} else if (h->leaving == SPRAY_RESTARTS) {
		w->r.stops++;
		h->leaving = SPRAY_STAYS;
		spray_restart(w, at);
		next(w, at);
	} else {
		w->r.bypasses++;
		h->direct = true;
		again(w, at, hp3_random_below(&w->rng, 1000) * US);
	}
}

/* Mostly a new hp3d: who was told no, or said it, waits for a second else. */
static void begin(struct world *w, unsigned at)
{
	uint32_t what = hp3_random_below(&w->rng, 8);

	if (what < 2) {
		set_mode(w, at, what == 0 ? HP3_POLICY_OFF : HP3_POLICY_OBSERVE);
		tick_now(w, at);
		again(w, at, hp3_random_below(&w->rng, 3000) * US);
	} else if (what < 4) {
		reload(w, at);
		tick_now(w, at);
		next(w, at);
	} else {
		w->host[at].leaving = what < 7 ? SPRAY_RESTARTS : SPRAY_BYPASSED;
		leaves(w, at);
	}
}

void spray_operate(struct world *w, unsigned at)
{
	struct host *h = &w->host[at];

	if (h->leaving == SPRAY_STAYS) {
		begin(w, at);
	} else if (h->leaving == SPRAY_MODE) {
		set_mode(w, at, HP3_POLICY_ON);
		next(w, at);
	} else if (h->direct) {
		comes_back(w, at);
		next(w, at);
	} else {
		leaves(w, at);
	}
}
