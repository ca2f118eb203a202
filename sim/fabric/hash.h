/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The hash with which a switch chooses the next hop of a RoCEv2 packet (ECMP, RFC 2992: hash modulo
 * the number of next hops). The hash reads the 5-tuple and, if configured, the destination QPN.
 * This file also has models that predict a packet's path from these hashes. Balancers that know the
 * hash use them (hp3-ideal); real hosts cannot.
 *
 * CRC and XOR hashes are affine over GF(2), H(p ^ d) = H(p) ^ H(d) ^ H(0); ppp/linear.h uses this
 * property. murmur3 does not have it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "ppp/model.h"

enum sim_hash_kind {
	SIM_HASH_CRC32, /* reflected 0xEDB88320; seed = initial register, no final inversion */
	SIM_HASH_CRC16_CCITT, /* 0x1021, most significant bit first; seed & 0xffff = initial */
	SIM_HASH_CRC16_IBM, /* 0x8005 reflected (0xA001); seed & 0xffff = initial */
	SIM_HASH_XOR, /* XOR of all big-endian 16-bit words, and of the seed's two halves */
	SIM_HASH_MURMUR3, /* MurmurHash3 x86_32 */
	SIM_HASH_KINDS
};

/* What the hash reads, in this order. */
enum sim_hash_input {
	/* Network order: source and destination address (4 or 16 bytes each), source port,
	 * destination port, protocol (17), and with `qpn` the destination QPN (3 bytes). */
	SIM_INPUT_TUPLE,
	/* 12 bytes as the ns-3 RDMA simulators lay them out: source address, destination address,
	 * source port | destination port << 16. Each is a 32-bit number in little-endian order.
	 * ns-3 has IPv4 only: IPv6 addresses are folded by XOR to 32 bits. */
	SIM_INPUT_NS3,
};

struct sim_hash {
	uint8_t kind; /* enum sim_hash_kind */
	uint8_t input; /* enum sim_hash_input */
	bool qpn; /* the switch reads the destination QPN too (rule 18) */
	uint16_t paths; /* next hops, > 0 */
	uint32_t seed; /* of this switch */
};

uint32_t sim_hash_bytes(enum sim_hash_kind kind, uint32_t seed, const void *bytes, size_t n);
uint32_t sim_hash(const struct sim_hash *h, const struct hp3_tuple *t);

/* Next hop, 0 .. h->paths - 1. */
static inline uint32_t sim_hash_hop(const struct sim_hash *h, const struct hp3_tuple *t)
{
	return sim_hash(h, t) % h->paths;
}

/*
 * A model of whole paths: one hash for each stage of switches that choose a next hop (a leaf that
 * chooses a spine; or a leaf that chooses a pod switch, which chooses a core switch). Path id =
 * ((hop 0) * paths 1 + hop 1) * paths 2 + ...
 */
#define SIM_MODEL_STAGES 3u
#define SIM_MODEL_PATHS  64u /* paths of a model, at most */

struct sim_stage {
	struct sim_hash hash;
	/* Seed of each switch of the stage, indexed by the path id of the stages before; owned by
	 * the caller. NULL: all switches of the stage have hash.seed. */
	const uint32_t *seeds;
};

struct sim_model {
	struct hp3_path_model given; /* first member: engines get a pointer to it */
	struct sim_stage stage[SIM_MODEL_STAGES];
	uint8_t stages; /* 0: not made yet */
};

/*
 * 0; -EINVAL: no stage or too many, an unknown kind, or a stage without next hops; -E2BIG: more
 * than SIM_MODEL_PATHS paths; -EDOM: only one path.
 */
int sim_model_init(struct sim_model *m, const struct sim_stage *stage, unsigned stages);

uint32_t sim_model_path(const struct sim_model *m, const struct hp3_tuple *t);
