/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_HASH_H
#define HP3_PPP_HASH_H
/*
 * Models of the hash by which a switch picks the next hop of a RoCEv2 packet (ECMP, RFC 2992:
 * next hop = hash modulo number of next hops), over the 5-tuple and, where configured, the
 * destination QPN.
 *
 * A model is a guess about somebody else's switch. Nothing here is believed before traces agree
 * with it: hp3_model_trace() takes what was seen on the wire, hp3_model_believed() says whether it
 * is enough. One contradiction ends the belief for good (until hp3_model_init()).
 *
 * CRC and XOR hashes are affine over GF(2), H(p ^ d) = H(p) ^ H(d) ^ H(0); linear.h uses that.
 * murmur3 is not.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hp3_hash_kind {
	HP3_HASH_CRC32, /* reflected 0xEDB88320; seed = initial register, no final inversion */
	HP3_HASH_CRC16_CCITT, /* 0x1021, most significant bit first; seed & 0xffff = initial */
	HP3_HASH_CRC16_IBM, /* 0x8005 reflected (0xA001); seed & 0xffff = initial */
	HP3_HASH_XOR, /* XOR of all big-endian 16-bit words, and of the seed's two halves */
	HP3_HASH_MURMUR3, /* MurmurHash3 x86_32 */
	HP3_HASH_KINDS
};

/* What the hash reads, in this order. */
enum hp3_hash_input {
	/* Network order: source and destination address (4 or 16 bytes each), source port,
	 * destination port, protocol (17), and with `qpn` the destination QPN (3 bytes). */
	HP3_INPUT_TUPLE,
	/* 12 bytes as the ns-3 RDMA simulators lay them out: source address, destination address,
	 * source port | destination port << 16, each a little-endian 32-bit word of the number.
	 * IPv4 only: IPv6 addresses are folded by XOR to 32 bits. */
	HP3_INPUT_NS3,
};

struct hp3_tuple {
	uint8_t src[16], dst[16]; /* IPv4: first four bytes, network order */
	uint32_t qpn; /* destination QPN */
	uint16_t sport, dport;
	bool ipv6;
};

struct hp3_hash {
	uint8_t kind; /* enum hp3_hash_kind */
	uint8_t input; /* enum hp3_hash_input */
	bool qpn; /* the switch reads the destination QPN too (rule 18) */
	uint16_t paths; /* next hops, > 0 */
	uint32_t seed; /* of this switch */
};

uint32_t hp3_hash_bytes(enum hp3_hash_kind kind, uint32_t seed, const void *bytes, size_t n);
uint32_t hp3_hash(const struct hp3_hash *h, const struct hp3_tuple *t);

/* Next hop, 0 .. h->paths - 1. */
static inline uint32_t hp3_hash_hop(const struct hp3_hash *h, const struct hp3_tuple *t)
{
	return hp3_hash(h, t) % h->paths;
}

/*
 * A whole path: one hash per stage that chooses (a leaf that picks a spine; above it a pod switch
 * that picks a core). Path id = ((hop 0) * paths 1 + hop 1) * paths 2 + ...
 */
#define HP3_MODEL_STAGES 3u
#define HP3_MODEL_PATHS  64u /* most that are told apart when a model is held against traces */
#define HP3_MODEL_PROOF  24u /* bits of evidence: a wrong guess passes with 2^-24 */

struct hp3_stage {
	struct hp3_hash hash;
	/* Switches of one stage have seeds of their own: seed = seeds[path id so far], the
	 * caller's memory; NULL: hash.seed for all. */
	const uint32_t *seeds;
};

struct hp3_model {
	struct hp3_stage stage[HP3_MODEL_STAGES];
	uint8_t stages;
	bool refused;
	uint8_t proof; /* bits of evidence so far */
	uint64_t seen; /* bitmap: label[] is known */
	uint32_t label[HP3_MODEL_PATHS]; /* by path id: what traces call this path */
};

/*
 * 0; -EINVAL: no stage, too many, unknown kind or a stage without next hop; -E2BIG: more than
 * HP3_MODEL_PATHS paths; -EDOM: one path only, nothing to choose.
 */
int hp3_model_init(struct hp3_model *m, const struct hp3_stage *stage, unsigned stages);

uint32_t hp3_model_paths(const struct hp3_model *m);
uint32_t hp3_model_path(const struct hp3_model *m, const struct hp3_tuple *t);

/*
 * A packet with this tuple was traced along the path called `label` (address of a hop, or any other
 * name that is one-to-one with the paths). Only a path whose label is known already is a test of
 * the model; a label that belongs to another path, or a path with another label, refutes it. Feed
 * every tuple once: a repeated one would be counted as evidence again. Returns false once refuted.
 */
bool hp3_model_trace(struct hp3_model *m, const struct hp3_tuple *t, uint32_t label);
bool hp3_model_believed(const struct hp3_model *m);

#endif
