/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory, and the two kinds of requests: send and receive. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "xfer/nccl/plugin.h"

int net_register(void *comm, void *data, size_t size, int type, void **memory)
{
	struct net_memory *m = calloc(1, sizeof(*m));
	int length = -1;

	(void)comm; /* a registration holds for the whole domain */
	*memory = NULL;
	if (m == NULL || type != NET_HOST) {
		free(m);
		return type != NET_HOST ? NET_INVALID_USAGE : NET_SYSTEM_ERROR;
	}
	if (hp3x_region_add(net_plugin.domain, data, size, &m->region) == 0)
		length = hp3x_region_describe(m->region, m->description, sizeof(m->description));
	if (length < 0) {
		NET_WARN("%zu bytes of memory: %s", size, hp3x_error());
		free(m);
		return NET_SYSTEM_ERROR;
	}
	m->length = (uint32_t)length;
	m->base = (uintptr_t)data;
	m->size = size;
	*memory = m;
	return NET_SUCCESS;
}

int net_deregister(void *comm, void *memory)
{
	struct net_memory *m = memory;
	int rc = hp3x_region_remove(m->region);

	(void)comm;
	if (rc < 0) {
		NET_WARN("deregistering memory: %s", hp3x_error());
		return NET_INVALID_USAGE;
	}
	free(m);
	return NET_SUCCESS;
}

static struct net_request *request_take(struct net_comm *c)
{
	for (uint32_t i = 0; i < NET_SLOTS; i++) {
		struct net_request *r = &c->request[i];

		if (r->used || (!c->sends && net_plugin.lost[c->index * NET_SLOTS + i]))
			continue;
		r->comm = c;
		r->slot = i;
		return r;
	}
	return NULL;
}

static bool is_within(const struct net_memory *m, const void *data, size_t size)
{
	uintptr_t at = (uintptr_t)data;

	return m != NULL && at >= m->base && size <= m->size && at - m->base <= m->size - size;
}

void net_posted_take(struct net_comm *c, const struct net_message *m)
{
	struct net_posted *p = m->slot < NET_SLOTS ? &c->posted[m->slot] : NULL;

	if (p == NULL || p->used || hp3x_remote_read(m->region, m->region_length, &p->remote) < 0) {
		NET_WARN("a posted buffer makes no sense: slot %u", m->slot);
		return;
	}
	p->used = true;
	p->tag = m->tag;
	p->counter = m->counter;
	p->offset = m->offset;
	p->size = m->size;
	p->order = ++c->posts;
}

/* The buffer for this tag that was posted first. */
static struct net_posted *posted_for(struct net_comm *c, uint32_t tag)
{
	struct net_posted *first = NULL;

	for (uint32_t i = 0; i < NET_SLOTS; i++) {
		struct net_posted *p = &c->posted[i];

		if (p->used && p->tag == tag && (first == NULL || p->order < first->order))
			first = p;
	}
	return first;
}

/* Nothing more comes from the other end, for a reason that is in NCCL's log. */
static int comm_lost(const struct net_comm *c)
{
	const char *reason = hp3x_peer_reason(c->peer);

	NET_WARN("the other end is lost: %s",
		reason[0] != '\0' ? reason : "it has closed the connection, or a write failed");
	return NET_REMOTE_ERROR;
}

static void done_fn(const struct hp3x_completion *completion)
{
	struct net_request *r = completion->context;

	atomic_store(&r->state, completion->status == HP3X_OK ? NET_DONE : NET_FAILED);
}

static int begin_send(struct net_comm *c, const void *data, size_t size,
	const struct net_memory *memory, struct net_posted *p, void **request)
{
	struct net_request *r = request_take(c);
	const struct hp3x_write w = {.common = {.context = r, .done = done_fn},
		.from = memory->region,
		.from_offset = (uintptr_t)data - memory->base,
		.to = &p->remote,
		.to_offset = p->offset,
		.length = size,
		.counter = p->counter,
		.add = (uint32_t)size + 1};
	int64_t op;

	if (r == NULL)
		return NET_SUCCESS; /* again later */
	atomic_store(&r->state, NET_PENDING);
	op = hp3x_write(c->peer, &w);
	if (op == -EAGAIN)
		return NET_SUCCESS;
	if (op < 0) {
		NET_WARN("write of %zu bytes: %s", size, hp3x_error());
		return NET_REMOTE_ERROR;
	}
	r->used = true;
	r->size = size;
	p->used = false;
	*request = r;
	return NET_SUCCESS;
}

int net_isend(
	void *comm, void *data, size_t size, int tag, void *memory, void *profile, void **request)
{
	struct net_comm *c = comm;
	struct net_posted *p;
	int rc = NET_SUCCESS;

	(void)profile;
	*request = NULL;
	if (size > NET_MOST || !is_within(memory, data, size))
		return NET_INVALID_ARGUMENT;
	pthread_mutex_lock(&net_plugin.lock);
	net_pump();
	p = posted_for(c, (uint32_t)tag);
	if (hp3x_peer_state(c->peer) == HP3X_PEER_GONE || c->other_closed) {
		rc = comm_lost(c);
	} else if (p != NULL && size > p->size) {
		NET_WARN("%zu bytes for a buffer of %llu bytes", size, (unsigned long long)p->size);
		rc = NET_INVALID_USAGE;
	} else if (p != NULL) {
		rc = begin_send(c, data, size, memory, p, request);
	}
	pthread_mutex_unlock(&net_plugin.lock);
	return rc;
}

static bool post_buffer(struct net_comm *c, struct net_request *r, const void *data, uint32_t tag,
	const struct net_memory *memory)
{
	struct net_message m = {.kind = NET_POST,
		.slot = r->slot,
		.tag = tag,
		.counter = c->index * NET_SLOTS + r->slot,
		.region_length = memory->length,
		.offset = (uintptr_t)data - memory->base,
		.size = r->size};

	memcpy(m.region, memory->description, memory->length);
	return net_tell(c, &m);
}

int net_irecv(void *comm, int n, void **data, size_t *sizes, int *tags, void **memory,
	void **profile, void **request)
{
	struct net_comm *c = comm;
	struct net_request *r;
	int rc = NET_SUCCESS;

	(void)profile;
	*request = NULL;
	if (n != 1 || !is_within(memory[0], data[0], sizes[0]))
		return NET_INVALID_ARGUMENT;
	pthread_mutex_lock(&net_plugin.lock);
	net_pump();
	r = request_take(c);
	if (r != NULL) {
		r->size = sizes[0];
		if (post_buffer(c, r, data[0], (uint32_t)tags[0], memory[0])) {
			r->used = true;
			*request = r;
		} else if (hp3x_peer_state(c->peer) == HP3X_PEER_GONE) {
			rc = comm_lost(c);
		}
	}
	pthread_mutex_unlock(&net_plugin.lock);
	return rc;
}

/* Bytes that have arrived + 1; 0: not yet. */
static uint64_t bytes_received(const struct net_request *r)
{
	uint64_t value = 0;

	hp3x_counter_take(net_plugin.domain, r->comm->index * NET_SLOTS + r->slot, &value);
	return value;
}

int net_test(void *request, int *done, int *sizes)
{
	struct net_request *r = request;
	uint64_t value = 0;
	int state, rc = NET_SUCCESS;

	*done = 0;
	pthread_mutex_lock(&net_plugin.lock);
	state = r->comm->sends ? atomic_load(&r->state) : NET_PENDING;
	if (!r->comm->sends)
		value = bytes_received(r);
	if (state == NET_DONE || value > 0) {
		*done = 1;
		if (sizes != NULL)
			*sizes = (int)(value > 0 ? value - 1 : r->size);
		r->used = false;
	} else if (state == NET_FAILED || hp3x_peer_state(r->comm->peer) == HP3X_PEER_GONE) {
		rc = comm_lost(r->comm);
	} else {
		net_pump();
	}
	pthread_mutex_unlock(&net_plugin.lock);
	return rc;
}
