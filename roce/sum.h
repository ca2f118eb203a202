/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The Internet checksum (RFC 1071) of plain UDP, ICMP and ICMPv6, which hp3 sends and reads besides
 * RoCEv2. Values are in host byte order. The sum over a packet with a right checksum is 0, so
 * checking needs no copy.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Complement of the sum of n bytes. An odd last byte is padded with 0. */
uint16_t hp3_sum(const void *bytes, size_t n);

/*
 * The same with the pseudo-header (RFC 768; RFC 8200 section 8.1) in front. `ip`: the fixed IP
 * header; only its addresses are read.
 */
uint16_t hp3_sum_l4(const void *ip, bool ipv6, uint8_t protocol, const void *l4, uint32_t n);
