/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Turns the table of policy (policy.def) into a configuration for an engine, in two steps. A
 * *table* configuration has, in each field that the table names, the operator's value or the
 * default. A *settled* configuration also has all values that follow from the values of the table.
 * Dumps, reloads and changes of single values work on the table configuration. hp3_engine_create()
 * and hp3_engine_reconfigure() take the settled configuration. So hp3d, the simulator and the tests
 * derive the same settings from the same values.
 */
#include "engine/engine.h"

/* The column `reload` of the table. */
#define HP3_RELOAD  true /* a reload may change this key */
#define HP3_RESTART false
#define HP3_STUDY   false /* a key for studies; a change needs a restart */

/* The shipped configuration: every field of the table at its default, all others 0. */
void hp3_policy_defaults(struct hp3_engine_config *table);

/*
 * The settled configuration: sets the fields that follow from `words`, from other fields, or from
 * the table's fixed values. A caller may set `model` afterwards.
 */
struct hp3_engine_config hp3_policy_settled(const struct hp3_engine_config *table);

/*
 * Keeps in `now` the values of `was` whose keys need a restart (HP3_RESTART). It does not keep
 * values of keys for studies (HP3_STUDY): hp3d passes them unchanged (hp3_config_apply_reload()).
 */
void hp3_policy_keep(struct hp3_engine_config *now, const struct hp3_engine_config *was);

/* Applies another mode to a settled configuration. Only this function defines what a mode means. */
void hp3_policy_mode(struct hp3_engine_config *settled, enum hp3_policy_mode mode);

/* The words of the table's lists, by index; NULL after the last. */
extern const char *const hp3_policy_onoff[];
extern const char *const hp3_policy_modes[]; /* enum hp3_policy_mode */
extern const char *const hp3_policy_probes[]; /* enum hp3_probe_mode */
extern const char *const hp3_policy_identities[]; /* of hp3_engine_config.trace */
extern const char *const hp3_policy_rfr[]; /* enum hp3_spray_mode */
extern const char *const hp3_policy_cc[]; /* enum hp3_cc_mode */
extern const char *const hp3_policy_np[]; /* enum hp3_np_key */
extern const char *const hp3_policy_np_how[]; /* enum hp3_np_mode */
