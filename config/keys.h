/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CONFIG_KEYS_H
#define HP3_CONFIG_KEYS_H
/*
 * The one table of hp3.ini's keys. Everything that is said about a key, here, in the sample file,
 * in messages and in the manual, comes from its row.
 */
#include "config/ini.h"
#include "engine/engine.h"

extern const struct hp3_ini_schema hp3_config_schema;

/* The rules between keys (check.c), and those of single strings. */
void hp3_config_check_rules(struct hp3_ini_doc *doc, const void *obj, unsigned flags);
/* Those of them between keys of policy alone, for other tools whose files have such. */
void hp3_config_check_policy(struct hp3_ini_doc *doc, const struct hp3_engine_config *table);
bool hp3_config_valid_prefix(const char *s);
bool hp3_config_valid_cpus(const char *s);
bool hp3_config_valid_devargs(const char *s);
bool hp3_config_valid_path(const char *s);
bool hp3_config_valid_state(const char *s); /* a path, or nothing */
bool hp3_config_valid_moved(const char *s); /* a path, "off", or nothing */
bool hp3_config_valid_log(const char *s);
bool hp3_config_valid_key(const char *s);
bool hp3_config_valid_metrics_socket(const char *s);

#endif
