/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * A packet that a requester or responder sends. The struct has the fields that differ between
 * packets. The caller adds the queue pair's addresses, and the content.
 */
#include "roce/opcode.h"

enum gen_content { GEN_NOTHING, GEN_MESSAGE, GEN_MEMORY };

struct gen_packet {
	uint8_t opcode;
	bool ackreq;
	bool again; /* this PSN was sent before */
	uint8_t syndrome; /* AETH */
	uint32_t msn;
	uint32_t psn;
	uint64_t va; /* VA in the RETH; GEN_MEMORY: virtual address of the content */
	uint32_t dma_len;
	uint32_t imm;
	enum gen_content content;
	uint64_t header; /* GEN_MESSAGE: header word of the message */
	uint32_t offset;
	uint32_t len; /* bytes of content */
};

/* Number of packets of a message of `len` bytes; at least one. */
static inline uint32_t gen_packets(uint32_t len, uint32_t mtu)
{
	return len == 0 ? 1 : (uint32_t)(((uint64_t)len + mtu - 1) / mtu);
}

/* Payload bytes of the packet that begins at byte `done` of a message of `len` bytes. */
static inline uint32_t gen_piece(uint32_t len, uint32_t done, uint32_t mtu)
{
	return len - done < mtu ? len - done : mtu;
}
