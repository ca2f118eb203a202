/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/event_json.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include "app/hp3d/control/events.h"
#include "app/hp3d/control/verbs_errors.h"
#include "app/hp3d/lcores/bypass.h"
#include "app/record/record.h"
#include "config/bonds.h"
#include "engine/policy.h"

_Static_assert(sizeof(((struct hp3_config_rail *)0)->name) == HP3_FLOWID_RAIL_MAX, "rail names");

void hp3d_flow_name(const struct hp3_config *cfg, unsigned rail, const struct hp3_flow_info *f,
	char buf[HP3_FLOWID_MAX])
{
	struct hp3_flowid id = {.ipv6 = f->ipv6, .vlan = f->vlan, .rqpn = f->rqpn};

	snprintf(id.rail, sizeof(id.rail), "%s", hp3_config_flows_name(cfg, rail));
	memcpy(id.local, f->local, sizeof(id.local));
	memcpy(id.remote, f->remote, sizeof(id.remote));
	hp3_flowid_format(&id, buf, HP3_FLOWID_MAX);
}

/* By type of event: its outcome, unless outcome_of_event() gives another one; and the priority of
 * its record. */
static const struct {
	const char *outcome;
	int priority;
} rows[] = {
	[HP3_EVENT_SWITCH] = {"moved", LOG_INFO},
	[HP3_EVENT_IDLE_SWITCH] = {"moved", LOG_INFO},
	[HP3_EVENT_RECOVER] = {"kept", LOG_INFO},
	[HP3_EVENT_EPOCH] = {"discarded", HP3_RECORD_QUIET},
	[HP3_EVENT_PAIR] = {"paired", -1},
	[HP3_EVENT_UNPAIR] = {"unpaired", -1},
	[HP3_EVENT_ROUND] = {NULL, HP3_RECORD_QUIET},
	[HP3_EVENT_SEVERE] = {"reported", HP3_RECORD_QUIET},
	[HP3_EVENT_SUSPEND] = {"suspended", HP3_RECORD_QUIET},
	[HP3_EVENT_FAILOVER] = {"moved", LOG_WARNING},
	[HP3_EVENT_RESUME] = {"resumed", LOG_INFO},
	[HP3_EVENT_OUTCOME] = {NULL, HP3_RECORD_QUIET},
	[HP3_EVENT_REPORT] = {"report sent", LOG_WARNING},
	[HP3_EVENT_REPLIES] = {"moved", LOG_NOTICE},
	[HP3_EVENT_WOULD] = {"not moved", LOG_INFO},
	[HP3_EVENT_MODE] = {"changed", LOG_NOTICE},
	[HP3_EVENT_BYPASS] = {"changed", LOG_NOTICE},
	[HP3_EVENT_LINK] = {"changed", LOG_WARNING},
	[HP3_EVENT_SILENT] = {"changed", LOG_WARNING},
	[HP3_EVENT_KEYED] = {"agreed", LOG_NOTICE},
	[HP3_EVENT_IDENTITY] = {"changed", LOG_WARNING},
	[HP3_EVENT_CLONED] = {"refused", LOG_WARNING},
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) == HP3_EVENT_MAX, "a type without a row");

int hp3d_record_priority(enum hp3_event_type type)
{
	return rows[type].priority;
}

static const char *outcome_of_event(const struct hp3_event *event)
{
	if (event->type == HP3_EVENT_ROUND)
		return hp3_round_outcome_name((enum hp3_round_outcome)event->outcome);
	if (event->type == HP3_EVENT_OUTCOME)
		return hp3_payoff_name((enum hp3_payoff)event->outcome);
	if (event->type == HP3_EVENT_FAILOVER && event->nak)
		return "moved, nak";
	if (event->type == HP3_EVENT_CLONED && event->to)
		return "new identity";
	return rows[event->type].outcome;
}

static json_t *pair_evidence(const struct hp3_event *event)
{
	return json_pack("{s:s, s:i}", "pairing",
		hp3_pairing_name((enum hp3_pairing)event->pairing), "local_qpn", (int)event->lqpn);
}

static json_t *move_evidence(const struct hp3_event *event)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:i}", "drain_ns", (json_int_t)event->drain_ns,
		"held_pkts", (json_int_t)event->held_pkts, "held_bytes",
		(json_int_t)event->held_bytes, "wait_ns", (json_int_t)event->wait_ns, "close_psn",
		(int)event->close_psn);
}

json_t *hp3d_path_json(const struct hp3_estimates *p)
{
	return json_pack("{s:I, s:I, s:I, s:I}", "base_rtt_ns", (json_int_t)p->base_rtt_ns,
		"rtt_ns", (json_int_t)p->rtt_ns, "marked_permille", (json_int_t)p->marked_permille,
		"rate_kbps", (json_int_t)p->rate_kbps);
}

static void add_cycles(json_t *j, const struct hp3_event *event)
{
	json_t *cycles = json_array();

	for (unsigned i = 0; cycles && i < event->n_cycles; i++)
		json_array_append_new(cycles, json_string(hp3_cycle_name(event->cycles[i])));
	json_object_set_new(j, "cycles", cycles);
}

static json_t *severe_evidence(const struct hp3_event *event)
{
	json_t *j = json_pack("{s:o}", "path", hp3d_path_json(&event->path));

	add_cycles(j, event);
	return j;
}

static json_t *outcome_evidence(const struct hp3_event *event)
{
	return json_pack("{s:o, s:o}", "before", hp3d_path_json(&event->path), "after",
		hp3d_path_json(&event->after));
}

static json_t *failover_evidence(const struct hp3_event *event)
{
	return json_pack("{s:I, s:b, s:I, s:I}", "stalled_ns", (json_int_t)event->wait_ns, "nak",
		event->nak, "held_pkts", (json_int_t)event->held_pkts, "held_bytes",
		(json_int_t)event->held_bytes);
}

static void add_probes(json_t *j, const struct hp3_event *event)
{
	json_t *probes = json_array();

	for (unsigned i = 0; probes && i < event->n_probes; i++) {
		const struct hp3_probe *p = &event->probes[i];

		json_array_append_new(
			probes, json_pack("{s:i, s:I, s:b, s:s}", "port", p->port, "rtt_ns",
					(json_int_t)p->rtt_ns, "ce", p->ce, "state",
					hp3_probe_state_name((enum hp3_probe_state)p->state)));
	}
	json_object_set_new(j, "kind",
		json_string(hp3_probe_kind_name((enum hp3_probe_kind)event->probe_kind)));
	json_object_set_new(j, "probes", probes);
}

static json_t *evidence_json(const struct hp3_event *event)
{
	json_t *j;

	switch ((enum hp3_event_type)event->type) {
	case HP3_EVENT_PAIR:
	case HP3_EVENT_UNPAIR:
		return pair_evidence(event);
	case HP3_EVENT_OUTCOME:
		return outcome_evidence(event);
	case HP3_EVENT_SEVERE:
	case HP3_EVENT_WOULD:
		return severe_evidence(event);
	case HP3_EVENT_ROUND:
		j = severe_evidence(event);
		add_probes(j, event);
		return j;
	case HP3_EVENT_FAILOVER:
		j = failover_evidence(event);
		add_probes(j, event);
		return j;
	default:
		j = move_evidence(event);
		if (event->n_cycles != 0)
			add_cycles(j, event);
		return j;
	}
}

static bool has_reason(const struct hp3_event *event)
{
	return event->type <= HP3_EVENT_EPOCH || event->type == HP3_EVENT_RESUME;
}

static const char *reason_of(const struct hp3_event *event)
{
	return event->error != 0 ? hp3d_verbs_error_name(event->error)
				 : hp3_rfr_input_name((enum hp3_rfr_input)event->reason);
}

const char *hp3d_mode_setter(const struct hp3_event *event)
{
	return event->cause == HP3_CAUSE_OPERATOR ? "operator" : "configuration";
}

const char *const hp3d_side_names[] = {[HP3_DIR_TX] = "rnic", [HP3_DIR_RX] = "net"};

/* Members of events about this host and a peer. */
static json_t *keys_json(const struct hp3d_event *e)
{
	char local[INET6_ADDRSTRLEN], remote[INET6_ADDRSTRLEN];
	int family = e->flow.ipv6 ? AF_INET6 : AF_INET;
	json_t *j = json_pack("{s:s, s:s, s:s}", "local",
		inet_ntop(family, e->flow.local, local, sizeof(local)), "peer",
		inet_ntop(family, e->flow.remote, remote, sizeof(remote)), "identity", e->identity);

	if (j && e->event.type == HP3_EVENT_IDENTITY)
		json_object_set_new(j, "before", json_string(e->identity_before));
	return j;
}

/* Members of events about a port, whose state has one of two names. */
static json_t *port_json(
	const struct hp3_event *event, const char *rail, const char *const names[2])
{
	return json_pack("{s:s, s:s, s:s, s:s}", "rail", rail, "side",
		hp3d_side_names[event->reason & 1], "from", names[event->from & 1], "to",
		names[event->to & 1]);
}

/* Members of events about hp3d, a rail, or a port. */
static json_t *own_json(const struct hp3_config *cfg, const struct hp3d_kept *k)
{
	static const char *const link[] = {"down", "up"}, *const silent[] = {"heard", "silent"};
	const struct hp3_event *event = &k->e.event;
	const char *rail = cfg->rails[k->e.rail].name;
	char time[HP3_WALL_TEXT];
	json_t *j;

	switch ((enum hp3_event_type)event->type) {
	case HP3_EVENT_MODE:
		j = json_pack("{s:s, s:s, s:s}", "from", hp3_policy_modes[event->from], "to",
			hp3_policy_modes[event->to], "by", hp3d_mode_setter(event));
		break;
	case HP3_EVENT_BYPASS:
		j = json_pack("{s:s, s:s, s:s}", "rail", rail, "from",
			hp3d_bypass_phase_name((enum hp3d_bypass_phase)event->from), "to",
			hp3d_bypass_phase_name((enum hp3d_bypass_phase)event->to));
		break;
	case HP3_EVENT_KEYED:
	case HP3_EVENT_IDENTITY:
	case HP3_EVENT_CLONED:
		j = keys_json(&k->e);
		json_object_set_new(j, "rail", json_string(hp3_config_flows_name(cfg, k->e.rail)));
		break;
	case HP3_EVENT_SILENT:
		j = port_json(event, rail, silent);
		break;
	default:
		j = port_json(event, rail, link);
		break;
	}
	hp3_wall_text(k->wall_ns, time);
	json_object_update_new(
		j, json_pack("{s:i, s:I, s:I, s:s, s:s, s:s}", "v", 1, "seq", (json_int_t)k->seq,
			   "t_ns", (json_int_t)event->t_ns, "time", time, "type",
			   hp3_event_name((enum hp3_event_type)event->type), "outcome",
			   outcome_of_event(event)));
	return j;
}

bool hp3d_event_is_own(const struct hp3_event *event)
{
	return event->type >= HP3_EVENT_MODE;
}

json_t *hp3d_event_json(const struct hp3_config *cfg, const struct hp3d_kept *k, uint64_t ref)
{
	const struct hp3_event *event = &k->e.event;
	bool pairing = event->type == HP3_EVENT_PAIR || event->type == HP3_EVENT_UNPAIR;
	char id[HP3_FLOWID_MAX], time[HP3_WALL_TEXT];
	json_t *j;

	if (hp3d_event_is_own(event))
		return own_json(cfg, k);
	hp3d_flow_name(cfg, k->e.rail, &k->e.flow, id);
	hp3_wall_text(k->wall_ns, time);
	j = json_pack("{s:i, s:I, s:I, s:s, s:s, s:s}", "v", 1, "seq", (json_int_t)k->seq, "t_ns",
		(json_int_t)event->t_ns, "time", time, "flow", id, "type",
		hp3_event_name((enum hp3_event_type)event->type));
	if (!j)
		return NULL;
	if (!pairing) {
		json_object_set_new(
			j, "cause", json_string(hp3_cause_name((enum hp3_cause)event->cause)));
		json_object_set_new(j, "from", json_integer(event->from));
		json_object_set_new(j, "to", json_integer(event->to));
		if (event->error != 0)
			json_object_set_new(
				j, "meaning", json_string(hp3d_verbs_error_meaning(event->error)));
		if (has_reason(event))
			json_object_set_new(j, "reason", json_string(reason_of(event)));
	}
	if (event->type == HP3_EVENT_OUTCOME)
		json_object_set_new(j, "ref", ref ? json_integer((json_int_t)ref) : json_null());
	json_object_set_new(j, "evidence", evidence_json(event));
	json_object_set_new(j, "outcome", json_string(outcome_of_event(event)));
	if (k->nth)
		json_object_set_new(j, "nth", json_integer(k->nth));
	if (event->tag)
		json_object_set_new(j, "tag", json_integer((json_int_t)event->tag));
	return j;
}
