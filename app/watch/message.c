/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/watch/message.h"
#include <string.h>
#include "roce/tags.h"
#include "roce/wire.h"

void hp3_watch_message_event(struct hp3_watch_message *m, const struct hp3_watch_event *event)
{
	*m = (struct hp3_watch_message){.magic = HP3_WATCH_MAGIC,
		.kind = HP3_WATCH_MSG_EVENT,
		.event = {.time_ns = event->time_ns,
			.pid = event->pid,
			.lqpn = event->qp.lqpn,
			.rqpn = event->qp.rqpn,
			.psn = event->qp.psn,
			.rq_psn = event->rq_psn,
			.mtu = event->mtu,
			.vlan = event->qp.vlan,
			.up = event->qp.kind == HP3_QP_UP,
			.ipv6 = event->qp.ipv6,
			.psn_known = event->qp.psn_known,
			.port = event->port}};
	memcpy(m->event.local, event->qp.local, sizeof(m->event.local));
	memcpy(m->event.remote, event->qp.remote, sizeof(m->event.remote));
	memcpy(m->event.device, event->device, sizeof(m->event.device));
}

static bool is_text(const char *s, size_t size)
{
	return memchr(s, '\0', size) != NULL;
}

static bool is_event(const struct hp3_watch_message *m)
{
	return m->event.up <= 1 && m->event.ipv6 <= 1 && m->event.psn_known <= 1 &&
	       m->event.vlan <= HP3_VLAN_MAX && m->event.lqpn <= HP3_QPN_MASK &&
	       m->event.rqpn <= HP3_QPN_MASK && m->event.psn <= HP3_PSN_MASK &&
	       is_text(m->event.device, sizeof(m->event.device));
}

bool hp3_watch_message_ok(const struct hp3_watch_message *m, size_t size)
{
	if (size != sizeof(*m) || m->magic != HP3_WATCH_MAGIC)
		return false;
	switch (m->kind) {
	case HP3_WATCH_MSG_BY:
		return m->by == HP3_BY_KERNEL || m->by == HP3_BY_LIBRARY;
	case HP3_WATCH_MSG_NOTICE:
		return is_text(m->text, sizeof(m->text));
	case HP3_WATCH_MSG_EVENT:
		return is_event(m);
	case HP3_WATCH_MSG_ENDED:
		return m->ended.how <= HP3_ENDED_HUNG;
	default:
		return false;
	}
}

struct hp3_watch_event hp3_watch_message_to_event(const struct hp3_watch_message *m)
{
	struct hp3_watch_event event = {.qp = {.kind = m->event.up ? HP3_QP_UP : HP3_QP_DOWN,
						.ipv6 = m->event.ipv6,
						.vlan = m->event.vlan,
						.lqpn = m->event.lqpn,
						.rqpn = m->event.rqpn,
						.psn = m->event.psn,
						.psn_known = m->event.psn_known},
		.time_ns = m->event.time_ns,
		.pid = m->event.pid,
		.rq_psn = m->event.rq_psn,
		.mtu = m->event.mtu,
		.port = m->event.port};

	memcpy(event.qp.local, m->event.local, sizeof(event.qp.local));
	memcpy(event.qp.remote, m->event.remote, sizeof(event.qp.remote));
	memcpy(event.device, m->event.device, sizeof(event.device));
	return event;
}
