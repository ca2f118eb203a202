/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the captures that no Soft-RoCE peer produces: CNPs, tags in tags, UDP checksums, bad
 * ICRCs, fragments, every way to be malformed, every opcode, short snap lengths, nanoseconds.
 *
 * usage: make_captures DIRECTORY
 *
 * Most are one WRITE connection of 4-packet messages with two messages in flight, the Kth
 * acknowledged behind the K+1st, and something odd in between. Nothing is random but random.pcap,
 * whose seed is fixed, and nothing depends on the time of day.
 */
#include <stdio.h>
#include <stdlib.h>
#include <pcap/pcap.h>
#include "../../unit/roce_frames.h"
#include "roce/build.h"
#include "roce/icrc.h"

#define SEED     0x5eed1u
#define MESSAGE  4u /* packets */
#define PAYLOAD  256u /* the smallest PMTU */
#define GAP_NS   10000u
#define START_NS 1700000000123456789ull
#define QPN_A    0x11u
#define QPN_B    0x22u
#define FRAME    2048u

struct session {
	pcap_t *dead;
	pcap_dumper_t *out;
	uint32_t snaplen, step_ns;
	uint64_t t;
	struct hp3_addressing a, b; /* from A to B, from B to A */
	uint32_t psn, msn;
	bool csum, qinq;
	bool damage; /* the next frame gets a wrong ICRC */
};

static const char *directory;

static void put(struct session *s, const uint8_t *f, uint32_t len)
{
	struct pcap_pkthdr h = {
		.caplen = len < s->snaplen ? len : s->snaplen,
		.len = len,
		.ts = {(time_t)(s->t / 1000000000u), (suseconds_t)(s->t % 1000000000u)},
	};

	pcap_dump((u_char *)s->out, &h, f);
	s->t += s->step_ns;
}

static struct session open_session(const char *name, int link_type)
{
	struct session s = {
		.snaplen = 65535,
		.step_ns = GAP_NS,
		.t = START_NS - START_NS % 1000,
		.a = {.dst_mac = {2, 0, 0, 0, 0, 2},
			.src_mac = {2, 0, 0, 0, 0, 1},
			.src_ip = {10, 9, 0, 1},
			.dst_ip = {10, 9, 0, 2},
			.tclass = 2,
			.ttl = 64,
			.sport = 49500,
			.pkey = 0xffff},
		.psn = 0xfffff0, /* wraps on the way */
	};
	char path[4096];

	s.b = s.a;
	memcpy(s.b.dst_mac, s.a.src_mac, 6);
	memcpy(s.b.src_mac, s.a.dst_mac, 6);
	memcpy(s.b.src_ip, s.a.dst_ip, 16);
	memcpy(s.b.dst_ip, s.a.src_ip, 16);
	s.b.sport = 49600;
	snprintf(path, sizeof(path), "%s/%s.pcap", directory, name);
	s.dead = pcap_open_dead_with_tstamp_precision(link_type, 65535, PCAP_TSTAMP_PRECISION_NANO);
	s.out = pcap_dump_open(s.dead, path);
	if (s.out == NULL) {
		fprintf(stderr, "%s: %s\n", path, pcap_geterr(s.dead));
		exit(1);
	}
	return s;
}

static void close_session(struct session *s)
{
	pcap_dump_close(s->out);
	pcap_close(s->dead);
}

static void put_built(struct session *s, uint8_t *f, int n)
{
	uint32_t len = (uint32_t)n;
	struct hp3_view v;

	if (n < 0) {
		fprintf(stderr, "a frame could not be built\n");
		exit(1);
	}
	if (s->qinq) {
		memmove(f + 16, f + 12, len - 12);
		hp3_put_be16(f + 12, 0x88a8);
		hp3_put_be16(f + 14, 0x2007);
		len += 4;
	}
	if (s->damage)
		f[len - 1] ^= 0x5a;
	s->damage = false;
	hp3_parse(f, len, &v);
	if (s->csum)
		store_udp_csum(f, v.l3_off, v.udp_off);
	put(s, f, len);
}

static void request(struct session *s, uint8_t opcode, uint32_t psn, bool ackreq)
{
	static uint8_t payload[PAYLOAD];
	uint8_t f[FRAME];
	struct hp3_fields fields = {
		.opcode = opcode,
		.ackreq = ackreq,
		.dest_qpn = QPN_B,
		.psn = psn,
		.va = 0x7f0012340000u,
		.rkey = 0x1234,
		.dma_len = MESSAGE * PAYLOAD,
		.payload = payload,
		.payload_len = shape_has_payload(opcode) ? PAYLOAD : 0,
	};

	memset(payload, (int)psn, sizeof(payload));
	put_built(s, f, hp3_build(f, sizeof(f), &s->a, &fields));
}

/* The i-th packet of the message that starts at `first`. */
static void data(struct session *s, uint32_t first, uint32_t i)
{
	uint8_t op = i == 0             ? HP3_OP_RC_WRITE_FIRST
		     : i == MESSAGE - 1 ? HP3_OP_RC_WRITE_LAST
					: HP3_OP_RC_WRITE_MIDDLE;

	request(s, op, hp3_psn_add(first, i), i == MESSAGE - 1);
}

static void message(struct session *s, uint32_t first)
{
	for (uint32_t i = 0; i < MESSAGE; i++)
		data(s, first, i);
}

static void ack(struct session *s, uint32_t psn, uint8_t syndrome)
{
	uint8_t f[FRAME];

	put_built(s, f, hp3_build_ack(f, sizeof(f), &s->b, QPN_A, psn, syndrome, s->msn));
}

static void cnp(struct session *s, const struct hp3_addressing *a, uint32_t qpn)
{
	uint8_t f[FRAME];

	put_built(s, f, hp3_build_cnp(f, sizeof(f), a, qpn));
}

/* Two messages in flight; between() may add something before the Kth acknowledgement. */
static void traffic(
	struct session *s, uint32_t messages, void (*between)(struct session *, uint32_t))
{
	message(s, s->psn);
	for (uint32_t k = 1; k < messages; k++) {
		uint32_t first = hp3_psn_add(s->psn, k * MESSAGE);

		message(s, first);
		if (between != NULL)
			between(s, k);
		s->msn++;
		ack(s, hp3_psn_add(first, HP3_PSN_MASK), 0x1f);
	}
	s->psn = hp3_psn_add(s->psn, messages * MESSAGE);
	s->msn++;
	ack(s, hp3_psn_add(s->psn, HP3_PSN_MASK), 0x1f);
}

static void with_cnps(struct session *s, uint32_t k)
{
	cnp(s, &s->b, QPN_A);
	if (k % 3 == 0)
		cnp(s, &s->a, QPN_B);
}

/* Both directions; a reply with a wrong ICRC may neither pair nor drain. */
static void with_damage(struct session *s, uint32_t k)
{
	if (k % 4 != 0)
		return;
	s->damage = true;
	ack(s, hp3_psn_add(s->psn, k * MESSAGE + 3), 0x1f);
}

/* Both fragments of a datagram; the pair is known by then, since replay announces it. */
static void put_fragments(struct session *s)
{
	uint8_t f[FRAME] = {0};
	int n = hp3_build_cnp(f, sizeof(f), &s->a, QPN_B);

	for (uint8_t i = 0; i < 2; i++) {
		hp3_put_be16(f + 14 + 6, i == 0 ? 0x2000 : 2); /* more fragments; offset 16 */
		store_ip_csum(f + 14);
		put(s, f, (uint32_t)n);
	}
}

/* The second packet of a message is lost behind the point of capture: NAK, then go-back-N. */
static void with_losses(struct session *s, uint32_t k)
{
	uint32_t first = hp3_psn_add(s->psn, k * MESSAGE);

	if (k % 6 != 5)
		return;
	ack(s, hp3_psn_add(first, 1), 0x60);
	for (uint32_t i = 1; i < MESSAGE; i++)
		data(s, first, i);
	s->t += 50000;
}

static void with_rnr(struct session *s, uint32_t k)
{
	uint32_t first = hp3_psn_add(s->psn, k * MESSAGE);

	if (k % 6 != 5)
		return;
	ack(s, first, 0x20 | 12);
	s->t += 640000;
	message(s, first);
}

/* In the drain that replay starts behind the first message. */
static void with_fatal(struct session *s, uint32_t k)
{
	if (k == 5)
		ack(s, hp3_psn_add(s->psn, MESSAGE), 0x62);
}

static void plain_sessions(void)
{
	static const struct {
		const char *name;
		void (*between)(struct session *, uint32_t);
	} kinds[] = {
		{"gen_plain", NULL},
		{"gen_cnp", with_cnps},
		{"gen_bad_icrc", with_damage},
		{"gen_fragments", NULL},
		{"gen_nak", with_losses},
		{"gen_rnr", with_rnr},
		{"gen_fatal", with_fatal},
	};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct session s = open_session(kinds[i].name, DLT_EN10MB);

		if (strcmp(kinds[i].name, "gen_fragments") == 0)
			put_fragments(&s);
		traffic(&s, 24, kinds[i].between);
		close_session(&s);
	}
}

/* What lies around the same connection. */
static void wrapped_sessions(void)
{
	for (unsigned i = 0; i < 6; i++) {
		static const char *const names[] = {
			"gen_vlan", "gen_qinq", "gen_csum", "gen_csum6", "gen_nano", "gen_snaplen"};
		struct session s = open_session(names[i], DLT_EN10MB);

		if (i < 2)
			s.a.tag[0] = s.b.tag[0] = hp3_tag_8021q(0x6064);
		s.qinq = i == 1;
		s.csum = i == 2 || i == 3;
		if (i == 3) {
			s.a.ipv6 = s.b.ipv6 = true;
			memcpy(s.a.src_ip, "\xfd\0\0\x09\0\0\0\0\0\0\0\0\0\0\0\1", 16);
			memcpy(s.a.dst_ip, "\xfd\0\0\x09\0\0\0\0\0\0\0\0\0\0\0\2", 16);
			memcpy(s.b.src_ip, s.a.dst_ip, 16);
			memcpy(s.b.dst_ip, s.a.src_ip, 16);
		}
		if (i == 4) {
			s.t = START_NS;
			s.step_ns = 7; /* many packets in one microsecond */
		}
		if (i == 5)
			s.snaplen = 96;
		traffic(&s, 24, NULL);
		close_session(&s);
	}
}

/* The only packets with answers are FLUSH and ATOMIC WRITE: a READ RESPONSE ONLY each. */
static void flushes(void)
{
	struct session s = open_session("gen_flush", DLT_EN10MB);
	static const uint8_t payload[PAYLOAD];

	for (uint32_t i = 0; i < 120; i++) {
		static const uint8_t opcodes[] = {
			HP3_OP_RC_WRITE_ONLY, HP3_OP_RC_FLUSH, HP3_OP_RC_ATOMIC_WRITE};
		const uint8_t opcode = opcodes[i % 3];
		struct hp3_fields request = {.opcode = opcode,
			.ackreq = i % 3 != 0,
			.dest_qpn = QPN_B,
			.psn = i,
			.dma_len = opcode == HP3_OP_RC_ATOMIC_WRITE ? 8 : PAYLOAD,
			.payload = payload,
			.payload_len = opcode == HP3_OP_RC_FLUSH        ? 0
				       : opcode == HP3_OP_RC_WRITE_ONLY ? PAYLOAD
									: 8};
		struct hp3_fields answer = {.opcode = HP3_OP_RC_READ_RESP_ONLY,
			.dest_qpn = QPN_A,
			.psn = i,
			.syndrome = 0x1f,
			.msn = i + 1};
		uint8_t f[FRAME];

		put_built(&s, f, hp3_build(f, sizeof(f), &s.a, &request));
		if (i % 3 != 0)
			put_built(&s, f, hp3_build(f, sizeof(f), &s.b, &answer));
	}
	close_session(&s);
}

static void opcodes(void)
{
	struct session s = open_session("gen_opcodes", DLT_EN10MB);

	traffic(&s, 8, NULL);
	for (unsigned op = 0; op < 256; op++) {
		uint8_t f[FRAME];
		struct hp3_view v;
		int n;

		struct hp3_fields fields = {
			.opcode = HP3_OP_RC_WRITE_ONLY_IMM,
			.dest_qpn = 0x500 + op,
			.psn = op,
			.payload = f,
			.payload_len = 64,
		};

		memset(f, 0xab, sizeof(f));
		n = hp3_build(f, sizeof(f), op & 1 ? &s.a : &s.b, &fields);
		f[14 + 20 + 8] = (uint8_t)op;
		hp3_parse(f, (uint32_t)n, &v);
		hp3_icrc_store(f, &v);
		put(&s, f, (uint32_t)n);
	}
	close_session(&s);
}

static void malformed(void)
{
	struct session s = open_session("gen_malformed", DLT_EN10MB);
	struct hp3_fields ack_fields = {.opcode = HP3_OP_RC_ACK, .dest_qpn = QPN_A, .psn = 5};
	/* where, how many bytes, what; then cut by so much. Offsets: IP 14, UDP 34, BTH 42. */
	static const struct {
		uint8_t at, n, bytes[2], cut;
	} faults[] = {
		{12, 2, {0x08, 0x06}, 0}, /* not-ip: ARP */
		{12, 2, {0x81, 0x00}, 0}, /* a tag, then something unknown */
		{23, 1, {1}, 0}, /* not-udp: ICMP */
		{23, 1, {6}, 0}, /* not-udp: TCP */
		{36, 2, {0, 53}, 0}, /* not-roce: DNS */
		{20, 2, {0x20, 0}, 0}, /* fragment */
		{0, 0, {0}, 49}, /* short-ethernet */
		{0, 0, {0}, 20}, /* short-ip */
		{14, 1, {0x44}, 0}, /* bad-ip-header: 16 bytes */
		{14, 1, {0x65}, 0}, /* bad-ip-header: version 6 */
		{16, 2, {0, 24}, 0}, /* short-udp */
		{38, 2, {0, 200}, 0}, /* bad-udp-length */
		{43, 1, {0x01}, 0}, /* bad-bth-version */
		{42, 1, {HP3_OP_RC_CMP_SWAP}, 0}, /* short-extended-header */
		{43, 1, {0x30}, 0}, /* bad-pad-count */
	};

	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		uint8_t f[FRAME];
		int n = hp3_build(f, sizeof(f), &s.b, &ack_fields);

		memcpy(f + faults[i].at, faults[i].bytes, faults[i].n);
		put(&s, f, (uint32_t)n - faults[i].cut);
	}
	/* short-bth: UDP and IP agree on a datagram of 20 bytes */
	uint8_t f[FRAME];

	hp3_build(f, sizeof(f), &s.b, &ack_fields);
	hp3_put_be16(f + 16, 20 + 20);
	hp3_put_be16(f + 38, 20);
	put(&s, f, 14 + 20 + 20);
	put(&s, f, 0);
	/* too-many-tags */
	int n = hp3_build(f, sizeof(f), &s.b, &ack_fields);

	memmove(f + 12 + 3 * 4, f + 12, (size_t)n - 12);
	for (unsigned i = 0; i < 3; i++)
		hp3_put_be32(f + 12 + 4 * i, 0x81000001 + i);
	put(&s, f, (uint32_t)n + 3 * 4);
	traffic(&s, 8, NULL);
	close_session(&s);
}

static void random_frames(void)
{
	struct session s = open_session("gen_random", DLT_EN10MB);
	static uint8_t f[FRAME_CAP];
	struct rng r = {SEED};

	for (unsigned i = 0; i < 600; i++) {
		struct shape shape = random_shape(&r, 1024);

		put(&s, f, make_frame(f, &shape, &r));
	}
	close_session(&s);
}

int main(int argc, char **argv)
{
	struct session s;

	if (argc != 2) {
		fprintf(stderr, "usage: make_captures DIRECTORY\n");
		return 2;
	}
	directory = argv[1];
	plain_sessions();
	wrapped_sessions();
	opcodes();
	flushes();
	malformed();
	random_frames();
	s = open_session("gen_empty", DLT_EN10MB);
	close_session(&s);
	s = open_session("bad_link_type", DLT_IEEE802_11);
	close_session(&s);
	return 0;
}
