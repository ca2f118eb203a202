/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_CONTROL_INTERNAL_H
#define ROCE_GEN_CONTROL_INTERNAL_H
/* Calls between connections (control.c) and their contents (hello.c). */
#include "control.h"

/* Adds `n` queue pairs for the peer, and sends this end's hello. */
int gen_control_greet(struct gen_control *c, struct gen_peer *p, uint32_t n, uint64_t now);
/* A line arrived. */
void gen_control_line(
	struct gen_control *c, struct gen_peer *p, const char *line, size_t len, uint64_t now);
/* Resolves the next hop; then connects the peer's queue pairs. */
void gen_control_resolve(struct gen_control *c, struct gen_peer *p);
/* Sends a line that has only a type. */
void gen_control_send(struct gen_peer *p, const char *type);
/* The peer is lost, for this reason. */
void gen_control_fail(struct gen_control *c, struct gen_peer *p, const char *what);
/* Queue pairs given by --static. */
int gen_control_fixed(struct gen_control *c, uint64_t now);

#endif
