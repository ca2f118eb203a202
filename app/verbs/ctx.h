/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_VERBS_CTX_H
#define HP3_VERBS_CTX_H
/* The library's records of device contexts. */
#include "app/verbs/shim.h"

/*
 * Replaces the context's functions by those of this library, once. NULL: no memory, or the table is
 * full; the context keeps the provider's functions.
 */
struct hp3v_ctx *hp3v_ctx_adopt(struct ibv_context *context);
/* The context is closed. If a later context has the same address, it is a different one. */
void hp3v_ctx_forget(struct hp3v_ctx *ctx);

#endif
