/* SPDX-License-Identifier: BSD-3-Clause */
/* Completions, arrivals and events of ports; the table of the provider. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "xfer/verbs/verbs.h"

#define AT_ONCE 32 /* completions taken from a queue */
#define ROOM    64u /* events, at first */

/* Memory for events grows with the most that ever waited. */
static bool events_grow(struct hp3x_rails *rails)
{
	uint32_t room = rails->events_room > 0 ? 2 * rails->events_room : ROOM;
	struct hp3x_event *event = calloc(room, sizeof(*event));

	if (event == NULL)
		return false;
	for (uint32_t i = 0; i < rails->events_n; i++)
		event[i] = rails->event[(rails->events_first + i) % rails->events_room];
	free(rails->event);
	rails->event = event;
	rails->events_first = 0;
	rails->events_room = room;
	return true;
}

void hp3x_verbs_event_add(struct hp3x_rails *rails, const struct hp3x_event *event)
{
	const uint64_t one = 1;

	if (rails->events_n == rails->events_room && !events_grow(rails))
		abort(); /* a lost completion would break what the library promises */
	rails->event[(rails->events_first + rails->events_n++) % rails->events_room] = *event;
	if (rails->events_n == 1 && write(rails->wake, &one, sizeof(one)) < 0)
		return; /* it is readable already */
}

void hp3x_verbs_receives_fill(struct hp3x_rail_verbs *rail)
{
	struct ibv_recv_wr *bad, wr = {.num_sge = 0};

	while (rail->receives < RECEIVES && ibv_post_srq_recv(rail->srq, &wr, &bad) == 0)
		rail->receives++;
}

static struct hp3x_endpoint *endpoint_find(
	struct hp3x_rails *rails, const struct hp3x_rail_verbs *rail, uint32_t qpn)
{
	struct hp3x_endpoint *e;

	LIST_FOREACH (e, &rails->bucket[qpn % QP_BUCKETS], next) {
		if (e->rail == rail && e->qp->qp_num == qpn)
			return e;
	}
	return NULL;
}

static void take_arrival(
	struct hp3x_rails *rails, struct hp3x_rail_verbs *rail, const struct ibv_wc *wc)
{
	struct hp3x_endpoint *e = endpoint_find(rails, rail, wc->qp_num);
	struct hp3x_event event = {.kind = HP3X_EVENT_ARRIVED};

	/* also after FAILED: the peer may have the acknowledgement, and does not send it again */
	rail->receives--;
	if (e == NULL || wc->status != IBV_WC_SUCCESS || !(wc->wc_flags & IBV_WC_WITH_IMM))
		return;
	event.peer = e->place.peer;
	event.path = e->place.path;
	event.imm = be32toh(wc->imm_data);
	hp3x_verbs_event_add(rails, &event);
}

/* The remote memory or key, not the path, is why the request failed. */
static bool is_refusal(enum ibv_wc_status status)
{
	return status == IBV_WC_REM_ACCESS_ERR;
}

static void take_completion(struct hp3x_rails *rails, const struct ibv_wc *wc)
{
	struct hp3x_post_verbs *p = (struct hp3x_post_verbs *)(uintptr_t)wc->wr_id;
	struct hp3x_endpoint *e = p->endpoint;
	struct hp3x_event event = {.kind = HP3X_EVENT_COMPLETED,
		.peer = e->place.peer,
		.path = e->place.path,
		.token = p->token};

	p->used = false;
	if (e->failed)
		return;
	if (wc->status == IBV_WC_SUCCESS || is_refusal(wc->status)) {
		event.result = wc->status == IBV_WC_SUCCESS ? HP3X_RESULT_OK : HP3X_RESULT_REFUSED;
		hp3x_verbs_event_add(rails, &event);
	}
	if (wc->status != IBV_WC_SUCCESS)
		hp3x_verbs_endpoint_failed(e);
}

void hp3x_verbs_rail_drain(struct hp3x_rails *rails, struct hp3x_rail_verbs *rail)
{
	struct ibv_wc wc[AT_ONCE];
	int n;

	while ((n = ibv_poll_cq(rail->cq, AT_ONCE, wc)) > 0) {
		for (int i = 0; i < n; i++) {
			if (wc[i].wr_id == 0)
				take_arrival(rails, rail, &wc[i]);
			else
				take_completion(rails, &wc[i]);
		}
		hp3x_verbs_receives_fill(rail);
	}
}

static void rail_poll(struct hp3x_rails *rails, struct hp3x_rail_verbs *rail)
{
	struct ibv_cq *cq;
	void *context;
	bool noticed = false;

	while (ibv_get_cq_event(rail->channel, &cq, &context) == 0) {
		ibv_ack_cq_events(cq, 1);
		noticed = true;
	}
	if (noticed)
		ibv_req_notify_cq(rail->cq, 0);
	hp3x_verbs_rail_drain(rails, rail);
}

/* Events of a queue pair: it does not work any more. Others: look at ports and GIDs. */
static bool async_take(struct hp3x_rails *rails, struct hp3x_rail_verbs *rail)
{
	struct ibv_async_event event;
	struct hp3x_endpoint *e;
	bool any = false;

	while (ibv_get_async_event(rail->context, &event) == 0) {
		if (event.event_type == IBV_EVENT_QP_FATAL ||
			event.event_type == IBV_EVENT_QP_REQ_ERR ||
			event.event_type == IBV_EVENT_QP_ACCESS_ERR) {
			e = endpoint_find(rails, rail, event.element.qp->qp_num);
			if (e != NULL)
				hp3x_verbs_endpoint_failed(e);
		}
		ibv_ack_async_event(&event);
		any = true;
	}
	return any;
}

int hp3x_verbs_rails_poll(struct hp3x_rails *rails, struct hp3x_event *event, int n)
{
	uint64_t ticks;
	bool check = read(rails->timer, &ticks, sizeof(ticks)) > 0;
	int taken = 0;

	if (read(rails->wake, &ticks, sizeof(ticks)) < 0)
		ticks = 0; /* nothing had been added */
	for (uint32_t i = 0; i < rails->n; i++) {
		hp3x_verbs_connector_poll(rails, &rails->rail[i]);
		rail_poll(rails, &rails->rail[i]);
		check |= async_take(rails, &rails->rail[i]);
	}
	if (check)
		hp3x_verbs_rails_check(rails);
	while (taken < n && rails->events_n > 0) {
		event[taken++] = rails->event[rails->events_first];
		rails->events_first = (rails->events_first + 1) % rails->events_room;
		rails->events_n--;
	}
	ticks = 1;
	if (rails->events_n > 0 && write(rails->wake, &ticks, sizeof(ticks)) < 0)
		return taken; /* readable already */
	return taken;
}

static uint32_t rails_list(const struct hp3x_rails *rails, struct hp3x_rail_info *info)
{
	for (uint32_t i = 0; i < rails->n; i++) {
		const struct hp3x_rail_verbs *r = &rails->rail[i];

		info[i] = (struct hp3x_rail_info){.rate = r->rate};
		memcpy(info[i].name, r->name, sizeof(info[i].name));
		memcpy(info[i].address, r->address, sizeof(info[i].address));
	}
	return rails->n;
}

static int rails_fd(const struct hp3x_rails *rails)
{
	return rails->epoll;
}

/* endpoint_post() has rung the doorbell. */
static void flush_nothing(struct hp3x_rails *rails)
{
	(void)rails;
}

const struct hp3x_provider hp3x_verbs = {.name = "verbs",
	.rails_open = hp3x_verbs_rails_open,
	.rails_hang = hp3x_verbs_rails_hang,
	.rails_close = hp3x_verbs_rails_close,
	.rails_list = rails_list,
	.rails_fd = rails_fd,
	.rails_poll = hp3x_verbs_rails_poll,
	.rails_flush = flush_nothing,
	.memory_add = hp3x_verbs_memory_add,
	.memory_add_dmabuf = hp3x_verbs_memory_add_dmabuf,
	.memory_remove = hp3x_verbs_memory_remove,
	.endpoint_open = hp3x_verbs_endpoint_open,
	.endpoint_connect = hp3x_verbs_endpoint_connect,
	.endpoint_post = hp3x_verbs_endpoint_post,
	.endpoint_shut = hp3x_verbs_endpoint_shut};
