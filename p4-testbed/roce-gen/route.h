/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The kernel's route to a peer: source address, next hop and its MAC address (rtnetlink). If the
 * neighbour is not resolved yet, a datagram to the discard port makes the kernel resolve it.
 */
#include <stdbool.h>
#include <stdint.h>

struct gen_address {
	bool ipv6;
	uint8_t ip[16]; /* network byte order; the first four bytes for IPv4 */
};

/* "10.0.0.1" or "fd00::1". */
bool gen_address_parse(const char *text, struct gen_address *a);
/* `buf` has at least 46 bytes. */
const char *gen_address_format(const struct gen_address *a, char *buf);

/* The interface's first address of this family; not IPv6 link-local. -ENOENT: there is none. */
int gen_route_own_address(const char *interface, bool ipv6, struct gen_address *a);

/*
 * MAC of the next hop towards `to` on interface `index`. -EAGAIN: the kernel is resolving it, call
 * again later; -ENETUNREACH: no route uses this interface.
 */
int gen_route_mac(int index, const struct gen_address *to, uint8_t mac[6]);
