/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/events.h"
#include <arpa/inet.h>
#include <stdio.h>
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/lcores/bypass.h"
#include "app/record/record.h"
#include "engine/policy.h"

#define TEXT_MAX 256u

/* The action, as a sentence; the record's members have what it is based on. */
static void write_flow_text(const struct hp3_event *event, char *buf, size_t cap)
{
	const char *cause = hp3_cause_name((enum hp3_cause)event->cause);
	unsigned from = event->from, to = event->to;

	switch ((enum hp3_event_type)event->type) {
	case HP3_EVENT_SWITCH:
		snprintf(buf, cap, "moved from port %u to %u (%s), drained in %llu us", from, to,
			cause, (unsigned long long)event->drain_ns / 1000);
		break;
	case HP3_EVENT_IDLE_SWITCH:
		snprintf(buf, cap, "moved from port %u to %u (%s), nothing was in flight", from, to,
			cause);
		break;
	case HP3_EVENT_RECOVER:
		snprintf(buf, cap, "stays on port %u (%s): %s", from, cause,
			hp3_rfr_input_name((enum hp3_rfr_input)event->reason));
		break;
	case HP3_EVENT_RESUME:
		snprintf(buf, cap, "continues on port %u (%s)", to, cause);
		break;
	case HP3_EVENT_WOULD:
		snprintf(buf, cap, "would leave port %u (%s): mode is observe", from, cause);
		break;
	case HP3_EVENT_REPLIES:
		snprintf(buf, cap, "replies moved from port %u to %u (%s)", from, to, cause);
		break;
	case HP3_EVENT_FAILOVER:
		snprintf(buf, cap, "failover from port %u to %u after %llu us without progress",
			from, to, (unsigned long long)event->wait_ns / 1000);
		break;
	case HP3_EVENT_REPORT:
		snprintf(buf, cap, "no reply arrives by port %u: sent a report to the peer", from);
		break;
	default:
		snprintf(buf, cap, "%s (%s)", hp3_event_name((enum hp3_event_type)event->type),
			cause);
	}
}

/* Events about this host and a peer. */
static void of_keys(const struct hp3d_event *e, char *buf, size_t cap)
{
	char peer[INET6_ADDRSTRLEN];

	inet_ntop(e->flow.ipv6 ? AF_INET6 : AF_INET, e->flow.remote, peer, sizeof(peer));
	if (e->event.type == HP3_EVENT_KEYED)
		snprintf(buf, cap, "%s: key agreed on, identity %s", peer, e->identity);
	else if (e->event.type == HP3_EVENT_IDENTITY)
		snprintf(buf, cap, "%s: identity %s, was %s: another host, or it lost its identity",
			peer, e->identity, e->identity_before);
	else
		snprintf(buf, cap, "%s has a copy of this host's identity %s: %s", peer,
			e->identity,
			e->event.to ? "this host makes a new one"
				    : "that host has to make a new one");
}

/* Events about hp3d, a rail or a port. */
static void write_own_text(
	const struct hp3_config *cfg, const struct hp3d_kept *k, char *buf, size_t cap)
{
	const struct hp3_event *event = &k->e.event;
	const char *rail = cfg->rails[k->e.rail].name;

	if (event->type >= HP3_EVENT_KEYED)
		of_keys(&k->e, buf, cap);
	else if (event->type == HP3_EVENT_MODE)
		snprintf(buf, cap, "mode %s, was %s; set by the %s", hp3_policy_modes[event->to],
			hp3_policy_modes[event->from], hp3d_mode_setter(event));
	else if (event->type == HP3_EVENT_BYPASS)
		snprintf(buf, cap, "[rail.%s]: bypass %s, was %s", rail,
			hp3d_bypass_phase_name((enum hp3d_bypass_phase)event->to),
			hp3d_bypass_phase_name((enum hp3d_bypass_phase)event->from));
	else if (event->type == HP3_EVENT_SILENT)
		snprintf(buf, cap, "[rail.%s] %s: %s", rail, hp3d_side_names[event->reason & 1],
			event->to ? "silent" : "no longer silent");
	else
		snprintf(buf, cap, "[rail.%s] %s: the link is %s", rail,
			hp3d_side_names[event->reason & 1], event->to ? "up" : "down");
}

void hp3d_record_decision(const struct hp3_config *cfg, const struct hp3d_kept *k, uint64_t ref)
{
	int priority = hp3d_record_priority((enum hp3_event_type)k->e.event.type);
	char id[HP3_FLOWID_MAX], text[TEXT_MAX];

	if (priority < 0)
		return;
	if (hp3d_event_is_own(&k->e.event)) {
		write_own_text(cfg, k, text, sizeof(text));
		hp3_record(priority, hp3_event_name((enum hp3_event_type)k->e.event.type),
			hp3d_event_json(cfg, k, ref), "%s", text);
		return;
	}
	hp3d_flow_name(cfg, k->e.rail, &k->e.flow, id);
	write_flow_text(&k->e.event, text, sizeof(text));
	hp3_record(priority, hp3_event_name((enum hp3_event_type)k->e.event.type),
		hp3d_event_json(cfg, k, ref), "%s: %s", id, text);
}
