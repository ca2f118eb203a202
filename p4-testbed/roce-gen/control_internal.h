/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_CONTROL_INTERNAL_H
#define ROCE_GEN_CONTROL_INTERNAL_H
/* What connections (control.c) and their contents (hello.c) ask of each other. */
#include "control.h"

/* Queue pairs of ours and our hello. */
int gen_control_greet(struct gen_control *c, struct gen_peer *p, uint32_t n, uint64_t now);
/* A line arrived. */
void gen_control_line(
	struct gen_control *c, struct gen_peer *p, const char *line, size_t len, uint64_t now);
/* Looks for the next hop; once it is known the peer's queue pairs are connected. */
void gen_control_resolve(struct gen_control *c, struct gen_peer *p);
/* A line without anything but its type. */
void gen_control_send(struct gen_peer *p, const char *type);
/* The peer is lost, for this reason. */
void gen_control_fail(struct gen_control *c, struct gen_peer *p, const char *what);
/* Queue pairs given by --static. */
int gen_control_fixed(struct gen_control *c, uint64_t now);

#endif
