/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Commands that query a running hp3-fleet over NATS, and `order`, which needs a running hp3-fleet
 * only for --ports. All commands return an exit code, and print their errors. */
#include <jansson.h>
#include <stdbool.h>
#include "app/fleet/keys.h"

#define FLEET_ORDER_TEXT 0 /* the format of `order` without --format */

struct fleet_options {
	const char *command, *flow;
	const char *hosts; /* argument of `order` */
	unsigned ranks, limit;
	int format; /* of `order`: fleet_order_format() */
	bool json, ports;
};

/* Does fleet_ask() have this command? */
bool fleet_command_is_known(const char *command);
int fleet_ask(const struct fleet_config *cfg, const struct fleet_options *o);
int fleet_order(const struct fleet_config *cfg, const struct fleet_options *o);

/* Chooses UDP source ports for the collective rings of `hp3-fleet order`, so that each ring crosses
 * spines of its own. A running hp3-fleet has the ports and their spines from the hosts' reports. */
/* The path of a ring from one host to the next, if these hosts are below different leaves. */
struct fleet_spine_path {
	uint16_t port; /* 0: not known */
	char by[46]; /* the spine that the path crosses */
};

/*
 * hosts: n names in the order of the ring; the first host follows the last host. crosses[i]: host i
 * and the next host are below different leaves. spine_path[i * rings + k]: path of ring k from host
 * i to the next host; zero if both hosts are below one leaf. The caller has zeroed spine_path.
 * Returns an exit code; prints errors.
 */
int fleet_rings(const struct fleet_config *cfg, const char *const *hosts, const bool *crosses,
	uint32_t n, unsigned rings, struct fleet_spine_path *spine_path);

/*
 * Connects to NATS. Waits a few seconds for the connection; after that, libnats continues to try.
 * NULL: NATS cannot be used at all.
 */
struct hp3_bus *fleet_line_open(const struct fleet_config *cfg);
/* Returns the answer, a new reference, even if the answer is an error; NULL: no answer. Frees the
 * question. */
json_t *fleet_question(struct hp3_bus *line, const struct fleet_config *cfg, json_t *question);
