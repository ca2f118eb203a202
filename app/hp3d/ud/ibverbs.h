/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* libibverbs, loaded when hp3d starts: hp3d also works without this library, and without an
 * RNIC. */
#include <infiniband/verbs.h>
#include <stddef.h>

/* X(name, result, arguments): functions of the library, without ibv_ */
#define HP3D_IBVERBS(X)                                                                            \
	X(get_device_list, struct ibv_device **, (int *n))                                         \
	X(free_device_list, void, (struct ibv_device * *list))                                     \
	X(get_device_name, const char *, (struct ibv_device * device))                             \
	X(open_device, struct ibv_context *, (struct ibv_device * device))                         \
	X(close_device, int, (struct ibv_context * context))                                       \
	X(query_device, int, (struct ibv_context * context, struct ibv_device_attr * attr))        \
	X(query_port, int,                                                                         \
		(struct ibv_context * context, uint8_t port, struct _compat_ibv_port_attr * attr)) \
	X(alloc_pd, struct ibv_pd *, (struct ibv_context * context))                               \
	X(dealloc_pd, int, (struct ibv_pd * pd))                                                   \
	X(reg_mr, struct ibv_mr *, (struct ibv_pd * pd, void *at, size_t n, int access))           \
	X(dereg_mr, int, (struct ibv_mr * mr))                                                     \
	X(create_comp_channel, struct ibv_comp_channel *, (struct ibv_context * context))          \
	X(destroy_comp_channel, int, (struct ibv_comp_channel * channel))                          \
	X(get_cq_event, int, (struct ibv_comp_channel * channel, struct ibv_cq * *cq, void **ctx)) \
	X(ack_cq_events, void, (struct ibv_cq * cq, unsigned int n))                               \
	X(create_cq, struct ibv_cq *,                                                              \
		(struct ibv_context * context, int cqe, void *data,                                \
			struct ibv_comp_channel *channel, int vector))                             \
	X(destroy_cq, int, (struct ibv_cq * cq))                                                   \
	X(create_qp, struct ibv_qp *, (struct ibv_pd * pd, struct ibv_qp_init_attr * attr))        \
	X(modify_qp, int, (struct ibv_qp * qp, struct ibv_qp_attr * attr, int mask))               \
	X(destroy_qp, int, (struct ibv_qp * qp))                                                   \
	X(create_ah, struct ibv_ah *, (struct ibv_pd * pd, struct ibv_ah_attr * attr))             \
	X(destroy_ah, int, (struct ibv_ah * ah))

struct hp3d_ibverbs {
	void *library;
#define X(name, result, args) result(*name) args;
	HP3D_IBVERBS(X)
#undef X
	int (*query_gid_ex)(struct ibv_context *context, uint32_t port, uint32_t index,
		struct ibv_gid_entry *entry, uint32_t flags, size_t size);
};

/* Returns 0, or -1 with the reason in `why`. */
int hp3d_ibverbs_load(struct hp3d_ibverbs *v, const char *path, char *why, size_t cap);
void hp3d_ibverbs_unload(struct hp3d_ibverbs *v);
