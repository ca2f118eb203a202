/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives of an RNIC's port. */
#include <errno.h>
#include <string.h>
#include "app/clock.h"
#include "app/hp3d/ud/rnic.h"
#include "base/hash.h"

#define HANDLE_WAYS 4u
#define FIRST_SEND  (HP3D_UD_QPS * HP3D_UD_RECEIVES) /* slot of the first send */

static uint8_t *slot_of(const struct hp3d_ud_rnic *r, uint32_t slot)
{
	return r->memory + (size_t)slot * HP3D_UD_SLOT;
}

int hp3d_ud_rnic_receive(struct hp3d_ud_rnic *r, uint32_t slot)
{
	struct ibv_sge sge = {(uintptr_t)slot_of(r, slot), HP3D_UD_SLOT, r->mr->lkey};
	struct ibv_recv_wr *bad, wr = {.wr_id = slot, .sg_list = &sge, .num_sge = 1};

	return ibv_post_recv(r->qp[slot / HP3D_UD_RECEIVES], &wr, &bad);
}

/* As label_of_port() of the library: a label that makes the chosen port. */
static uint32_t label_of(uint16_t port)
{
	return port == 0xc000 ? 0x4001 : port & 0x3fff;
}

static struct ibv_ah *make_handle(struct hp3d_ud_rnic *r, const struct hp3d_ud_handle *h)
{
	struct ibv_ah_attr attr = {.is_global = 1,
		.port_num = r->port,
		.grh = {.sgid_index = h->gid,
			.hop_limit = h->ttl,
			.traffic_class = h->tclass,
			.flow_label = r->how == HP3D_UD_LABEL ? label_of(h->sport) : 0}};

	memcpy(attr.grh.dgid.raw, h->dst, sizeof(h->dst));
	return r->verbs->create_ah(r->pd, &attr);
}

static bool is_same(const struct hp3d_ud_handle *a, const struct hp3d_ud_handle *b)
{
	return a->sport == b->sport && a->gid == b->gid && a->tclass == b->tclass &&
	       a->ttl == b->ttl && memcmp(a->dst, b->dst, sizeof(a->dst)) == 0;
}

static uint32_t set_of_handle(const struct hp3d_ud_rnic *r, const struct hp3d_ud_handle *h)
{
	uint64_t key[3] = {h->sport | (uint64_t)h->gid << 16 | (uint64_t)h->tclass << 24 |
			   (uint64_t)h->ttl << 32};

	memcpy(key + 1, h->dst, sizeof(h->dst));
	return (uint32_t)hp3_hash(r->seed, key, sizeof(key)) % (HP3D_UD_HANDLES / HANDLE_WAYS) *
	       HANDLE_WAYS;
}

/* The cached handle, or a new one in the place of the least recently used. */
static struct ibv_ah *handle_of_route(
	struct hp3d_ud_rnic *r, int gid, const struct hp3d_ud_route *route)
{
	struct hp3d_ud_handle want = {.sport = r->how == HP3D_UD_LABEL ? route->sport : 0,
				      .gid = (uint8_t)gid,
				      .tclass = route->tclass,
				      .ttl = route->ttl},
			      *h, *oldest;

	hp3d_ud_as_gid(want.dst, route->ipv6, route->dst);
	oldest = h = &r->handle[set_of_handle(r, &want)];
	for (struct hp3d_ud_handle *end = h + HANDLE_WAYS; h < end; h++) {
		if (h->ah != NULL && is_same(h, &want)) {
			h->used = ++r->stamp;
			return h->ah;
		}
		if (h->used < oldest->used)
			oldest = h;
	}
	want.ah = make_handle(r, &want);
	if (want.ah == NULL)
		return NULL;
	if (oldest->ah != NULL)
		r->verbs->destroy_ah(oldest->ah);
	want.used = ++r->stamp;
	*oldest = want;
	return want.ah;
}

/* The queue pair that has the port. If the route allows any port, always the same queue pair per
 * port. */
static int qp_for(const struct hp3d_ud_rnic *r, const struct hp3d_ud_route *route)
{
	for (uint32_t i = 0; r->how == HP3D_UD_HASHED && i < r->n; i++)
		if (r->sport[i] == route->sport)
			return (int)i;
	if (r->n == 0 || (r->how == HP3D_UD_HASHED && route->exact))
		return -EADDRNOTAVAIL;
	return (int)(route->sport % r->n);
}

static void reap_sends(struct hp3d_ud_rnic *r)
{
	struct hp3d_ud_done done;

	while (hp3d_ud_queue_take(&r->left, &done)) {
		uint16_t slot = (uint16_t)(done.wr_id - FIRST_SEND);

		r->free_send[r->n_free++] = slot;
		r->failed += !done.good;
		if (done.good && r->is_probe[slot])
			hp3d_ud_stamp_left(&r->stamps, r->probe[slot], done.ticks);
	}
}

int hp3d_ud_rnic_send(struct hp3d_ud_rnic *r, int gid, const struct hp3d_ud_route *route,
	const struct hp3_hello *peer, const void *buf, uint32_t n)
{
	struct ibv_sge sge = {.length = n, .lkey = r->mr->lkey};
	struct ibv_send_wr *bad, wr = {.sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IBV_WR_SEND,
					 .send_flags = IBV_SEND_SIGNALED};
	int at = qp_for(r, route), err;
	uint16_t slot;

	if (at < 0)
		return at;
	reap_sends(r);
	if (r->n_free == 0)
		return -ENOBUFS;
	wr.wr.ud.ah = handle_of_route(r, gid, route);
	if (wr.wr.ud.ah == NULL)
		return -ENETUNREACH;
	wr.wr.ud.remote_qpn = peer->qpn[route->sport % peer->n];
	wr.wr.ud.remote_qkey = peer->qkey;
	slot = r->free_send[r->n_free - 1];
	wr.wr_id = FIRST_SEND + slot;
	sge.addr = (uintptr_t)memcpy(slot_of(r, FIRST_SEND + slot), buf, n);
	r->is_probe[slot] = route->probe && hp3d_ud_stamps_are_there(&r->stamps);
	r->probe[slot] = route->id;
	if (r->is_probe[slot]) /* not the pipe's time: that is read once per round */
		hp3d_ud_stamp_posted(&r->stamps, route->id, hp3_clock_ns(CLOCK_MONOTONIC));
	err = ibv_post_send(r->qp[at], &wr, &bad);
	if (err != 0)
		return -err;
	r->n_free--;
	return 0;
}

/* The next call posts the slot of this datagram as a receive again. */
bool hp3d_ud_rnic_take(struct hp3d_ud_rnic *r, const uint8_t **grh, uint32_t *n)
{
	struct hp3d_ud_done done;

	for (;;) {
		if (r->taken != 0)
			hp3d_ud_rnic_receive(r, r->taken - 1);
		r->taken = 0;
		if (!hp3d_ud_queue_take(&r->arrived, &done))
			return false;
		if (done.wr_id >= FIRST_SEND)
			continue;
		r->taken = (uint32_t)done.wr_id + 1;
		r->taken_ticks = done.ticks;
		if (!done.good || !(done.flags & IBV_WC_GRH) || done.bytes < HP3D_UD_GRH ||
			done.bytes > HP3D_UD_SLOT)
			continue;
		*grh = slot_of(r, (uint32_t)done.wr_id);
		*n = done.bytes - HP3D_UD_GRH;
		return true;
	}
}

enum hp3d_ud_timing hp3d_ud_rnic_took(struct hp3d_ud_rnic *r, uint32_t id, uint32_t *took_ns)
{
	reap_sends(r); /* the probe's own completion may not have been polled yet */
	return hp3d_ud_stamp_judge(
		&r->stamps, id, r->taken_ticks, hp3_clock_ns(CLOCK_MONOTONIC), took_ns);
}

void hp3d_ud_rnic_heard(struct hp3d_ud_rnic *r)
{
	struct ibv_cq *cq;
	void *context;
	unsigned int n = 0;

	while (r->verbs->get_cq_event(r->channel, &cq, &context) == 0)
		n++;
	if (n > 0)
		r->verbs->ack_cq_events(r->arrived.cq, n);
	ibv_req_notify_cq(r->arrived.cq, 0);
}
