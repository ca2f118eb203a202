/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Loads verbs as collective libraries do: dlopen() of the library that NCCL_IBVERBS_LIB names
 * (default libibverbs.so.1), dlvsym(..., "IBVERBS_1.1"). Work requests are posted by the function
 * pointers of the context. On errors, every function ends the program with a message.
 */
#include <stdbool.h>
#include <stdint.h>
#include <infiniband/verbs.h>

struct wire_qp {
	uint32_t qpn, psn;
};

struct rnic {
	bool responds; /* the other end may READ, and change by ATOMICs */
	struct ibv_context *context;
	struct ibv_pd *pd;
	union ibv_gid gid;
	uint8_t gid_index;
};

/* The first RNIC, by its IPv4 GID. */
void rnic_open(struct rnic *r);
struct ibv_cq *rnic_cq(struct rnic *r, int entries);
struct ibv_mr *rnic_memory(struct rnic *r, void *at, size_t bytes);
/* Makes a queue pair in state INIT, for `depth` work requests in each direction. */
struct ibv_qp *rnic_qp(struct rnic *r, struct ibv_cq *cq, uint32_t depth);
/* Changes the queue pair to RTS, connected to the other end's GID and queue pair. */
void rnic_connect(struct rnic *r, struct ibv_qp *qp, uint32_t psn, const union ibv_gid *gid,
	const struct wire_qp *to);
void rnic_destroy(struct ibv_qp *qp);

void die(const char *what);
