/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The hash with which a switch chooses the next hop of a RoCEv2 packet (ECMP, RFC 2992: hash modulo
 * the number of next hops). The hash reads the 5-tuple and, if configured, the destination QPN.
 * This file also has models, which predict a packet's path from these hashes. The balancer
 * hp3-ideal uses the models. Real hosts cannot, because they do not know the hashes.
 *
 * CRC and XOR hashes are affine over GF(2): H(p ^ d) = H(p) ^ H(d) ^ H(0). ppp/linear.h uses this
 * property. murmur3 does not have this property.
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

/*
 * The input of the hash, in the order in which the hash reads it. If `qpn` is set, the destination
 * QPN (3 bytes) follows. If `opcode` is set, the opcode (1 byte) follows.
 */
enum sim_hash_input {
	/*
	 * In network order: source and destination address (4 or 16 bytes each), source port,
	 * destination port, protocol (17).
	 */
	SIM_INPUT_TUPLE,
	/*
	 * 12 bytes, as in the ns-3 RDMA simulators: source address, destination address, and source
	 * port | destination port << 16. Each of these is a 32-bit number in little-endian order.
	 * ns-3 has only IPv4; hp3-sim folds IPv6 addresses by XOR to 32 bits.
	 */
	SIM_INPUT_NS3,
};

#define SIM_HASH_OPCODE 0x100u

/* Fields of the BTH that switches read, too. */
enum sim_hash_bth { SIM_BTH_NONE, SIM_BTH_QPN, SIM_BTH_OPCODE, SIM_BTH_BOTH };

struct sim_hash {
	uint8_t kind; /* enum sim_hash_kind */
	uint8_t input; /* enum sim_hash_input */
	bool qpn; /* the switch also reads the destination QPN (rule 18) */
	/* SIM_HASH_OPCODE | BTH opcode of the packet: the switch also reads the opcode; 0: no */
	uint16_t opcode;
	uint16_t paths; /* number of next hops, > 0 */
	uint32_t seed; /* seed of this switch */
};

uint32_t sim_hash_bytes(enum sim_hash_kind kind, uint32_t seed, const void *bytes, size_t n);
uint32_t sim_hash(const struct sim_hash *h, const struct hp3_tuple *t);

/* Next hop, 0 .. h->paths - 1. */
static inline uint32_t sim_hash_hop(const struct sim_hash *h, const struct hp3_tuple *t)
{
	return sim_hash(h, t) % h->paths;
}

/*
 * A model of whole paths. The model has one hash for each stage of switches that choose a next hop.
 * In a leaf-spine fabric, a leaf chooses a spine. In a fat-tree, a leaf chooses a pod switch, which
 * chooses a core switch. Path id = ((hop 0) * paths 1 + hop 1) * paths 2 + ...
 */
#define SIM_MODEL_STAGES 3u
#define SIM_MODEL_PATHS  64u /* paths of a model, at most */

struct sim_stage {
	struct sim_hash hash;
	/*
	 * Seeds of the switches of the stage, indexed by the path id of the stages before. The
	 * caller owns the array. NULL: all switches of the stage have hash.seed.
	 */
	const uint32_t *seeds;
};

struct sim_model {
	struct hp3_path_model given; /* first member: engines get a pointer to it */
	struct sim_stage stage[SIM_MODEL_STAGES];
	uint8_t stages; /* 0: not made yet */
};

/*
 * Returns 0; -EINVAL: no stage, too many stages, an unknown kind, or a stage without next hops;
 * -E2BIG: more than SIM_MODEL_PATHS paths; -EDOM: only one path.
 */
int sim_model_init(struct sim_model *m, const struct sim_stage *stage, unsigned stages);

uint32_t sim_model_path(const struct sim_model *m, const struct hp3_tuple *t);
