/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ROCE_SUM_H
#define HP3_ROCE_SUM_H
/*
 * The Internet checksum (RFC 1071) of plain UDP, ICMP and ICMPv6, which hp3 sends and reads beside
 * RoCEv2. Numbers are in host order; a packet whose checksum field is filled in rightly sums up to
 * 0, so that checking needs no copy.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Complement of the sum of n bytes; an odd last one is padded with 0. */
uint16_t hp3_sum(const void *bytes, size_t n);

/*
 * The same with the pseudo-header (RFC 768; RFC 8200 section 8.1) in front. `ip`: the fixed IP
 * header, of which only the addresses are read.
 */
uint16_t hp3_sum_l4(const void *ip, bool ipv6, uint8_t protocol, const void *l4, uint32_t n);

#endif
