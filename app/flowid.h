/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_APP_FLOWID_H
#define HP3_APP_FLOWID_H
/*
 * The name of a flow as operators see it: RAIL[.VLAN]/LOCAL-REMOTE/0xQPN, for example
 * rail0/10.9.0.1-10.9.0.2/0x00001c or rail0.100/fd00::1-fd00::2/0x000011. LOCAL is the host that
 * hp3d serves; QPN is the destination QPN of the packets that leave it. No comma, blank or shell
 * character.
 *
 * Formatting gives one text per flow (QPN with six hexadecimal digits, addresses as inet_ntop()
 * writes them); parsing takes also shorter QPNs and other spellings of an address.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HP3_FLOWID_RAIL_MAX 16u /* with NUL; as struct hp3_config_rail */
#define HP3_FLOWID_MAX      128u /* with NUL; the longest is 121 */

struct hp3_flowid {
	char rail[HP3_FLOWID_RAIL_MAX];
	bool ipv6;
	uint16_t vlan; /* 0: untagged; else 1..4095 */
	uint8_t local[16], remote[16]; /* network byte order; IPv4: first four bytes, the rest 0 */
	uint32_t rqpn; /* 24 bits */
};

/* Writes the text with NUL to buf. Returns its length, or -ENOSPC. */
int hp3_flowid_format(const struct hp3_flowid *id, char *buf, size_t cap);

/* Returns 0, or -EINVAL with *id undefined. */
int hp3_flowid_parse(const char *text, struct hp3_flowid *id);

#endif
