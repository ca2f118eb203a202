/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* Captures of packets in memory, and a comparison without the fields that hp3d may change. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "roce/parse.h"

struct packet {
	uint64_t t_ns;
	uint32_t caplen, len;
	uint8_t *data; /* as in the file */
	uint8_t *core; /* the same without the fields that may change: see strip() in capture.c */
	struct hp3_view v;
	uint32_t place; /* number of the same packet in the input */
};

struct capture {
	struct packet *p;
	uint32_t n;
};

/* Exits with a message if the file cannot be read. */
void capture_load(struct capture *c, const char *path);
void capture_free(struct capture *c);

/*
 * Finds for each packet of `out` the same packet in `in`. Returns true if every packet of `in` is
 * in `out` exactly once, with no change except in port, AckReq, ICRC, UDP checksum and flow label.
 * Otherwise prints a message and returns false.
 */
bool capture_match(const struct capture *in, struct capture *out);

/* The stored UDP checksum is 0 or correct. */
bool packet_udp_csum_ok(const struct packet *p);
