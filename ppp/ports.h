/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The source ports that RNICs use for RoCEv2: 0xC000 to 0xFFFF (ibv_flow_label_to_udp_sport). */
#include <stdbool.h>
#include "base/random.h"

#define HP3_PORT_FIRST 0xc000u
#define HP3_PORT_COUNT 0x4000u
#define HP3_PORT_BITS  14u

static inline uint16_t hp3_random_port(uint64_t *state)
{
	return (uint16_t)(HP3_PORT_FIRST | (hp3_random(state) >> (64 - HP3_PORT_BITS)));
}

static inline bool hp3_port_among(const uint16_t *ports, uint32_t n, uint16_t port)
{
	for (uint32_t i = 0; i < n; i++)
		if (ports[i] == port)
			return true;
	return false;
}

/* First port of the address pair's block of `ports` ports (a power of two). */
static inline uint16_t hp3_port_block(uint64_t addr, uint64_t salt, uint32_t ports)
{
	uint64_t h = (addr ^ salt) * 0x9e3779b97f4a7c15u;

	h = (h ^ h >> 32) * 0x9e3779b97f4a7c15u;
	return (uint16_t)(HP3_PORT_FIRST + (h >> 48) % (HP3_PORT_COUNT / ports) * ports);
}
