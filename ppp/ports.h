/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The source ports that RNICs use for RoCEv2: 0xC000 .. 0xFFFF (ibv_flow_label_to_udp_sport). */
#include "base/random.h"

#define HP3_PORT_FIRST 0xc000u
#define HP3_PORT_COUNT 0x4000u
#define HP3_PORT_BITS  14u

static inline uint16_t hp3_random_port(uint64_t *state)
{
	return (uint16_t)(HP3_PORT_FIRST | (hp3_random(state) >> (64 - HP3_PORT_BITS)));
}

/* First port of the address pair's block of `ports` ports (a power of two). */
static inline uint16_t hp3_port_block(uint64_t addr, uint64_t salt, uint32_t ports)
{
	const uint32_t least = 0xc000;
	uint64_t h = (addr ^ salt) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	return (uint16_t)(least + (h >> 48) % ((0x10000 - least) / ports) * ports);
}
