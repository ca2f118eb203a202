/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Random RoCEv2 frames of every shape for the tests of roce/, and simple reference implementations:
 * an ICRC computed bit by bit, and a UDP checksum over the whole datagram.
 */
#include <stdint.h>
#include "roce/parse.h"

#define FRAME_CAP 65535u

/* Every test prints the seed it starts from. */
struct rng {
	uint64_t state;
};
uint64_t rng_next(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n);

struct shape {
	uint8_t opcode;
	bool ipv6;
	uint8_t tags; /* 0 to 2 VLAN tags */
	/* IPv4: option words (0 to 10); IPv6: hop-by-hop header of 2 words each */
	uint8_t ext_words;
	uint16_t payload;
	bool unpadded; /* without padding: the UDP length is not a multiple of 4 */
	bool udp_csum;
	bool ackreq;
};

/* A random shape: payload from 0 to `max_payload`; mostly requests and replies of RC, sometimes
 * other opcodes. */
struct shape random_shape(struct rng *r, uint16_t max_payload);

/* Writes the frame to buf[FRAME_CAP], with the reference's ICRC and UDP checksum. Returns its
 * length. */
uint32_t make_frame(uint8_t *buf, const struct shape *s, struct rng *r);

bool shape_has_payload(uint8_t opcode);

/* References. Arguments are the offsets of IP header, UDP header and ICRC. They use none of the
 * code under test. */
uint32_t reference_icrc(const uint8_t *f, uint32_t l3, uint32_t udp, uint32_t icrc);
uint16_t reference_udp_csum(const uint8_t *f, uint32_t l3, uint32_t udp);
void store_udp_csum(uint8_t *f, uint32_t l3, uint32_t udp);
void store_ip_csum(uint8_t *ip);

/* Makes a copy that ends at an unmapped page: reading the first byte after it ends the test. */
const uint8_t *guarded_copy(const uint8_t *f, uint32_t len);
