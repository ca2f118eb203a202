/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The Internet checksum (RFC 1071) of plain UDP, ICMP and ICMPv6. In addition to RoCEv2, hp3 sends
 * and reads such packets. Values are in host byte order. The sum over a packet with a right
 * checksum is 0, so a check needs no copy of the packet.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Complement of the sum of n bytes. An odd last byte is padded with 0. */
uint16_t hp3_sum(const void *bytes, size_t n);

/*
 * As hp3_sum(), but the sum begins with the pseudo-header (RFC 768; RFC 8200 section 8.1). `ip`:
 * the fixed IP header, of which the function reads only the addresses.
 */
uint16_t hp3_sum_l4(const void *ip, bool ipv6, uint8_t protocol, const void *l4, uint32_t n);
