/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/control.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "app/clock.h"
#include "app/hp3d/control/events.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/lcores/bypass.h"
#include "app/hp3d/lcores/eal.h"
#include "config/bonds.h"

#define TIDY_NS 5000000000ull

/* The state last reported, by rail. */
static struct {
	enum hp3d_bypass_phase phase;
	uint32_t hangs, left_behind;
	bool not_kept;
	uint64_t tidy; /* when to remove outdated entries in the kernel */
	bool printed;
} reported[HP3_CONFIG_RAILS_MAX];

static void print_bypass_phase(
	const struct hp3_config *cfg, unsigned rail, const struct hp3d_bypass_info *i)
{
	const char *name = cfg->rails[rail].name;

	switch (i->phase) {
	case HP3D_BYPASS_WAITING:
		if (i->owner_pid == (uint32_t)getpid()) {
			fprintf(stderr,
				"hp3d: [rail.%s]: given up: packets go direct in the kernel\n",
				name);
			break;
		}
		fprintf(stderr,
			"hp3d: [rail.%s]: hp3d of process %u has these ports: this one takes "
			"nothing until that one ends\n",
			name, i->owner_pid);
		break;
	case HP3D_BYPASS_RUNNING:
		fprintf(stderr,
			"hp3d: [rail.%s]: takes RoCEv2 packets; all others, and these too if hp3d "
			"dies or hangs, go from port to port in the kernel\n",
			name);
		if (i->restored > 0)
			fprintf(stderr,
				"hp3d: [rail.%s]: %u flows go on on the ports to which they had "
				"been moved\n",
				name, i->restored);
		break;
	case HP3D_BYPASS_REPLACED:
		fprintf(stderr,
			"hp3d: [rail.%s]: hp3d of process %u has taken these ports over: stop "
			"this hp3d\n",
			name, i->owner_pid);
		break;
	default:
		fprintf(stderr, "hp3d: [rail.%s]: %s: packets go from port to port in the kernel\n",
			name, hp3d_bypass_phase_name(i->phase));
		break;
	}
}

static void add_bypass_event(unsigned rail, enum hp3d_bypass_phase from, enum hp3d_bypass_phase to)
{
	struct hp3d_event e = {.rail = (uint16_t)rail,
		.event = {.t_ns = hp3d_now(),
			.type = HP3_EVENT_BYPASS,
			.from = (uint16_t)from,
			.to = (uint16_t)to,
			.flow = HP3_NO_FLOW}};

	hp3d_events_add(&e, hp3_clock_ns(CLOCK_REALTIME));
}

void hp3d_bypass_watch(const struct hp3_config *cfg)
{
	for (unsigned rail = 0; rail < cfg->n_rails; rail++) {
		struct hp3d_bypass *b = hp3d_bypass(rail);
		struct hp3d_bypass_info i;

		if (b == NULL)
			continue;
		i = hp3d_bypass_info(b);
		if (i.left_behind != reported[rail].left_behind)
			fprintf(stderr,
				"hp3d: [rail.%s]: %u packets were left behind: there was no moment "
				"in which nothing was inside\n",
				cfg->rails[rail].name, i.left_behind - reported[rail].left_behind);
		if (i.not_kept > 0 && !reported[rail].not_kept) {
			fprintf(stderr,
				"hp3d: [rail.%s]: the kernel did not store a move: %s; that flow "
				"leaves with its home port if packets go direct\n",
				cfg->rails[rail].name,
				i.forbidden ? "it needs a capability that hp3d gave up; set "
					      "capabilities = keep in [service]"
					    : "it has no room for more");
			reported[rail].not_kept = true;
		}
		if (i.hangs != reported[rail].hangs)
			fprintf(stderr,
				"hp3d: [rail.%s]: no sign of life for more than %u ms: packets "
				"went direct meanwhile, those inside are given up\n",
				cfg->rails[rail].name, cfg->bypass.stale_ms);
		if ((!reported[rail].printed || i.phase != reported[rail].phase ||
			    i.hangs != reported[rail].hangs) &&
			i.phase != HP3D_BYPASS_SETTLING && i.phase != HP3D_BYPASS_LEAVING) {
			print_bypass_phase(cfg, rail, &i);
			add_bypass_event(rail, reported[rail].phase, i.phase);
			reported[rail].phase = i.phase;
			reported[rail].printed = true;
		}
		reported[rail].hangs = i.hangs;
		reported[rail].left_behind = i.left_behind;
		if (i.phase == HP3D_BYPASS_RUNNING && hp3d_now() >= reported[rail].tidy) {
			hp3d_bypass_tidy(b);
			reported[rail].tidy = hp3d_now() + TIDY_NS;
		}
	}
}

static const char *const modes[] = {
	[HP3D_BYPASS_AUTO] = "auto", [HP3D_BYPASS_ON] = "on", [HP3D_BYPASS_OFF] = "off"};
static enum hp3d_bypass_mode bypass_mode[HP3_CONFIG_RAILS_MAX];

/* The common value of all rails; NULL: they differ. */
static const char *common_mode(const struct hp3_config *cfg)
{
	for (unsigned rail = 1; rail < cfg->n_rails; rail++)
		if (bypass_mode[rail] != bypass_mode[0])
			return NULL;
	return modes[bypass_mode[0]];
}

static json_t *side_json(const struct hp3_bypass_counts *c)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "taken", (json_int_t)c->taken, "inside",
		(json_int_t)c->inside, "lost", (json_int_t)c->lost, "direct", (json_int_t)c->roce,
		"others", (json_int_t)c->others, "closed", (json_int_t)c->closed);
}

json_t *hp3d_bypass_json(const struct hp3_config *cfg)
{
	json_t *j = json_object();

	for (unsigned rail = 0; j && rail < cfg->n_rails; rail++) {
		const struct hp3d_bypass *b = hp3d_bypass(rail);
		struct hp3d_bypass_info i;

		if (b == NULL) {
			json_object_set_new(j, cfg->rails[rail].name, json_null());
			continue;
		}
		i = hp3d_bypass_info(b);
		json_object_set_new(j, cfg->rails[rail].name,
			json_pack("{s:s, s:s, s:b, s:i, s:i, s:i, s:i, s:o, s:o}", "bypass",
				modes[bypass_mode[rail]], "state", hp3d_bypass_phase_name(i.phase),
				"direct", hp3d_bypass_is_direct(i.phase), "hangs", (int)i.hangs,
				"restored", (int)i.restored, "not_kept", (int)i.not_kept,
				"left_behind", (int)i.left_behind, "rnic",
				side_json(&i.dir[HP3_DIR_TX]), "net",
				side_json(&i.dir[HP3_DIR_RX])));
	}
	return j;
}

static void set_rail_bypass(
	const struct hp3_config *cfg, unsigned rail, enum hp3d_bypass_mode wanted)
{
	struct hp3d_bypass *b = hp3d_bypass(rail);

	if (b == NULL && wanted == HP3D_BYPASS_ON)
		return;
	bypass_mode[rail] = wanted;
	fprintf(stderr, "hp3d: [rail.%s]: bypass %s, set by the operator\n", cfg->rails[rail].name,
		modes[wanted]);
	if (b == NULL)
		return;
	hp3d_bypass_close(b, wanted == HP3D_BYPASS_OFF);
	hp3d_bypass_wish(b, wanted == HP3D_BYPASS_ON ? HP3D_BYPASS_LEAVE : HP3D_BYPASS_TAKE);
}

/* Sets the mode of rail `name` and of all rails of its bond, or of all rails (NULL). The name may
 * also be that of a bond. -1: no such rail. */
static int set_named(const struct hp3_config *cfg, const char *name, enum hp3d_bypass_mode wanted)
{
	unsigned lead = name != NULL ? hp3_config_flows_rail(cfg, name) : 0;
	int found = -1;

	for (unsigned rail = 0; rail < cfg->n_rails; rail++) {
		if (name != NULL && hp3_config_lead(cfg, rail) != lead)
			continue;
		set_rail_bypass(cfg, rail, wanted);
		found = 0;
	}
	return found;
}

/* The first of the selected rails that cannot go direct; NULL: there is none. */
static const char *find_rail_without_bypass(const struct hp3_config *cfg, const char *name)
{
	for (unsigned rail = 0; rail < cfg->n_rails; rail++) {
		if ((name == NULL || strcmp(cfg->rails[rail].name, name) == 0) &&
			hp3d_bypass(rail) == NULL)
			return cfg->rails[rail].name;
	}
	return NULL;
}

static json_t *refuse_bypass(const struct hp3_config *cfg, const char *rail)
{
	if (hp3_config_is_verbs_mode(cfg))
		return hp3d_json_error("no-fail-open", "hp3ctl mode off stops moves",
			"in verbs mode, no packets pass hp3d");
	return hp3d_json_error("no-fail-open",
		"hp3ctl mode off stops moves; at its start, hp3d printed why the rail does not "
		"fail open",
		"rail %s does not fail open: its packets still pass hp3d", rail);
}

json_t *hp3d_json_bypass(const struct hp3_config *cfg, json_t *req)
{
	const char *wanted = json_string_value(json_object_get(req, "bypass"));
	const char *name = json_string_value(json_object_get(req, "rail")), *all, *without;
	unsigned i = 0;

	if (json_object_get(req, "rail") && (!name || !wanted))
		return hp3d_json_error("bad-request", "say auto, on or off, too",
			"a rail is named, but nothing is to be set");
	if (json_object_get(req, "bypass")) {
		while (i < HP3D_BYPASS_OFF + 1 && (!wanted || strcmp(modes[i], wanted) != 0))
			i++;
		if (i > HP3D_BYPASS_OFF)
			return hp3d_json_error("bad-request", "give auto, on or off",
				"no such bypass: %s", wanted ? wanted : "(no text)");
		if (set_named(cfg, name, (enum hp3d_bypass_mode)i) < 0)
			return hp3d_json_error(
				"not-found", "hp3ctl bypass lists the rails", "no rail %s", name);
		without = find_rail_without_bypass(cfg, name);
		if (i == HP3D_BYPASS_ON && without != NULL)
			return refuse_bypass(cfg, without); /* the other rails are set */
	}
	all = common_mode(cfg);
	return hp3d_json_ok(json_pack("{s:o, s:o}", "bypass", all ? json_string(all) : json_null(),
		"rails", hp3d_bypass_json(cfg)));
}
