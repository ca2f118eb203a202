/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ENGINE_STEADY_H
#define HP3_ENGINE_STEADY_H
/* The few steps that every packet takes: the monitor of the path in use, and what a later move must
 * know of the newest packet. Inlined into packet.c and transmit.c. */
#include "engine/internal.h"

static inline bool is_watched(const struct hp3_engine *e, const struct hp3_flow *f)
{
	return e->cfg.monitor.cycle_ns != 0 && (f->flags & HP3_FF_PAIRED);
}

/* A first transmission leaves now. READs outstanding would delay the ACK that is timed. */
static inline void watch_sent(
	struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint64_t now)
{
	struct hp3_flow *f = &e->flows[flow];
	bool read = v->flags & (HP3_VF_READ | HP3_VF_ATOMIC);

	if (__builtin_expect(read, 0))
		f->flags |= HP3_FF_READS;
	else if (!(v->flags & HP3_VF_ACKREQ) && !(f->flags & HP3_FF_FRESH))
		return;
	if (__builtin_expect(!(f->watch & HP3_FW_ARMED), 0))
		hp3_active_add(e, flow, now);
	f->flags &= (uint16_t)~HP3_FF_FRESH;
	if (is_watched(e, f))
		hp3_monitor_sent(&f->monitor, v->psn,
			(v->flags & HP3_VF_ACKREQ) && !(f->flags & HP3_FF_READS), now);
}
static inline void watch_reply(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v,
	uint32_t una_before, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	uint32_t acked = (f->stream.una - una_before) & HP3_PSN_MASK;

	/* Answered to the last PSN: the first response of a READ is proof of arrival, no more. */
	if (f->stream.una == f->stream.nxt && f->stream.open_len == 0)
		f->flags &= (uint16_t)~HP3_FF_READS;
	if (!is_watched(e, f))
		return;
	if (hp3_monitor_reply(&f->monitor, &e->cfg.monitor, v->psn, v->flags & HP3_VF_BECN,
		    acked << f->pmtu_log2, now))
		hp3_severe(e, flow, now, acts);
	else if (__builtin_expect(f->flags & HP3_FF_SEVERE, 0) && hp3_monitor_calm(&f->monitor)) {
		f->flags &= (uint16_t)~HP3_FF_SEVERE;
		hp3_backoff_calm(&f->backoff, now);
	}
}
/* The newest packet of the flow left or will leave; what does it mean for a later move? */
static inline void note_new(struct hp3_flow *f, const struct hp3_view *v)
{
	uint16_t flags =
		f->flags & (uint16_t) ~(HP3_FF_LAST_CLOSE | HP3_FF_IDLE_PROOF | HP3_FF_WENT_BACK);

	if (v->flags & (HP3_VF_ACKREQ | HP3_VF_READ | HP3_VF_ATOMIC))
		flags |= HP3_FF_LAST_CLOSE;
	if (__builtin_expect(v->flags & (HP3_VF_READ | HP3_VF_ATOMIC), 0))
		flags |= HP3_FF_READS; /* held or not: the RNIC waits for its response */
	f->flags = flags;
}

#endif
