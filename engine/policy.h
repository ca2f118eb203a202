/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_POLICY_H
#define HP3_ENGINE_POLICY_H
/*
 * From the table of policy (policy.def) to a configuration that an engine takes, in two steps:
 * a table configuration has in each field that the table names what an operator said, or the
 * default; a settled one also has what follows from it. Dumps, reloads and changes of single values
 * work on the first, hp3_engine_create() and hp3_engine_reconfigure() take the second. So hp3d, the
 * simulator and the tests cannot mean different things by the same values.
 */
#include "engine/engine.h"

#define HP3_RELOAD  true /* may change in a running process */
#define HP3_RESTART false

/* What ships: every field of the table at its default, all others 0. */
void hp3_policy_defaults(struct hp3_engine_config *table);

/*
 * What follows from a table configuration: the meaning of its words, fields that take their value
 * from another one, and what the table fixes. `model` and `load_age_ns` of a caller who knows more
 * than an operator can say are his to set afterwards.
 */
struct hp3_engine_config hp3_policy_settled(const struct hp3_engine_config *table);

/* A settled configuration in another mode: what a mode means is said here, and nowhere else. */
void hp3_policy_mode(struct hp3_engine_config *settled, enum hp3_policy_mode mode);

/* The words of the table's lists, by index; NULL behind the last. */
extern const char *const hp3_policy_onoff[];
extern const char *const hp3_policy_modes[]; /* enum hp3_policy_mode */
extern const char *const hp3_policy_probes[]; /* enum hp3_probe_mode */
extern const char *const hp3_policy_identities[]; /* of hp3_engine_config.trace */
extern const char *const hp3_policy_rfr[]; /* of hp3_spray_params.on */
extern const char *const hp3_policy_cc[]; /* enum hp3_cc_mode */
extern const char *const hp3_policy_np[]; /* enum hp3_np_key */
extern const char *const hp3_policy_np_how[]; /* enum hp3_np_mode */

#endif
