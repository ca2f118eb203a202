/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Passes advice from plans to hp3d, after the filter of advice.h. Plans arrive over NATS. Prints
 * the outcomes of advice on stderr. For FLEET_APPLY_REPORT_MS, also adds the outcomes to the
 * reports for planners. A thread of libnats delivers plans; everything else runs in the agent's
 * thread.
 */
#include <pthread.h>
#include "app/bus/bus.h"
#include "fleet/advice.h"
#include "app/fleet/gather.h"
#include "app/fleet/hp3d.h"

#define FLEET_APPLY_OPEN      HP3_FLEET_FLOWS
#define FLEET_APPLY_REPORT_MS 60000u

struct fleet_apply {
	struct hp3_fleet_advice advice;
	struct fleet_hp3d *hp3d;
	pthread_mutex_t lock; /* protects `plan`, `came` and `bad` */
	struct hp3_fleet_plan plan; /* the latest plan */
	bool came; /* the agent's thread has not taken `plan` yet */
	uint64_t bad; /* messages that are not a plan of this version */
	int bell[2]; /* a pipe(2): one byte for each plan; fleet_apply_plan() empties it */
	/* of the agent's thread: moves requested from hp3d, without an outcome yet */
	uint8_t n_open;
	struct {
		char flow[HP3_FLOWID_MAX];
		uint16_t port;
		json_int_t tag;
		uint64_t until_ms;
	} open[FLEET_APPLY_OPEN];
	/* recent outcomes */
	uint8_t n_outcomes;
	struct {
		char flow[HP3_FLOWID_MAX];
		uint16_t port;
		uint8_t what; /* enum hp3_fleet_advised */
		uint64_t until_ms;
	} outcomes[FLEET_APPLY_OPEN];
	json_int_t since; /* number of the last event read */
};

/* Returns 0 or a negative errno. */
int fleet_apply_start(struct fleet_apply *h, struct hp3_bus *bus, struct fleet_hp3d *hp3d,
	const char *host, uint64_t instance);
/* Takes a plan, if one has arrived, and passes its advice about flows of the latest report to hp3d.
 */
void fleet_apply_plan(struct fleet_apply *h, const struct fleet_gather *g,
	const struct hp3_fleet_report *r, uint64_t now_ms);
/* Reads the outcomes of advice from hp3d's events. */
void fleet_apply_outcomes(struct fleet_apply *h, uint64_t now_ms);
/* Adds the outcomes to the next report. */
void fleet_apply_report(struct fleet_apply *h, const struct fleet_gather *g,
	struct hp3_fleet_report *r, uint64_t now_ms);
/* Prints the counters. Call it after closing the bus. */
void fleet_apply_end(struct fleet_apply *h);
