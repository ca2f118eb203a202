/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The path of a flow in use: counts the flow as active in the path table until the flow is idle,
 * and stores there what acknowledged data show about the path.
 */
#include "engine/paths/compare.h"
#include "engine/paths/paths.h"

void hp3_path_refresh(struct hp3_engine *e, const struct hp3_flow *f, uint64_t now)
{
	struct hp3_paths *t;
	struct hp3_estimates path;

	if (f->path == HP3_NO_PATH || e->cfg.monitor.cycle_ns == 0 || !(f->flags & HP3_FF_PAIRED) ||
		(f->watch & HP3_FW_COMPLETIONS)) /* completions are no round trips of the path */
		return;
	hp3_monitor_estimates(&f->monitor, &e->cfg.monitor, &path);
	t = hp3_paths_of(e, f->pair);
	if (path.rtt_ns != 0)
		hp3_paths_reply(t, (int)f->path, path.rtt_ns,
			path.marked_permille >= e->cfg.paths.ecn_fraction * 10u,
			hp3_monitor_heard(&f->monitor, now));
	if (hp3_monitor_marked(&f->monitor))
		hp3_paths_spoil(t, (int)f->path);
}

void hp3_path_enter(struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_paths *t;
	int at;

	if (e->paths == NULL || f->path != HP3_NO_PATH)
		return;
	t = hp3_paths_of(e, f->pair);
	at = hp3_paths_enter(t, hp3_flow_port(f), f->rqpn, now);
	if (at < 0)
		return;
	f->path = (uint32_t)at;
}

void hp3_path_leave(struct hp3_engine *e, uint32_t flow, uint64_t now)
{
	struct hp3_flow *f = &e->flows[flow];
	struct hp3_paths *t;

	if (f->path == HP3_NO_PATH)
		return;
	hp3_path_refresh(e, f, now);
	t = hp3_paths_of(e, f->pair);
	hp3_paths_leave(t, (int)f->path);
	f->path = HP3_NO_PATH;
}

void hp3_pair_forget(struct hp3_engine *e, uint32_t pair)
{
	hp3_compare_forget(e, pair);
	if (e->tracing != NULL)
		hp3_trace_forget(e, pair);
}
