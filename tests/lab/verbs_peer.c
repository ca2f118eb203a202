/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "content.h"
#include "verbs_peer.h"

#define PORT      1
#define WAIT_CODE 18 /* time-out: 1.07 s */
#define WR_SEND   (UINT64_C(1) << 63)
#define READS_MAX 16

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static uint8_t *allocate(struct peer *p, size_t len, struct ibv_mr **mr)
{
	uint8_t *at = aligned_alloc(4096, len);

	if (at == NULL)
		die("memory");
	memset(at, 0, len);
	*mr = ibv_reg_mr(p->pd, at, len,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
	if (*mr == NULL)
		die("ibv_reg_mr");
	return at;
}

static void open_device(struct peer *p)
{
	int n;
	struct ibv_device **list = ibv_get_device_list(&n);

	for (int i = 0; i < n; i++)
		if (strcmp(ibv_get_device_name(list[i]), p->p.device) == 0)
			p->context = ibv_open_device(list[i]);
	if (p->context == NULL)
		die(p->p.device);
	ibv_free_device_list(list);
}

/* The gid that stands for an IPv4 address. */
static int find_gid(struct peer *p)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	union ibv_gid gid;

	for (int i = 0; i < 16; i++)
		if (ibv_query_gid(p->context, PORT, i, &gid) == 0 &&
			memcmp(gid.raw, mapped, sizeof(mapped)) == 0)
			return i;
	die("no IPv4 gid");
	return -1;
}

static void post_receive(struct peer *p, uint32_t i, uint32_t slot)
{
	struct ibv_sge sge = {.addr = (uintptr_t)(p->receive_at +
						  ((uint64_t)i * PEER_RECEIVES + slot) * p->p.size),
		.length = p->p.size,
		.lkey = p->receive->lkey};
	struct ibv_recv_wr wr = {.wr_id = (uint64_t)i << 32 | slot, .sg_list = &sge, .num_sge = 1},
			   *bad;

	if (ibv_post_recv(p->qps[i].qp, &wr, &bad) != 0)
		die("ibv_post_recv");
}

static void make_qp(struct peer *p, uint32_t i)
{
	struct ibv_qp_init_attr init = {.send_cq = p->cq,
		.recv_cq = p->cq,
		.qp_type = IBV_QPT_RC,
		.cap = {PEER_DEPTH, PEER_RECEIVES, 1, 1, 0}};
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
		.port_num = PORT,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ};

	p->qps[i].qp = ibv_create_qp(p->pd, &init);
	if (p->qps[i].qp == NULL)
		die("ibv_create_qp");
	if (ibv_modify_qp(p->qps[i].qp, &attr,
		    IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) != 0)
		die("INIT");
	p->qps[i].psn = (0xfffffe + i) & 0xffffff; /* wraps soon */
	for (uint32_t slot = 0; slot < PEER_RECEIVES; slot++)
		post_receive(p, i, slot);
}

void peer_open(struct peer *p, const struct peer_params *params)
{
	*p = (struct peer){.p = *params};
	open_device(p);
	p->gid_index = find_gid(p);
	p->pd = ibv_alloc_pd(p->context);
	p->cq = ibv_create_cq(
		p->context, (int)((PEER_DEPTH + PEER_RECEIVES) * p->p.qps), NULL, NULL, 0);
	if (p->pd == NULL || p->cq == NULL)
		die("ibv_create_cq");
	p->memory_at = allocate(p, PEER_MEMORY, &p->memory);
	p->receive_at = allocate(p,
		((size_t)p->p.qps * PEER_RECEIVES * p->p.size + 4095) / 4096 * 4096, &p->receive);
	p->send_at = allocate(
		p, ((size_t)p->p.qps * p->p.depth * p->p.size + 4095) / 4096 * 4096, &p->send);
	for (uint32_t i = 0; i < p->p.qps; i++)
		make_qp(p, i);
}

static enum ibv_mtu path_mtu(uint32_t mtu)
{
	return mtu == 4096   ? IBV_MTU_4096
	       : mtu == 2048 ? IBV_MTU_2048
	       : mtu == 1024 ? IBV_MTU_1024
	       : mtu == 512  ? IBV_MTU_512
			     : IBV_MTU_256;
}

void peer_connect(struct peer *p, uint32_t i, const uint8_t ip[4], uint32_t qpn, uint32_t psn)
{
	struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
		.path_mtu = path_mtu(p->p.mtu),
		.dest_qp_num = qpn,
		.rq_psn = psn,
		.max_dest_rd_atomic = READS_MAX,
		.min_rnr_timer = 12,
		.ah_attr = {.is_global = 1,
			.port_num = PORT,
			.grh = {.sgid_index = (uint8_t)p->gid_index,
				.hop_limit = 64,
				.traffic_class = 2}}};

	memset(attr.ah_attr.grh.dgid.raw + 10, 0xff, 2);
	memcpy(attr.ah_attr.grh.dgid.raw + 12, ip, 4);
	if (ibv_modify_qp(p->qps[i].qp, &attr,
		    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
			    IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) != 0)
		die("RTR");
	attr = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
		.timeout = WAIT_CODE,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.sq_psn = p->qps[i].psn,
		.max_rd_atomic = READS_MAX};
	if (ibv_modify_qp(p->qps[i].qp, &attr,
		    IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			    IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC) != 0)
		die("RTS");
}

void peer_fill_memory(struct peer *p)
{
	gen_memory_fill(p->memory_at, p->memory->rkey, (uintptr_t)p->memory_at, PEER_MEMORY);
}

static uint8_t *slot_of(const struct peer *p, uint32_t i, uint32_t number)
{
	return p->send_at + ((uint64_t)i * p->p.depth + number % p->p.depth) * p->p.size;
}

static int op_of(const struct peer *p, uint32_t number)
{
	if (p->p.op != PEER_MIX)
		return p->p.op;
	return number % 10 < 3 ? PEER_READ : PEER_WRITE;
}

static void post_send(struct peer *p, uint32_t i)
{
	static const enum ibv_wr_opcode codes[] = {[PEER_WRITE] = IBV_WR_RDMA_WRITE,
		[PEER_SEND] = IBV_WR_SEND,
		[PEER_READ] = IBV_WR_RDMA_READ};
	uint32_t number = p->qps[i].posted++;
	uint8_t *at = slot_of(p, i, number);
	struct ibv_sge sge = {.addr = (uintptr_t)at, .length = p->p.size, .lkey = p->send->lkey};
	struct ibv_send_wr wr = {.wr_id = WR_SEND | (uint64_t)i << 32 | number,
				   .sg_list = &sge,
				   .num_sge = 1,
				   .opcode = codes[op_of(p, number)],
				   .send_flags = IBV_SEND_SIGNALED,
				   .wr.rdma = {p->remote_va, p->remote_rkey}},
			   *bad;

	if (op_of(p, number) == PEER_READ)
		memset(at, 0, p->p.size);
	else
		gen_message_fill(at, gen_header(number, p->p.size), 0, p->p.size);
	if (ibv_post_send(p->qps[i].qp, &wr, &bad) != 0)
		die("ibv_post_send");
}

static bool whole_message(const uint8_t *at, uint32_t len)
{
	uint64_t header;

	memcpy(&header, at, sizeof(header));
	return len >= sizeof(header) && (uint32_t)header == len &&
	       gen_message_ok(at, header, 0, len);
}

static void sent(struct peer *p, uint64_t id)
{
	uint32_t i = (uint32_t)(id >> 32 & 0x7fffffff);
	const uint8_t *at = slot_of(p, i, (uint32_t)id);

	p->qps[i].completed++;
	p->sent++;
	if (op_of(p, (uint32_t)id) == PEER_READ)
		p->wrong += !gen_memory_ok(at, p->remote_rkey, p->remote_va, p->p.size);
}

static void received(struct peer *p, const struct ibv_wc *wc)
{
	uint32_t i = (uint32_t)(wc->wr_id >> 32), slot = (uint32_t)wc->wr_id;

	p->received++;
	p->qps[i].received++;
	if (wc->opcode == IBV_WC_RECV)
		p->wrong += !whole_message(
			p->receive_at + ((uint64_t)i * PEER_RECEIVES + slot) * p->p.size,
			wc->byte_len);
	post_receive(p, i, slot);
}

void peer_poll(struct peer *p)
{
	struct ibv_wc wc[16];
	int n = ibv_poll_cq(p->cq, 16, wc);

	for (int k = 0; k < n; k++) {
		if (wc[k].status != IBV_WC_SUCCESS) {
			fprintf(stderr, "verbs_peer: %s\n", ibv_wc_status_str(wc[k].status));
			exit(1);
		}
		if (wc[k].wr_id & WR_SEND)
			sent(p, wc[k].wr_id);
		else
			received(p, &wc[k]);
	}
	for (uint32_t i = 0; p->p.op != PEER_NONE && i < p->p.qps; i++)
		while (p->qps[i].posted < p->p.messages &&
			p->qps[i].posted - p->qps[i].completed < p->p.depth)
			post_send(p, i);
}

bool peer_sent_all(const struct peer *p)
{
	return p->p.op == PEER_NONE || p->sent == p->p.messages * p->p.qps;
}

bool peer_memory_ok(const struct peer *p)
{
	return whole_message(p->memory_at, p->p.size);
}
