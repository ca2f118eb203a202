/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_ROCE_ICRC_H
#define HP3_ROCE_ICRC_H
/*
 * The invariant CRC of RoCEv2 (IBTA annex A17.3.3): CRC-32 (reflected 0xEDB88320) over 8 bytes of
 * 0xFF, the IP header, UDP header, BTH and everything up to the ICRC itself; fields that the
 * network may change are replaced by ones: IPv4 ToS, TTL, header checksum; IPv6 traffic class, flow
 * label, hop limit; UDP checksum; BTH resv8a (FECN, BECN, reserved). Stored inverted, least
 * significant byte first.
 *
 * CRC is linear, so a change of a covered field changes the ICRC by a value that depends only on
 * the changed bits and on how many bytes follow them: hp3_set_sport() and hp3_set_ackreq() never
 * read the payload, and keep a bad ICRC bad, as they must.
 *
 * All functions want a view that hp3_parse() filled for the same frame with class >= RC_REQUEST.
 */
#include <stdbool.h>
#include "roce/parse.h"

/*
 * Instructions beyond those of every CPU, with which parts of the below are faster: carry-less
 * multiplication (a change), CRC32 (the whole; aarch64). What the CPU has is in use from the start.
 * Allows only these from now on, for tests and measurements; returns those that are in use.
 */
enum { HP3_ICRC_CLMUL = 1, HP3_ICRC_CRC32 = 2 };
uint32_t hp3_icrc_use(uint32_t instructions);
const char *hp3_icrc_in_use(void); /* by name, for people */

/* ICRC of the frame as it should be stored: 32-bit value whose byte 0 (lowest) comes first on the
 * wire. */
uint32_t hp3_icrc(const void *frame, const struct hp3_view *v);

/* True if the stored ICRC is right. Reads the whole packet. */
bool hp3_icrc_ok(const void *frame, const struct hp3_view *v);

/* Compute and store the ICRC (for packets that we build). */
void hp3_icrc_store(void *frame, const struct hp3_view *v);

/*
 * Rewrites in place; ICRC, UDP checksum (where it is not 0) and *v follow. Cost is independent of
 * length. Where the port changes, the IPv6 flow label is derived from it (rule 17: switches may
 * hash the label); where it does not, the label of the host stays.
 */
void hp3_set_sport(void *frame, struct hp3_view *v, uint16_t sport);
void hp3_set_ackreq(void *frame, struct hp3_view *v, bool on);
/* Both at once, for the closing packet of a drain. */
void hp3_set_sport_ackreq(void *frame, struct hp3_view *v, uint16_t sport, bool ackreq);

/* BECN lies in resv8a: outside the ICRC; only the UDP checksum (where it is not 0) follows. */
void hp3_set_becn(void *frame, struct hp3_view *v, bool on);

/*
 * For those who change the port of a frame elsewhere: product of a change of the port (its two
 * bytes, loaded little-endian, in the upper half of the register) and this, mod P, is the change of
 * the ICRC. `after`: bytes from the UDP header to the ICRC.
 */
uint32_t hp3_icrc_sport_weight(uint32_t after);

/*
 * The IPv6 flow label that hp3 writes for a UDP source port: one from which Linux and mlx5 derive
 * that port (ibv_flow_label_to_udp_sport, rdma-core >= 29).
 */
uint32_t hp3_sport_to_flow_label(uint16_t sport);

#endif
