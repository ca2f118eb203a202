/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about hp3d as a whole: stats, config, health. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rte_mempool.h>
#include "app/hp3d/control/control.h"
#include "app/hp3d/control/counters.h"
#include "app/hp3d/control/events.h"
#include "app/hp3d/control/mode.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/control/watch.h"
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/pipe/pipe.h"
#include "app/record/record.h"
#include "config/bonds.h"
#include "config/keys.h"
#include "engine/policy.h"
#include "roce/icrc.h"

/* 64-bit numbers become strings if JSON readers may not represent them exactly. */
static json_t *big_number_json(uint64_t v)
{
	char text[24];

	if (v <= INT64_MAX)
		return json_integer((json_int_t)v);
	snprintf(text, sizeof(text), "%" PRIu64, v);
	return json_string(text);
}

/* `rail` and `worker` may be HP3D_ALL. */
static json_t *counters_json(const struct hp3_config *cfg, unsigned rail, unsigned worker)
{
	json_t *j = json_object();

	for (unsigned i = 0; i < hp3d_counter_count(); i++)
		json_object_set_new(j, hp3d_counter(i).name,
			big_number_json(hp3d_counter_sum(i, cfg->n_rails, rail, worker)));
	return j;
}

static json_t *explanations_json(void)
{
	json_t *j = json_object();

	for (unsigned i = 0; i < hp3d_counter_count(); i++)
		json_object_set_new(j, hp3d_counter(i).name, json_string(hp3d_counter(i).help));
	json_object_set_new(j, "events_lost",
		json_string("events lost because the queue to the control thread was full"));
	json_object_set_new(j, "size", json_string("packet buffers of the pool"));
	json_object_set_new(j, "free", json_string("packet buffers not in use"));
	json_object_set_new(j, "last", json_string("number of the latest event"));
	return j;
}

static void add_pool(struct rte_mempool *pool, void *arg)
{
	json_object_set_new(arg, pool->name,
		json_pack("{s:I, s:I}", "size", (json_int_t)pool->size, "free",
			(json_int_t)rte_mempool_avail_count(pool)));
}

/* Every packet buffer pool of the process, by name: size and free. */
static json_t *pools_json(void)
{
	json_t *pools = json_object();

	if (pools)
		rte_mempool_walk(add_pool, pools);
	return pools;
}

json_t *hp3d_json_stats(const struct hp3_config *cfg, json_t *req)
{
	json_t *rails = json_object(), *lcores = json_object(), *j;
	char name[16];

	for (unsigned i = 0; i < cfg->n_rails; i++) {
		if (hp3_config_is_lead(cfg, i))
			json_object_set_new(rails, hp3_config_flows_name(cfg, i),
				counters_json(cfg, i, HP3D_ALL));
	}
	for (unsigned i = 0; i < hp3d_worker_count(); i++) {
		snprintf(name, sizeof(name), "%u", i);
		j = counters_json(cfg, HP3D_ALL, i);
		json_object_set_new(
			j, "events_lost", big_number_json(hp3d_worker_events_lost(hp3d_worker(i))));
		json_object_set_new(lcores, name, j);
	}
	j = json_pack("{s:o, s:o, s:o, s:{s:I}}", "rail", rails, "lcore", lcores, "pool",
		pools_json(), "events", "last", (json_int_t)hp3d_events_last());
	if (j && json_is_true(json_object_get(req, "explain")))
		json_object_set_new(j, "help", explanations_json());
	return hp3d_json_ok(j);
}

static int add_config_key(void *arg, const struct hp3_ini_item *item)
{
	json_t *sections = arg, *section = json_object_get(sections, item->section);
	char text[HP3_INI_VALUE_MAX];
	json_t *value;

	if (!section) {
		json_object_set_new(sections, item->section, json_object());
		section = json_object_get(sections, item->section);
	}
	hp3_ini_format(item->key, item->field, text, sizeof(text));
	if (item->key->secret && text[0] != '\0')
		value = json_string("(set)");
	else if (item->key->type == HP3_INI_INT && isdigit((unsigned char)text[0]))
		value = big_number_json(strtoull(text, NULL, 10));
	else
		value = json_string(text);
	return json_object_set_new(section, item->key->key, value);
}

json_t *hp3d_json_config(const struct hp3_config *cfg, json_t *req)
{
	json_t *sections = json_object();

	hp3_ini_each(&hp3_config_schema, cfg, false, add_config_key, sections);
	return hp3d_json_ok(sections);
}

/* Runs on the worker's lcore. */
struct pulse {
	unsigned rails;
	uint32_t flows, moves, moved;
};

static void take_pulse(struct hp3d_worker *w, void *arg)
{
	struct pulse *p = arg;

	for (unsigned rail = 0; rail < p->rails; rail++) {
		const struct hp3_engine *e = hp3d_pipe_engine(hp3d_worker_pipe(w, rail));

		if (!hp3d_rail_is_lead(rail))
			continue;
		p->flows += hp3_engine_flows(e);
		p->moves += hp3_engine_moves(e);
		p->moved += hp3_engine_moved(e);
	}
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

static const char *status_of_health(const struct hp3_config *cfg, bool answering)
{
	if (!answering)
		return "lcore-hangs";
	if (hp3d_links_down(cfg) != 0)
		return "link-down";
	return hp3d_bypass_direct(cfg) != 0 ? "direct" : "ok";
}

json_t *hp3d_json_health(const struct hp3_config *cfg, json_t *req)
{
	unsigned workers = hp3d_worker_count(), answering = 0;
	struct pulse p = {.rails = cfg->n_rails};
	uint64_t lost = 0;

	for (unsigned i = 0; i < workers; i++) {
		answering += hp3d_worker_call(hp3d_worker(i), take_pulse, &p) == 0;
		lost += hp3d_worker_events_lost(hp3d_worker(i));
	}
	return hp3d_json_ok(json_pack(
		"{s:s, s:o, s:s, s:i, s:I, s:s, s:s, s:i, s:i, s:i, s:I, s:I, "
		"s:I, s:I, s:o, s:s, s:o, s:o, s:o, s:o, s:o}",
		"status", status_of_health(cfg, answering == workers), "warnings",
		hp3d_warnings_json(cfg), "version", HP3_VERSION, "pid", (int)getpid(), "t_ns",
		(json_int_t)hp3d_now(), "mode", hp3_policy_modes[cfg->engine.words.mode], "mode_by",
		hp3d_mode_by(), "rails", (int)cfg->n_rails, "lcores", (int)workers,
		"lcores_answering", (int)answering, "flows", (json_int_t)p.flows, "moves_under_way",
		(json_int_t)p.moves, "flows_moved", (json_int_t)p.moved, "events_lost",
		(json_int_t)lost, "watch", watch_json(), "icrc", hp3_icrc_in_use(), "work",
		work_json(workers), "audit", audit_json(cfg), "links", hp3d_links_json(cfg),
		"bonds", bonds_json(cfg), "bypass", hp3d_bypass_json(cfg)));
}
