/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The name of a flow as operators see it. Its form is RAIL[.VLAN[.INNER]]/LOCAL-REMOTE/0xQPN, for
 * example rail0/10.9.0.1-10.9.0.2/0x00001c or rail0.100/fd00::1-fd00::2/0x000011. VLAN is the id of
 * the outer tag, INNER the id of the inner tag. An 802.1ad tag has an "s" before its id, as in
 * rail0.s100.20/10.9.0.1-10.9.0.2/0x00001c. LOCAL is the host that hp3d serves. QPN: the
 * destination QPN of the packets that LOCAL sends. A name has no comma, blank or shell character.
 *
 * Formatting gives one text per flow (QPN with six hexadecimal digits, addresses as inet_ntop()
 * writes them). Parsing also accepts shorter QPNs and other spellings of an address.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "roce/tags.h"

#define HP3_FLOWID_RAIL_MAX 16u /* with NUL; the same size as in struct hp3_config_rail */
#define HP3_FLOWID_MAX      136u /* with NUL; the longest name has 128 characters */

struct hp3_flowid {
	char rail[HP3_FLOWID_RAIL_MAX];
	bool ipv6;
	uint32_t vlan; /* in the format of roce/tags.h; 0: untagged */
	uint8_t local[16], remote[16]; /* network byte order; IPv4: first four bytes, the rest 0 */
	uint32_t rqpn; /* 24 bits */
};

/* Writes the text with NUL to buf. Returns its length, or -ENOSPC. */
int hp3_flowid_format(const struct hp3_flowid *id, char *buf, size_t cap);

/* Returns 0, or -EINVAL with *id undefined. */
int hp3_flowid_parse(const char *text, struct hp3_flowid *id);
