/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole ICRC, by slices of eight bytes or by CRC32 instructions. Changes of the port and of
 * AckReq cost one multiplication each (crc.h). A change computes everything before it writes to the
 * frame: a load of bytes that were just stored would stall.
 */
#include "base/likely.h"
#include "roce/icrc.h"
#include "roce/crc.h"

#define UDP_CSUM     6u
#define BTH_RESV8A   4u
#define BTH_ACK_WORD 8u /* AckReq and reserved bits, then PSN */
#define ACKREQ_BIT   0x80u
#define BECN_BIT     0x40u

/* The register after the 8 bytes of 0xFF at the start of every ICRC. */
#define CRC_AFTER_ONES 0xdebb20e3u

static uint32_t in_use; /* HP3_ICRC_*; only written before packets arrive */

static __attribute__((constructor)) void use_all(void)
{
	in_use = hp3_crc_cpu();
}

uint32_t hp3_icrc_use(uint32_t instructions)
{
	in_use = hp3_crc_cpu() & instructions;
	return in_use;
}

const char *hp3_icrc_in_use(void)
{
	static const char *const names[] = {[0] = "portable",
		[HP3_ICRC_CLMUL] = "clmul",
		[HP3_ICRC_CRC32] = "crc32",
		[HP3_ICRC_CLMUL | HP3_ICRC_CRC32] = "clmul+crc32"};

	return names[in_use];
}

static uint32_t load_u32(const uint8_t *p)
{
	uint32_t v;
	memcpy(&v, p, sizeof(v));
	return v;
}

static void store_u32(uint8_t *p, uint32_t v)
{
	memcpy(p, &v, sizeof(v));
}

/*
 * Copies the fixed IP header, with ones in the fields that the network may change. Returns its
 * length.
 */
static uint32_t masked_ip(const uint8_t *ip, bool ipv6, uint8_t out[HP3_IPV6_LEN])
{
	if (ipv6) {
		memcpy(out, ip, HP3_IPV6_LEN);
		out[0] |= 0x0f; /* traffic class and flow label: all but the version */
		out[1] = out[2] = out[3] = 0xff;
		out[7] = 0xff; /* hop limit */
		return HP3_IPV6_LEN;
	}
	memcpy(out, ip, HP3_IPV4_LEN);
	out[1] = 0xff; /* ToS */
	out[8] = 0xff; /* TTL */
	out[10] = out[11] = 0xff; /* header checksum */
	return HP3_IPV4_LEN;
}

typedef uint32_t update_fn(uint32_t crc, const void *p, size_t n);

static inline __attribute__((always_inline)) uint32_t icrc_of_frame(
	const void *frame, const struct hp3_view *v, update_fn *update)
{
	const uint8_t *f = frame;
	uint8_t ip[HP3_IPV6_LEN], udp_bth[HP3_UDP_LEN + HP3_BTH_LEN];
	uint32_t ip_len = masked_ip(f + v->l3_off, v->flags & HP3_VF_IPV6, ip);
	uint32_t options = v->l3_off + ip_len, rest = v->udp_off + HP3_UDP_LEN + HP3_BTH_LEN;

	memcpy(udp_bth, f + v->udp_off, sizeof(udp_bth));
	udp_bth[UDP_CSUM] = udp_bth[UDP_CSUM + 1] = 0xff;
	udp_bth[HP3_UDP_LEN + BTH_RESV8A] = 0xff;

	uint32_t crc = update(CRC_AFTER_ONES, ip, ip_len);
	crc = update(crc, f + options, v->udp_off - options);
	crc = update(crc, udp_bth, sizeof(udp_bth));
	return ~update(crc, f + rest, v->icrc_off - rest);
}

uint32_t hp3_icrc(const void *frame, const struct hp3_view *v)
{
#ifdef HP3_CRC_CRC32
	if (in_use & HP3_ICRC_CRC32)
		return icrc_of_frame(frame, v, hp3_crc_update_crc32);
#endif
	return icrc_of_frame(frame, v, hp3_crc_update);
}

bool hp3_icrc_ok(const void *frame, const struct hp3_view *v)
{
	return load_u32((const uint8_t *)frame + v->icrc_off) == hp3_icrc(frame, v);
}

/* RFC 1624, equation 3, as a sum that is folded once at the end: replaces one 16-bit word. */
static uint32_t csum_replace(uint32_t sum, uint32_t from, uint32_t to)
{
	return sum + (~from & 0xffff) + to;
}

/* The same for the ICRC. `odd`: it begins at an odd byte of the checksummed data. */
static uint32_t csum_replace_icrc(uint32_t sum, uint32_t from, uint32_t to, bool odd)
{
	if (odd) {
		from = from << 8 | from >> 24;
		to = to << 8 | to >> 24;
	}
	from = __builtin_bswap32(from);
	to = __builtin_bswap32(to);
	sum = csum_replace(sum, from >> 16, to >> 16);
	return csum_replace(sum, from & 0xffff, to & 0xffff);
}

static void csum_store(uint8_t *p, uint32_t sum)
{
	sum = (sum >> 16) + (sum & 0xffff);
	sum = (sum >> 16) + (sum & 0xffff);
	uint16_t csum = (uint16_t)~sum;
	hp3_put_be16(p, csum ? csum : 0xffff); /* 0 would mean "no checksum" (RFC 768) */
}

static uint32_t csum_load(const uint8_t *p)
{
	return ~(uint32_t)hp3_be16(p) & 0xffff;
}

void hp3_icrc_store(void *frame, const struct hp3_view *v)
{
	uint8_t *f = frame, *icrc = f + v->icrc_off, *csum = f + v->udp_off + UDP_CSUM;
	uint32_t from = load_u32(icrc), to = hp3_icrc(frame, v);

	if (v->flags & HP3_VF_UDP_CSUM)
		csum_store(csum, csum_replace_icrc(csum_load(csum), from, to,
					 (v->icrc_off - v->udp_off) & 1));
	store_u32(icrc, to);
}

typedef uint32_t mul16_fn(uint16_t a, uint32_t b);
typedef uint32_t power_fn(uint32_t n);

/* x^(8n) mod P. power_near(): up to the largest RoCE MTU; power_any(): up to the largest frame. */
static inline uint32_t power_near(uint32_t n)
{
	return hp3_crc_pow_low[n];
}

static inline uint32_t power_any(uint32_t n)
{
	return hp3_crc_mul(
		hp3_crc_pow_low[n % HP3_CRC_POW_STEP], hp3_crc_pow_high[n / HP3_CRC_POW_STEP]);
}

uint32_t hp3_icrc_sport_weight(uint32_t after)
{
	return power_any(after + 2);
}

#define NEAR_MAX (HP3_CRC_POW_LOW - 1 - 2) /* bytes, UDP header to ICRC: power_near() */

/*
 * The upper six bits have the value 1. So no port gives label 0, which means "unlabelled" (RFC
 * 6437).
 */
static uint32_t sport_to_flow_label(uint16_t sport)
{
	return 1u << 14 | ((sport ^ 1u) & 0x3fff);
}

static void put_flow_label(uint8_t *ip, uint32_t label)
{
	hp3_put_be32(ip, (hp3_be32(ip) & ~0xfffffu) | label);
}

/* Updates the UDP checksum and the IPv6 flow label, which only some frames have. */
static __attribute__((noinline)) void update_csum_label(
	uint8_t *f, const struct hp3_view *v, uint16_t old_sport, bool flip, uint32_t old_icrc)
{
	uint8_t *udp = f + v->udp_off, *csum = udp + UDP_CSUM;

	if (v->flags & HP3_VF_UDP_CSUM) {
		uint32_t sum = csum_replace(csum_load(csum), old_sport, v->sport);
		if (flip) {
			uint16_t w = hp3_be16(udp + HP3_UDP_LEN + BTH_ACK_WORD);
			sum = csum_replace(sum, w ^ ACKREQ_BIT << 8, w);
		}
		csum_store(csum, csum_replace_icrc(sum, old_icrc, load_u32(f + v->icrc_off),
					 (v->icrc_off - v->udp_off) & 1));
	}
	if (v->flags & HP3_VF_IPV6 && v->sport != old_sport)
		put_flow_label(f + v->l3_off, sport_to_flow_label(v->sport));
}

/* Sets the port; `flip` inverts AckReq. At least one of them changes. */
static inline __attribute__((always_inline)) void rewrite_with(
	uint8_t *f, struct hp3_view *v, uint16_t sport, bool flip, mul16_fn *mul16, power_fn *power)
{
	uint8_t *udp = f + v->udp_off, *icrc = f + v->icrc_off;
	uint32_t after = (uint32_t)v->icrc_off - v->udp_off; /* bytes, UDP header to ICRC */
	uint16_t old_sport = v->sport;
	uint32_t old_icrc = load_u32(icrc);

	/*
	 * A difference of k bytes in the upper end of the word has the weight x^(8 * (4 - k)),
	 * times the power for its distance. For the port, k is 2. AckReq is the last bit of its
	 * byte in CRC order, x^0, so its product is the power itself.
	 */
	uint32_t new_icrc =
		old_icrc ^ mul16(__builtin_bswap16(old_sport ^ sport), power(after + 2));
	if (flip)
		new_icrc ^= power(after - (HP3_UDP_LEN + BTH_ACK_WORD) + 3);

	store_u32(icrc, new_icrc);
	hp3_put_be16(udp, sport);
	v->sport = sport;
	if (flip) {
		udp[HP3_UDP_LEN + BTH_ACK_WORD] ^= ACKREQ_BIT;
		v->flags ^= HP3_VF_ACKREQ;
	}
	if (v->flags & (HP3_VF_UDP_CSUM | HP3_VF_IPV6))
		update_csum_label(f, v, old_sport, flip, old_icrc);
}

/* For frames longer than any RoCE MTU. */
static __attribute__((noinline)) void rewrite_far(
	uint8_t *f, struct hp3_view *v, uint16_t sport, bool flip)
{
	rewrite_with(f, v, sport, flip, hp3_crc_mul16_portable, power_any);
}

static __attribute__((noinline)) void rewrite_portable(
	uint8_t *f, struct hp3_view *v, uint16_t sport, bool flip)
{
	rewrite_with(f, v, sport, flip, hp3_crc_mul16_portable, power_near);
}

#ifdef HP3_CRC_CLMUL
HP3_CRC_CLMUL static void rewrite_clmul(uint8_t *f, struct hp3_view *v, uint16_t sport, bool flip)
{
	rewrite_with(f, v, sport, flip, hp3_crc_mul16_clmul, power_near);
}
#endif

/*
 * A frame that has this port and AckReq already does not change. Its IPv6 flow label stays, too: a
 * flow on its home port keeps the path that its label selects.
 */
static inline void change_frame(uint8_t *f, struct hp3_view *v, uint16_t sport, bool flip)
{
	if (v->sport == sport && !flip)
		return;
	if (HP3_UNLIKELY((uint32_t)v->icrc_off - v->udp_off > NEAR_MAX)) {
		rewrite_far(f, v, sport, flip);
		return;
	}
#ifdef HP3_CRC_CLMUL
	if (in_use & HP3_ICRC_CLMUL) {
		rewrite_clmul(f, v, sport, flip);
		return;
	}
#endif
	rewrite_portable(f, v, sport, flip);
}

static inline bool ackreq_differs(const struct hp3_view *v, bool on)
{
	return !(v->flags & HP3_VF_ACKREQ) == on;
}

void hp3_set_sport_ackreq(void *frame, struct hp3_view *v, uint16_t sport, bool ackreq)
{
	change_frame(frame, v, sport, ackreq_differs(v, ackreq));
}

void hp3_set_sport(void *frame, struct hp3_view *v, uint16_t sport)
{
	change_frame(frame, v, sport, false);
}

void hp3_set_ackreq(void *frame, struct hp3_view *v, bool on)
{
	change_frame(frame, v, v->sport, ackreq_differs(v, on));
}

void hp3_set_becn(void *frame, struct hp3_view *v, bool on)
{
	uint8_t *udp = (uint8_t *)frame + v->udp_off, *p = udp + HP3_UDP_LEN + BTH_RESV8A;
	uint16_t from = hp3_be16(p);
	uint16_t to = on ? from | BECN_BIT << 8 : from & ~(BECN_BIT << 8);

	if (v->flags & HP3_VF_UDP_CSUM)
		csum_store(udp + UDP_CSUM, csum_replace(csum_load(udp + UDP_CSUM), from, to));
	hp3_put_be16(p, to);
	v->flags = (v->flags & ~HP3_VF_BECN) | (on ? HP3_VF_BECN : 0);
}

uint32_t hp3_sport_to_flow_label(uint16_t sport)
{
	return sport_to_flow_label(sport);
}
