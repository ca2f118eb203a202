/* SPDX-License-Identifier: BSD-3-Clause */
/* Commands about hp3d as a whole: stats, config. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "app/hp3d/control/counters.h"
#include "app/hp3d/control/events.h"
#include "app/hp3d/control/requests.h"
#include "app/hp3d/pipe/pool.h"
#include "config/bonds.h"
#include "config/keys.h"

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
	if (!hp3d_pool_is_ready(pool))
		return;
	json_object_set_new(arg, pool->name,
		json_pack("{s:I, s:I}", "size", (json_int_t)pool->size, "free",
			(json_int_t)rte_mempool_avail_count(pool)));
}

json_t *hp3d_pools_json(void)
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
		hp3d_pools_json(), "events", "last", (json_int_t)hp3d_events_last());
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
