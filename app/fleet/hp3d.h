/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A connection to hp3d's control socket. A call connects when needed, and connects again after
 * every error except a refusal. A call fails if hp3d sends nothing, or receives nothing, for
 * FLEET_HP3D_WAIT_S.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include "app/line.h"

#define FLEET_HP3D_WAIT_S 5
#define FLEET_HP3D_WHY    192u

struct fleet_hp3d {
	const char *path; /* path of the socket */
	struct hp3_line line; /* begins with an fd of -1; call hp3_line_close() at the end */
	unsigned run; /* number of the connection; a new connection may be to another hp3d */
	char why[FLEET_HP3D_WHY]; /* reason and fix of the last failed call */
	/* the last call failed because hp3d was busy with the flow: try again later */
	bool is_busy;
};

/* The data of the answer, a new reference; NULL: see `why`. Takes the reference to the request. */
json_t *fleet_hp3d_ask(struct fleet_hp3d *h, json_t *req);
/* Reads a list, page by page, into one array. Ends with the last page, or with the page after which
 * the array has `most` items or more. NULL: see `why`. */
json_t *fleet_hp3d_list(struct fleet_hp3d *h, json_t *req, size_t most);
