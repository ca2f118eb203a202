/* SPDX-License-Identifier: BSD-3-Clause */
/* Beside the RNIC: what completions tell in place of packets. */
#include <errno.h>
#include "engine/pass/pass.h"

/* What the queue pair does is known from now on as if its packets had been seen. */
static void begin(struct hp3_flow *f)
{
	f->flags |= HP3_FF_STARTED;
	f->watch |= HP3_FW_FELT;
}

static void take_ports(struct hp3_engine *e, struct hp3_flow *f, const struct hp3_felt *felt)
{
	uint16_t port = felt->port != 0 ? felt->port : felt->home;

	f->home = felt->home;
	if (f->state == HP3_RFR_STEADY)
		hp3_set_port(e, f, port);
}

int hp3_felt(struct hp3_engine *e, uint32_t flow, const struct hp3_felt *felt, uint64_t now,
	struct hp3_acts *acts)
{
	struct hp3_turn t = {e, now, acts};
	struct hp3_flow *f;

	acts->n = 0;
	if (flow >= e->cfg.max_flows || !(e->flows[flow].flags & HP3_FF_USED))
		return -ENOENT;
	f = &e->flows[flow];
	if (!e->cfg.beside || f->pairing != HP3_PAIRING_EVENT)
		return -EINVAL;
	begin(f);
	take_ports(e, f, felt);
	f->last = (uint32_t)(now >> HP3_TICK_SHIFT);
	f->bytes += felt->posted;
	if (e->cfg.monitor.cycle_ns == 0 || (felt->done == 0 && felt->took_ns == 0))
		return 0;
	if (hp3_monitor_felt(&f->monitor, &e->cfg.monitor, felt->took_ns, felt->least_ns,
		    (uint32_t)hp3_min_u64(felt->done, UINT32_MAX), now))
		hp3_severe(&t, flow);
	else if ((f->flags & HP3_FF_SEVERE) && hp3_monitor_calm(&f->monitor))
		f->flags &= (uint16_t)~HP3_FF_SEVERE;
	return 0;
}
