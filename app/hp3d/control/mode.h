/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The mode of hp3d: on, observe, off ([policy] mode; hp3_policy_mode() defines them). The mode may
 * change under traffic. When the mode is no longer `on`, hp3d cancels moves in progress, except
 * failovers. Packets that these moves held leave on the old path. Moved flows then return to their
 * home ports, each behind a drain.
 *
 * A mode set by `hp3ctl mode` holds until the operator sets another mode, the file's value changes,
 * or hp3d starts again. So a reload that changes another key does not turn hp3d on.
 *
 * Control thread only, except hp3d_mode().
 */
#include <jansson.h>
#include "config/config.h"

/* `cfg`: the configuration in effect; changes of the mode change it. */
void hp3d_mode_start(struct hp3_config *cfg);
/* Sets the mode in a configuration that was read again: the file's mode, or the operator's mode if
 * that mode still holds. Call it before `wanted` is applied. */
void hp3d_mode_reload(struct hp3_config *wanted);
/* Call it after the configuration in effect was changed: reports the mode if it is new. */
void hp3d_mode_changed(void);
/* Unless the mode is on, returns moved flows to their home ports. Call it regularly. */
void hp3d_mode_poll(void);

enum hp3_policy_mode hp3d_mode(void); /* mode in effect; any thread may ask */
const char *hp3d_mode_by(void); /* its source: configuration, operator */

/* Answers the request "mode": sets the mode, if the request has one, and returns it. */
json_t *hp3d_json_mode(const struct hp3_config *cfg, json_t *req);
