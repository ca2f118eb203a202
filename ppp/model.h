/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Path identity from a caller's model of the switches. The simulator has such a model; hp3d uses
 * traces (paths.h).
 */
#include <stdbool.h>
#include <stdint.h>

/* The fields of a packet that switches hash. */
struct hp3_tuple {
	uint8_t src[16], dst[16]; /* IPv4: first four bytes, network order */
	uint32_t qpn; /* destination QPN */
	uint16_t sport, dport;
	bool ipv6;
};

/* The path of a packet, below `paths`. */
struct hp3_path_model {
	uint32_t (*path)(const struct hp3_path_model *m, const struct hp3_tuple *t);
	uint32_t paths;
};
