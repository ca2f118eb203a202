/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef ROCE_GEN_ROUTE_H
#define ROCE_GEN_ROUTE_H
/*
 * Where frames to a peer go, as the kernel knows it: the source address it would take, the next hop
 * and its MAC address (rtnetlink). Where the neighbour is not known yet, a datagram to the discard
 * port makes the kernel ask for it.
 */
#include <stdbool.h>
#include <stdint.h>

struct gen_address {
	bool ipv6;
	uint8_t ip[16]; /* network byte order; the first four bytes for IPv4 */
};

/* "10.0.0.1" or "fd00::1". */
bool gen_address_parse(const char *text, struct gen_address *a);
/* At least 46 bytes. */
const char *gen_address_format(const struct gen_address *a, char *buf);

/* The first global address of the interface of that family. -ENOENT: none. */
int gen_route_own_address(const char *interface, bool ipv6, struct gen_address *a);

/*
 * MAC of the next hop towards `to` behind interface `index`. -EAGAIN: being asked for, try again a
 * little later; -ENETUNREACH: no route by that interface.
 */
int gen_route_mac(int index, const struct gen_address *to, uint8_t mac[6]);

#endif
