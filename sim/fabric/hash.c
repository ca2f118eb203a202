/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>
#include "base/crc.h"
#include "sim/fabric/hash.h"

#define PROTO_UDP 17u
#define INPUT_MAX 41u /* two IPv6 addresses, ports, protocol, QPN, opcode */

static const uint16_t ccitt_nibble[16] = {0x0000, 0x1021, 0x2042, 0x3063, 0x4084, 0x50a5, 0x60c6,
	0x70e7, 0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad, 0xe1ce, 0xf1ef};

static uint32_t crc16_ccitt(uint32_t seed, const uint8_t *p, size_t n)
{
	uint16_t crc = (uint16_t)seed;

	for (; n; n--, p++) {
		crc = (uint16_t)(crc << 4) ^ ccitt_nibble[crc >> 12 ^ *p >> 4];
		crc = (uint16_t)(crc << 4) ^ ccitt_nibble[crc >> 12 ^ (*p & 15)];
	}
	return crc;
}

static uint32_t xor_fold(uint32_t seed, const uint8_t *p, size_t n)
{
	uint32_t x = seed >> 16 ^ (seed & 0xffff);

	for (size_t i = 0; i < n; i++)
		x ^= (uint32_t)p[i] << (i & 1 ? 0 : 8);
	return x;
}

static uint32_t rotate_left(uint32_t x, unsigned r)
{
	return x << r | x >> (32 - r);
}

static uint32_t murmur3_of_bytes(uint32_t h, const uint8_t *p, size_t n)
{
	const uint32_t c1 = 0xcc9e2d51, c2 = 0x1b873593;
	uint32_t k = 0;
	size_t i = 0;

	for (; i + 4 <= n; i += 4) {
		k = p[i] | (uint32_t)p[i + 1] << 8 | (uint32_t)p[i + 2] << 16 |
		    (uint32_t)p[i + 3] << 24;
		h ^= rotate_left(k * c1, 15) * c2;
		h = rotate_left(h, 13) * 5 + 0xe6546b64;
	}
	k = 0;
	for (size_t j = n; j-- > i;)
		k = k << 8 | p[j];
	h ^= rotate_left(k * c1, 15) * c2;
	h ^= (uint32_t)n;
	h = (h ^ h >> 16) * 0x85ebca6b;
	h = (h ^ h >> 13) * 0xc2b2ae35;
	return h ^ h >> 16;
}

uint32_t sim_hash_bytes(enum sim_hash_kind kind, uint32_t seed, const void *bytes, size_t n)
{
	switch (kind) {
	case SIM_HASH_CRC32:
		return hp3_crc_reflected(hp3_crc_table_32, seed, bytes, n);
	case SIM_HASH_CRC16_CCITT:
		return crc16_ccitt(seed, bytes, n);
	case SIM_HASH_CRC16_IBM:
		return hp3_crc_reflected(hp3_crc_table_16, seed & 0xffff, bytes, n);
	case SIM_HASH_XOR:
		return xor_fold(seed, bytes, n);
	default:
		return murmur3_of_bytes(seed, bytes, n);
	}
}

static size_t put_bytes(uint8_t *to, size_t at, uint32_t value, unsigned bytes)
{
	while (bytes--)
		to[at++] = (uint8_t)(value >> 8 * bytes);
	return at;
}

static size_t put_le32(uint8_t *to, size_t at, uint32_t value)
{
	return put_bytes(to, at, __builtin_bswap32(value), 4);
}

static uint32_t fold_address(const uint8_t *addr, bool ipv6)
{
	uint32_t x = 0;

	for (unsigned i = 0; i < (ipv6 ? 16 : 4); i++)
		x ^= (uint32_t)addr[i] << 8 * (3 - i % 4);
	return x;
}

uint32_t sim_hash(const struct sim_hash *h, const struct hp3_tuple *t)
{
	uint8_t in[INPUT_MAX];
	size_t n = 0, addr = t->ipv6 ? 16 : 4;

	if (h->input == SIM_INPUT_NS3) {
		n = put_le32(in, n, fold_address(t->src, t->ipv6));
		n = put_le32(in, n, fold_address(t->dst, t->ipv6));
		n = put_le32(in, n, t->sport | (uint32_t)t->dport << 16);
	} else {
		memcpy(in, t->src, addr);
		memcpy(in + addr, t->dst, addr);
		n = put_bytes(in, 2 * addr, t->sport, 2);
		n = put_bytes(in, n, t->dport, 2);
		n = put_bytes(in, n, PROTO_UDP, 1);
	}
	if (h->qpn)
		n = put_bytes(in, n, t->qpn, 3);
	if (h->opcode != 0)
		n = put_bytes(in, n, h->opcode & 0xff, 1);
	return sim_hash_bytes(h->kind, h->seed, in, n);
}

static uint32_t path_of_model(const struct hp3_path_model *given, const struct hp3_tuple *t)
{
	return sim_model_path((const struct sim_model *)given, t);
}

int sim_model_init(struct sim_model *m, const struct sim_stage *stage, unsigned stages)
{
	uint32_t paths = 1;

	if (stages == 0 || stages > SIM_MODEL_STAGES)
		return -EINVAL;
	for (unsigned i = 0; i < stages; i++) {
		if (stage[i].hash.kind >= SIM_HASH_KINDS || stage[i].hash.paths == 0)
			return -EINVAL;
		paths *= stage[i].hash.paths;
		if (paths > SIM_MODEL_PATHS)
			return -E2BIG;
	}
	if (paths == 1)
		return -EDOM;
	*m = (struct sim_model){.given = {path_of_model, paths}};
	memcpy(m->stage, stage, stages * sizeof(*stage));
	m->stages = (uint8_t)stages;
	return 0;
}

uint32_t sim_model_path(const struct sim_model *m, const struct hp3_tuple *t)
{
	uint32_t id = 0;

	for (unsigned i = 0; i < m->stages; i++) {
		struct sim_hash h = m->stage[i].hash;

		if (m->stage[i].seeds)
			h.seed = m->stage[i].seeds[id];
		id = id * h.paths + sim_hash_hop(&h, t);
	}
	return id;
}
