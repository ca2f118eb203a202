/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include "probe_frames.h"

#define ETHER 14u

const struct hp3_probe_key probe_key = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}};
const struct hp3_probe_key no_key;
const struct hp3_probe_keys probe_keys = {
	{{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}}}};
const struct hp3_probe_keys no_keys;
const struct hp3_probe_key host_secret = {{77, 7}};

struct hp3_addressing flow_addressing(bool ipv6, uint16_t sport)
{
	struct hp3_addressing a = {.dst_mac = {2, 0, 0, 0, 0, 2},
		.src_mac = {2, 0, 0, 0, 0, 1},
		.ipv6 = ipv6,
		.tclass = 26 << 2 | HP3_ECN_ECT0,
		.ttl = 64,
		.sport = sport,
		.pkey = 0xffff};
	static const uint8_t v4[2][4] = {{10, 9, 0, 1}, {10, 9, 0, 2}};

	memcpy(a.src_ip, v4[0], 4);
	memcpy(a.dst_ip, v4[1], 4);
	if (ipv6) {
		memset(a.src_ip, 0, 16);
		memset(a.dst_ip, 0, 16);
		a.src_ip[0] = a.dst_ip[0] = 0xfd;
		a.src_ip[15] = 1;
		a.dst_ip[15] = 2;
	}
	return a;
}

void reparse(struct frame *f)
{
	hp3_parse(f->b, f->len, &f->v);
}

void make_probe(
	struct frame *f, bool ipv6, uint32_t id, uint64_t time, const struct hp3_probe_key *key)
{
	struct hp3_addressing a = flow_addressing(ipv6, 0xc123);
	struct hp3_peer_probe p = {.dest_qpn = 0x1234,
		.psn = 0x777,
		.id = id,
		.cookie = hp3_probe_cookie(&host_secret, &a, id),
		.time = time};
	int n = hp3_peer_build(f->b, sizeof(f->b), &a, &p, key);

	if (n < 0)
		abort();
	f->len = (uint32_t)n;
	reparse(f);
}

static uint16_t sum(const uint8_t *p, uint32_t n, uint32_t start)
{
	uint32_t s = start;

	for (uint32_t i = 0; i < n; i++)
		s += (uint32_t)p[i] << (i % 2 ? 0 : 8);
	while (s > 0xffff)
		s = (s & 0xffff) + (s >> 16);
	return (uint16_t)~s;
}

void repair_icmp(struct frame *f)
{
	uint8_t *ip = f->b + ETHER;
	bool ipv6 = ip[0] >> 4 == 6;
	uint8_t *icmp = ip + (ipv6 ? 40 : 20);
	uint32_t n = f->len - (uint32_t)(icmp - f->b), pseudo = 0;

	if (ipv6)
		pseudo = (uint16_t)~sum(ip + 8, 32, n + 58);
	hp3_put_be16(icmp + 2, 0);
	hp3_put_be16(icmp + 2, sum(icmp, n, pseudo));
	if (!ipv6)
		store_ip_csum(ip);
	reparse(f);
}

void make_expired(struct frame *f, const struct frame *probe, const uint8_t *hop, uint32_t quoted)
{
	const uint8_t *ip = probe->b + ETHER;
	bool ipv6 = ip[0] >> 4 == 6;
	uint32_t header = ipv6 ? 40 : 20, l4 = 8 + header + quoted;
	uint8_t *out = f->b + ETHER, *icmp = out + header;

	memset(f, 0, sizeof(*f));
	memcpy(f->b, probe->b + 6, 6);
	memcpy(f->b + 6, probe->b, 6);
	memcpy(f->b + 12, probe->b + 12, 2);
	f->len = ETHER + header + l4;
	if (ipv6) {
		out[0] = 0x60;
		hp3_put_be16(out + 4, (uint16_t)l4);
		out[6] = 58;
		out[7] = 63;
		memcpy(out + 8, hop, 16);
		memcpy(out + 24, ip + 8, 16);
		icmp[0] = 3;
	} else {
		out[0] = 0x45;
		hp3_put_be16(out + 2, (uint16_t)(header + l4));
		out[8] = 254;
		out[9] = 1;
		memcpy(out + 12, hop, 4);
		memcpy(out + 16, ip + 12, 4);
		icmp[0] = 11;
	}
	memcpy(icmp + 8, ip, header + quoted);
	icmp[8 + (ipv6 ? 7 : 8)] = 1; /* TTL, as it stood at the switch */
	repair_icmp(f);
}
