/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The invariant CRC (ICRC) of RoCEv2 (IBTA annex A17.3.3): CRC-32 (reflected 0xEDB88320) over 8
 * bytes of 0xFF, IP header, UDP header, BTH, and everything up to the ICRC itself. Ones replace the
 * fields that the network may change:
 *
 *     IPv4     ToS, TTL, header checksum
 *     IPv6     traffic class, flow label, hop limit
 *     UDP      checksum
 *     BTH      resv8a (FECN, BECN, reserved)
 *
 * The ICRC is stored inverted, least significant byte first.
 *
 * A CRC is linear. So if a covered field changes, the change of the ICRC depends only on the
 * changed bits, and on the number of bytes behind them. So hp3 changes port and AckReq without
 * reading the payload. A wrong ICRC stays wrong, so a change never hides a damaged packet.
 *
 * A view must come from hp3_parse() for the same frame, with class >= RC_REQUEST. (build.c makes
 * its own views.)
 */
#include <stdbool.h>
#include "roce/parse.h"

/*
 * Instruction sets that not every CPU has. CLMUL: carry-less multiplication, for changes. CRC32:
 * for the whole ICRC (aarch64). By default, hp3 uses all of these that the CPU has. hp3_icrc_use()
 * restricts hp3 to `instructions`, for tests and measurements, and returns the instruction sets in
 * use.
 */
enum { HP3_ICRC_CLMUL = 1, HP3_ICRC_CRC32 = 2 };
uint32_t hp3_icrc_use(uint32_t instructions);
const char *hp3_icrc_in_use(void); /* their names, for operators */

/* The ICRC that the frame should have. Byte 0 (lowest) of the value is first on the wire. */
uint32_t hp3_icrc(const void *frame, const struct hp3_view *v);

/* True if the ICRC in the frame is right. Reads the whole packet. */
bool hp3_icrc_ok(const void *frame, const struct hp3_view *v);

/* Computes and stores the ICRC, for packets that hp3 builds. */
void hp3_icrc_store(void *frame, const struct hp3_view *v);

/*
 * Change a frame in place, and update ICRC, UDP checksum (if it is not 0) and *v. The cost does not
 * depend on the length.
 *
 * If the port changes, the IPv6 flow label is derived from the new port (rule 17: switches may hash
 * the label). Otherwise the host's label stays.
 */
void hp3_set_sport(void *frame, struct hp3_view *v, uint16_t sport);
void hp3_set_ackreq(void *frame, struct hp3_view *v, bool on);
/* Both changes at once, for the closing packet of a drain. */
void hp3_set_sport_ackreq(void *frame, struct hp3_view *v, uint16_t sport, bool ackreq);

/* The ICRC does not cover BECN (resv8a). Only the UDP checksum (if it is not 0) is updated. */
void hp3_set_becn(void *frame, struct hp3_view *v, bool on);

/*
 * For code that changes the port of a frame itself (BPF). The ICRC changes by the product, mod P,
 * of this weight and the change of the port. The change is the XOR of the old and the new port, as
 * two bytes loaded little-endian, in the upper half of the register. `after`: bytes from the UDP
 * header to the ICRC.
 */
uint32_t hp3_icrc_sport_weight(uint32_t after);

/*
 * The IPv6 flow label that hp3 writes for a UDP source port. If the port is 49152 or more, Linux
 * and mlx5 derive the same port from the label (ibv_flow_label_to_udp_sport, rdma-core >= 29).
 */
uint32_t hp3_sport_to_flow_label(uint16_t sport);
