/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/pipe/tally.h"
#include "rfr/rfr.h"

static void add_time(struct hp3d_histogram *h, uint64_t ns)
{
	h->bucket[hp3d_bucket_of(ns)]++;
	h->sum_ns += ns;
}

/* False if only a search ended: it found no better path, or its queue pair ended. */
static bool ends_move(const struct hp3_event *event)
{
	switch ((enum hp3_event_type)event->type) {
	case HP3_EVENT_SWITCH:
	case HP3_EVENT_IDLE_SWITCH:
	case HP3_EVENT_FAILOVER:
		return true;
	case HP3_EVENT_EPOCH:
		return event->drain_ns != 0;
	case HP3_EVENT_RECOVER:
		return event->reason != HP3_RFR_IN_NO_BETTER || event->drain_ns != 0;
	default:
		return false;
	}
}

/* Packets are held from the last packet on the old path; if none was sent, from the request of the
 * move. */
static void add_hold(struct hp3d_tally *t, const struct hp3_event *event)
{
	if (event->held_pkts != 0)
		add_time(&t->move_hold, event->drain_ns != 0 ? event->drain_ns : event->wait_ns);
}

static void add_probes(struct hp3d_tally *t, const struct hp3_event *event)
{
	for (unsigned i = 0; i < event->n_probes; i++)
		if (event->probes[i].state == HP3_PROBE_ANSWERED)
			add_time(&t->probe_rtt, event->probes[i].rtt_ns);
}

void hp3d_tally_event(struct hp3d_tally *t, const struct hp3_event *event)
{
	t->events[event->type]++;
	if (ends_move(event))
		t->moves[event->type][event->cause]++;
	switch ((enum hp3_event_type)event->type) {
	case HP3_EVENT_SWITCH:
		add_time(&t->move_drain, event->drain_ns);
		add_time(&t->move_decision, event->wait_ns + event->drain_ns);
		add_hold(t, event);
		break;
	case HP3_EVENT_IDLE_SWITCH:
		add_time(&t->move_decision, event->wait_ns);
		add_hold(t, event);
		break;
	case HP3_EVENT_RECOVER:
	case HP3_EVENT_EPOCH:
		add_hold(t, event);
		break;
	case HP3_EVENT_FAILOVER:
		add_time(&t->failover_stall, event->wait_ns);
		break;
	case HP3_EVENT_ROUND:
		add_probes(t, event);
		break;
	case HP3_EVENT_OUTCOME:
		t->verdicts[event->outcome]++;
		break;
	case HP3_EVENT_WOULD:
		t->observed[event->cause]++;
		break;
	default:
		break;
	}
}
