/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A scenario file: a topology, load between hosts, and events. The loader of config/ reads the
 * file. hp3-fabric checks the scenario against the topology, and hp3-testbed gets the scenario as
 * JSON.
 *
 * [flow.NAME] is a pair of roce-gen processes, [ring.NAME] an all-reduce over several hosts.
 * [event.NAME] is an action at a given time. Moves are made only in mode `manual`; all other
 * actions are made in every mode.
 */
#include <jansson.h>
#include "p4-testbed/fabric/impair.h"
#include "p4-testbed/fabric/net.h"

#define HP3_SCENARIO_MAX 64u /* largest number of flows, of rings, and of events */

enum hp3_scenario_load { HP3_LOAD_CLOSED, HP3_LOAD_POISSON };
enum hp3_scenario_action {
	HP3_EVENT_MOVE,
	HP3_EVENT_FAIL,
	HP3_EVENT_RESTORE,
	HP3_EVENT_DEGRADE,
	HP3_EVENT_BLACKHOLE,
};

struct hp3_scenario_flow {
	char name[16];
	char src[16], dst[16], via[16], ack_via[16], op[64], cdf[64];
	enum hp3_scenario_load load;
	uint32_t size_bytes, depth, load_mbps, start_ms, stop_ms, sport, qps;
};

struct hp3_scenario_ring {
	char name[16];
	char hosts[128], via[16];
	uint32_t size_bytes;
};

struct hp3_scenario_event {
	char name[16];
	enum hp3_scenario_action action;
	char flow[16], to[16], link[16], from[16];
	uint32_t at_ms, rate_mbps, delay_us, percent;
	struct hp3_impair impair;
	uint32_t reroute_ms; /* UINT32_MAX: never */
};

struct hp3_scenario {
	struct {
		char title[128], topology[64], text[400];
		/* by mode; a report shows those of the modes that ran */
		char text_off[200], text_observe[200], text_on[200];
		char text_move[200], text_manual[200], text_spray[200];
		uint32_t seconds, seed, warmup_ms;
	} scenario;
	struct {
		enum hp3_topo_onoff dcqcn;
		uint32_t window, timeout;
	} rc;
	struct hp3_scenario_flow flows[HP3_SCENARIO_MAX];
	struct hp3_scenario_ring rings[HP3_SCENARIO_MAX];
	struct hp3_scenario_event events[HP3_SCENARIO_MAX];
	uint32_t n_flows, n_rings, n_events;
};

/* Reads a scenario. Returns as hp3_ini_load() does. */
int hp3_scenario_load(const char *path, struct hp3_scenario *out, struct hp3_config_errors *errs);
json_t *hp3_scenario_json(const struct hp3_scenario *s);
