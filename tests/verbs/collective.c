/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posts as collective libraries do: the verbs come from the library that a variable names, by
 * dlopen() and dlvsym(); four queue pairs with one completion queue, WRITE_WITH_IMM through the
 * context's own calls. The RNIC is one of fake.h's, from 10.0.0.1 to 10.0.0.2, or back with
 * HP3_FAKE_LOCAL. With HP3_FAKE_READS, the queue pairs of both sides are connected with each other,
 * and their peers may READ. Ends at the end of its input, says what left.
 *
 * usage: NCCL_IBVERBS_LIB=LIBRARY collective PROVIDER
 */
#include "tests/verbs/fake.h"
#include "tests/verbs/named.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define QPS      4
#define DEPTH    32
#define BYTES    65536
#define DELAY_NS 200000

static struct {
	struct ibv_context *(*open_device)(struct ibv_device *device);
	struct ibv_pd *(*alloc_pd)(struct ibv_context *context);
	struct ibv_cq *(*create_cq)(struct ibv_context *context, int cqe, void *data,
		struct ibv_comp_channel *channel, int vector);
	struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
	int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
	int (*destroy_qp)(struct ibv_qp *qp);
} verbs;

static struct ibv_qp *qps[QPS];
static uint64_t posted[QPS], done, errors;

static struct fake_device *load(const char *provider)
{
	void *library = verbs_library();
	void *rnic = verbs_found(dlopen(provider, RTLD_NOW | RTLD_LOCAL));
	struct fake_device *(*device)(const char *name);

	*(void **)&verbs.open_device = verbs_named(library, "ibv_open_device");
	*(void **)&verbs.alloc_pd = verbs_named(library, "ibv_alloc_pd");
	*(void **)&verbs.create_cq = verbs_named(library, "ibv_create_cq");
	*(void **)&verbs.create_qp = verbs_named(library, "ibv_create_qp");
	*(void **)&verbs.modify_qp = verbs_named(library, "ibv_modify_qp");
	*(void **)&verbs.destroy_qp = verbs_named(library, "ibv_destroy_qp");
	*(void **)&device = dlsym(rnic, "fake_device");
	return device("fake0");
}

static uint32_t first_qpn(unsigned int host)
{
	return getenv("HP3_FAKE_READS") != NULL && host == 2 ? 0x140 : 0x40;
}

static struct ibv_qp *connect_qp(struct ibv_pd *pd, struct ibv_cq *cq, uint32_t number)
{
	const uint8_t local = getenv("HP3_FAKE_LOCAL") != NULL ? 2 : 1;
	const bool reads = getenv("HP3_FAKE_READS") != NULL;
	struct ibv_qp_init_attr make = {
		.send_cq = cq, .recv_cq = cq, .cap = {DEPTH, 1, 1, 1, 0}, .qp_type = IBV_QPT_RC};
	struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | (reads ? IBV_ACCESS_REMOTE_READ : 0)};
	struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
		.dest_qp_num = (reads ? first_qpn(3 - local) : 0x100) + number,
		.max_dest_rd_atomic = 4,
		.ah_attr = {.is_global = 1, .port_num = 1, .grh = {.sgid_index = local}}};
	struct ibv_qp_attr rts = {.qp_state = IBV_QPS_RTS};
	struct ibv_qp *qp = verbs.create_qp(pd, &make);
	uint8_t *to = rtr.ah_attr.grh.dgid.raw;

	to[10] = to[11] = 0xff;
	to[12] = 10;
	to[15] = 3 - local;
	if (qp == NULL ||
		verbs.modify_qp(qp, &init,
			IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) !=
			0 ||
		verbs.modify_qp(qp, &rtr,
			IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN |
				(reads ? IBV_QP_MAX_DEST_RD_ATOMIC : 0)) != 0 ||
		verbs.modify_qp(qp, &rts, IBV_QP_STATE | IBV_QP_SQ_PSN) != 0) {
		fprintf(stderr, "collective: queue pair %u cannot be connected\n", number);
		exit(2);
	}
	return qp;
}

static void post(unsigned int i)
{
	struct ibv_sge sge = {.addr = 4096, .length = BYTES};
	struct ibv_send_wr *bad, wr = {.wr_id = posted[i],
					 .sg_list = &sge,
					 .num_sge = 1,
					 .opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
					 .send_flags = IBV_SEND_SIGNALED};

	if (posted[i] < FAKE_LOG && qps[i]->context->ops.post_send(qps[i], &wr, &bad) == 0)
		posted[i]++;
}

static void poll_once(struct ibv_cq *cq)
{
	struct ibv_wc wc[16];
	int n = cq->context->ops.poll_cq(cq, 16, wc);

	for (int i = 0; i < n; i++) {
		done++;
		errors += wc[i].status != IBV_WC_SUCCESS;
	}
}

static bool is_over(void)
{
	struct pollfd in = {STDIN_FILENO, POLLIN, 0};

	return poll(&in, 1, 0) > 0;
}

static void rest(void)
{
	struct timespec t = {0, 100000};

	nanosleep(&t, NULL);
}

/* Work requests that left, that are not in order or not as posted, that overtook others. */
static void report(void)
{
	uint64_t all = 0, left = 0, disorder = 0, overtaken = 0, changes = 0;

	for (unsigned int i = 0; i < QPS; i++) {
		const struct fake_qp *q = (const struct fake_qp *)qps[i];

		all += posted[i];
		left += q->logged;
		overtaken += q->overtaken;
		for (uint32_t n = 0; n < q->logged; n++) {
			disorder += q->log[n].wr_id != n || q->log[n].bytes != BYTES;
			changes += n > 0 && q->log[n].port != q->log[n - 1u].port;
		}
	}
	printf("{\"posted\": %lu, \"left\": %lu, \"done\": %lu, \"errors\": %lu, \"disorder\": "
	       "%lu, \"overtaken\": %lu, \"port_changes\": %lu}\n",
		all, left, done, errors, disorder, overtaken, changes);
}

static uint64_t sum(void)
{
	uint64_t all = 0;

	for (unsigned int i = 0; i < QPS; i++)
		all += posted[i];
	return all;
}

int main(int argc, char **argv)
{
	struct fake_device *device = argc == 2 ? load(argv[1]) : NULL;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;

	if (device == NULL)
		return 2;
	device->qpn = first_qpn(getenv("HP3_FAKE_LOCAL") != NULL ? 2 : 1);
	device->faults.delay_ns = DELAY_NS;
	context = verbs.open_device(&device->device);
	pd = verbs.alloc_pd(context);
	cq = verbs.create_cq(context, 4096, NULL, NULL, 0);
	for (unsigned int i = 0; i < QPS; i++)
		qps[i] = connect_qp(pd, cq, i);
	while (!is_over()) {
		for (unsigned int i = 0; i < QPS; i++)
			post(i);
		poll_once(cq);
		rest();
	}
	for (int tries = 0; tries < 20000 && done < sum(); tries++) {
		poll_once(cq);
		rest();
	}
	report();
	fflush(stdout);
	for (unsigned int i = 0; i < QPS; i++)
		verbs.destroy_qp(qps[i]);
	return 0;
}
