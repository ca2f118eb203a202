/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* One responder of roce-gen, functions that pass it requests as frames, and its answers. */
#include "content.h"
#include "responder.h"
#include "roce/build.h"

#define MTU  1024u
#define RKEY 0x1234u

extern struct gen_responder_params params;
extern struct gen_responder r;
extern uint64_t now; /* ns */

/* Makes a new responder that expects this PSN. */
void begin(uint32_t psn);
/* A request arrives, with `len` bytes of the message with this header, from `offset` on. If the
 * payload has a byte at index `damage`, this byte is wrong. */
struct gen_arrival request(uint8_t opcode, uint32_t psn, bool ackreq, uint64_t header,
	uint32_t offset, uint32_t len, uint32_t damage);
/* A SEND of one packet arrives. */
struct gen_arrival only(uint32_t psn, bool ackreq, uint32_t number);
struct gen_arrival read_request(uint32_t psn, uint32_t offset, uint32_t len);
/* answer() returns the next answer, and fails the test if there is none. no_answer() fails it if
 * there is one. */
struct gen_packet answer(void);
void no_answer(void);
