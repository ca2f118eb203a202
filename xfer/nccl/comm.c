/* SPDX-License-Identifier: BSD-3-Clause */
/* Listeners, and comms: connecting, accepting, closing. */
#include <string.h>
#include "xfer/nccl/plugin.h"

/* What NCCL carries from the rank that listens to the one that connects. */
struct handle {
	char address[64];
	uint64_t listener;
	struct net_comm *connecting; /* at the rank that connects */
};

_Static_assert(sizeof(struct handle) <= NET_HANDLE, "NCCL's handles");

static bool is_under_way(const struct net_comm *c)
{
	bool any = false;

	for (uint32_t i = 0; i < NET_SLOTS; i++)
		any |= c->request[i].used && atomic_load(&c->request[i].state) == NET_PENDING;
	return any;
}

static struct net_comm *comm_take(struct net_comm *list, bool sends)
{
	for (uint32_t i = 0; i < NET_COMMS; i++) {
		if (list[i].used && (!list[i].closed || is_under_way(&list[i])))
			continue;
		list[i] = (struct net_comm){.used = true, .sends = sends, .index = i};
		return &list[i];
	}
	NET_WARN("too many comms: at most %u in each direction", NET_COMMS);
	return NULL;
}

int net_listen(int device, void *handle, void **listener)
{
	struct handle h = {0};
	int rc = NET_INTERNAL_ERROR;

	pthread_mutex_lock(&net_plugin.lock);
	for (uint32_t i = 0; i < NET_COMMS && rc != NET_SUCCESS; i++) {
		struct net_listener *l = &net_plugin.listener[i];

		if (l->used)
			continue;
		*l = (struct net_listener){.used = true, .number = ++net_plugin.listeners};
		h.listener = l->number;
		strncpy(h.address, hp3x_address(net_plugin.domain), sizeof(h.address) - 1);
		memset(handle, 0, NET_HANDLE);
		memcpy(handle, &h, sizeof(h));
		*listener = l;
		rc = NET_SUCCESS;
	}
	pthread_mutex_unlock(&net_plugin.lock);
	return device == 0 ? rc : NET_INVALID_ARGUMENT;
}

static int begin_connect(struct handle *h)
{
	struct net_message m = {.kind = NET_CONNECT, .listener = h->listener};
	struct net_comm *c = comm_take(net_plugin.send, true);

	if (c == NULL)
		return NET_INTERNAL_ERROR;
	c->peer = net_peer_at(h->address);
	if (c->peer == NULL || !net_tell(c, &m)) {
		c->used = false;
		return NET_REMOTE_ERROR;
	}
	h->connecting = c;
	return NET_SUCCESS;
}

int net_connect(void *handle, void **comm)
{
	struct handle *h = handle;
	int rc = NET_SUCCESS;

	*comm = NULL;
	pthread_mutex_lock(&net_plugin.lock);
	if (h->connecting == NULL)
		rc = begin_connect(h);
	net_pump();
	if (rc == NET_SUCCESS && h->connecting->connected)
		*comm = h->connecting;
	else if (rc == NET_SUCCESS && hp3x_peer_state(h->connecting->peer) == HP3X_PEER_GONE)
		rc = NET_REMOTE_ERROR;
	pthread_mutex_unlock(&net_plugin.lock);
	return rc;
}

int net_accept(void *listener, void **comm, void **offload)
{
	const struct net_listener *l = listener;

	*comm = NULL;
	pthread_mutex_lock(&net_plugin.lock);
	net_pump();
	for (uint32_t i = 0; i < NET_COMMS && *comm == NULL; i++) {
		struct net_comm *c = &net_plugin.receive[i];
		struct net_message m = {.kind = NET_ACCEPT};

		if (!c->used || c->listener != l->number || !net_tell(c, &m))
			continue;
		c->listener = 0;
		c->connected = true;
		*comm = c;
	}
	pthread_mutex_unlock(&net_plugin.lock);
	return NET_SUCCESS;
}

int net_close_comm(void *comm)
{
	struct net_comm *c = comm;
	struct net_message m = {.kind = NET_CLOSE, .slot = c->sends};

	pthread_mutex_lock(&net_plugin.lock);
	/* the other rank may still write to a buffer that was posted */
	for (uint32_t i = 0; i < NET_SLOTS && !c->sends; i++)
		net_plugin.lost[c->index * NET_SLOTS + i] |= c->request[i].used;
	if (!c->other_closed)
		net_tell(c, &m);
	c->closed = true;
	c->used = c->sends && is_under_way(c); /* until done_fn() was called */
	pthread_mutex_unlock(&net_plugin.lock);
	return NET_SUCCESS;
}

int net_close_listen(void *listener)
{
	struct net_listener *l = listener;

	pthread_mutex_lock(&net_plugin.lock);
	l->used = false;
	pthread_mutex_unlock(&net_plugin.lock);
	return NET_SUCCESS;
}

static void connect_arrives(struct hp3x_peer *peer, const struct net_message *m)
{
	struct net_comm *c = comm_take(net_plugin.receive, false);

	if (c == NULL)
		return;
	c->peer = peer;
	c->other = m->from;
	c->listener = m->listener;
}

/* The comm that a message is for. NULL: the message comes from another peer, or too late. */
static struct net_comm *comm_of(
	struct hp3x_peer *peer, const struct net_message *m, struct net_comm *list)
{
	struct net_comm *c = m->to < NET_COMMS ? &list[m->to] : NULL;

	return c != NULL && c->used && !c->closed && c->peer == peer ? c : NULL;
}

void net_comm_message(struct hp3x_peer *peer, const struct net_message *m)
{
	struct net_comm *c;

	switch ((enum net_kind)m->kind) {
	case NET_CONNECT:
		connect_arrives(peer, m);
		break;
	case NET_ACCEPT:
		c = comm_of(peer, m, net_plugin.send);
		if (c != NULL) {
			c->other = m->from;
			c->connected = true;
		}
		break;
	case NET_POST:
		c = comm_of(peer, m, net_plugin.send);
		if (c != NULL && c->connected && m->from == c->other)
			net_posted_take(c, m);
		break;
	case NET_CLOSE: /* slot: its sender was the one that sends */
		c = comm_of(peer, m, m->slot ? net_plugin.receive : net_plugin.send);
		if (c != NULL && m->from == c->other)
			c->other_closed = true;
		break;
	default:
		NET_WARN("message of kind %u: the other rank has another version", m->kind);
	}
}
