/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TEST_GEN_REQUESTER_H
#define HP3_TEST_GEN_REQUESTER_H
/* One requester of roce-gen, `r`, and its peer, simulated by the test. */
#include "requester.h"

#define MTU     1024u
#define TIMEOUT UINT64_C(1048576) /* 4.096 us * 2^8 */

extern struct gen_requester_params params;
extern struct gen_requester r;

/* A new requester whose first packet has `psn`. */
void requester_begin(uint32_t psn);
/* cmocka fixture: what requester_begin() made is gone. */
int requester_end(void **state);
#define REQUESTER_TEST(name) cmocka_unit_test_teardown(name, requester_end)

/* The packet that leaves now; there must be one, or none. */
struct gen_packet expect_next(uint64_t now);
void expect_none(uint64_t now);

/* A packet of the peer. */
struct gen_reply reply(uint8_t opcode, uint32_t psn, uint8_t syndrome, uint16_t len, uint64_t now);
struct gen_reply ack(uint32_t psn, uint64_t now);
struct gen_reply nak(uint32_t psn, uint64_t now); /* PSN sequence error */

/* Messages completed since the last call. */
uint32_t completed(void);

#endif
