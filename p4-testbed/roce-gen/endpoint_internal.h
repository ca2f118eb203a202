/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_ENDPOINT_INTERNAL_H
#define ROCE_GEN_ENDPOINT_INTERNAL_H
/* Functions that the source files of the endpoint share. */
#include "endpoint.h"

/* The state of the queue pair has changed: updates its position in the heap. */
void gen_endpoint_touch(struct gen_endpoint *ep, struct gen_qp *q, uint64_t now);
void gen_endpoint_event(struct gen_endpoint *ep, const struct gen_event *event);
/* Adds the event GEN_FAILED for a queue pair that has ended, once. */
void gen_endpoint_check_failed(struct gen_endpoint *ep, struct gen_qp *q);

#endif
