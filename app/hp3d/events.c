/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/events.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct {
	const struct hp3_config *cfg;
	struct hp3d_event *ring; /* event n lies at (n - 1) % kept */
	uint64_t last;
	uint32_t kept;
} kept;

_Static_assert(sizeof(((struct hp3_config_rail *)0)->name) == HP3_FLOWID_RAIL_MAX, "rail names");

int hp3d_events_init(const struct hp3_config *cfg)
{
	kept.ring = calloc(cfg->control.events_kept, sizeof(*kept.ring));
	if (!kept.ring)
		return -ENOMEM;
	kept.kept = cfg->control.events_kept;
	kept.cfg = cfg;
	kept.last = 0;
	return 0;
}

void hp3d_events_free(void)
{
	free(kept.ring);
	memset(&kept, 0, sizeof(kept));
}

void hp3d_events_add(const struct hp3d_event *ev)
{
	kept.ring[kept.last++ % kept.kept] = *ev;
}

uint64_t hp3d_events_last(void)
{
	return kept.last;
}

void hp3d_flow_name(const struct hp3_config *cfg, unsigned rail, const struct hp3_flow_info *f,
	char buf[HP3_FLOWID_MAX])
{
	struct hp3_flowid id = {.ipv6 = f->ipv6, .vlan = f->vlan, .rqpn = f->rqpn};

	memcpy(id.rail, cfg->rails[rail].name, sizeof(id.rail));
	memcpy(id.local, f->local, sizeof(id.local));
	memcpy(id.remote, f->remote, sizeof(id.remote));
	hp3_flowid_format(&id, buf, HP3_FLOWID_MAX);
}

static const char *outcome(const struct hp3_event *ev)
{
	switch ((enum hp3_event_type)ev->type) {
	case HP3_EV_SWITCH:
	case HP3_EV_IDLE_SWITCH:
		return "moved";
	case HP3_EV_RECOVER:
		return "kept";
	case HP3_EV_EPOCH:
		return "discarded";
	case HP3_EV_PAIR:
		return "paired";
	case HP3_EV_UNPAIR:
		return "unpaired";
	case HP3_EV_SEVERE:
		return "reported";
	case HP3_EV_ROUND:
		return hp3_round_outcome_name((enum hp3_round_outcome)ev->outcome);
	case HP3_EV_SUSPEND:
		return "suspended";
	case HP3_EV_FAILOVER:
		return ev->nak ? "moved, nak" : "moved";
	case HP3_EV_RESUME:
		return "resumed";
	case HP3_EV_OUTCOME:
		return hp3_payoff_name((enum hp3_payoff)ev->outcome);
	case HP3_EV_WOULD:
		return "not moved";
	case HP3_EV_MAX:
		break;
	}
	return "unknown";
}

static json_t *pair_evidence(const struct hp3_event *ev)
{
	return json_pack("{s:s, s:i}", "by", hp3_pairing_name((enum hp3_pairing)ev->pairing),
		"local_qpn", (int)ev->lqpn);
}

static json_t *move_evidence(const struct hp3_event *ev)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:i}", "drain_ns", (json_int_t)ev->drain_ns,
		"held_pkts", (json_int_t)ev->held_pkts, "held_bytes", (json_int_t)ev->held_bytes,
		"wait_ns", (json_int_t)ev->wait_ns, "close_psn", (int)ev->close_psn);
}

json_t *hp3d_path_json(const struct hp3_estimates *p)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "base_rtt_ns", (json_int_t)p->base_rtt_ns,
		"rtt_ns", (json_int_t)p->rtt_ns, "marked_permille", (json_int_t)p->marked_permille,
		"rate_kbps", (json_int_t)p->rate_kbps);
}

static json_t *severe_evidence(const struct hp3_event *ev)
{
	json_t *cycles = json_array();

	for (unsigned i = 0; cycles && i < ev->n_cycles; i++)
		json_array_append_new(cycles, json_string(hp3_cycle_name(ev->cycles[i])));
	return json_pack("{s:o, s:o}", "cycles", cycles, "path", hp3d_path_json(&ev->path));
}

static json_t *round_evidence(const struct hp3_event *ev)
{
	json_t *j = severe_evidence(ev), *probes = json_array();

	for (unsigned i = 0; probes && i < ev->n_probes; i++) {
		const struct hp3_probe *p = &ev->probes[i];

		json_array_append_new(
			probes, json_pack("{s:i, s:I, s:b, s:s}", "port", p->port, "rtt_ns",
					(json_int_t)p->rtt_ns, "ce", p->ce, "state",
					hp3_probe_state_name((enum hp3_probe_state)p->state)));
	}
	json_object_set_new(j, "probes", probes);
	return j;
}

static json_t *evidence(const struct hp3_event *ev)
{
	if (ev->type == HP3_EV_PAIR || ev->type == HP3_EV_UNPAIR)
		return pair_evidence(ev);
	if (ev->type == HP3_EV_ROUND)
		return round_evidence(ev);
	return ev->type == HP3_EV_SEVERE ? severe_evidence(ev) : move_evidence(ev);
}

static json_t *event_json(uint64_t seq, const struct hp3d_event *e)
{
	const struct hp3_event *ev = &e->ev;
	bool pairing = ev->type == HP3_EV_PAIR || ev->type == HP3_EV_UNPAIR;
	char id[HP3_FLOWID_MAX];
	json_t *j;

	hp3d_flow_name(kept.cfg, e->rail, &e->flow, id);
	j = json_pack("{s:i, s:I, s:I, s:s, s:s}", "v", 1, "seq", (json_int_t)seq, "t_ns",
		(json_int_t)ev->t_ns, "flow", id, "type",
		hp3_event_name((enum hp3_event_type)ev->type));
	if (!j)
		return NULL;
	if (!pairing) {
		json_object_set_new(
			j, "cause", json_string(hp3_cause_name((enum hp3_cause)ev->cause)));
		json_object_set_new(j, "from", json_integer(ev->from));
		json_object_set_new(j, "to", json_integer(ev->to));
		if (ev->type != HP3_EV_SEVERE && ev->type != HP3_EV_ROUND)
			json_object_set_new(j, "reason",
				json_string(hp3_rfr_input_name((enum hp3_rfr_input)ev->reason)));
	}
	json_object_set_new(j, "evidence", evidence(ev));
	json_object_set_new(j, "outcome", json_string(outcome(ev)));
	if (ev->tag)
		json_object_set_new(j, "tag", json_integer((json_int_t)ev->tag));
	return j;
}

json_t *hp3d_events_page(uint64_t since, unsigned limit, uint64_t *next)
{
	uint64_t oldest = kept.last > kept.kept ? kept.last - kept.kept : 0;
	json_t *list = json_array();

	if (since > kept.last) /* numbers of an hp3d that ran before */
		since = kept.last;
	if (since < oldest)
		since = oldest;
	for (; list && since < kept.last && limit; since++, limit--)
		json_array_append_new(list, event_json(since + 1, &kept.ring[since % kept.kept]));
	*next = since;
	return list;
}
