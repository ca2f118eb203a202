/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Reads and writes the flow state file (control.h). A write replaces the whole file; a read checks
 * the file. */
#include <jansson.h>
#include "config/config.h"

/* The file's path: [control] moved, or derived from the control socket's path. False: no file is
 * configured. */
bool hp3d_flow_state_path(const struct hp3_config *cfg, char *path, size_t cap);

/* Takes the reference to `flows`. Returns 0, or a negative errno; the file is then unchanged. */
int hp3d_flow_state_write(const char *path, json_t *flows);

/*
 * The array of flows, a new reference. NULL: there is no file (*why is NULL), or it cannot be used
 * (*why: the reason).
 */
json_t *hp3d_flow_state_read(const char *path, const char **why);
