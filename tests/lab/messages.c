/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A loop of messages, for what they cost: two queue pairs of the first RNIC, connected to each
 * other; one WRITEs to the other one, DEPTH at a time, each signalled, and polls. Prints the
 * processor time in ns that this process took for COUNT messages, the least of LOOPS times.
 *
 * As programs that use RNICs mostly do, it has a second thread, which sleeps here; `alone`: it has
 * none. To the kernel and to libc that makes a difference for each system call, and Soft-RoCE's
 * doorbell is one.
 *
 * usage: [NCCL_IBVERBS_LIB=LIBRARY] messages COUNT BYTES [alone]
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/minmax.h"
#include "tests/lab/collective/verbs.h"

#define DEPTH    16u
#define LOOPS    8u
#define KNOWN_US 300000u /* by then an hp3d has taken note of new queue pairs */
#define MOST     65536u

static char buffer[2][MOST] __attribute__((aligned(4096)));

static uint64_t spent_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint32_t finished(struct ibv_cq *cq)
{
	struct ibv_wc wc[DEPTH];
	int n = ibv_poll_cq(cq, DEPTH, wc);

	for (int i = 0; i < n; i++)
		if (wc[i].status != IBV_WC_SUCCESS)
			die("a message failed");
	return n > 0 ? (uint32_t)n : 0;
}

static uint64_t run(struct ibv_qp *qp, struct ibv_send_wr *wr, uint64_t count)
{
	uint64_t posted = 0, done = 0, before = spent_ns();
	struct ibv_send_wr *bad;

	while (done < count) {
		while (posted < count && posted - done < DEPTH) {
			if (ibv_post_send(qp, wr, &bad) != 0)
				die("ibv_post_send");
			posted++;
		}
		done += finished(qp->send_cq);
	}
	return spent_ns() - before;
}

static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

int main(int argc, char **argv)
{
	bool alone = argc == 4 && strcmp(argv[3], "alone") == 0, good = argc == 3 || alone;
	uint64_t count = good ? strtoull(argv[1], NULL, 10) : 0, least = UINT64_MAX;
	uint32_t bytes = good ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
	pthread_t sleeper;
	struct ibv_mr *from, *to;
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct wire_qp ends[2];
	struct ibv_qp *qps[2];
	struct ibv_cq *cq;
	struct rnic rnic = {0};

	if (count == 0 || bytes == 0 || bytes > MOST) {
		fprintf(stderr, "usage: messages COUNT BYTES(1..%u) [alone]\n", MOST);
		return 2;
	}
	if (!alone && pthread_create(&sleeper, NULL, sleep_on, NULL) != 0)
		die("pthread_create");
	rnic_open(&rnic);
	cq = rnic_cq(&rnic, 4 * DEPTH);
	from = rnic_memory(&rnic, buffer[0], bytes);
	to = rnic_memory(&rnic, buffer[1], bytes);
	for (unsigned i = 0; i < 2; i++) {
		qps[i] = rnic_qp(&rnic, cq, DEPTH);
		ends[i] = (struct wire_qp){qps[i]->qp_num, 0};
	}
	for (unsigned i = 0; i < 2; i++)
		rnic_connect(&rnic, qps[i], 0, &rnic.gid, &ends[1 - i]);
	usleep(KNOWN_US);
	sge = (struct ibv_sge){(uintptr_t)buffer[0], bytes, from->lkey};
	wr = (struct ibv_send_wr){.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = {(uintptr_t)buffer[1], to->rkey}};
	for (unsigned i = 0; i < LOOPS; i++)
		least = hp3_min_u64(least, run(qps[0], &wr, count));
	printf("%lu\n", least);
	for (unsigned i = 0; i < 2; i++)
		rnic_destroy(qps[i]);
	return 0;
}
