/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Frames for the tests of probes/: peer probes, and the time-exceeded messages of switches, built
 * byte by byte without the code under test.
 */
#include "probes/peer.h"
#include "roce_frames.h"

struct frame {
	uint8_t b[4608];
	uint32_t len;
	struct hp3_view v;
};

#define PARSED(f) (&(const struct hp3_parsed){(f)->b, (f)->len, &(f)->v})
/* The receiver of answers, with hp3's default port and host_secret. */
#define RECEIVER(k, s)                                                                             \
	(&(const struct hp3_receiver){                                                             \
		.keys = (k), .port = HP3_PROBE_PORT, .stats = (s), .secret = &host_secret})

extern const struct hp3_probe_key probe_key;
extern const struct hp3_probe_key no_key;
extern const struct hp3_probe_keys probe_keys; /* probe_key alone */
extern const struct hp3_probe_keys no_keys;
extern const struct hp3_probe_key host_secret; /* for cookies */

/* 10.9.0.1 -> 10.9.0.2 or fd00::1 -> fd00::2, DSCP 26, ECT(0). */
struct hp3_addressing flow_addressing(bool ipv6, uint16_t sport);
void reparse(struct frame *f);

/* Makes a probe with QPN 0x1234, PSN 0x777, and this id and time. */
void make_probe(
	struct frame *f, bool ipv6, uint32_t id, uint64_t time, const struct hp3_probe_key *key);

/* The time-exceeded message of a switch for `probe`: it quotes the probe's IP header and `quoted`
 * bytes after it. */
void make_expired(struct frame *f, const struct frame *probe, const uint8_t *hop, uint32_t quoted);
/* Corrects the checksums of a changed message. */
void repair_icmp(struct frame *f);

/* Compares field by field: MACs, VLAN tags, addresses, DSCP and ECN, TTL, source port. */
#define expect_same_way(a, b)                                                                      \
	do {                                                                                       \
		assert_memory_equal((a)->dst_mac, (b)->dst_mac, 6);                                \
		assert_memory_equal((a)->src_mac, (b)->src_mac, 6);                                \
		assert_memory_equal((a)->tag, (b)->tag, sizeof((a)->tag));                         \
		assert_int_equal((a)->ipv6, (b)->ipv6);                                            \
		assert_memory_equal((a)->src_ip, (b)->src_ip, 16);                                 \
		assert_memory_equal((a)->dst_ip, (b)->dst_ip, 16);                                 \
		assert_int_equal((a)->tclass, (b)->tclass);                                        \
		assert_int_equal((a)->ttl, (b)->ttl);                                              \
		assert_int_equal((a)->sport, (b)->sport);                                          \
	} while (0)
