/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The invariant CRC (ICRC) of RoCEv2 (IBTA annex A17.3.3). The ICRC is a CRC-32 (reflected
 * 0xEDB88320) over 8 bytes of 0xFF and the packet, from the IP header up to the ICRC. For the CRC,
 * ones replace the fields that the network may change:
 *
 *     IPv4     ToS, TTL, header checksum
 *     IPv6     traffic class, flow label, hop limit
 *     UDP      checksum
 *     BTH      resv8a (FECN, BECN, reserved)
 *
 * The ICRC is stored inverted, least significant byte first.
 *
 * A CRC is linear. So if a field changes, the change of the ICRC depends only on the changed bits,
 * and on the number of bytes behind them. Therefore hp3 changes the port and AckReq without reading
 * the payload. A wrong ICRC stays wrong, so hp3 never hides that a packet is damaged.
 *
 * A view must be the result of hp3_parse() for the same frame, and its class must be RC_REQUEST or
 * greater. (build.c makes its own views.)
 */
#include <stdbool.h>
#include "roce/parse.h"

/*
 * Instruction sets that only some CPUs have. CLMUL is carry-less multiplication, for changes of the
 * ICRC. CRC32 is for computing the whole ICRC (aarch64). By default, hp3 uses both if the CPU has
 * them. hp3_icrc_use() restricts hp3 to `instructions`, for tests and measurements. The function
 * returns the instruction sets in use.
 */
enum { HP3_ICRC_CLMUL = 1, HP3_ICRC_CRC32 = 2 };
uint32_t hp3_icrc_use(uint32_t instructions);
const char *hp3_icrc_in_use(void); /* names of the instruction sets in use, for operators */

/* The right ICRC of the frame. The lowest byte of the value is first on the wire. */
uint32_t hp3_icrc(const void *frame, const struct hp3_view *v);

/* True if the ICRC in the frame is right. Reads the whole packet. */
bool hp3_icrc_ok(const void *frame, const struct hp3_view *v);

/* Computes and stores the ICRC, for packets that hp3 builds. */
void hp3_icrc_store(void *frame, const struct hp3_view *v);

/*
 * These functions change a frame in place. They update the ICRC, *v, and the UDP checksum if it is
 * not 0. The cost does not depend on the length of the frame.
 *
 * If the port changes, they derive the IPv6 flow label from the new port, because switches may hash
 * the label (rule 17). Otherwise, the frame's label stays.
 */
void hp3_set_sport(void *frame, struct hp3_view *v, uint16_t sport);
void hp3_set_ackreq(void *frame, struct hp3_view *v, bool on);
/* Both changes at once, for the closing packet of a drain. */
void hp3_set_sport_ackreq(void *frame, struct hp3_view *v, uint16_t sport, bool ackreq);

/*
 * Changes BECN in place. The ICRC does not cover BECN (resv8a), so the function updates only *v,
 * and the UDP checksum if it is not 0.
 */
void hp3_set_becn(void *frame, struct hp3_view *v, bool on);

/*
 * A weight, for BPF code that changes the port of a frame and updates the ICRC. The change of the
 * ICRC is the product, mod P, of this weight and the change of the port. The change of the port is
 * the XOR of the old and the new port. These are two bytes, loaded little-endian, in the upper half
 * of the register. `after`: number of bytes from the UDP header to the ICRC.
 */
uint32_t hp3_icrc_sport_weight(uint32_t after);

/*
 * The IPv6 flow label that hp3 writes for a UDP source port. If the port is 49152 or more, Linux
 * and mlx5 derive this port from the label (ibv_flow_label_to_udp_sport, rdma-core >= 29).
 */
uint32_t hp3_sport_to_flow_label(uint16_t sport);
