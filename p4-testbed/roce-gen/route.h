/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The kernel's route to a peer, read by rtnetlink: the source address, and the MAC address of the
 * next hop. If the kernel has not resolved the next hop yet, roce-gen sends a datagram to the
 * discard port, so that the kernel resolves it.
 */
#include <stdbool.h>
#include <stdint.h>

struct gen_address {
	bool ipv6;
	uint8_t ip[16]; /* network byte order; the first four bytes for IPv4 */
};

/* Parses an address such as "10.0.0.1" or "fd00::1". */
bool gen_address_parse(const char *text, struct gen_address *a);
/* Writes the address to `buf`, which has at least 46 bytes. Returns `buf`. */
const char *gen_address_format(const struct gen_address *a, char *buf);

/*
 * Sets *a to the interface's first address of this family that is not IPv6 link-local. -ENOENT:
 * there is none.
 */
int gen_route_own_address(const char *interface, bool ipv6, struct gen_address *a);

/*
 * Sets `mac` to the MAC address of the next hop towards `to` on interface `index`. -EAGAIN: the
 * kernel is resolving this address; call again later. -ENETUNREACH: no route uses this interface.
 */
int gen_route_mac(int index, const struct gen_address *to, uint8_t mac[6]);
