/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_PORTS_H
#define HP3_PPP_PORTS_H
/* The source ports that RNICs use for RoCEv2: 0xC000 .. 0xFFFF (ibv_flow_label_to_udp_sport). */
#include "base/random.h"

#define HP3_PORT_FIRST 0xc000u
#define HP3_PORT_COUNT 0x4000u
#define HP3_PORT_BITS  14u

static inline uint16_t hp3_random_port(uint64_t *state)
{
	return (uint16_t)(HP3_PORT_FIRST | (hp3_random(state) >> (64 - HP3_PORT_BITS)));
}

#endif
