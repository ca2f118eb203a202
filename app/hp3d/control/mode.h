/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_MODE_H
#define HP3D_MODE_H
/*
 * The mode of hp3d: on, observe, off ([policy] mode; what each means is hp3_policy_mode()'s). It
 * changes in mid-traffic: moves under way are called off, what is held leaves on the old port, and
 * flows that are elsewhere come home, each behind a drain, as soon as they can.
 *
 * What an operator set by `hp3ctl mode` holds until he sets another one, the file's own value
 * changes, or hp3d starts again: a reload for another key's sake does not turn hp3d on.
 *
 * Control thread only, but for hp3d_mode().
 */
#include <jansson.h>
#include "config/config.h"

/* `cfg` is the configuration in effect, which a change of the mode changes. */
void hp3d_mode_start(struct hp3_config *cfg);
/* Before a new configuration is applied: its mode becomes what is to be in effect. */
void hp3d_mode_reload(struct hp3_config *wanted);
/* The configuration in effect was changed, all of it or the mode: tells of a new mode. */
void hp3d_mode_changed(void);
/* Brings home what is elsewhere, where nothing may be. To be called every now and then. */
void hp3d_mode_poll(void);

enum hp3_policy_mode hp3d_mode(void); /* in effect; any thread may ask */
const char *hp3d_mode_by(void); /* who set it: configuration, operator */

/* The request: "mode" (absent: only tells). */
json_t *hp3d_json_mode(const struct hp3_config *cfg, json_t *req);

#endif
