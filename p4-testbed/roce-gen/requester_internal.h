/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_REQUESTER_INTERNAL_H
#define ROCE_GEN_REQUESTER_INTERNAL_H
/* Functions that requester.c (sending) and requester_reply.c (receiving replies) share. */
#include "requester.h"

static inline struct gen_message *gen_requester_message(const struct gen_requester *r, uint32_t i)
{
	return &r->queue[i & (r->room - 1)];
}

static inline uint32_t gen_message_end(const struct gen_message *m)
{
	return hp3_psn_add(m->psn, m->packets);
}

#endif
