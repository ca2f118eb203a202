/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/pipe/tally.h"
#include "rfr/rfr.h"

static void add_time(struct hp3d_histogram *h, uint64_t ns)
{
	h->bucket[hp3d_bucket_of(ns)]++;
	h->sum_ns += ns;
}

/* Not where only a search ended: it found no better path, or its queue pair went away. */
static bool ends_move(const struct hp3_event *ev)
{
	switch ((enum hp3_event_type)ev->type) {
	case HP3_EV_SWITCH:
	case HP3_EV_IDLE_SWITCH:
	case HP3_EV_FAILOVER:
		return true;
	case HP3_EV_EPOCH:
		return ev->drain_ns != 0;
	case HP3_EV_RECOVER:
		return ev->reason != HP3_RFR_IN_NO_BETTER || ev->drain_ns != 0;
	default:
		return false;
	}
}

/* Held from the closing packet on; where none was sent, from the wish on. */
static void add_hold(struct hp3d_tally *t, const struct hp3_event *ev)
{
	if (ev->held_pkts != 0)
		add_time(&t->move_hold, ev->drain_ns != 0 ? ev->drain_ns : ev->wait_ns);
}

static void add_probes(struct hp3d_tally *t, const struct hp3_event *ev)
{
	for (unsigned i = 0; i < ev->n_probes; i++)
		if (ev->probes[i].state == HP3_PROBE_ANSWERED)
			add_time(&t->probe_rtt, ev->probes[i].rtt_ns);
}

void hp3d_tally_event(struct hp3d_tally *t, const struct hp3_event *ev)
{
	t->events[ev->type]++;
	if (ends_move(ev))
		t->moves[ev->type][ev->cause]++;
	switch ((enum hp3_event_type)ev->type) {
	case HP3_EV_SWITCH:
		add_time(&t->move_drain, ev->drain_ns);
		add_time(&t->move_decision, ev->wait_ns + ev->drain_ns);
		add_hold(t, ev);
		break;
	case HP3_EV_IDLE_SWITCH:
		add_time(&t->move_decision, ev->wait_ns);
		add_hold(t, ev);
		break;
	case HP3_EV_RECOVER:
	case HP3_EV_EPOCH:
		add_hold(t, ev);
		break;
	case HP3_EV_FAILOVER:
		add_time(&t->failover_stall, ev->wait_ns);
		break;
	case HP3_EV_ROUND:
		add_probes(t, ev);
		break;
	case HP3_EV_OUTCOME:
		t->verdicts[ev->outcome]++;
		break;
	case HP3_EV_WOULD:
		t->observed[ev->cause]++;
		break;
	default:
		break;
	}
}
