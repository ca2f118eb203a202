/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mode changes as hp3d changes it: moves are cancelled, except off a dead path, and moved flows
 * return to their home ports, each behind a drain. From then on, no packet is held, moved, sent or
 * kept from the RNIC.
 */
#include "world_internal.h"
#include "engine/state.h"

#define HOME_EVERY (100 * US)
#define PATIENCE   (50000 * US)

static void set_mode(struct world *w, enum hp3_policy_mode mode)
{
	struct hp3_engine_config cfg = world_config(w);

	cfg.words.observe_probes = false;
	hp3_policy_mode(&cfg, mode);
	hp3_engine_reconfigure(w->e, &cfg);
	w->mode = mode;
}

static enum hp3_rfr_state state_of(const struct world *w, uint32_t flow)
{
	return (enum hp3_rfr_state)w->e->flows[flow].state;
}

static void note(struct world *w, enum hp3_rfr_state state)
{
	w->r.off_searching += state == HP3_RFR_SEARCHING;
	w->r.off_closing += state == HP3_RFR_CLOSING;
	w->r.off_draining += state == HP3_RFR_DRAINING;
	w->r.off_probing += state == HP3_RFR_PROBING;
}

static void call_off(struct world *w)
{
	for (uint32_t i = hp3_engine_slots(w->e); i-- > 0;) {
		uint32_t flow;

		if (hp3_slot_open(w->e, i, &flow)) {
			note(w, state_of(w, flow));
			world_command(w, flow, HP3_CMD_CANCEL, HP3_CAUSE_STOP);
		} else {
			w->r.off_resuming += state_of(w, flow) == HP3_RFR_RESUMING;
		}
	}
}

static void go_home(struct world *w)
{
	for (uint32_t f = 0; f < w->cfg.max_flows; f++)
		if (hp3_flow_is_moved(w->e, f))
			world_command(w, f, HP3_CMD_HOME, HP3_CAUSE_STOP);
}

void world_mode_restored(struct world *w)
{
	w->quiet = false;
	w->withheld = 0;
	if (w->mode != HP3_POLICY_ON)
		set_mode(w, w->mode);
}

void world_engine_mode(struct world *w)
{
	if (w->mode == HP3_POLICY_ON) {
		w->withheld = hp3_engine_stats(w->e)->cnps_withheld;
		set_mode(w, rnd(w, 2) ? HP3_POLICY_OFF : HP3_POLICY_OBSERVE);
		w->mode_since = w->now;
		w->r.mode_changes++;
		call_off(w);
		world_at(w, 1, EVENT_MODE, 0, 0);
		return;
	}
	if (w->quiet || w->now - w->mode_since > PATIENCE) {
		w->r.restless += !w->quiet;
		w->quiet = false;
		set_mode(w, HP3_POLICY_ON);
		world_at(w, 1 + rnd(w, 2 * w->p.mode_every_us) * US, EVENT_MODE, 0, 0);
		return;
	}
	go_home(w);
	w->quiet = hp3_engine_moved(w->e) == 0 && hp3_engine_moves(w->e) == 0;
	world_at(w, w->quiet ? 1 + rnd(w, w->p.mode_every_us) * US : HOME_EVERY, EVENT_MODE, 0, 0);
}

void world_check_mode(struct world *w)
{
	if (w->mode != HP3_POLICY_ON && hp3_engine_stats(w->e)->cnps_withheld != w->withheld)
		VIOLATION(w, "a CNP is withheld, and nothing may move");
}

void world_check_silent(struct world *w, const char *what)
{
	if (w->mode != HP3_POLICY_ON)
		VIOLATION(w, "%s, and nothing may move", what);
}
