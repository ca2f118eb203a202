/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Steps for every packet that packet.c or transmit.c handles. The steps monitor the path in use,
 * and record the state of the newest packet, which a later move needs. The loops of burst.c also
 * use is_plain_progress().
 */
#include "base/likely.h"
#include "engine/pass/pass.h"

/*
 * A first transmission leaves now. While READs are outstanding, no RTT is measured: the ACK would
 * wait for their responses.
 */
static inline void watch_sent(
	struct hp3_engine *e, uint32_t flow, const struct hp3_view *v, uint64_t now)
{
	struct hp3_flow *f = &e->flows[flow];
	bool read = v->flags & (HP3_VF_READ | HP3_VF_ATOMIC);

	if (HP3_UNLIKELY(read))
		f->flags |= HP3_FF_READS;
	else if (!(v->flags & HP3_VF_ACKREQ) && !(f->flags & HP3_FF_FRESH))
		return;
	if (HP3_UNLIKELY(!(f->watch & HP3_FW_ARMED)))
		hp3_active_add(e, flow, now);
	f->flags &= (uint16_t)~HP3_FF_FRESH;
	/* for paced flows, moves/rate.c calls this when the packet leaves */
	if (is_watched(e, f) && !(f->flags & HP3_FF_PACED))
		hp3_monitor_sent(&f->monitor, v->psn,
			(v->flags & HP3_VF_ACKREQ) && !(f->flags & HP3_FF_READS), now);
}
static inline void watch_reply(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v,
	bool in_window, uint32_t una_before, uint64_t now, struct hp3_acts *acts)
{
	struct hp3_flow *f = &e->flows[flow];
	uint32_t acked = (f->stream.una - una_before) & HP3_PSN_MASK;

	/* All PSNs are answered. (The first response to a READ is not enough: it only shows that
	 * the READ has arrived.) */
	if (f->stream.una == f->stream.nxt && f->stream.open_len == 0)
		f->flags &= (uint16_t)~HP3_FF_READS;
	if (!is_watched(e, f) || !in_window)
		return;
	if (hp3_monitor_reply(&f->monitor, &e->cfg.monitor, v->psn, v->flags & HP3_VF_BECN,
		    acked << f->pmtu_log2, now))
		hp3_severe(&(struct hp3_turn){e, now, acts}, flow);
	else if (HP3_UNLIKELY(f->flags & HP3_FF_SEVERE) && hp3_monitor_calm(&f->monitor))
		f->flags &= (uint16_t)~HP3_FF_SEVERE;
}
/* The newest packet of the flow leaves, now or later: records what a later move needs. */
static inline void note_new(struct hp3_engine *e, uint32_t flow, const struct hp3_view *v)
{
	struct hp3_flow *f = &e->flows[flow];
	uint16_t flags = f->flags & (uint16_t)~HP3_FF_OF_NEWEST;

	if (hp3_asks(v))
		flags |= HP3_FF_LAST_CLOSE;
	if (HP3_UNLIKELY(v->flags & (HP3_VF_READ | HP3_VF_ATOMIC)))
		/* the RNIC waits for the response, whether the packet is held or not */
		flags |= HP3_FF_READS;
	if (HP3_UNLIKELY(f->watch & HP3_FW_GUARD))
		hp3_guard_tx(e, flow, v, hp3_stream_end(&f->stream));
	f->flags = flags;
}

/*
 * True: the reply is an unmarked ACK for a flow in steady state. This ACK advances una, but
 * acknowledges only a part of the packets in flight. In a long burst, the ICRC of such a reply is
 * not checked (HP3_FEW).
 */
static inline __attribute__((always_inline)) bool is_plain_progress(
	const struct hp3_flow *f, const struct hp3_view *v)
{
	const uint16_t packet =
		HP3_VF_IPV6 | HP3_VF_READ | HP3_VF_ATOMIC | HP3_VF_BECN | HP3_VF_AETH;
	const uint16_t flags = HP3_FF_USED | HP3_FF_IPV6 | HP3_FF_PAIRED | HP3_FF_RNR |
			       HP3_FF_CLOSE_ACK | HP3_FF_SEVERE;
	const uint16_t want = HP3_FF_USED | HP3_FF_PAIRED;
	/* una may advance by less than this */
	uint32_t open = (f->stream.hi - f->stream.una) & HP3_PSN_MASK;

	return (v->flags & packet) == HP3_VF_AETH && HP3_SYN_KIND(v->syndrome) == HP3_SYN_ACK &&
	       (((f->flags & flags) ^ want) | (f->state ^ HP3_RFR_STEADY) |
		       (f->watch & (HP3_FW_GUARD | HP3_FW_READS)) | f->stream.open_len) == 0 &&
	       f->pmtu_log2 != 0 && open <= HP3_PSN_MASK / 2 &&
	       ((v->psn - f->stream.una) & HP3_PSN_MASK) < open;
}
