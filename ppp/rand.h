/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_RAND_H
#define HP3_PPP_RAND_H
/*
 * Random choices of the path modules: splitmix64, one state word that the caller owns and seeds.
 * Same seed, same choices, on every machine.
 */
#include <stdint.h>

static inline uint64_t hp3_rand(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* 0 .. n - 1; n > 0 */
static inline uint32_t hp3_rand_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)(((hp3_rand(state) >> 32) * n) >> 32);
}

/* The source ports that RNICs use for RoCEv2: 0xC000 .. 0xFFFF (ibv_flow_label_to_udp_sport). */
#define HP3_PORT_FIRST 0xc000u
#define HP3_PORT_COUNT 0x4000u
#define HP3_PORT_BITS  14u

static inline uint16_t hp3_rand_port(uint64_t *state)
{
	return (uint16_t)(HP3_PORT_FIRST | (hp3_rand(state) >> (64 - HP3_PORT_BITS)));
}

#endif
