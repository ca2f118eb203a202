/* SPDX-License-Identifier: BSD-3-Clause */
#include "app/watch/message.h"
#include <string.h>
#include "roce/tags.h"
#include "roce/wire.h"

static bool is_text(const char *s, size_t size)
{
	return memchr(s, '\0', size) != NULL;
}

/* The byte of another process's bool may have any value. */
static bool is_bool(const bool *b)
{
	return *(const uint8_t *)b <= 1;
}

static bool is_event(const struct hp3_watch_event *event)
{
	const struct hp3_qp_event *qp = &event->qp;

	return (qp->kind == HP3_QP_UP || qp->kind == HP3_QP_DOWN) && qp->source == 0 &&
	       qp->owner == 0 && is_bool(&qp->ipv6) && is_bool(&qp->psn_known) &&
	       qp->vlan <= HP3_VLAN_MAX && qp->lqpn <= HP3_QPN_MASK && qp->rqpn <= HP3_QPN_MASK &&
	       qp->psn <= HP3_PSN_MASK && is_text(event->device, sizeof(event->device));
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
		return is_event(&m->event);
	case HP3_WATCH_MSG_ENDED:
		return m->ended.how <= HP3_ENDED_HUNG;
	default:
		return false;
	}
}
