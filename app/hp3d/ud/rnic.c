/* SPDX-License-Identifier: BSD-3-Clause */
/* A port of an RNIC: open, close, addresses. */
#include "app/hp3d/ud/rnic.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define VENDOR_MLX5      0x02c9u
#define VENDOR_RXE       0xffffffu
#define RXE_GOLDEN_RATIO 0x61c88647u
#define LOOK_NS          1000000000u

static int fail_rnic(char *why, size_t cap, const char *what)
{
	snprintf(why, cap, "%s: %s", what, strerror(errno));
	return -1;
}

/* As rxe_qp_init_req() of the kernel: hash_32(), 14 bits. */
static uint16_t hashed_port(uint32_t qpn)
{
	return (uint16_t)(0xc000u + (qpn * RXE_GOLDEN_RATIO >> 18));
}

static int find_how(struct hp3d_ud_rnic *r, char *why, size_t cap)
{
	struct ibv_device_attr attr = {0};

	if (r->verbs->query_device(r->context, &attr) != 0)
		return fail_rnic(why, cap, "its attributes cannot be queried");
	if (attr.vendor_id == VENDOR_MLX5)
		r->how = HP3D_UD_LABEL;
	else if (attr.vendor_id == VENDOR_RXE)
		r->how = HP3D_UD_HASHED;
	else {
		snprintf(why, cap,
			"which source ports its datagrams have is not known (vendor 0x%x)",
			attr.vendor_id);
		return -1;
	}
	return 0;
}

static bool is_live(const struct hp3d_ud_rnic *r)
{
	struct ibv_port_attr attr = {0};

	return r->verbs->query_port(r->context, r->port, (struct _compat_ibv_port_attr *)&attr) ==
		       0 &&
	       attr.link_layer == IBV_LINK_LAYER_ETHERNET;
}

static int make_both(struct hp3d_ud_rnic *r, bool stamps)
{
	if (hp3d_ud_queue_make(&r->arrived, r->verbs, r->context, HP3D_UD_QPS * HP3D_UD_RECEIVES,
		    r->channel, stamps) == 0 &&
		hp3d_ud_queue_make(&r->left, r->verbs, r->context, HP3D_UD_SENDS, NULL, stamps) ==
			0)
		return 0;
	hp3d_ud_queue_close(&r->arrived, r->verbs);
	return -1;
}

/* With timestamps on both queues, or on neither. */
static int make_completions(struct hp3d_ud_rnic *r)
{
	uint64_t mask, khz;

	hp3d_ud_counter_of(r->context, &mask, &khz);
	hp3d_ud_stamps_init(&r->stamps, mask, khz);
	if (hp3d_ud_stamps_are_there(&r->stamps) && make_both(r, true) == 0)
		return 0;
	hp3d_ud_stamps_init(&r->stamps, 0, 0);
	return make_both(r, false);
}

static int make_queues(struct hp3d_ud_rnic *r, char *why, size_t cap)
{
	const size_t slots = HP3D_UD_QPS * HP3D_UD_RECEIVES + HP3D_UD_SENDS;
	int flags;

	r->memory = calloc(slots, HP3D_UD_SLOT);
	r->pd = r->verbs->alloc_pd(r->context);
	if (r->memory == NULL || r->pd == NULL)
		return fail_rnic(why, cap, "no protection domain");
	r->mr = r->verbs->reg_mr(r->pd, r->memory, slots * HP3D_UD_SLOT, IBV_ACCESS_LOCAL_WRITE);
	if (r->mr == NULL)
		return fail_rnic(why, cap, "no memory may be registered (raise LimitMEMLOCK)");
	r->channel = r->verbs->create_comp_channel(r->context);
	if (r->channel == NULL)
		return fail_rnic(why, cap, "no completion channel");
	flags = fcntl(r->channel->fd, F_GETFL);
	if (flags < 0 || fcntl(r->channel->fd, F_SETFL, flags | O_NONBLOCK) < 0)
		return fail_rnic(why, cap, "its completion channel blocks");
	if (make_completions(r) < 0)
		return fail_rnic(why, cap, "no completion queue");
	for (uint32_t i = 0; i < HP3D_UD_SENDS; i++)
		r->free_send[r->n_free++] = (uint16_t)i;
	return 0;
}

static int make_qp_ready(struct hp3d_ud_rnic *r, struct ibv_qp *qp, uint32_t qkey)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = r->port, .qkey = qkey, .pkey_index = 0};

	if (r->verbs->modify_qp(
		    qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY) != 0)
		return -1;
	attr.qp_state = IBV_QPS_RTR;
	if (r->verbs->modify_qp(qp, &attr, IBV_QP_STATE) != 0)
		return -1;
	attr.qp_state = IBV_QPS_RTS;
	return r->verbs->modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_SQ_PSN) == 0 ? 0 : -1;
}

static int make_qp(struct hp3d_ud_rnic *r, uint32_t qkey, char *why, size_t cap)
{
	struct ibv_qp_init_attr make = {.send_cq = r->left.cq,
		.recv_cq = r->arrived.cq,
		.cap = {HP3D_UD_SENDS, HP3D_UD_RECEIVES, 1, 1, 0},
		.qp_type = IBV_QPT_UD};
	struct ibv_qp *qp = r->verbs->create_qp(r->pd, &make);

	if (qp == NULL)
		return fail_rnic(why, cap, "no queue pair of datagrams");
	r->qp[r->n] = qp;
	r->sport[r->n] = r->how == HP3D_UD_HASHED ? hashed_port(qp->qp_num) : 0;
	r->n++;
	if (make_qp_ready(r, qp, qkey) < 0)
		return fail_rnic(why, cap, "a UD queue pair does not become ready");
	for (uint32_t i = 0; i < HP3D_UD_RECEIVES; i++)
		if (hp3d_ud_rnic_receive(r, (r->n - 1) * HP3D_UD_RECEIVES + i) != 0)
			return fail_rnic(why, cap, "no receive can be posted");
	return 0;
}

int hp3d_ud_rnic_open(struct hp3d_ud_rnic *r, const struct hp3d_ibverbs *v,
	struct ibv_device *device, uint8_t port, uint32_t qkey, char *why, size_t cap)
{
	uint32_t want;

	r->verbs = v;
	r->port = port;
	snprintf(r->name, sizeof(r->name), "%s", v->get_device_name(device));
	if (getrandom(&r->seed, sizeof(r->seed), 0) != sizeof(r->seed))
		return fail_rnic(why, cap, "the kernel has no random numbers");
	r->context = v->open_device(device);
	if (r->context == NULL)
		return fail_rnic(why, cap, "cannot be opened");
	if (!is_live(r)) {
		snprintf(why, cap, "is not a RoCE port");
		return -1;
	}
	if (find_how(r, why, cap) < 0 || make_queues(r, why, cap) < 0)
		return -1;
	want = r->how == HP3D_UD_HASHED ? HP3D_UD_QPS : 1;
	while (r->n < want)
		if (make_qp(r, qkey, why, cap) < 0)
			return -1;
	if (ibv_req_notify_cq(r->arrived.cq, 0) != 0)
		return fail_rnic(why, cap, "no completion events");
	return 0;
}

void hp3d_ud_rnic_close(struct hp3d_ud_rnic *r)
{
	for (uint32_t i = 0; i < HP3D_UD_HANDLES; i++)
		if (r->handle[i].ah != NULL)
			r->verbs->destroy_ah(r->handle[i].ah);
	while (r->n > 0)
		r->verbs->destroy_qp(r->qp[--r->n]);
	hp3d_ud_queue_close(&r->arrived, r->verbs);
	hp3d_ud_queue_close(&r->left, r->verbs);
	if (r->channel != NULL)
		r->verbs->destroy_comp_channel(r->channel);
	if (r->mr != NULL)
		r->verbs->dereg_mr(r->mr);
	if (r->pd != NULL)
		r->verbs->dealloc_pd(r->pd);
	if (r->context != NULL)
		r->verbs->close_device(r->context);
	free(r->memory);
	memset(r, 0, sizeof(*r));
}

static void read_gids(struct hp3d_ud_rnic *r)
{
	struct ibv_gid_entry e;

	r->n_gids = 0;
	for (uint32_t i = 0; i < HP3D_UD_GIDS; i++) {
		if (r->verbs->query_gid_ex(r->context, r->port, i, &e, 0, sizeof(e)) != 0 ||
			e.gid_type != IBV_GID_TYPE_ROCE_V2)
			continue;
		memcpy(r->gids[r->n_gids].gid, e.gid.raw, 16);
		r->gids[r->n_gids++].index = (uint8_t)i;
	}
}

static int find_gid(const struct hp3d_ud_rnic *r, const uint8_t gid[16])
{
	for (uint32_t i = 0; i < r->n_gids; i++)
		if (memcmp(r->gids[i].gid, gid, 16) == 0)
			return r->gids[i].index;
	return -1;
}

int hp3d_ud_rnic_gid(struct hp3d_ud_rnic *r, bool ipv6, const uint8_t *ip, uint64_t now)
{
	uint8_t gid[16];
	int at;

	hp3d_ud_as_gid(gid, ipv6, ip);
	at = find_gid(r, gid);
	if (at >= 0 || (r->looked != 0 && now - r->looked < LOOK_NS))
		return at;
	r->looked = now;
	read_gids(r);
	return find_gid(r, gid);
}
