/* SPDX-License-Identifier: BSD-3-Clause */
/* Acts of the core: the shell carries them out with the provider and the control channel. */
#include <stdio.h>
#include "xfer/lib/internal.h"

static struct hp3x_endpoint *endpoint_of(const struct hp3x_domain *d, const struct hp3x_act *a)
{
	return d->peer[a->peer]->endpoint[a->path];
}

static void act_post(struct hp3x_domain *d, uint64_t now, const struct hp3x_act *a)
{
	const struct hp3x_region *region = a->post.region;
	struct hp3x_endpoint *e = endpoint_of(d, a);
	struct hp3x_post p = {.kind = a->kind,
		.has_imm = a->has_imm,
		.imm = a->post.imm,
		.token = a->post.token,
		.memory = region == NULL ? NULL : region->memory,
		.address = region == NULL ? 0 : region->address + a->post.offset,
		.remote = a->post.remote,
		.remote_key = a->post.remote_key,
		.length = a->post.length};

	if (e == NULL || d->provider->endpoint_post(e, &p) < 0)
		hp3x_core_completed(d->core, now, p.token, HP3X_RESULT_FAILED);
}

static void act_open(struct hp3x_domain *d, uint64_t now, const struct hp3x_act *a)
{
	struct hp3x_place place = {a->blob.local_rail, a->peer, a->path};
	uint8_t description[HP3X_ENDPOINT];
	struct hp3x_endpoint *e;
	int n = d->provider->endpoint_open(d->rails, &place, description, &e);

	if (n > 0)
		d->peer[a->peer]->endpoint[a->path] = e;
	hp3x_core_opened(d->core, now, a->peer, a->path, description, n > 0 ? (size_t)n : 0);
}

static void act_connect(struct hp3x_domain *d, uint64_t now, const struct hp3x_act *a)
{
	struct hp3x_endpoint *e = endpoint_of(d, a);
	uint32_t peer = a->peer, path = a->path;

	if (e == NULL || d->provider->endpoint_connect(e, a->blob.data, a->blob.length) < 0)
		hp3x_core_connected(d->core, now, peer, path, false);
}

static void act_shut(struct hp3x_domain *d, uint64_t now, const struct hp3x_act *a)
{
	struct hp3x_endpoint *e = endpoint_of(d, a);

	if (e != NULL)
		d->provider->endpoint_shut(e);
	else
		hp3x_core_shut(d->core, now, a->peer, a->path);
}

static void act_count(struct hp3x_domain *d, const struct hp3x_act *a)
{
	d->counter[a->count.counter % HP3X_COUNTERS] += a->count.add;
	if (d->waiters > 0)
		pthread_cond_broadcast(&d->counted);
	hp3x_drive_news(d);
}

static void act_peer(struct hp3x_domain *d, const struct hp3x_act *a)
{
	struct hp3x_peer *p = d->peer[a->peer];

	p->state = a->state;
	if (a->state != HP3X_PEER_GONE)
		return;
	if (p->reason[0] == '\0')
		snprintf(p->reason, sizeof(p->reason), "%s",
			"the peer was silent for longer than peer_timeout_ms");
	hp3x_channel_close(p);
	hp3x_drive_news(d);
}

void hp3x_acts(struct hp3x_domain *d, uint64_t now)
{
	struct hp3x_act a;

	while (hp3x_core_act(d->core, now, &a)) {
		switch ((enum hp3x_act_kind)a.kind) {
		case HP3X_ACT_WRITE:
		case HP3X_ACT_READ:
		case HP3X_ACT_PROBE:
			act_post(d, now, &a);
			break;
		case HP3X_ACT_OPEN:
			act_open(d, now, &a);
			break;
		case HP3X_ACT_CONNECT:
			act_connect(d, now, &a);
			break;
		case HP3X_ACT_SHUT:
			act_shut(d, now, &a);
			break;
		case HP3X_ACT_MESSAGE:
			hp3x_channel_send(d->peer[a.peer], a.blob.data, a.blob.length);
			break;
		case HP3X_ACT_RECEIVED:
			hp3x_inbox_add(d->peer[a.peer], a.blob.data, a.blob.length);
			break;
		case HP3X_ACT_COUNT:
			act_count(d, &a);
			break;
		case HP3X_ACT_ENDED:
			hp3x_op_ended(d, &a.ended);
			break;
		case HP3X_ACT_PEER:
			act_peer(d, &a);
			break;
		}
	}
	d->provider->rails_flush(d->rails);
	hp3x_channels_flush(d);
}
