/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/lab/collective/verbs.h"
#include "tests/verbs/named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PORT     1
#define GIDS     16
#define TIME_OUT 18 /* 1.07 s */
#define READS    8u

static struct {
	struct ibv_device **(*get_device_list)(int *n);
	struct ibv_context *(*open_device)(struct ibv_device *device);
	int (*query_gid)(struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *at, size_t bytes, int access);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe, void *data,
		struct ibv_comp_channel *channel, int vector);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*destroy_qp)(struct ibv_qp *qp);
} verbs;

void die(const char *what)
{
	perror(what);
	exit(2);
}

static void load(void)
{
	void *library = verbs_library();

	*(void **)&verbs.get_device_list = verbs_named(library, "ibv_get_device_list");
	*(void **)&verbs.open_device = verbs_named(library, "ibv_open_device");
	*(void **)&verbs.query_gid = verbs_named(library, "ibv_query_gid");
	*(void **)&verbs.alloc_pd = verbs_named(library, "ibv_alloc_pd");
	*(void **)&verbs.reg_mr = verbs_named(library, "ibv_reg_mr");
	*(void **)&verbs.create_cq = verbs_named(library, "ibv_create_cq");
	*(void **)&verbs.create_qp = verbs_named(library, "ibv_create_qp");
	*(void **)&verbs.modify_qp = verbs_named(library, "ibv_modify_qp");
	*(void **)&verbs.destroy_qp = verbs_named(library, "ibv_destroy_qp");
}

static void find_gid(struct rnic *r)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	for (uint8_t i = 0; i < GIDS; i++) {
		r->gid_index = i;
		if (verbs.query_gid(r->context, PORT, i, &r->gid) == 0 &&
			memcmp(r->gid.raw, mapped, sizeof(mapped)) == 0)
			return;
	}
	die("no IPv4 GID");
}

void rnic_open(struct rnic *r)
{
	struct ibv_device **list;
	int n = 0;

	load();
	list = verbs.get_device_list(&n);
	r->context = n > 0 ? verbs.open_device(list[0]) : NULL;
	r->pd = r->context != NULL ? verbs.alloc_pd(r->context) : NULL;
	if (r->pd == NULL)
		die("no RNIC");
	find_gid(r);
}

struct ibv_cq *rnic_cq(struct rnic *r, int entries)
{
	struct ibv_cq *cq = verbs.create_cq(r->context, entries, NULL, NULL, 0);

	if (cq == NULL)
		die("ibv_create_cq");
	return cq;
}

static unsigned access_of(const struct rnic *r)
{
	return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
	       (r->responds ? IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC : 0u);
}

struct ibv_mr *rnic_memory(struct rnic *r, void *at, size_t bytes)
{
	struct ibv_mr *mr = verbs.reg_mr(r->pd, at, bytes, (int)access_of(r));

	if (mr == NULL)
		die("ibv_reg_mr");
	return mr;
}

struct ibv_qp *rnic_qp(struct rnic *r, struct ibv_cq *cq, uint32_t depth)
{
	struct ibv_qp_init_attr make = {.send_cq = cq,
		.recv_cq = cq,
		.cap = {depth, depth, 1, 1, sizeof(uint64_t)},
		.qp_type = IBV_QPT_RC};
	struct ibv_qp_attr init = {
		.qp_state = IBV_QPS_INIT, .port_num = PORT, .qp_access_flags = access_of(r)};
	struct ibv_qp *qp = verbs.create_qp(r->pd, &make);

	if (qp == NULL ||
		verbs.modify_qp(qp, &init,
			IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0)
		die("ibv_create_qp");
	return qp;
}

void rnic_connect(struct rnic *r, struct ibv_qp *qp, uint32_t psn, const union ibv_gid *gid,
	const struct wire_qp *to)
{
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = to->qpn,
		.rq_psn = to->psn,
		.max_dest_rd_atomic = READS,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1,
			.port_num = PORT,
			.grh = {.dgid = *gid,
				.sgid_index = r->gid_index,
				.hop_limit = 64,
				.traffic_class = 2}}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS,
		.timeout = TIME_OUT,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = psn,
		.max_rd_atomic = READS};

	if (verbs.modify_qp(qp, &rtr,
		    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0 ||
		verbs.modify_qp(qp, &rts,
			IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) != 0)
		die("ibv_modify_qp");
}

void rnic_destroy(struct ibv_qp *qp)
{
	verbs.destroy_qp(qp);
}
