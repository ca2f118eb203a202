/* SPDX-License-Identifier: BSD-3-Clause */
#include "engine/policy.h"
#include <string.h>

const char *const hp3_policy_onoff[] = {[false] = "off", [true] = "on", NULL};
const char *const hp3_policy_modes[] = {
	[HP3_POLICY_OFF] = "off", [HP3_POLICY_OBSERVE] = "observe", [HP3_POLICY_ON] = "on", NULL};
const char *const hp3_policy_probes[] = {[HP3_PROBE_MODE_OFF] = "off",
	[HP3_PROBE_MODE_AUTO] = "auto",
	[HP3_PROBE_MODE_PEER] = "peer",
	[HP3_PROBE_MODE_STANDARD] = "standard",
	NULL};
const char *const hp3_policy_identities[] = {[false] = "none", [true] = "trace", NULL};
const char *const hp3_policy_rfr[] = {
	[HP3_SPRAY_MOVE] = "move", [HP3_SPRAY_ALL] = "spray", [HP3_SPRAY_AUTO] = "auto", NULL};
const char *const hp3_policy_cc[] = {
	[HP3_CC_NATIVE] = "native", [HP3_CC_DCQCN] = "dcqcn", [HP3_CC_OFF] = "off", NULL};
const char *const hp3_policy_np[] = {
	[HP3_NP_KEY_AUTO] = "auto", [HP3_NP_KEY_ON] = "on", [HP3_NP_KEY_OFF] = "off", NULL};
const char *const hp3_policy_np_how[] = {[HP3_NP_CNP] = "cnp", [HP3_NP_BECN] = "becn", NULL};

static const uint8_t probe_choice[] = {[HP3_PROBE_MODE_OFF] = HP3_PROBES_AUTO,
	[HP3_PROBE_MODE_AUTO] = HP3_PROBES_AUTO,
	[HP3_PROBE_MODE_PEER] = HP3_PROBES_PEER,
	[HP3_PROBE_MODE_STANDARD] = HP3_PROBES_STANDARD};

/* Every value in range fits its field. */
#define FITS(field, most)                                                                          \
	(sizeof(((struct hp3_engine_config *)0)->field) == 8 ||                                    \
		(most) < 1ull << (sizeof(((struct hp3_engine_config *)0)->field) % 8 * 8))
#define HP3_POLICY_INT(section, key, unit, scale, def, least, most, reload, field, help)           \
	_Static_assert(FITS(field, (most) * (uint64_t)(scale)), #section "." #key);                \
	_Static_assert((def) <= (most) && (def) >= (least), #section "." #key);
#define HP3_POLICY_INT_OR(section, key, unit, def, least, most, word, reload, field, help)         \
	_Static_assert(FITS(field, (most) + 1ull), #section "." #key);                             \
	_Static_assert((def) <= (most) && (def) >= (least), #section "." #key);
#include "engine/policy.def"

void hp3_policy_defaults(struct hp3_engine_config *table)
{
	memset(table, 0, sizeof(*table));
#define HP3_POLICY_INT(section, key, unit, scale, def, least, most, reload, field, help)           \
	table->field = (__typeof__(table->field))((def) * (uint64_t)(scale));
#define HP3_POLICY_INT_OR(section, key, unit, def, least, most, word, reload, field, help)         \
	table->field = (def);
#define HP3_POLICY_WORD(section, key, words, def, reload, field, help) table->field = (def);
#include "engine/policy.def"
}

void hp3_policy_keep(struct hp3_engine_config *now, const struct hp3_engine_config *was)
{
#define KEEP_HP3_RELOAD(field)
#define KEEP_HP3_STUDY(field)
#define KEEP_HP3_RESTART(field) now->field = was->field;
#define HP3_POLICY_INT(section, key, unit, scale, def, least, most, reload, field, help)           \
	KEEP_##reload(field)
#define HP3_POLICY_INT_OR(section, key, unit, def, least, most, word, reload, field, help)         \
	KEEP_##reload(field)
#define HP3_POLICY_WORD(section, key, words, def, reload, field, help) KEEP_##reload(field)
#include "engine/policy.def"
#undef KEEP_HP3_RELOAD
#undef KEEP_HP3_STUDY
#undef KEEP_HP3_RESTART
}

static void settle_probing(struct hp3_engine_config *c)
{
	c->probing = c->words.probe != HP3_PROBE_MODE_OFF;
	c->probes = probe_choice[c->words.probe];
	c->round.guard_ns = c->round.timeout_ns;
	c->trace_timeout_ns = c->round.timeout_ns;
}

static void settle_paths(struct hp3_engine_config *c)
{
	c->paths.window_ns = c->round.timeout_ns;
	c->paths.rtt_factor = c->monitor.rtt_factor;
	c->paths.ecn_fraction = c->monitor.ecn_fraction;
}

/*
 * Off: packets are forwarded and counted, and moved flows return home behind a drain; nothing else
 * is changed. Observe: monitors paths, too, and pairs flows by challenge for that.
 */
void hp3_policy_mode(struct hp3_engine_config *c, enum hp3_policy_mode mode)
{
	c->moves_allowed = mode == HP3_POLICY_ON;
	c->observe = mode == HP3_POLICY_OBSERVE;
	c->silent = !c->words.observe_probes;
	if (mode == HP3_POLICY_ON)
		return;
	c->cc.withhold_percent = 0;
	if (!c->observe)
		c->stall_ns = 0;
}

struct hp3_engine_config hp3_policy_settled(const struct hp3_engine_config *table)
{
	struct hp3_engine_config c = *table;

#define HP3_POLICY_FIXED(field, value, why) c.field = (value);
#include "engine/policy.def"
	settle_probing(&c);
	settle_paths(&c);
	c.dead_age_ns = hp3_max_u64(c.dead_age_ns, c.idle_age_ns);
	if (!c.words.watch)
		c.monitor.cycle_ns = 0;
	hp3_policy_mode(&c, (enum hp3_policy_mode)c.words.mode);
	c.cc.notify = c.words.notify == HP3_NP_KEY_ON ||
		      (c.words.notify == HP3_NP_KEY_AUTO && c.cc.mode != HP3_CC_NATIVE);
	return c;
}
