/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_CONTROL_INTERNAL_H
#define ROCE_GEN_CONTROL_INTERNAL_H
/* Calls between control.c (connections) and hello.c (the messages on them). */
#include "control.h"

/* Adds `n` queue pairs for the peer, and sends this end's hello. */
int gen_control_greet(struct gen_control *c, struct gen_peer *p, uint32_t n, uint64_t now);
/* Handles a line that has arrived. */
void gen_control_line(
	struct gen_control *c, struct gen_peer *p, const char *line, size_t len, uint64_t now);
/* Resolves the next hop to the peer; then connects the peer's queue pairs. */
void gen_control_resolve(struct gen_control *c, struct gen_peer *p);
/* Sends a message that has only a type. */
void gen_control_send(struct gen_peer *p, const char *type);
/* Closes the connection to a peer that is lost, for the reason `what`. */
void gen_control_fail(struct gen_control *c, struct gen_peer *p, const char *what);
/* Sets up the queue pairs given by --static. */
int gen_control_fixed(struct gen_control *c, uint64_t now);

#endif
