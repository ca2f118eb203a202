/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints: RC queue pairs. */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "xfer/verbs/verbs.h"

#define LABEL_MASK 0xfffffu

/* Of a queue pair, for the other end. All fields big-endian. */
struct description {
	uint8_t gid[16];
	uint32_t qpn, psn;
	uint16_t lid;
	uint8_t mtu, reserved[5];
	uint64_t scratch;
	uint32_t scratch_key, reserved_too;
};

_Static_assert(sizeof(struct description) <= HP3X_ENDPOINT, "hp3x's endpoints");

static int to_init(struct hp3x_endpoint *e)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_INIT,
		.port_num = e->rail->port,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};

	return ibv_modify_qp(
		e->qp, &a, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

/*
 * Paths between the same two rails differ in their flow label. RNICs derive the UDP source port
 * from it (rdma_flow_label_to_udp_sport), and ECMP the path.
 */
static uint32_t label_of(const struct hp3x_endpoint *e)
{
	uint32_t label = (e->place.path + 1) * 2654435761u ^ e->psn;

	return (label ^ label >> 12) & LABEL_MASK;
}

static int to_rtr(struct hp3x_endpoint *e, const struct description *d, int gid_index)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR,
		.path_mtu =
			(enum ibv_mtu)d->mtu < e->rail->mtu ? (enum ibv_mtu)d->mtu : e->rail->mtu,
		.dest_qp_num = be32toh(d->qpn),
		.rq_psn = be32toh(d->psn),
		.max_dest_rd_atomic = MOST_READS,
		.min_rnr_timer = MIN_RNR,
		.ah_attr = {.dlid = be16toh(d->lid),
			.port_num = e->rail->port,
			.is_global = 1,
			.grh = {.sgid_index = (uint8_t)gid_index,
				.hop_limit = HOPS,
				.flow_label = label_of(e)}}};

	memcpy(a.ah_attr.grh.dgid.raw, d->gid, sizeof(d->gid));
	return ibv_modify_qp(e->qp, &a,
		IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int to_rts(struct hp3x_endpoint *e)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS,
		.sq_psn = e->psn,
		.timeout = e->rails->ack_timeout,
		.retry_cnt = RETRIES,
		.rnr_retry = RETRIES,
		.max_rd_atomic = MOST_READS};

	return ibv_modify_qp(e->qp, &a,
		IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void describe_endpoint(const struct hp3x_endpoint *e, struct description *d)
{
	struct ibv_port_attr port = {0};

	ibv_query_port(e->rail->context, e->rail->port, &port);
	*d = (struct description){.qpn = htobe32(e->qp->qp_num),
		.psn = htobe32(e->psn),
		.lid = htobe16(port.lid),
		.mtu = (uint8_t)e->rail->mtu,
		.scratch = htobe64((uintptr_t)(e->rail->scratch + SCRATCH)),
		.scratch_key = htobe32(e->rail->scratch_mr->rkey)};
	memcpy(d->gid, e->rail->gid.raw, sizeof(d->gid));
}

int hp3x_verbs_endpoint_open(struct hp3x_rails *rails, const struct hp3x_place *place,
	void *description, struct hp3x_endpoint **endpoint)
{
	struct hp3x_endpoint *e = calloc(1, sizeof(*e));
	struct hp3x_rail_verbs *r = &rails->rail[place->rail];
	struct ibv_qp_init_attr init = {.send_cq = r->cq,
		.recv_cq = r->cq,
		.srq = r->srq,
		.qp_type = IBV_QPT_RC,
		.cap = {.max_send_wr = HP3X_POSTS, .max_send_sge = 1}};

	if (e == NULL)
		return hp3x_error_set(-ENOMEM, "no memory for an endpoint");
	e->rails = rails;
	e->rail = r;
	e->place = *place;
	if (getrandom(&e->psn, sizeof(e->psn), 0) < 0)
		e->psn = 1;
	e->psn &= 0xffffff;
	e->qp = ibv_create_qp(r->pd, &init);
	if (e->qp == NULL || to_init(e) != 0) {
		int rc = -errno;

		if (e->qp != NULL)
			ibv_destroy_qp(e->qp);
		free(e);
		return hp3x_error_set(rc, "%s: no queue pair: %s", r->name, strerror(-rc));
	}
	for (uint32_t i = 0; i < HP3X_POSTS; i++)
		e->post[i].endpoint = e;
	LIST_INSERT_HEAD(&rails->bucket[e->qp->qp_num % QP_BUCKETS], e, next);
	describe_endpoint(e, description);
	*endpoint = e;
	return (int)sizeof(struct description);
}

static struct hp3x_event event_of(const struct hp3x_endpoint *e, enum hp3x_event_kind kind)
{
	return (struct hp3x_event){
		.kind = (uint8_t)kind, .peer = e->place.peer, .path = e->place.path};
}

int hp3x_verbs_endpoint_connect(struct hp3x_endpoint *e, const void *description, size_t length)
{
	struct description d;

	if (length != sizeof(d))
		return hp3x_error_set(-EINVAL, "the other end is no endpoint of verbs");
	memcpy(&d, description, sizeof(d));
	memcpy(e->description, description, sizeof(d));
	e->remote_scratch = be64toh(d.scratch);
	e->remote_scratch_key = be32toh(d.scratch_key);
	hp3x_verbs_connector_add(e);
	return 0;
}

int hp3x_verbs_endpoint_to_rts(struct hp3x_endpoint *e)
{
	struct description d;
	int index = hp3x_verbs_gid_index(e->rail), rc;

	memcpy(&d, e->description, sizeof(d));
	rc = index < 0 ? ENODEV : to_rtr(e, &d, index);
	return rc == 0 ? to_rts(e) : rc;
}

static struct hp3x_post_verbs *post_take(struct hp3x_endpoint *e)
{
	for (uint32_t i = 0; i < HP3X_POSTS; i++) {
		struct hp3x_post_verbs *p = &e->post[(e->first_free + i) % HP3X_POSTS];

		if (p->used)
			continue;
		e->first_free += i + 1;
		p->used = true;
		return p;
	}
	return NULL;
}

static enum ibv_wr_opcode opcode_of(const struct hp3x_post *post)
{
	if (post->kind != HP3X_ACT_WRITE)
		return IBV_WR_RDMA_READ;
	return post->has_imm ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
}

int hp3x_verbs_endpoint_post(struct hp3x_endpoint *e, const struct hp3x_post *post)
{
	struct hp3x_post_verbs *p = e->connected && !e->failed ? post_take(e) : NULL;
	bool empty = post->length == 0;
	struct ibv_sge sge = {.addr = empty ? (uintptr_t)e->rail->scratch : post->address,
		.length = empty ? 1 : post->length,
		.lkey = empty ? e->rail->scratch_mr->lkey : post->memory->mr[e->place.rail]->lkey};
	struct ibv_send_wr *bad,
		wr = {.wr_id = (uintptr_t)p,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = opcode_of(post),
			.send_flags = IBV_SEND_SIGNALED,
			.imm_data = htobe32(post->imm),
			.wr.rdma = {.remote_addr = empty ? e->remote_scratch : post->remote,
				.rkey = empty ? e->remote_scratch_key : post->remote_key}};
	int rc;

	if (p == NULL)
		return e->connected && !e->failed ? -ENOBUFS : -ENOTCONN;
	p->token = post->token;
	rc = ibv_post_send(e->qp, &wr, &bad);
	if (rc == 0)
		return 0;
	p->used = false;
	return rc == ENOMEM ? -ENOBUFS : -ENOTCONN;
}

void hp3x_verbs_endpoint_failed(struct hp3x_endpoint *e)
{
	struct hp3x_event event = event_of(e, HP3X_EVENT_FAILED);

	if (e->failed)
		return;
	e->failed = true;
	hp3x_verbs_event_add(e->rails, &event);
}

void hp3x_verbs_endpoint_shut(struct hp3x_endpoint *e)
{
	e->failed = true; /* the core awaits nothing more of it, but for arrivals */
	e->shut_asked = true;
	if (!e->connecting || hp3x_verbs_connector_remove(e))
		hp3x_verbs_endpoint_destroy(e);
}

void hp3x_verbs_endpoint_destroy(struct hp3x_endpoint *e)
{
	struct hp3x_event event = event_of(e, HP3X_EVENT_SHUT);
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_ERR};

	ibv_modify_qp(e->qp, &a, IBV_QP_STATE);
	hp3x_verbs_rail_drain(e->rails, e->rail);
	ibv_destroy_qp(e->qp);
	e->failed = true;
	hp3x_verbs_rail_drain(e->rails, e->rail); /* what the RNIC has flushed */
	LIST_REMOVE(e, next);
	hp3x_verbs_event_add(e->rails, &event);
	free(e);
}
