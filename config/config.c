/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of config.h: those of ini.h for the keys of hp3.ini, and reload. */
#include <string.h>
#include "config/config.h"
#include "config/keys.h"
#include "engine/policy.h"

/* Sets what no key sets: the policy's values for studies have their defaults. */
static void init_config(struct hp3_config *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	hp3_policy_defaults(&cfg->engine);
}

void hp3_config_defaults(struct hp3_config *cfg)
{
	init_config(cfg);
	hp3_ini_defaults(&hp3_config_schema, cfg);
}

int hp3_config_load(
	const char *path, unsigned flags, struct hp3_config *out, struct hp3_config_errors *errs)
{
	struct hp3_config cfg;
	int ret;

	init_config(&cfg);
	ret = hp3_ini_load(&hp3_config_schema, path, flags, &cfg, errs);
	if (ret == 0)
		*out = cfg;
	return ret;
}

int hp3_config_parse(const char *file, const char *text, size_t len, unsigned flags,
	struct hp3_config *out, struct hp3_config_errors *errs)
{
	struct hp3_config cfg;
	int ret;

	init_config(&cfg);
	ret = hp3_ini_parse(&hp3_config_schema, file, text, len, flags, &cfg, errs);
	if (ret == 0)
		*out = cfg;
	return ret;
}

void hp3_config_dump(FILE *out, const struct hp3_config *cfg)
{
	hp3_ini_dump(&hp3_config_schema, cfg, out);
}

void hp3_config_dump_short(FILE *out, const struct hp3_config *cfg)
{
	struct hp3_config shown = *cfg;

	if (shown.n_rails == 0 && !hp3_config_is_verbs_mode(cfg)) {
		shown.rails[0] = (struct hp3_config_rail){.name = "rail0",
			.rnic = "net_af_packet0,iface=veth0",
			.net = "net_af_packet1,iface=eth0"};
		shown.n_rails = 1;
	}
	hp3_ini_dump_short(&hp3_config_schema, &shown, out);
}

/*
 * The field of the same section and key in the other configuration; NULL if that configuration has
 * no such rail.
 */
struct same {
	const struct hp3_ini_item *item;
	const void *field;
};

static int same_item(void *arg, const struct hp3_ini_item *item)
{
	struct same *s = arg;

	if (item->key != s->item->key || strcmp(item->section, s->item->section) != 0)
		return 0;
	s->field = item->field;
	return 1;
}

static const void *same_field(const struct hp3_config *cfg, const struct hp3_ini_item *item)
{
	struct same s = {.item = item};

	hp3_ini_each(&hp3_config_schema, cfg, true, same_item, &s);
	return s.field;
}

struct diff {
	const struct hp3_config *other;
	void (*fn)(void *arg, const struct hp3_config_change *c);
	void *arg;
	unsigned restarts;
};

static void report_change(
	struct diff *d, const struct hp3_ini_item *item, const char *from, const char *to)
{
	struct hp3_config_change c = {.key = item->key, .from = from, .to = to};

	strcpy(c.section, item->section);
	if (!item->key->reloadable)
		d->restarts++;
	if (d->fn != NULL)
		d->fn(d->arg, &c);
}

static int diff_item(void *arg, const struct hp3_ini_item *item)
{
	struct diff *d = arg;
	const void *wanted = same_field(d->other, item);
	char from[HP3_INI_VALUE_MAX], to[HP3_INI_VALUE_MAX];

	hp3_ini_format(item->key, item->field, from, sizeof(from));
	if (wanted != NULL)
		hp3_ini_format(item->key, wanted, to, sizeof(to));
	if (wanted == NULL || strcmp(from, to) != 0)
		report_change(d, item, from, wanted != NULL ? to : NULL);
	return 0;
}

static int added_item(void *arg, const struct hp3_ini_item *item)
{
	struct diff *d = arg;
	char to[HP3_INI_VALUE_MAX];

	if (same_field(d->other, item) != NULL)
		return 0;
	hp3_ini_format(item->key, item->field, to, sizeof(to));
	report_change(d, item, NULL, to);
	return 0;
}

unsigned hp3_config_diff_reload(const struct hp3_config *running, const struct hp3_config *wanted,
	void (*fn)(void *arg, const struct hp3_config_change *c), void *arg)
{
	struct diff d = {.other = wanted, .fn = fn, .arg = arg};

	hp3_ini_each(&hp3_config_schema, running, true, diff_item, &d);
	d.other = running;
	hp3_ini_each(&hp3_config_schema, wanted, true, added_item, &d);
	return d.restarts;
}

struct apply {
	struct hp3_config *running;
	const struct hp3_config *wanted;
};

static int apply_item(void *arg, const struct hp3_ini_item *item)
{
	struct apply *a = arg;
	const void *from = same_field(a->wanted, item);
	size_t offset = (size_t)((const char *)item->field - (const char *)a->running);

	if (item->key->reloadable && from != NULL)
		memcpy((char *)a->running + offset, from, item->key->size);
	return 0;
}

void hp3_config_apply_reload(struct hp3_config *running, const struct hp3_config *wanted)
{
	struct apply a = {running, wanted};

	hp3_ini_each(&hp3_config_schema, running, true, apply_item, &a);
}
