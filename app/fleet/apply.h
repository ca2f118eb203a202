/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLEET_APPLY_H
#define HP3_APP_FLEET_APPLY_H
/*
 * Plans, from NATS to hp3d: what advice.h lets through hp3d is asked to take into account, and what
 * came of it is told on stderr, and to planners in reports for FLEET_APPLY_REPORT_MS. A thread of
 * libnats hands plans over; all else belongs to the agent's own.
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
	pthread_mutex_t lock; /* of what follows */
	struct hp3_fleet_plan plan; /* that came last */
	bool came; /* and was not taken yet */
	uint64_t bad; /* messages that are no plan of this version */
	int bell[2]; /* a pipe: one byte for each plan */
	/* the agent's own: what hp3d was asked, and has not answered yet */
	uint8_t n_open;
	struct {
		char flow[HP3_FLOWID_MAX];
		uint16_t port;
		json_int_t tag;
		uint64_t until_ms;
	} open[FLEET_APPLY_OPEN];
	/* what came of it lately */
	uint8_t n_outcomes;
	struct {
		char flow[HP3_FLOWID_MAX];
		uint16_t port;
		uint8_t what; /* enum hp3_fleet_advised */
		uint64_t until_ms;
	} outcomes[FLEET_APPLY_OPEN];
	json_int_t since; /* events up to here are known */
};

/* 0 or a negative errno. */
int fleet_apply_start(struct fleet_apply *h, struct hp3_bus *bus, struct fleet_hp3d *hp3d,
	const char *host, uint64_t instance);
/* To be waited for, and to be emptied by fleet_apply_plan(). */
static inline int fleet_apply_fd(const struct fleet_apply *h)
{
	return h->bell[0];
}

/* So long at most, in ms; more: there is nothing that may have to be taken then. */
static inline uint32_t fleet_apply_wait_ms(const struct fleet_apply *h)
{
	return hp3_fleet_advice_waits(&h->advice) ? HP3_FLEET_ADVICE_RETRY_MS : UINT32_MAX;
}

/* A plan may have come: hp3d is asked about what concerns flows of the latest report. */
void fleet_apply_plan(struct fleet_apply *h, const struct fleet_gather *g,
	const struct hp3_fleet_report *r, uint64_t now_ms);
/* What has become of it? */
void fleet_apply_outcomes(struct fleet_apply *h, uint64_t now_ms);
/* Into the report that is to go out. */
void fleet_apply_report(struct fleet_apply *h, const struct fleet_gather *g,
	struct hp3_fleet_report *r, uint64_t now_ms);
/* After the bus: says what was counted. */
void fleet_apply_end(struct fleet_apply *h);

#endif
