/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Two domains in one process: a connects to b over TCP on loopback, with two rails each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "xfer/hp3x.h"

#define LENGTH   (16u << 20)
#define PATIENCE 20000000000u /* ns; no test needs them on a machine that works */

struct side {
	struct hp3x_domain *domain;
	struct hp3x_region *region;
	struct hp3x_peer *peer; /* the other side */
	struct hp3x_remote remote; /* region of the other side */
	uint8_t *bytes;
};

struct two {
	struct side a, b;
};

/* Domains, regions of LENGTH bytes, and a connection. `own_progress`: of both. */
struct two *two_open(bool own_progress, uint32_t peer_timeout_ms);
void two_close(struct two *two);
/* Setup and teardown of a test. */
int two_setup(void **state);
int two_teardown(void **state);
/* Waits for the completion of an op of this side, and returns it. */
struct hp3x_completion side_wait(struct side *side, int64_t op);
/* Waits for a message. Returns its length. */
int side_receive(struct side *side, void *data, size_t capacity);
/* Waits until one of the descriptors of the two has something. */
void two_wait(struct two *two);
/* Different bytes for each `from`. */
void bytes_fill(uint8_t *bytes, size_t n, uint32_t from);
uint64_t deadline_in(uint64_t ns);
/* A listener on any port of 127.0.0.1; writes its address, "127.0.0.1:PORT". */
int loopback_listen(char text[32]);
