/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Content of messages. A receiver can check every byte of a message without information from the
 * sender.
 *
 * A message begins with a header word: the message's number on the queue pair (32 bits) and its
 * length in bytes (32 bits). Every further word of 8 bytes is a function of the header word and of
 * the position. So a lost, duplicated, swapped or truncated packet changes at least one byte. A
 * message that is shorter than the header word consists of the first bytes of this word, and cannot
 * be checked.
 *
 * Memory for READs consists of words that are a function of R_Key and address. So a repeated READ
 * returns the same content.
 *
 * Words are little-endian. `offset` and `va` are multiples of 8 bytes, as path MTUs are.
 */
#include <stdbool.h>
#include <stdint.h>

#define GEN_WORD 8u
/* virtual address of the memory that peers may read and write */
#define GEN_MEMORY_BASE UINT64_C(0x100000000)
#define GEN_MEMORY_SIZE UINT64_C(0x100000000) /* size of this memory in bytes */

static inline uint64_t gen_header(uint32_t number, uint32_t len)
{
	return (uint64_t)number << 32 | len;
}

/* Writes, or checks, `n` bytes of a message with this header word, from byte `offset` on. */
void gen_message_fill(void *to, uint64_t header, uint32_t offset, uint32_t n);
bool gen_message_ok(const void *from, uint64_t header, uint32_t offset, uint32_t n);

/* Writes, or checks, `n` bytes of memory for READs, at virtual address `va`. */
void gen_memory_fill(void *to, uint32_t rkey, uint64_t va, uint32_t n);
bool gen_memory_ok(const void *from, uint32_t rkey, uint64_t va, uint32_t n);
