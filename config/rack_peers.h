/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_CONFIG_RACK_PEERS_H
#define HP3_CONFIG_RACK_PEERS_H
/*
 * The hosts of a rack (rack peers) in [rail.NAME] rack: addresses, and prefixes, each of which
 * stands for all hosts in it. The first and the last address of an IPv4 prefix are no hosts, except
 * in /31 and /32.
 */
#include "engine/engine.h"

struct hp3_rack_peer_address {
	bool ipv6;
	uint8_t addr[16]; /* IPv4: the first four bytes */
};

struct hp3_rack_peers {
	uint32_t n;
	struct hp3_rack_peer_address host[HP3_RACK_PEERS_MAX];
};

bool hp3_rack_peers_valid(const char *text);

/* Parses a text that is valid or empty. Duplicate addresses are dropped. */
struct hp3_rack_peers hp3_rack_peers_parse(const char *text);

#endif
