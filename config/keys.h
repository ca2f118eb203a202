/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The table of hp3.ini's keys. The sample file, the messages and the manual page take all
 * information about a key from the key's row.
 */
#include "config/ini.h"
#include "engine/engine.h"

extern const struct hp3_ini_schema hp3_config_schema;

/* Checks the rules between keys (check.c). */
void hp3_config_check_rules(struct hp3_ini_doc *doc, const void *obj, unsigned flags);
/*
 * Checks only the rules between keys of engine/policy.def. Used by other tools, whose files have
 * these keys.
 */
void hp3_config_check_policy(struct hp3_ini_doc *doc, const struct hp3_engine_config *table);
/* Functions for `valid` of struct hp3_ini_key. None of them is called for "". */
bool hp3_config_valid_prefix(const char *s);
bool hp3_config_valid_cpus(const char *s);
bool hp3_config_valid_devargs(const char *s);
bool hp3_config_valid_names(const char *s); /* names of rails, separated by commas (bonds.c) */
bool hp3_config_valid_path(const char *s);
bool hp3_config_valid_path_or_off(const char *s); /* a path, or "off" */
bool hp3_config_valid_key(const char *s);
bool hp3_config_valid_metrics_socket(const char *s);
