/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers come, are lost, and are closed. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include "app/clock.h"
#include "xfer/lib/internal.h"
#include "xfer/lib/address.h"

struct hp3x_peer *hp3x_peer_new(struct hp3x_domain *d, uint64_t now)
{
	struct hp3x_peer *p = calloc(1, sizeof(*p));
	int index;

	if (p == NULL)
		return NULL;
	index = hp3x_core_peer_add(d->core, now);
	if (index < 0 || hp3x_outbox_open(&p->channel.out) < 0 ||
		hp3x_inbound_open(&p->channel.in) < 0) {
		if (index >= 0) {
			hp3x_core_peer_close(d->core, now, (uint32_t)index);
			hp3x_core_peer_free(d->core, (uint32_t)index);
		}
		hp3x_outbox_close(&p->channel.out);
		free(p);
		return NULL;
	}
	p->domain = d;
	p->index = (uint32_t)index;
	p->channel.source = (struct hp3x_source){HP3X_SOURCE_CHANNEL, -1};
	p->channel.heard = p->channel.said = now;
	d->peer[index] = p;
	LIST_INSERT_HEAD(&d->peers, p, next);
	return p;
}

int hp3x_connect(struct hp3x_domain *d, const char *address, struct hp3x_peer **peer)
{
	uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC);
	struct sockaddr_storage to;
	struct hp3x_peer *p;
	int error = hp3x_address_read(address, &to);

	if (error < 0)
		return error;
	hp3x_lock(d);
	p = hp3x_peer_new(d, now);
	if (p == NULL) {
		hp3x_unlock(d);
		return hp3x_error_set(-ENOBUFS,
			"the domain has %u peers: close one with hp3x_peer_close() first",
			HP3X_PEERS);
	}
	p->channel.dialler = true;
	p->channel.address[0] = to;
	p->channel.n_addresses = 1;
	hp3x_hello_make(p);
	hp3x_channel_open(p, now);
	hp3x_drive_wake(d);
	hp3x_unlock(d);
	*peer = p;
	return 0;
}

int hp3x_accept(struct hp3x_domain *d, struct hp3x_peer **peer)
{
	struct hp3x_peer *p;

	hp3x_lock(d);
	p = STAILQ_FIRST(&d->waiting);
	if (p != NULL) {
		STAILQ_REMOVE_HEAD(&d->waiting, waiting);
		p->accepting = false;
	}
	hp3x_unlock(d);
	if (p == NULL)
		return 0;
	*peer = p;
	return 1;
}

enum hp3x_peer_state hp3x_peer_state(const struct hp3x_peer *peer)
{
	enum hp3x_peer_state state;

	hp3x_lock(peer->domain);
	state = peer->state;
	hp3x_unlock(peer->domain);
	return state;
}

const char *hp3x_peer_reason(const struct hp3x_peer *peer)
{
	return hp3x_peer_state(peer) == HP3X_PEER_GONE ? peer->reason : "";
}

void hp3x_peer_set_context(struct hp3x_peer *peer, void *context)
{
	__atomic_store_n(&peer->context, context, __ATOMIC_RELEASE);
}

void *hp3x_peer_context(const struct hp3x_peer *peer)
{
	return __atomic_load_n(&peer->context, __ATOMIC_ACQUIRE);
}

void hp3x_peer_lose(struct hp3x_peer *p, uint64_t now, const char *reason)
{
	struct hp3x_domain *d = p->domain;

	if (p->state == HP3X_PEER_GONE || p->closing)
		return;
	if (p->reason[0] == '\0')
		snprintf(p->reason, sizeof(p->reason), "%s", reason);
	hp3x_core_peer_lost(d->core, now, p->index);
	hp3x_acts(d, now);
}

bool hp3x_peer_free(struct hp3x_peer *p)
{
	struct hp3x_domain *d = p->domain;

	if (!hp3x_core_peer_free(d->core, p->index))
		return false;
	d->peer[p->index] = NULL;
	d->n_closing--;
	LIST_REMOVE(p, next);
	hp3x_outbox_close(&p->channel.out);
	hp3x_inbound_close(&p->channel.in);
	free(p);
	return true;
}

static void completions_forget(struct hp3x_ops *ops, const struct hp3x_peer *p)
{
	struct hp3x_op *op;

	STAILQ_FOREACH (op, ops, next)
		if (op->completion.peer == p)
			op->completion.peer = NULL;
}

void hp3x_peer_close(struct hp3x_peer *p)
{
	struct hp3x_domain *d = p->domain;
	uint64_t now = hp3_clock_ns(CLOCK_MONOTONIC);

	hp3x_lock(d);
	p->closing = true;
	d->n_closing++;
	if (p->accepting)
		STAILQ_REMOVE(&d->waiting, p, hp3x_peer, waiting);
	hp3x_core_peer_close(d->core, now, p->index);
	hp3x_acts(d, now);
	hp3x_channel_close(p);
	hp3x_inbox_forget(p);
	hp3x_drive_provider(d);
	completions_forget(&d->ended, p);
	completions_forget(&d->calls, p);
	hp3x_peer_free(p);
	hp3x_drive_wake(d);
	hp3x_unlock(d);
}

int hp3x_paths(struct hp3x_domain *d, struct hp3x_path *path, int n)
{
	struct hp3x_peer *p;
	int found = 0;

	hp3x_lock(d);
	LIST_FOREACH (p, &d->peers, next)
		for (uint32_t i = 0; i < HP3X_MOST_PATHS && !p->closing; i++) {
			struct hp3x_path info;

			if (!hp3x_core_path_info(d->core, p->index, i, &info))
				continue;
			info.peer = p;
			if (found < n)
				path[found] = info;
			found++;
		}
	hp3x_unlock(d);
	return found;
}
