/* SPDX-License-Identifier: BSD-3-Clause */
/* health: whether hp3d works, with numbers of packets, flows and peers, and all warnings. */
#include "app/hp3d/control/health.h"
#include <string.h>
#include <unistd.h>
#include "app/clock.h"
#include "app/hp3d/control/control.h"
#include "app/hp3d/control/counters.h"
#include "app/hp3d/control/list.h"
#include "app/hp3d/control/mode.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/control/watch.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/pipe/pipe.h"
#include "app/record/record.h"
#include "config/bonds.h"
#include "engine/info.h"
#include "engine/policy.h"
#include "roce/icrc.h"

#define STATES_PER_STEP 256u
#define ANSWER_NS       1000000000ull /* as hp3d_worker_call() waits */
#define WATCH_NS        5000000000ull

/* Numbers of flows of all workers that answered. take_pulse() runs on a worker's lcore. */
struct pulse {
	unsigned rails, answering;
	uint32_t flows, moves, moved, unpaired, sprayed;
	uint32_t unpaired_by[HP3_UNPAIRED_MAX];
};

static void count_unpaired(struct pulse *p, const struct hp3_engine *e)
{
	for (unsigned i = 0; i < HP3_UNPAIRED_MAX; i++)
		p->unpaired_by[i] += hp3_engine_unpaired_by(e, (enum hp3_unpaired_reason)i);
}

static void take_pulse(struct hp3d_worker *w, void *arg)
{
	struct pulse *p = arg;

	for (unsigned rail = 0; rail < p->rails; rail++) {
		const struct hp3_engine *e = hp3d_pipe_engine(hp3d_worker_pipe(w, rail));

		if (!hp3d_rail_is_lead(rail)) /* rails of a bond share an engine */
			continue;
		p->flows += hp3_engine_flows(e);
		p->moves += hp3_engine_moves(e);
		p->moved += hp3_engine_moved(e);
		p->sprayed += hp3_engine_sprayed(e);
		p->unpaired += hp3_engine_unpaired(e);
		count_unpaired(p, e);
	}
}

static json_t *unpaired_json(const struct pulse *p)
{
	json_t *j = json_object();

	for (unsigned i = HP3_UNPAIRED_PAIRED + 1; i < HP3_UNPAIRED_MAX; i++)
		if (p->unpaired_by[i] != 0)
			json_object_set_new(j, hp3_unpaired_name((enum hp3_unpaired_reason)i),
				json_integer(p->unpaired_by[i]));
	return j;
}

/* The watcher of queue pairs, and its counters. */
static json_t *watch_json(void)
{
	struct hp3d_watch_stats s = hp3d_watch_stats();

	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "by", hp3d_watch_name(), "up",
		(json_int_t)s.up, "down", (json_int_t)s.down, "refused", (json_int_t)s.refused,
		"no_rail", (json_int_t)s.no_rail, "ends", (json_int_t)s.ends);
}

/* By lcore: its busy and idle time, and the instruction set of its loops. */
static json_t *work_json(unsigned workers)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < workers; i++) {
		struct hp3d_worker *w = hp3d_worker(i);
		struct hp3d_worker_time t = hp3d_worker_time(w);

		json_array_append_new(
			list, json_pack("{s:I, s:I, s:s}", "busy_ns", (json_int_t)t.busy_ns,
				      "idle_ns", (json_int_t)t.idle_ns, "level",
				      hp3_isa_in_use(hp3d_pipe_engine(hp3d_worker_pipe(w, 0)))));
	}
	return list;
}

static json_t *audit_json(const struct hp3_config *cfg)
{
	struct hp3_record_stats s = hp3_record_stats();

	return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "file", cfg->log.audit, "state",
		s.off          ? "off"
		: s.error == 0 ? "ok"
			       : strerror(-s.error),
		"written", (json_int_t)s.written, "lost_rate", (json_int_t)s.lost_rate,
		"lost_queue", (json_int_t)s.lost_queue, "lost_disk", (json_int_t)s.lost_disk);
}

/* By bond: its mode, and its rails in the order of the configuration. */
static json_t *bonds_json(const struct hp3_config *cfg)
{
	static const char *const modes[] = {
		[HP3_BOND_LACP] = "lacp", [HP3_BOND_ACTIVE_BACKUP] = "active-backup"};
	json_t *bonds = json_object();

	for (unsigned i = 0; bonds && i < cfg->n_bonds; i++) {
		const struct hp3_config_bond *b = &cfg->bonds[i];
		const unsigned lead = hp3_config_flows_rail(cfg, b->name);
		json_t *rails = json_array();
		unsigned rail = lead;

		do {
			json_array_append_new(rails, json_string(cfg->rails[rail].name));
			rail = hp3_config_next_member(cfg, rail);
		} while (rail != lead);
		json_object_set_new(bonds, b->name,
			json_pack("{s:s, s:o}", "mode", modes[b->mode], "rails", rails));
	}
	return bonds;
}

static json_t *pipe_count(unsigned rail, size_t offset)
{
	return json_integer((json_int_t)hp3d_part_sum(rail, HP3D_PART_PIPE, offset));
}

static json_t *engine_count(unsigned rail, size_t offset)
{
	return json_integer((json_int_t)hp3d_part_sum(rail, HP3D_PART_ENGINE, offset));
}

/* By rail: packets that arrived, and those that hp3d dropped or could not assign to a flow. */
static json_t *packets_json(const struct hp3_config *cfg)
{
	json_t *j = json_object();

	for (unsigned r = 0; r < cfg->n_rails; r++)
		json_object_set_new(j, cfg->rails[r].name,
			json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "tx",
				pipe_count(r, offsetof(struct hp3d_pipe_counters, packets_tx)),
				"rx",
				pipe_count(r, offsetof(struct hp3d_pipe_counters, packets_rx)),
				"drop_handover",
				pipe_count(r, offsetof(struct hp3d_pipe_counters, drop_handover)),
				"drop_tx_full",
				pipe_count(r, offsetof(struct hp3d_pipe_counters, drop_tx_full)),
				"drop_too_long",
				pipe_count(r, offsetof(struct hp3d_pipe_counters, drop_too_long)),
				"flows_full",
				engine_count(r, offsetof(struct hp3_stats, flows_full)),
				"pairs_full",
				engine_count(r, offsetof(struct hp3_stats, pairs_full))));
	return j;
}

/* --- peers --- */

struct peer_state {
	bool hp3d, keyed;
};

static bool take_peer_state(
	const struct hp3_engine *e, uint32_t index, uint64_t now, void *item, const void *arg)
{
	struct hp3_pair_info info;

	if (hp3_pair_info(e, index, now, &info) != 0)
		return false;
	*(struct peer_state *)item = (struct peer_state){info.peer == HP3_PEER_HP3D, info.keyed};
	return true;
}

/* Number of address pairs with flows; of these, with an hp3d that answers, and with a key. */
static json_t *peers_json(const struct hp3_config *cfg)
{
	struct peer_state items[STATES_PER_STEP];
	const struct hp3d_list list = {.records = cfg->engine.max_pairs,
		.items = items,
		.size = sizeof(items[0]),
		.room = STATES_PER_STEP,
		.take = take_peer_state};
	struct hp3d_place at = {0}, from;
	json_int_t pairs = 0, hp3d = 0, keyed = 0;
	unsigned n;

	while (hp3d_list_step(cfg, &list, &at, STATES_PER_STEP, &from, &n) > 0) {
		pairs += n;
		for (unsigned i = 0; i < n; i++) {
			hp3d += items[i].hp3d;
			keyed += items[i].keyed;
		}
	}
	return json_pack("{s:I, s:I, s:I}", "address_pairs", pairs, "hp3d", hp3d, "keyed", keyed);
}

/* --- the answer --- */

static uint64_t events_lost(void)
{
	uint64_t lost = 0;

	for (unsigned i = 0; i < hp3d_worker_count(); i++)
		lost += hp3d_worker_events_lost(hp3d_worker(i));
	return lost;
}

/* What the warnings are about. Calls no worker: a worker that hangs would delay this thread. */
static json_t *conditions_json(const struct hp3_config *cfg, const struct pulse *p)
{
	return json_pack("{s:i, s:i, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "lcores",
		(int)hp3d_worker_count(), "lcores_answering", (int)p->answering, "events_lost",
		(json_int_t)events_lost(), "links", hp3d_links_json(cfg), "silent",
		hp3d_silent_json(cfg), "bypass", hp3d_bypass_json(cfg), "packets",
		packets_json(cfg), "pool", hp3d_pools_json(), "audit", audit_json(cfg), "watch",
		watch_json(), "unpaired", unpaired_json(p));
}

static struct hp3d_warnings known;
static uint64_t next_watch;

/* Adds the warnings and the verdict. */
static void judge_health(json_t *j)
{
	json_t *warnings = hp3d_health_warnings(j);

	hp3d_warnings_note(&known, warnings, hp3d_now(), hp3_clock_ns(CLOCK_REALTIME));
	json_object_set_new(j, "status", json_string(hp3d_health_status(warnings)));
	json_object_set_new(j, "warnings", warnings);
}

/* As take_pulse(), by values that any thread may read. */
static struct pulse read_pulse(const struct hp3_config *cfg)
{
	struct pulse p = {.rails = cfg->n_rails};
	uint64_t now = hp3d_now();

	for (unsigned w = 0; w < hp3d_worker_count(); w++) {
		uint64_t at = hp3d_worker_round_at(hp3d_worker(w));

		p.answering += at >= now || now - at < ANSWER_NS;
		for (unsigned rail = 0; rail < cfg->n_rails; rail++)
			if (hp3d_rail_is_lead(rail))
				count_unpaired(&p,
					hp3d_pipe_engine(hp3d_worker_pipe(hp3d_worker(w), rail)));
	}
	return p;
}

void hp3d_health_watch(const struct hp3_config *cfg)
{
	struct pulse p;
	json_t *j;

	if (hp3d_now() < next_watch)
		return;
	next_watch = hp3d_now() + WATCH_NS;
	p = read_pulse(cfg);
	j = conditions_json(cfg, &p);
	if (j != NULL)
		judge_health(j);
	json_decref(j);
}

void hp3d_health_end(void)
{
	hp3d_warnings_free(&known);
}

json_t *hp3d_json_health(const struct hp3_config *cfg, json_t *req)
{
	unsigned workers = hp3d_worker_count();
	struct pulse p = {.rails = cfg->n_rails};
	json_t *j;

	for (unsigned i = 0; i < workers; i++)
		p.answering += hp3d_worker_call(hp3d_worker(i), take_pulse, &p) == 0;
	j = json_pack("{s:s, s:s, s:i, s:I, s:s, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:o, s:s, s:o, "
		      "s:o}",
		"status", "ok", "version", HP3_VERSION, "pid", (int)getpid(), "t_ns",
		(json_int_t)hp3d_now(), "mode", hp3_policy_modes[cfg->engine.words.mode], "mode_by",
		hp3d_mode_by(), "rails", (int)cfg->n_rails, "flows", (json_int_t)p.flows,
		"moves_under_way", (json_int_t)p.moves, "flows_moved", (json_int_t)p.moved,
		"flows_sprayed", (json_int_t)p.sprayed, "flows_unpaired", (json_int_t)p.unpaired,
		"peers", peers_json(cfg), "icrc", hp3_icrc_in_use(), "work", work_json(workers),
		"bonds", bonds_json(cfg));
	if (j == NULL)
		return NULL;
	json_object_set_new(j, "verbs_mode", json_boolean(hp3_config_is_verbs_mode(cfg)));
	json_object_update_new(j, conditions_json(cfg, &p));
	judge_health(j);
	return hp3d_json_ok(j);
}
