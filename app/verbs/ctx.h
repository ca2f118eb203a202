/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_CTX_H
#define HP3_VERBS_CTX_H

#include "app/verbs/shim.h"

/* The context's calls become ours, once. NULL: no memory; the context stays the provider's. */
struct hp3v_ctx *hp3v_ctx_adopt(struct ibv_context *context);
/* It is closed: what the provider makes at this address next is another one. */
void hp3v_ctx_forget(struct hp3v_ctx *ctx);

#endif
