/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_SIM_FABRIC_HASH_H
#define HP3_SIM_FABRIC_HASH_H
/*
 * The hash by which a switch picks the next hop of a RoCEv2 packet (ECMP, RFC 2992: next hop = hash
 * modulo number of next hops), over the 5-tuple and, where configured, the destination QPN; and
 * models of it, for an engine that gets information which a real host lacks.
 *
 * A model may be wrong, so it is used only after traces agree with it: sim_model_trace() takes
 * observations, sim_model_believed() returns whether they suffice. One contradiction refutes the
 * model until sim_model_init().
 *
 * CRC and XOR hashes are affine over GF(2), H(p ^ d) = H(p) ^ H(d) ^ H(0); ppp/linear.h uses that.
 * murmur3 is not.
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
	 * source port | destination port << 16, each a little-endian 32-bit word of the number.
	 * IPv4 only: IPv6 addresses are folded by XOR to 32 bits. */
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
 * A whole path: one hash per stage that chooses (a leaf that picks a spine; above it a pod switch
 * that picks a core). Path id = ((hop 0) * paths 1 + hop 1) * paths 2 + ...
 */
#define SIM_MODEL_STAGES 3u
#define SIM_MODEL_PATHS  64u /* most paths when a model is compared with traces */
#define SIM_MODEL_PROOF  24u /* bits of evidence: a wrong guess passes with 2^-24 */

struct sim_stage {
	struct sim_hash hash;
	/* Seed of each switch of the stage: seeds[path id so far], the caller's memory; NULL:
	 * hash.seed for all. */
	const uint32_t *seeds;
};

struct sim_model {
	struct hp3_path_model given; /* first: what engines are handed */
	struct sim_stage stage[SIM_MODEL_STAGES];
	uint8_t stages;
	bool refused;
	uint8_t proof; /* bits of evidence so far */
	uint64_t seen; /* bitmap: label[] is known */
	uint32_t label[SIM_MODEL_PATHS]; /* by path id: its label in traces */
};

/*
 * 0; -EINVAL: no stage, too many, unknown kind or a stage without next hop; -E2BIG: more than
 * SIM_MODEL_PATHS paths; -EDOM: one path only, nothing to choose.
 */
int sim_model_init(struct sim_model *m, const struct sim_stage *stage, unsigned stages);

uint32_t sim_model_path(const struct sim_model *m, const struct hp3_tuple *t);

/*
 * A packet with this tuple was traced along the path `label` (the address of a hop, or another name
 * that is one-to-one with the paths). A path whose label is already known tests the model; a label
 * of another path, or a path with another label, refutes it. Pass each tuple once: a repetition
 * would count as evidence again. Returns false once refuted.
 */
bool sim_model_trace(struct sim_model *m, const struct hp3_tuple *t, uint32_t label);
bool sim_model_believed(const struct sim_model *m);

#endif
