/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3D_FLOW_STATE_FILE_H
#define HP3D_FLOW_STATE_FILE_H
/* The file of flow_state.h: written as a whole, checked when it is read. */
#include <jansson.h>
#include "config/config.h"

/* Where it lies: [control] moved, or beside the socket. False: there is none. */
bool hp3d_flow_state_path(const struct hp3_config *cfg, char *path, size_t cap);

/* Takes `flows`. 0, or a negative errno; the file is then what it was. */
int hp3d_flow_state_write(const char *path, json_t *flows);

/*
 * The array of flows, to be released; NULL: there is no file (*why is NULL) or it cannot be used
 * (*why says so).
 */
json_t *hp3d_flow_state_read(const char *path, const char **why);

#endif
