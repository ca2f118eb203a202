/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TEST_CAPTURE_H
#define TEST_CAPTURE_H
/* Captures in memory, and what hp3d may change of a packet. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "roce/parse.h"

struct packet {
	uint64_t t_ns;
	uint32_t caplen, len;
	uint8_t *data; /* as in the file */
	uint8_t *core; /* the same without what may change: see strip() in capture.c */
	struct hp3_view v;
	uint32_t place; /* number of the packet in the input that this one is */
};

struct capture {
	struct packet *p;
	uint32_t n;
};

/* Exits with a message if the file cannot be read. */
void capture_load(struct capture *c, const char *path);
void capture_free(struct capture *c);

/*
 * Says for each packet of `out` which packet of `in` it is. False, after a message, unless every
 * packet of `in` is there exactly once, equal but for port, AckReq, ICRC, UDP checksum, flow label.
 */
bool capture_match(const struct capture *in, struct capture *out);

/* The stored UDP checksum is 0 or right. */
bool packet_udp_csum_ok(const struct packet *p);

#endif
