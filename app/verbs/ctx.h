/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_CTX_H
#define HP3_VERBS_CTX_H

#include "app/verbs/shim.h"

/* Replaces the context's calls by this library's, once. NULL: no memory; the context keeps the
 * provider's. */
struct hp3v_ctx *hp3v_ctx_adopt(struct ibv_context *context);
/* The context is closed: the next one at this address is a different one. */
void hp3v_ctx_forget(struct hp3v_ctx *ctx);

#endif
