/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "roce_frames.h"
#include "base/random.h"
#include "roce/build.h"

uint64_t rng_next(struct rng *r)
{
	return hp3_random(&r->state);
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)(rng_next(r) % n);
}

static void fill(void *p, size_t n, struct rng *r)
{
	for (uint8_t *b = p; n--; b++)
		*b = (uint8_t)rng_next(r);
}

bool shape_has_payload(uint8_t opcode)
{
	return opcode != HP3_OP_RC_READ_REQUEST && opcode != HP3_OP_RC_ACK &&
	       opcode != HP3_OP_RC_FLUSH && opcode != HP3_OP_CNP &&
	       opcode != HP3_OP_RC_ATOMIC_ACK && opcode != HP3_OP_RC_CMP_SWAP &&
	       opcode != HP3_OP_RC_FETCH_ADD;
}

struct shape random_shape(struct rng *r, uint16_t max_payload)
{
	static const uint8_t others[] = {0x18, HP3_OP_RC_FLUSH, HP3_OP_RC_ATOMIC_WRITE, 0x20, 0x2b,
		HP3_OP_UD_SEND_ONLY, HP3_OP_CNP};
	struct shape s = {
		.opcode = rng_below(r, 8) ? (uint8_t)rng_below(r, 0x18)
					  : others[rng_below(r, sizeof(others))],
		.ipv6 = rng_below(r, 2),
		.tags = (uint8_t)rng_below(r, 3),
		.ext_words = rng_below(r, 2) ? 0 : (uint8_t)rng_below(r, 11),
		.payload = (uint16_t)rng_below(r, max_payload + 1u),
		.unpadded = !rng_below(r, 4),
		.udp_csum = rng_below(r, 2),
		.ackreq = rng_below(r, 2),
	};
	if (!shape_has_payload(s.opcode))
		s.payload = 0;
	return s;
}

/* Opens a gap of n bytes at `at`. */
static void insert(uint8_t *f, uint32_t *len, uint32_t at, uint32_t n)
{
	memmove(f + at + n, f + at, *len - at);
	*len += n;
}

static void add_be16(uint8_t *p, int n)
{
	hp3_put_be16(p, (uint16_t)(hp3_be16(p) + n));
}

/* IPv4 options are random bytes: only their length matters. IPv6: hop-by-hop headers of 8 bytes in
 * a row. */
static uint32_t insert_ip_extras(
	uint8_t *f, uint32_t *len, uint32_t l3, const struct shape *s, struct rng *r)
{
	if (!s->ipv6) {
		uint32_t n = s->ext_words * 4u;
		insert(f, len, l3 + 20, n);
		fill(f + l3 + 20, n, r);
		f[l3] = (uint8_t)(f[l3] + s->ext_words);
		add_be16(f + l3 + 2, (int)n);
		return l3 + 20 + n;
	}
	for (uint32_t i = 0; i < s->ext_words; i++) {
		insert(f, len, l3 + 40, 8);
		fill(f + l3 + 40, 8, r);
		f[l3 + 40] = f[l3 + 6];
		f[l3 + 41] = 0;
		f[l3 + 6] = i % 2 ? 60 : 0;
	}
	add_be16(f + l3 + 4, s->ext_words * 8);
	return l3 + 40 + s->ext_words * 8u;
}

static void drop_pad(uint8_t *f, uint32_t *len, uint32_t l3, uint32_t udp, bool ipv6)
{
	int pad = f[udp + 9] >> 4 & 3;

	f[udp + 9] &= 0xcf;
	add_be16(f + udp + 4, -pad);
	add_be16(f + l3 + (ipv6 ? 4 : 2), -pad);
	*len -= (uint32_t)pad;
}

uint32_t make_frame(uint8_t *buf, const struct shape *s, struct rng *r)
{
	static uint8_t payload[UINT16_MAX];
	struct hp3_addressing a;
	struct hp3_fields f;

	fill(&a.src_mac, 6, r);
	fill(&a.dst_mac, 6, r);
	fill(a.src_ip, 16, r);
	fill(a.dst_ip, 16, r);
	memset(a.tag, 0, sizeof(a.tag));
	a.ipv6 = s->ipv6;
	a.tclass = (uint8_t)rng_next(r);
	a.ttl = (uint8_t)rng_next(r);
	a.sport = (uint16_t)rng_next(r);
	a.pkey = (uint16_t)rng_next(r);
	fill(payload, s->payload, r);
	f = (struct hp3_fields){
		.opcode = s->opcode,
		.ackreq = s->ackreq,
		.becn = rng_below(r, 2),
		.solicited = rng_below(r, 2),
		.dest_qpn = 2 + rng_below(r, HP3_QPN_MASK - 2),
		.psn = rng_below(r, HP3_PSN_MASK + 1),
		.va = rng_next(r),
		.rkey = (uint32_t)rng_next(r),
		.dma_len = (uint32_t)rng_next(r),
		.syndrome = (uint8_t)rng_next(r),
		.msn = rng_below(r, HP3_PSN_MASK + 1),
		.imm = (uint32_t)rng_next(r),
		.swap_add = rng_next(r),
		.compare = rng_next(r),
		.orig = rng_next(r),
		.qkey = (uint32_t)rng_next(r),
		.src_qpn = rng_below(r, HP3_QPN_MASK + 1),
		.payload = payload,
		.payload_len = s->payload,
	};
	int n = hp3_build(buf, FRAME_CAP, &a, &f);
	if (n < 0)
		abort();

	uint32_t len = (uint32_t)n, l3 = 14;
	for (uint32_t i = 0; i < s->tags; i++) {
		insert(buf, &len, 12, 4);
		hp3_put_be16(buf + 12, i ? 0x88a8 : 0x8100);
		hp3_put_be16(buf + 14, (uint16_t)rng_next(r));
		l3 += 4;
	}
	uint32_t udp = insert_ip_extras(buf, &len, l3, s, r);
	if (s->unpadded)
		drop_pad(buf, &len, l3, udp, s->ipv6);
	if (!s->ipv6)
		store_ip_csum(buf + l3);
	uint32_t icrc = reference_icrc(buf, l3, udp, len - 4);
	for (uint32_t i = 0; i < 4; i++)
		buf[len - 4 + i] = (uint8_t)(icrc >> 8 * i);
	if (s->udp_csum)
		store_udp_csum(buf, l3, udp);
	return len;
}

/* Of one byte, bit by bit. */
static uint32_t crc_of(uint32_t byte)
{
	for (int i = 0; i < 8; i++)
		byte = byte & 1 ? byte >> 1 ^ 0xedb88320u : byte >> 1;
	return byte;
}

static uint32_t crc_of_all(uint32_t crc, const uint8_t *p, uint32_t n)
{
	static uint32_t of[256];

	if (of[1] == 0)
		for (uint32_t i = 0; i < 256; i++)
			of[i] = crc_of(i);
	while (n--)
		crc = crc >> 8 ^ of[(crc ^ *p++) & 0xff];
	return crc;
}

uint32_t reference_icrc(const uint8_t *f, uint32_t l3, uint32_t udp, uint32_t icrc)
{
	static uint8_t m[8 + FRAME_CAP];
	uint32_t n = icrc - l3;
	uint8_t *ip = m + 8, *u = ip + (udp - l3);

	memset(m, 0xff, 8);
	memcpy(ip, f + l3, n);
	if (ip[0] >> 4 == 6) {
		ip[0] |= 0x0f;
		ip[1] = ip[2] = ip[3] = ip[7] = 0xff;
	} else {
		ip[1] = ip[8] = ip[10] = ip[11] = 0xff;
	}
	u[6] = u[7] = 0xff;
	u[12] = 0xff;
	return ~crc_of_all(0xffffffff, m, 8 + n);
}

static uint32_t sum16(uint32_t sum, const uint8_t *p, uint32_t n)
{
	for (; n > 1; n -= 2, p += 2) {
		sum += hp3_be16(p);
		sum = (sum & 0xffff) + (sum >> 16);
	}
	if (n)
		sum += (uint32_t)p[0] << 8;
	return (sum & 0xffff) + (sum >> 16);
}

uint16_t reference_udp_csum(const uint8_t *f, uint32_t l3, uint32_t udp)
{
	uint32_t len = hp3_be16(f + udp + 4), sum = len + 17;

	if (f[l3] >> 4 == 6)
		sum = sum16(sum, f + l3 + 8, 32);
	else
		sum = sum16(sum, f + l3 + 12, 8);
	sum = sum16(sum, f + udp, 6);
	sum = sum16(sum, f + udp + 8, len - 8);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff ? 0xffff : (uint16_t)~sum;
}

void store_udp_csum(uint8_t *f, uint32_t l3, uint32_t udp)
{
	hp3_put_be16(f + udp + 6, reference_udp_csum(f, l3, udp));
}

void store_ip_csum(uint8_t *ip)
{
	hp3_put_be16(ip + 10, 0);
	hp3_put_be16(ip + 10, (uint16_t)~sum16(0, ip, (ip[0] & 15u) * 4));
}

const uint8_t *guarded_copy(const uint8_t *f, uint32_t len)
{
	static uint8_t *end;
	const size_t area = 1u << 17;

	if (!end) {
		size_t page = (size_t)sysconf(_SC_PAGESIZE);
		uint8_t *p = mmap(NULL, area + page, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED || mprotect(p + area, page, PROT_NONE))
			abort();
		end = p + area;
	}
	memcpy(end - len, f, len);
	return end - len;
}
