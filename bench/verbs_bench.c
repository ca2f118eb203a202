/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What libhp3verbs.so adds to ibv_post_send() and ibv_poll_cq(): a provider that does next to
 * nothing, called itself and through the library.
 *
 * usage: LD_LIBRARY_PATH=build/tests/verbs hp3-verbs-bench build/app/verbs/libhp3verbs.so
 *
 * For instructions instead of time: under valgrind --tool=callgrind
 * --toggle-collect=hp3v_post_send, or hp3v_poll_cq, which counts those of the provider, too.
 */
#include "tests/verbs/fake.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define POSTS  500000u
#define BATCH  64u
#define ROUNDS 9

static uint64_t rung, left;
static struct verbs_context contexts[2];
static struct ibv_qp qps[2];
static unsigned int made;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	for (; wr != NULL; wr = wr->next) {
		__atomic_store_n(&rung, rung + wr->wr_id, __ATOMIC_RELEASE);
		left++;
	}
	return 0;
}

static int poll_cq(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	if (left == 0)
		return 0;
	left--;
	wc->status = IBV_WC_SUCCESS;
	wc->opcode = IBV_WC_RDMA_WRITE;
	wc->qp_num = 7;
	return 1;
}

static struct ibv_context *open_context(struct fake_device *device)
{
	struct verbs_context *v = &contexts[made];

	v->sz = sizeof(*v);
	v->context.abi_compat = (void *)UINTPTR_MAX;
	v->context.device = &device->device;
	v->context.ops.post_send = post_send;
	v->context.ops.poll_cq = poll_cq;
	return &v->context;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct ibv_qp *qp = &qps[made++];

	qp->context = pd->context;
	qp->qp_type = IBV_QPT_RC;
	qp->qp_num = 7;
	return qp;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The quickest batch, in nanoseconds for each: */
struct quickest {
	double post, poll, empty; /* a poll finds one completion, or none */
};

static void run(struct ibv_qp *qp, struct ibv_cq *cq, struct quickest *q)
{
	struct ibv_sge sge = {4096, 65536, 1};
	struct ibv_send_wr *bad, wr = {.wr_id = 1,
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IBV_WR_RDMA_WRITE,
					 .send_flags = IBV_SEND_SIGNALED};
	struct ibv_wc wc;
	double t;

	for (unsigned int i = 0; i < POSTS; i += BATCH) {
		t = now_ns();
		for (unsigned int j = 0; j < BATCH; j++)
			ibv_post_send(qp, &wr, &bad);
		t = (now_ns() - t) / BATCH;
		q->post = t < q->post ? t : q->post;
		t = now_ns();
		for (unsigned int j = 0; j < BATCH; j++)
			ibv_poll_cq(cq, 1, &wc);
		t = (now_ns() - t) / BATCH;
		q->poll = t < q->poll ? t : q->poll;
		t = now_ns();
		for (unsigned int j = 0; j < BATCH; j++)
			ibv_poll_cq(cq, 1, &wc);
		t = (now_ns() - t) / BATCH;
		q->empty = t < q->empty ? t : q->empty;
	}
}

static void print(const char *what, double provider, double library)
{
	printf("%-10s  %8.1f  %16.1f  %5.1f\n", what, provider, library, library - provider);
}

int main(int argc, char **argv)
{
	static const struct fake_calls calls = {.open = open_context, .create_qp = create_qp};
	static struct fake_device device = {.device = {.name = "bench"}, .calls = &calls};
	struct ibv_qp_init_attr attr = {.cap = {128, 1, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	void *libraries[2] = {dlopen("libibverbs.so.1", RTLD_NOW),
		argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL};
	struct quickest q[2] = {{1e9, 1e9, 1e9}, {1e9, 1e9, 1e9}};
	struct ibv_cq cqs[2];
	struct ibv_pd pds[2];

	for (int i = 0; i < 2; i++) {
		struct ibv_context *(*open)(struct ibv_device * device);
		struct ibv_qp *(*create)(struct ibv_pd * pd, struct ibv_qp_init_attr * attr);

		if (libraries[i] == NULL) {
			fprintf(stderr, "usage: hp3-verbs-bench libhp3verbs.so; %s\n", dlerror());
			return 2;
		}
		*(void **)&open = dlvsym(libraries[i], "ibv_open_device", "IBVERBS_1.1");
		*(void **)&create = dlvsym(libraries[i], "ibv_create_qp", "IBVERBS_1.1");
		pds[i].context = cqs[i].context = open(&device.device);
		create(&pds[i], &attr);
	}
	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < 2; i++)
			run(&qps[i], &cqs[i], &q[i]);
	printf("            provider  with the library  added, ns (quickest of %u batches)\n",
		ROUNDS * POSTS / BATCH);
	print("post_send", q[0].post, q[1].post);
	print("poll_cq", q[0].poll, q[1].poll);
	print("empty poll", q[0].empty, q[1].empty);
	return 0;
}
