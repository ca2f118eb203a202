/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/mode.h"
#include <string.h>
#include "app/clock.h"
#include "app/hp3d/control/events.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/lcores/workers.h"
#include "base/nearest.h"
#include "engine/policy.h"

static struct {
	struct hp3_config *cfg;
	uint8_t filed; /* the mode in the file */
	uint8_t reported; /* the mode in effect, as last reported; atomic, any thread reads it
			   */
	bool by_operator; /* the operator set the mode */
} mode;

void hp3d_mode_start(struct hp3_config *cfg)
{
	mode.cfg = cfg;
	mode.filed = cfg->engine.words.mode;
	__atomic_store_n(&mode.reported, mode.filed, __ATOMIC_RELAXED);
	mode.by_operator = false;
}

void hp3d_mode_reload(struct hp3_config *wanted)
{
	uint8_t filed = wanted->engine.words.mode;

	if (filed == mode.filed && mode.by_operator)
		wanted->engine.words.mode = mode.cfg->engine.words.mode;
	else
		mode.by_operator = false;
	mode.filed = filed;
}

enum hp3_policy_mode hp3d_mode(void)
{
	return (enum hp3_policy_mode)__atomic_load_n(&mode.reported, __ATOMIC_RELAXED);
}

const char *hp3d_mode_by(void)
{
	return mode.by_operator ? "operator" : "configuration";
}

void hp3d_mode_changed(void)
{
	struct hp3d_event e = {
		.event = {.t_ns = hp3d_now(),
			.type = HP3_EVENT_MODE,
			.cause = mode.by_operator ? HP3_CAUSE_OPERATOR : HP3_CAUSE_SETUP,
			.from = mode.reported,
			.to = mode.cfg->engine.words.mode,
			.flow = HP3_NO_FLOW}};

	if (e.event.from == e.event.to)
		return;
	__atomic_store_n(&mode.reported, mode.cfg->engine.words.mode, __ATOMIC_RELAXED);
	hp3d_events_add(&e, hp3_clock_ns(CLOCK_REALTIME));
}

void hp3d_mode_poll(void)
{
	if (mode.cfg && mode.cfg->engine.words.mode != HP3_POLICY_ON)
		hp3d_workers_home(mode.cfg->engine.max_flows);
}

static void set_policy_mode(uint8_t wanted)
{
	mode.by_operator = true;
	if (mode.cfg->engine.words.mode == wanted)
		return;
	mode.cfg->engine.words.mode = wanted;
	hp3d_workers_reload(mode.cfg);
	hp3d_mode_changed();
	hp3d_mode_poll();
}

static json_t *mode_answer(void)
{
	return hp3d_json_ok(json_pack("{s:s, s:s}", "mode",
		hp3_policy_modes[mode.cfg->engine.words.mode], "mode_by", hp3d_mode_by()));
}

json_t *hp3d_json_mode(const struct hp3_config *cfg, json_t *req)
{
	json_t *wanted = json_object_get(req, "mode");
	struct hp3_nearest near = {.asked = json_string_value(wanted)};

	if (!wanted)
		return mode_answer();
	for (uint8_t i = 0; near.asked && hp3_policy_modes[i]; i++) {
		if (strcmp(hp3_policy_modes[i], near.asked) == 0) {
			set_policy_mode(i);
			return mode_answer();
		}
		hp3_nearest_offer(&near, hp3_policy_modes[i]);
	}
	return hp3d_json_error("bad-request", "modes are off, observe, on", "no mode %s%s%s%s",
		near.asked ? near.asked : "(no text)", near.best ? "; did you mean " : "",
		near.best ? near.best : "", near.best ? "?" : "");
}
