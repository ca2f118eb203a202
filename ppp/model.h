/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_PPP_MODEL_H
#define HP3_PPP_MODEL_H
/*
 * What a caller who knows the switches may tell of paths: a simulator. hp3d has traces (paths.h).
 */
#include <stdbool.h>
#include <stdint.h>

/* A packet, as far as switches hash it. */
struct hp3_tuple {
	uint8_t src[16], dst[16]; /* IPv4: first four bytes, network order */
	uint32_t qpn; /* destination QPN */
	uint16_t sport, dport;
	bool ipv6;
};

/* Which path a packet draws, below `paths`. */
struct hp3_path_model {
	uint32_t (*path)(const struct hp3_path_model *m, const struct hp3_tuple *t);
	uint32_t paths;
};

#endif
