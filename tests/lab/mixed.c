/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a queue pair with large messages may carry, all of it on each one, round after round: a
 * WRITE of BIG bytes, a READ of a part of that, a FETCH_ADD, a SEND. A READ brings what the WRITE
 * before it has written, a FETCH_ADD counts rounds, SENDs come in their order (IBTA 9.5): a request
 * that is executed twice, not at all or too soon is seen. IN_FLIGHT rounds at a time; the last of
 * each is signalled. Ends after so many seconds, or with SIGALRM.
 *
 * Who names a peer requests, and prints
 * {"rounds":N,"wrong":0,"kbps":N,"longest_ms":N}: the longest time without a completion; exit code
 * 1 if anything is wrong.
 *
 * usage: mixed TCP_PORT QPS(1..8) SECONDS [PEER'S ADDRESS]
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "tests/lab/collective/meet.h"
#include "tests/lab/collective/verbs.h"

#define QPS       8u
#define BIG       (192u * 1024u)
#define PART      (160u * 1024u)
#define SENT      (3u * 1024u)
#define IN_FLIGHT 2u
#define RECEIVES  32u
#define DEPTH     64u

/* The responder's, or what the requester has of its own. */
struct memory {
	uint64_t big[IN_FLIGHT][BIG / 8];
	uint64_t part[IN_FLIGHT][PART / 8];
	uint64_t sent[RECEIVES][SENT / 8];
	uint64_t counter[IN_FLIGHT];
};

struct wire_end {
	uint64_t at;
	uint32_t rkey;
	struct wire_qp qp;
};

struct end {
	struct ibv_qp *qp;
	struct ibv_mr *mr;
	struct memory *m;
	struct wire_end local, remote;
	uint64_t posted, done;
};

static struct rnic rnic;
static struct ibv_cq *cq;
static struct end ends[QPS];
static unsigned n_ends;
static uint64_t wrong;
static volatile sig_atomic_t over;

static void on_alarm(int unused)
{
	(void)unused;
	over = 1;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

static uint64_t word(unsigned end, uint64_t round, uint32_t i)
{
	return ((uint64_t)end << 56 | round << 24 | i) * UINT64_C(0x9e3779b97f4a7c15);
}

static void fill(uint64_t *at, unsigned end, uint64_t round, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		at[i] = word(end, round, i);
}

static bool is_filled(const uint64_t *at, unsigned end, uint64_t round, uint32_t first, uint32_t n)
{
	bool right = true;

	for (uint32_t i = 0; i < n; i++)
		right &= at[i] == word(end, round, first + i);
	return right;
}

static uint32_t part_of(uint64_t round)
{
	return (uint32_t)(round * 7919u % ((BIG - PART) / 8));
}

static void open_end(struct end *e)
{
	e->m = aligned_alloc(4096, (sizeof(*e->m) + 4095u) / 4096u * 4096u);
	if (e->m == NULL)
		die("memory");
	memset(e->m, 0, sizeof(*e->m));
	e->mr = rnic_memory(&rnic, e->m, sizeof(*e->m));
	e->qp = rnic_qp(&rnic, cq, DEPTH);
	e->local = (struct wire_end){(uintptr_t)e->m, e->mr->rkey, {e->qp->qp_num, 0}};
}

static void post_receive(unsigned end, uint32_t buffer)
{
	struct end *e = &ends[end];
	struct ibv_sge sge = {(uintptr_t)e->m->sent[buffer], SENT, e->mr->lkey};
	struct ibv_recv_wr *bad,
		wr = {.wr_id = (uint64_t)end << 32 | buffer, .sg_list = &sge, .num_sge = 1};

	if (e->qp->context->ops.post_recv(e->qp, &wr, &bad) != 0)
		die("post_recv");
}

static void connect_ends(void)
{
	union ibv_gid gid;
	char ready = 1;

	say(&rnic.gid, sizeof(rnic.gid));
	hear(&gid, sizeof(gid));
	for (unsigned i = 0; i < n_ends; i++) {
		say(&ends[i].local, sizeof(ends[i].local));
		hear(&ends[i].remote, sizeof(ends[i].remote));
		for (uint32_t k = 0; k < RECEIVES && rnic.responds; k++)
			post_receive(i, k);
		rnic_connect(&rnic, ends[i].qp, 0, &gid, &ends[i].remote.qp);
	}
	say(&ready, 1);
	hear(&ready, 1);
}

static void post(
	struct end *e, enum ibv_wr_opcode opcode, const void *at, uint32_t bytes, uint64_t remote)
{
	struct ibv_sge sge = {(uintptr_t)at, bytes, e->mr->lkey};
	struct ibv_send_wr *bad, wr = {.wr_id = (uint64_t)(e - ends),
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = opcode};

	if (opcode == IBV_WR_SEND)
		wr.send_flags = IBV_SEND_SIGNALED;
	if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
		wr.wr.atomic.remote_addr = remote;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = e->remote.rkey;
	} else {
		wr.wr.rdma.remote_addr = remote;
		wr.wr.rdma.rkey = e->remote.rkey;
	}
	if (e->qp->context->ops.post_send(e->qp, &wr, &bad) != 0)
		die("post_send");
}

static void post_round(unsigned end)
{
	struct end *e = &ends[end];
	uint32_t slot = (uint32_t)(e->posted % IN_FLIGHT);
	uint64_t big = e->remote.at + offsetof(struct memory, big[slot]);

	fill(e->m->big[slot], end, e->posted, BIG / 8);
	fill(e->m->sent[slot], end, e->posted, SENT / 8);
	post(e, IBV_WR_RDMA_WRITE, e->m->big[slot], BIG, big);
	post(e, IBV_WR_RDMA_READ, e->m->part[slot], PART, big + part_of(e->posted) * 8);
	post(e, IBV_WR_ATOMIC_FETCH_AND_ADD, &e->m->counter[slot], 8,
		e->remote.at + offsetof(struct memory, counter));
	post(e, IBV_WR_SEND, e->m->sent[slot], SENT, 0);
	e->posted++;
}

static void end_round(unsigned end)
{
	struct end *e = &ends[end];
	uint32_t slot = (uint32_t)(e->done % IN_FLIGHT);

	wrong += !is_filled(e->m->part[slot], end, e->done, part_of(e->done), PART / 8);
	wrong += e->m->counter[slot] != e->done;
	e->done++;
}

/* One completion, if there is one. A processor for itself is more than a guest has. */
static bool completed(struct ibv_wc *wc)
{
	int n = cq->context->ops.poll_cq(cq, 1, wc);

	if (n == 0)
		usleep(1000);
	if (n > 0 && wc->status != IBV_WC_SUCCESS) {
		fprintf(stderr, "mixed: a queue pair broke, status %d\n", wc->status);
		exit(1);
	}
	return n > 0;
}

static int request(void)
{
	uint64_t began = now_ms(), last = began, longest = 0, theirs, rounds = 0;
	uint32_t left = n_ends * IN_FLIGHT;
	struct ibv_wc wc;

	for (unsigned i = 0; i < left; i++)
		post_round(i % n_ends);
	while (left != 0) {
		if (!completed(&wc))
			continue;
		end_round((unsigned)wc.wr_id);
		rounds++;
		longest = now_ms() - last > longest ? now_ms() - last : longest;
		last = now_ms();
		if (!over)
			post_round((unsigned)wc.wr_id);
		else
			left--;
	}
	say(&rounds, sizeof(rounds));
	hear(&theirs, sizeof(theirs));
	wrong += theirs;
	printf("{\"rounds\":%lu,\"wrong\":%lu,\"kbps\":%lu,\"longest_ms\":%lu}\n", rounds, wrong,
		rounds * (BIG + PART + SENT) * 8 / (last - began), longest);
	return wrong != 0;
}

static int respond(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t rounds = UINT64_MAX, received = 0;
	struct ibv_wc wc;

	while (received < rounds) {
		if (rounds == UINT64_MAX && poll(&p, 1, 0) > 0)
			hear(&rounds, sizeof(rounds));
		if (!completed(&wc))
			continue;
		unsigned end = (unsigned)(wc.wr_id >> 32);
		uint32_t buffer = (uint32_t)wc.wr_id;

		wrong += !is_filled(ends[end].m->sent[buffer], end, ends[end].done, 0, SENT / 8);
		ends[end].done++;
		received++;
		post_receive(end, buffer);
	}
	say(&wrong, sizeof(wrong));
	return wrong != 0;
}

int main(int argc, char **argv)
{
	const char *peer = argc > 4 ? argv[4] : NULL;
	int fd, ret;

	n_ends = argc >= 4 ? (unsigned)atoi(argv[2]) : 0;
	if (n_ends == 0 || n_ends > QPS) {
		fprintf(stderr, "usage: mixed TCP_PORT QPS(1..%u) SECONDS [PEER]\n", QPS);
		return 2;
	}
	rnic.responds = peer == NULL;
	rnic_open(&rnic);
	cq = rnic_cq(&rnic, (int)(QPS * DEPTH));
	for (unsigned i = 0; i < n_ends; i++)
		open_end(&ends[i]);
	fd = meet((uint16_t)atoi(argv[1]), peer);
	connect_ends();
	signal(SIGALRM, on_alarm);
	alarm((unsigned)atoi(argv[3]));
	ret = peer != NULL ? request() : respond(fd);
	for (unsigned i = 0; i < n_ends; i++)
		rnic_destroy(ends[i].qp);
	return ret;
}
