/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_FLOW_STATE_FILE_H
#define HP3D_FLOW_STATE_FILE_H
/* The file of flow_state.h: written as a whole, checked when it is read. */
#include <jansson.h>
#include "config/config.h"

/* Its path: [control] moved, or derived from the socket's. False: no file is configured. */
bool hp3d_flow_state_path(const struct hp3_config *cfg, char *path, size_t cap);

/* Takes the reference to `flows`. 0, or a negative errno; the file is then unchanged. */
int hp3d_flow_state_write(const char *path, json_t *flows);

/*
 * The array of flows, a new reference. NULL: there is no file (*why is NULL), or it cannot be used
 * (*why: the reason).
 */
json_t *hp3d_flow_state_read(const char *path, const char **why);

#endif
