/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/lab/collective/ring.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define DEPTH      64u
#define SIGNALLED  8u /* every so manieth credit */
#define PATIENT_NS UINT64_C(60000000000)

bool ring_stop, ring_end;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Of message `number` on a queue pair (splitmix64, a word each). */
static uint64_t word(uint32_t qpn, uint64_t number, uint32_t i)
{
	uint64_t z = ((uint64_t)qpn << 40 ^ number << 10 ^ i) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return z ^ z >> 27;
}

static void fill(uint64_t *at, uint32_t qpn, uint64_t number)
{
	for (uint32_t i = 0; i < WORDS; i++)
		at[i] = word(qpn, number, i);
}

static bool is_whole(const uint64_t *at, uint32_t qpn, uint64_t number)
{
	bool right = true;

	for (uint32_t i = 0; i < WORDS; i++)
		right &= at[i] == word(qpn, number, i);
	return right;
}

void ring_open(struct ring *g, struct rnic *r, enum ring_role role)
{
	g->role = role;
	g->in = aligned_alloc(4096, (sizeof(*g->in) + 4095u) / 4096u * 4096u);
	g->out = aligned_alloc(4096, sizeof(*g->out) * QPS);
	if (g->in == NULL || g->out == NULL)
		die("memory");
	memset(g->in, 0, sizeof(*g->in));
	g->in_mr = rnic_memory(r, g->in, sizeof(*g->in));
	g->out_mr = rnic_memory(r, g->out, sizeof(*g->out) * QPS);
	g->cq = rnic_cq(r, (int)(2u * QPS * DEPTH));
	g->local.at = (uintptr_t)g->in;
	g->local.rkey = g->in_mr->rkey;
	for (uint32_t q = 0; q < QPS; q++) {
		g->qps[q] = rnic_qp(r, g->cq, DEPTH);
		g->local.qps[q] = (struct wire_qp){g->qps[q]->qp_num, 0}; /* as they all begin */
		for (uint32_t i = 0; role == RING_IS_READ && i < WINDOW; i++)
			fill(g->in->message[q][i], g->qps[q]->qp_num, i);
	}
}

static void post_receive(struct ring *g, uint32_t q)
{
	struct ibv_recv_wr wr = {.wr_id = q}, *bad;

	if (g->qps[q]->context->ops.post_recv(g->qps[q], &wr, &bad) != 0)
		g->errors++;
}

void ring_connect(struct ring *g, struct rnic *r, const union ibv_gid *gid)
{
	for (uint32_t q = 0; q < QPS; q++) {
		for (uint32_t i = 0; i < 2u * WINDOW; i++)
			post_receive(g, q);
		rnic_connect(r, g->qps[q], g->local.qps[q].psn, gid, &g->remote.qps[q]);
	}
}

static void post(struct ring *g, uint32_t q, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	wr->wr_id = (uint64_t)q << 32 | g->posted[q]++;
	wr->num_sge = 1;
	if (g->qps[q]->context->ops.post_send(g->qps[q], wr, &bad) != 0)
		g->errors++;
}

static void send_message(struct ring *g, uint32_t q)
{
	uint32_t slot = (uint32_t)(g->sent[q] % WINDOW);
	struct ibv_sge sge = {(uintptr_t)g->out[q][slot], BYTES, g->out_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED,
		.imm_data = htonl((uint32_t)g->sent[q]),
		.wr.rdma = {
			g->remote.at + offsetof(struct slots, message[q][slot]), g->remote.rkey}};

	fill(g->out[q][slot], g->local.qps[q].qpn, g->sent[q]);
	g->sent[q]++;
	post(g, q, &wr);
}

static void post_read(struct ring *g, uint32_t q)
{
	uint32_t slot = (uint32_t)(g->sent[q] % WINDOW);
	struct ibv_sge sge = {(uintptr_t)g->out[q][slot], BYTES, g->out_mr->lkey};
	struct ibv_send_wr wr = {.sg_list = &sge,
		.opcode = IBV_WR_RDMA_READ,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {
			g->remote.at + offsetof(struct slots, message[q][slot]), g->remote.rkey}};

	memset(g->out[q][slot], 0, BYTES);
	g->sent[q]++;
	post(g, q, &wr);
}

static void take_read(struct ring *g, uint32_t q, uint32_t number)
{
	uint32_t slot = number % WINDOW;

	g->wrong += !is_whole(g->out[q][slot], g->remote.qps[q].qpn, slot);
	g->disorder += number != (uint32_t)g->received[q];
	g->received[q]++;
}

static void send_credit(struct ring *g, uint32_t q)
{
	struct ibv_sge sge = {(uintptr_t)&g->received[q], sizeof(uint64_t), 0};
	struct ibv_send_wr wr = {.sg_list = &sge,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags =
			IBV_SEND_INLINE | (g->received[q] % SIGNALLED == 0 ? IBV_SEND_SIGNALED : 0),
		.wr.rdma = {g->remote.at + offsetof(struct slots, credit[q]), g->remote.rkey}};

	post(g, q, &wr);
}

static void take_message(struct ring *g, uint32_t q, uint32_t number)
{
	const uint64_t *at = g->in->message[q][number % WINDOW];

	g->wrong += !is_whole(at, g->remote.qps[q].qpn, number);
	g->disorder += number != (uint32_t)g->received[q];
	g->received[q]++;
	post_receive(g, q);
	send_credit(g, q);
}

/* Something has completed on it. */
static void keep_time(struct ring *g, uint32_t q, uint64_t now)
{
	if (g->last_ns[q] != 0 && now - g->last_ns[q] > g->longest_ns)
		g->longest_ns = now - g->last_ns[q];
	g->last_ns[q] = now;
}

static void take(struct ring *g, const struct ibv_wc *wc, uint64_t now)
{
	if (wc->status != IBV_WC_SUCCESS) {
		fprintf(stderr, "collective: status %d, vendor error %u\n", wc->status,
			wc->vendor_err);
		g->errors++;
	} else if (wc->opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
		keep_time(g, (uint32_t)wc->wr_id, now);
		take_message(g, (uint32_t)wc->wr_id, ntohl(wc->imm_data));
	} else {
		uint32_t q = (uint32_t)(wc->wr_id >> 32);

		keep_time(g, q, now);
		g->done[q] = (uint32_t)wc->wr_id + 1u;
		if (wc->opcode == IBV_WC_RDMA_READ)
			take_read(g, q, (uint32_t)wc->wr_id);
	}
}

static uint64_t credit(const struct ring *g, uint32_t q)
{
	return g->role == RING_READS ? g->received[q]
				     : __atomic_load_n(&g->in->credit[q], __ATOMIC_ACQUIRE);
}

static bool may_send(const struct ring *g, uint32_t q)
{
	return g->sent[q] - credit(g, q) < WINDOW && g->posted[q] - g->done[q] < DEPTH / 2u;
}

static bool all_seen(const struct ring *g)
{
	for (uint32_t q = 0; q < QPS; q++)
		if (credit(g, q) != g->sent[q])
			return false;
	return true;
}

void *ring_run(void *ring)
{
	struct ring *g = ring;
	uint64_t now = now_ns(), last = now;

	while (!__atomic_load_n(&ring_end, __ATOMIC_ACQUIRE) || !g->drained) {
		struct ibv_wc wc[16];
		bool stop = __atomic_load_n(&ring_stop, __ATOMIC_ACQUIRE);
		int n = g->cq->context->ops.poll_cq(g->cq, 16, wc);

		now = now_ns();
		for (int i = 0; i < n; i++)
			take(g, &wc[i], now);
		if (n > 0)
			last = now;
		for (uint32_t q = 0; q < QPS && !stop && g->role != RING_IS_READ; q++)
			if (may_send(g, q))
				(g->role == RING_READS ? post_read : send_message)(g, q);
		if (stop && all_seen(g))
			__atomic_store_n(&g->drained, true, __ATOMIC_RELEASE);
		if (g->errors != 0 || (!g->drained && now - last > PATIENT_NS)) {
			fprintf(stderr, "collective: %s\n",
				g->errors ? "an error" : "nothing completes");
			exit(1);
		}
		if (n == 0)
			nanosleep(&(struct timespec){0, 200000}, NULL);
	}
	return NULL;
}
