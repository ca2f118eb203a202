/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* One requester of roce-gen, `r`, and its peer, simulated by the test. */
#include "requester.h"

#define MTU     1024u
#define TIMEOUT UINT64_C(1048576) /* 4.096 us * 2^8 */

extern struct gen_requester_params params;
extern struct gen_requester r;

/* A new requester whose first packet has `psn`. */
void requester_begin(uint32_t psn);
/* cmocka fixture: frees the requester. */
int requester_end(void **state);
#define REQUESTER_TEST(name) cmocka_unit_test_teardown(name, requester_end)

/* expect_next() returns the packet that leaves now, and fails the test if there is none.
 * expect_none() fails it if there is one. */
struct gen_packet expect_next(uint64_t now);
void expect_none(uint64_t now);

/* A packet of the peer arrives. */
struct gen_reply reply(uint8_t opcode, uint32_t psn, uint8_t syndrome, uint16_t len, uint64_t now);
struct gen_reply ack(uint32_t psn, uint64_t now);
struct gen_reply nak(uint32_t psn, uint64_t now); /* PSN sequence error */

/* Number of messages completed since the last call. */
uint32_t completed(void);
