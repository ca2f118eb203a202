/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_HP3D_H
#define HP3_APP_FLEET_HP3D_H
/*
 * hp3d as it answers on its control socket: a connection that is made when it is needed, and anew
 * after anything went wrong but a refusal. An answer is waited for FLEET_HP3D_WAIT_S at most.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define FLEET_HP3D_WAIT_S 5
#define FLEET_HP3D_WHY    192u

struct fleet_hp3d {
	const char *path; /* of the socket */
	int fd; /* -1: not connected */
	unsigned run; /* connections so far: another one may be to another hp3d */
	char *buf; /* what came behind the last answer */
	size_t len, cap;
	char why[FLEET_HP3D_WHY]; /* the last call that failed: what is wrong, and what to do */
	bool is_busy; /* it failed because something else is under way, which will end */
};

void fleet_hp3d_init(struct fleet_hp3d *h, const char *path);
void fleet_hp3d_close(struct fleet_hp3d *h);

/* The data of the answer, the caller's; NULL: see why. The request is taken over. */
json_t *fleet_hp3d_ask(struct fleet_hp3d *h, json_t *req);
/* A list, all its pages in one array, `most` items at most. */
json_t *fleet_hp3d_list(struct fleet_hp3d *h, json_t *req, size_t most);

#endif
