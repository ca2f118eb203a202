/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any bytes as a message of hp3-fleet. The message is refused; or all its values are
 * within their ranges, and encoding the decoded message gives the same bytes. A report of an
 * unauthenticated sender changes neither the map of the fabric nor which planner is active.
 */
#include <errno.h>
#include "fleet/fleet.h"
#include "input.h"

static uint8_t again[HP3_FLEET_BYTES];

static void check_refusal(int ret)
{
	MUST(ret == 0 || ret == -EBADMSG || ret == -EPROTONOSUPPORT);
}

static void plan_with(const struct hp3_fleet_report *r)
{
	static const struct hp3_fleet_params p = {.max_hosts = 4,
		.max_links = 24,
		.age_ms = 3000,
		.mark_permille = 10,
		.full_percent = 75,
		.improve_percent = 20,
		.moves = 4,
		.hold_ms = 1000,
		.valid_ms = 3000,
		.period_ms = 1000,
		.alarm_marks = 500,
		.middle_periods = 3,
		.high_alarms = 5,
		.window_ms = 3000};
	static struct hp3_fleet *fleet;
	static struct hp3_fleet_plan plan;
	static uint64_t now = 1000;
	int ret;

	if (fleet == NULL) {
		fleet = hp3_fleet_create(
			aligned_alloc(64, (hp3_fleet_size(&p) + 63) / 64 * 64), &p);
		MUST(fleet != NULL);
	}
	ret = hp3_fleet_take(fleet, r, now);
	MUST(ret == 0 || ret == -EALREADY || ret == -ENOSPC || ret == -EUSERS);
	now += 500;
	hp3_fleet_look(fleet, now);
	hp3_fleet_plan(fleet, 1, "p", now, &plan);
	MUST(plan.worst_after_kbps <= plan.worst_before_kbps);
	MUST(hp3_fleet_plan_encode(&plan, again, sizeof(again)) > 0);
}

static void try_report(const uint8_t *data, size_t size)
{
	static struct hp3_fleet_report r;
	int ret = hp3_fleet_report_decode(data, size, &r);

	check_refusal(ret);
	if (ret != 0)
		return;
	MUST(hp3_fleet_report_encode(&r, again, sizeof(again)) == size);
	MUST(memcmp(again, data, size) == 0);
	MUST(r.n_flows <= HP3_FLEET_FLOWS && r.n_hops <= HP3_FLEET_HOPS);
	for (unsigned i = 0; i < r.n_flows; i++) {
		const struct hp3_fleet_flow *f = &r.flow[i];

		MUST(f->hop == HP3_FLEET_NO_HOP || f->hop < r.n_hops);
		MUST(f->marked_permille <= 1000 && f->n_alts <= HP3_FLEET_ALTS);
		for (unsigned k = 0; k < f->n_alts; k++)
			MUST(f->alt[k].hop < r.n_hops);
	}
	plan_with(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct hp3_fleet_plan p;
	struct hp3_fleet_keepalive b;
	int ret;

	try_report(data, size);
	ret = hp3_fleet_plan_decode(data, size, &p);
	check_refusal(ret);
	if (ret == 0) {
		MUST(hp3_fleet_plan_encode(&p, again, sizeof(again)) == size);
		MUST(memcmp(again, data, size) == 0);
	}
	ret = hp3_fleet_keepalive_decode(data, size, &b);
	check_refusal(ret);
	if (ret == 0)
		MUST(hp3_fleet_keepalive_encode(&b, again, sizeof(again)) == size);
	return 0;
}
