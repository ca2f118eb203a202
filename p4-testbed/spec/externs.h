/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Functions that P4 targets have, but the SWX instruction set does not have. These functions are
 * CRC hashes over a key in network order, and an extern that returns a queue's depth and a
 * uniformly distributed random number.
 *
 * CRC32 is P4's HashAlgorithm.crc32: reflected 0xEDB88320, with initial and final value 0xFFFFFFFF.
 * CRC16 is P4's HashAlgorithm.crc16: 0x8005 reflected, with initial and final value 0.
 */
#include <stddef.h>
#include <stdint.h>
#include <rte_swx_pipeline.h>

#define HP3_EXTERN_SWITCHES 64u

uint32_t hp3_crc32(const void *key, uint32_t len, uint32_t seed);
uint32_t hp3_crc16(const void *key, uint32_t len, uint32_t seed);

/*
 * Access to the queues of a switch. depth() returns the number of bytes in the queue of a port and
 * priority.
 */
struct hp3_queue_view {
	uint32_t (*depth)(void *arg, uint32_t port, uint32_t priority);
	void *arg;
	uint64_t rng; /* state of the switch's random numbers; not 0 */
};

/* Mailbox of e.tm.queue_state. It has the fields of the program's struct queue_state_t. */
struct hp3_queue_mailbox {
	uint32_t port, priority, width; /* in */
	/* out; random is in 0 .. width-1, or the largest number if width is 0 */
	uint32_t depth, random;
};

/* Call this before hp3_program_load() for the switch with this index. */
void hp3_extern_bind(unsigned index, struct hp3_queue_view *view);

/* Registers the hash functions and the extern type. Returns 0 or a negative errno. */
int hp3_extern_register(struct rte_swx_pipeline *p);
