/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A verbs program without a device: real libibverbs functions of the version asked for, real
 * structures, and a driver made here whose calls all return what the test wants.
 *
 * usage: verbs_caller IBVERBS_1.0|IBVERBS_1.1 DEVICE
 *
 * Reads commands, one a line, and answers each with "ok":
 *   create QPN rc|ud           one queue pair at a time
 *   init, sqd, err, reset      to this state
 *   rtr DEST_QPN RQ_PSN MTU PORT SGID_INDEX DGID
 *   rts SQ_PSN                 first time: with the PSN; "rts -" without
 *   av PORT SGID_INDEX DGID    another address vector, in SQD
 *   result N                   what the driver returns from now on
 *   destroy
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <infiniband/verbs.h>

/* What programs linked with version 1.0 of the interface have in their hands (rdma-core,
 * compat-1_0.c). */
struct qp_1_0 {
	struct ibv_qp head; /* equal up to its type */
	struct ibv_qp *real_qp;
};

static struct ibv_device device;
static struct verbs_context context;
static void (*driver[512])(void); /* every operation of libibverbs' private table */
static int result;
static struct ibv_qp *qp;
static struct qp_1_0 *old_qp;
static int (*modify_qp)(void *qp, struct ibv_qp_attr *attr, int mask);
static int (*destroy_qp)(void *qp);
static bool is_old;

static int operation(void)
{
	return result;
}

static int modify(struct ibv_qp_attr *attr, int mask)
{
	return modify_qp(is_old ? (void *)old_qp : (void *)qp, attr, mask);
}

static int to_state(enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = {.qp_state = state};

	return modify(&attr, IBV_QP_STATE);
}

static void set_address(struct ibv_qp_attr *a, unsigned port, unsigned index, const char *dgid)
{
	a->ah_attr.is_global = 1;
	a->ah_attr.port_num = (uint8_t)port;
	a->ah_attr.grh.sgid_index = (uint8_t)index;
	if (inet_pton(AF_INET6, dgid, a->ah_attr.grh.dgid.raw) != 1)
		abort();
}

static int to_rtr(const char *args)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR};
	unsigned mtu, port, index;
	char dgid[64];

	if (sscanf(args, "%" SCNu32 " %" SCNu32 " %u %u %u %63s", &a.dest_qp_num, &a.rq_psn, &mtu,
		    &port, &index, dgid) != 6)
		abort();
	for (a.path_mtu = IBV_MTU_256; 128u << a.path_mtu < mtu;)
		a.path_mtu++;
	set_address(&a, port, index, dgid);
	return modify(&a, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				  IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static int to_rts(const char *args)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTS};
	bool psn = sscanf(args, "%" SCNu32, &a.sq_psn) == 1;

	return modify(&a, psn ? IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
					  IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC
			      : IBV_QP_STATE);
}

static int to_address(const char *args)
{
	struct ibv_qp_attr a = {.qp_state = IBV_QPS_SQD};
	unsigned port, index;
	char dgid[64];

	if (sscanf(args, "%u %u %63s", &port, &index, dgid) != 3)
		abort();
	set_address(&a, port, index, dgid);
	return modify(&a, IBV_QP_STATE | IBV_QP_AV);
}

static int create(const char *args)
{
	char type[8];

	qp = calloc(1, sizeof(*qp));
	old_qp = calloc(1, sizeof(*old_qp)); /* destroy of version 1.0 frees it */
	if (qp == NULL || old_qp == NULL || sscanf(args, "%" SCNu32 " %7s", &qp->qp_num, type) != 2)
		abort();
	qp->context = &context.context;
	qp->qp_type = strcmp(type, "rc") == 0 ? IBV_QPT_RC : IBV_QPT_UD;
	old_qp->head.qp_num = qp->qp_num;
	old_qp->head.qp_type = qp->qp_type;
	old_qp->real_qp = qp;
	return 0;
}

static int obey(const char *verb, const char *args)
{
	if (strcmp(verb, "create") == 0)
		return create(args);
	if (strcmp(verb, "rtr") == 0)
		return to_rtr(args);
	if (strcmp(verb, "rts") == 0)
		return to_rts(args);
	if (strcmp(verb, "av") == 0)
		return to_address(args);
	if (strcmp(verb, "init") == 0)
		return to_state(IBV_QPS_INIT);
	if (strcmp(verb, "sqd") == 0)
		return to_state(IBV_QPS_SQD);
	if (strcmp(verb, "err") == 0)
		return to_state(IBV_QPS_ERR);
	if (strcmp(verb, "reset") == 0)
		return to_state(IBV_QPS_RESET);
	if (strcmp(verb, "destroy") == 0)
		return destroy_qp(is_old ? (void *)old_qp : (void *)qp);
	if (strcmp(verb, "result") == 0) {
		result = atoi(args);
		return result;
	}
	abort();
}

int main(int argc, char **argv)
{
	void *lib = dlopen("libibverbs.so.1", RTLD_NOW);
	char line[256], verb[16];
	int skip;

	if (argc != 3 || lib == NULL)
		return 2;
	is_old = strcmp(argv[1], "IBVERBS_1.0") == 0;
	*(void **)&modify_qp = dlvsym(lib, "ibv_modify_qp", argv[1]);
	*(void **)&destroy_qp = dlvsym(lib, "ibv_destroy_qp", argv[1]);
	if (modify_qp == NULL || destroy_qp == NULL)
		return 2;
	for (size_t i = 0; i < sizeof(driver) / sizeof(driver[0]); i++)
		driver[i] = (void (*)(void))operation;
	snprintf(device.name, sizeof(device.name), "%s", argv[2]);
	context.priv = (struct verbs_ex_private *)driver;
	context.context.device = &device;
	context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	context.sz = sizeof(context);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		if (sscanf(line, "%15s%n", verb, &skip) != 1)
			return 2;
		puts(obey(verb, line + skip) == result ? "ok" : "wrong result");
		fflush(stdout);
	}
	return 0;
}
