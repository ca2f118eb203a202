/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/hp3d/control/tell.h"
#include <arpa/inet.h>
#include <stdio.h>
#include <syslog.h>
#include "app/hp3d/control/event_json.h"
#include "app/hp3d/lcores/bypass.h"
#include "app/record/record.h"
#include "engine/policy.h"

#define TEXT_MAX 256u

int hp3d_tell_priority(enum hp3_event_type type)
{
	switch (type) {
	case HP3_EV_PAIR:
	case HP3_EV_UNPAIR:
		return -1;
	case HP3_EV_SWITCH:
	case HP3_EV_IDLE_SWITCH:
	case HP3_EV_RECOVER:
	case HP3_EV_RESUME:
	case HP3_EV_WOULD:
		return LOG_INFO;
	case HP3_EV_REPLIES:
	case HP3_EV_MODE:
	case HP3_EV_BYPASS:
	case HP3_EV_KEYED:
		return LOG_NOTICE;
	case HP3_EV_FAILOVER:
	case HP3_EV_REPORT:
	case HP3_EV_LINK:
	case HP3_EV_IDENTITY:
	case HP3_EV_CLONED:
		return LOG_WARNING;
	case HP3_EV_EPOCH:
	case HP3_EV_ROUND:
	case HP3_EV_SEVERE:
	case HP3_EV_SUSPEND:
	case HP3_EV_OUTCOME:
		return HP3_RECORD_QUIET;
	case HP3_EV_MAX:
		break;
	}
	return -1;
}

/* What was done, for people; what it rests on is in the record's members. */
static void write_flow_text(const struct hp3_event *ev, char *buf, size_t cap)
{
	const char *cause = hp3_cause_name((enum hp3_cause)ev->cause);
	unsigned from = ev->from, to = ev->to;

	switch ((enum hp3_event_type)ev->type) {
	case HP3_EV_SWITCH:
		snprintf(buf, cap, "moved from port %u to %u (%s), drained in %llu us", from, to,
			cause, (unsigned long long)ev->drain_ns / 1000);
		break;
	case HP3_EV_IDLE_SWITCH:
		snprintf(buf, cap, "moved from port %u to %u (%s), nothing was in flight", from, to,
			cause);
		break;
	case HP3_EV_RECOVER:
		snprintf(buf, cap, "stays on port %u (%s): %s", from, cause,
			hp3_rfr_input_name((enum hp3_rfr_input)ev->reason));
		break;
	case HP3_EV_RESUME:
		snprintf(buf, cap, "goes on, on port %u (%s)", to, cause);
		break;
	case HP3_EV_WOULD:
		snprintf(buf, cap, "would leave port %u (%s): mode is observe", from, cause);
		break;
	case HP3_EV_REPLIES:
		snprintf(buf, cap, "replies moved from port %u to %u (%s)", from, to, cause);
		break;
	case HP3_EV_FAILOVER:
		snprintf(buf, cap,
			"failover from port %u to %u, nothing had come through for %llu us", from,
			to, (unsigned long long)ev->wait_ns / 1000);
		break;
	case HP3_EV_REPORT:
		snprintf(buf, cap, "no reply comes through on port %u: the peer was told", from);
		break;
	default:
		snprintf(buf, cap, "%s (%s)", hp3_event_name((enum hp3_event_type)ev->type), cause);
	}
}

/* Of this host and a peer. */
static void of_keys(const struct hp3d_event *e, char *buf, size_t cap)
{
	char peer[INET6_ADDRSTRLEN];

	inet_ntop(e->flow.ipv6 ? AF_INET6 : AF_INET, e->flow.remote, peer, sizeof(peer));
	if (e->ev.type == HP3_EV_KEYED)
		snprintf(buf, cap, "%s: key agreed on, identity %s", peer, e->identity);
	else if (e->ev.type == HP3_EV_IDENTITY)
		snprintf(buf, cap, "%s: identity %s, was %s: another host, or it lost its identity",
			peer, e->identity, e->identity_before);
	else
		snprintf(buf, cap, "%s has a copy of this host's identity %s: %s", peer,
			e->identity,
			e->ev.to ? "this host draws a new one" : "that host is to draw a new one");
}

/* Of hp3d, a rail or a port. */
static void write_own_text(
	const struct hp3_config *cfg, const struct hp3d_kept *k, char *buf, size_t cap)
{
	const struct hp3_event *ev = &k->e.ev;
	const char *rail = cfg->rails[k->e.rail].name;

	if (ev->type >= HP3_EV_KEYED)
		of_keys(&k->e, buf, cap);
	else if (ev->type == HP3_EV_MODE)
		snprintf(buf, cap, "mode %s, was %s; set by the %s", hp3_policy_modes[ev->to],
			hp3_policy_modes[ev->from], hp3d_mode_setter(ev));
	else if (ev->type == HP3_EV_BYPASS)
		snprintf(buf, cap, "[rail.%s]: bypass %s, was %s", rail,
			hp3d_bypass_phase_name((enum hp3d_bypass_phase)ev->to),
			hp3d_bypass_phase_name((enum hp3d_bypass_phase)ev->from));
	else
		snprintf(buf, cap, "[rail.%s] %s: the link is %s", rail,
			hp3d_side_names[ev->reason & 1], ev->to ? "up" : "down");
}

void hp3d_tell_decision(const struct hp3_config *cfg, const struct hp3d_kept *k, uint64_t ref)
{
	int priority = hp3d_tell_priority((enum hp3_event_type)k->e.ev.type);
	char id[HP3_FLOWID_MAX], text[TEXT_MAX];

	if (priority < 0)
		return;
	if (hp3d_event_is_own(&k->e.ev)) {
		write_own_text(cfg, k, text, sizeof(text));
		hp3_record(priority, hp3_event_name((enum hp3_event_type)k->e.ev.type),
			hp3d_event_json(cfg, k, ref), "%s", text);
		return;
	}
	hp3d_flow_name(cfg, k->e.rail, &k->e.flow, id);
	write_flow_text(&k->e.ev, text, sizeof(text));
	hp3_record(priority, hp3_event_name((enum hp3_event_type)k->e.ev.type),
		hp3d_event_json(cfg, k, ref), "%s: %s", id, text);
}
