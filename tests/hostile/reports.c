/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports of a peer that has the key, for queue pairs one after the other: each frame behind its
 * length (two bytes, big endian).
 *
 * usage: reports KEY COUNT
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "probes/peer.h"
#include "roce/wire.h"

#define FIRST_QPN 0x5000u
#define AHEAD_S   3 /* of when hp3d started, which takes nothing older */

int main(int argc, char **argv)
{
	const struct hp3_addressing from = {.dst_mac = {2, 0, 0, 0, 0, 1},
		.src_mac = {2, 0, 0, 0, 0, 2},
		.ttl = 64,
		.sport = 50000,
		.pkey = 0xffff,
		.src_ip = {10, 9, 0, 2},
		.dst_ip = {10, 9, 0, 1}};
	struct hp3_probe_key key = {{0}};
	uint8_t frame[256], length[2];
	struct timespec now;
	int count;

	if (argc != 3)
		return 2;
	for (unsigned i = 0; i < sizeof(key.bytes); i++) {
		char pair[3] = {argv[1][2 * i], argv[1][2 * i + 1], '\0'};

		key.bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	clock_gettime(CLOCK_REALTIME, &now);
	count = atoi(argv[2]);
	for (int i = 0; i < count; i++) {
		struct hp3_peer_probe p = {.dest_qpn = 0x100,
			.psn = 1,
			.id = hp3_report_id(FIRST_QPN + (uint32_t)i, (uint32_t)i),
			.time = ((uint64_t)now.tv_sec + AHEAD_S) * 1000000u + (uint64_t)i,
			.report = true};
		int n = (int)hp3_peer_build(frame, sizeof(frame), &from, &p, &key);

		hp3_put_be16(length, (uint16_t)n);
		fwrite(length, 1, sizeof(length), stdout);
		fwrite(frame, 1, (size_t)n, stdout);
	}
	return 0;
}
