/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_ENDPOINT_INTERNAL_H
#define ROCE_GEN_ENDPOINT_INTERNAL_H
/* Shared by the two halves of the endpoint. */
#include "endpoint.h"

/* The queue pair's state changed: updates its place in the heap. */
void gen_endpoint_touch(struct gen_endpoint *ep, struct gen_qp *q, uint64_t now);
void gen_endpoint_event(struct gen_endpoint *ep, const struct gen_event *event);
/* Reports the end of a queue pair, once. */
void gen_endpoint_check_failed(struct gen_endpoint *ep, struct gen_qp *q);

#endif
