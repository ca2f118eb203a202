/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * What all examples share: two domains in one process, which talk over TCP on loopback. In a real
 * program, they are in two processes, and the descriptor travels in a message (05-messages.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "xfer/hp3x.h"

#define LENGTH (4u << 20)

struct end {
	struct hp3x_domain *domain;
	struct hp3x_region *region;
	struct hp3x_peer *peer; /* the other end */
	struct hp3x_remote remote; /* the region of the other end */
	unsigned char *memory;
};

/* Ends the program with the sentence of the error. */
static inline int must_work(int64_t result)
{
	if (result < 0) {
		fprintf(stderr, "error: %s\n", hp3x_error());
		exit(1);
	}
	return (int)result;
}

static inline void must_be(int condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "not true: %s\n", what);
		exit(1);
	}
}

static inline void end_open(struct end *e, bool own_progress)
{
	struct hp3x_options o = {
		.provider = "tcp", .listen = "127.0.0.1:0", .own_progress = own_progress};
	const char *rail = "127.0.0.1";

	o.rails = &rail;
	o.n_rails = 1;
	must_work(hp3x_open(&o, &e->domain));
	e->memory = calloc(1, LENGTH);
	must_work(hp3x_region_add(e->domain, e->memory, LENGTH, &e->region));
}

static inline void end_learn(struct end *e, const struct end *other)
{
	char text[HP3X_DESCRIPTION];
	int n = must_work(hp3x_region_describe(other->region, text, sizeof(text)));

	must_work(hp3x_remote_read(text, (size_t)n, &e->remote));
}

/* a connects to b. */
static inline void both_open(struct end *a, struct end *b)
{
	end_open(a, false);
	end_open(b, false);
	must_work(hp3x_connect(a->domain, hp3x_address(b->domain), &a->peer));
	while (hp3x_accept(b->domain, &b->peer) == 0)
		;
	end_learn(a, b);
	end_learn(b, a);
}

static inline void both_close(struct end *a, struct end *b)
{
	hp3x_close(a->domain);
	hp3x_close(b->domain);
	free(a->memory);
	free(b->memory);
}

/* Waits for the next completion, which must be OK. */
static inline void end_wait(struct end *e)
{
	struct hp3x_completion c;

	while (hp3x_poll(e->domain, &c, 1) == 0)
		;
	must_be(c.status == HP3X_OK, hp3x_status_name(c.status));
}
