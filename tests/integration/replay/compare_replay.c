/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares what went into `hp3d --replay` with what came out.
 *
 * usage: compare_replay IN.pcap OUT.pcap [PORT [LOST]]
 *
 * A packet is recognised by its time stamp, lengths and all bytes that hp3d must leave alone; only
 * requests of reliable connections may differ in source port, AckReq, ICRC, UDP checksum and IPv6
 * flow label. ICRC and UDP checksum are judged by slow references, not by the code under test. With
 * PORT, no stream may return to its own port once it left on PORT. LOST requests (default 0) may be
 * missing. Prints the facts as JSON; exit code 1 if a rule is broken, with one line for each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <pcap/pcap.h>
#include "../../unit/roce_frames.h"
#include "roce/icrc.h"

#define NONE        UINT32_MAX
#define STREAMS_MAX 1024u
#define NS_PER_SEC  1000000000ull

struct packet {
	uint64_t t;
	uint32_t caplen, len;
	uint8_t *frame, *masked;
	struct hp3_view v;
	uint32_t twin; /* index in the other capture */
};

struct capture {
	struct packet *p;
	uint32_t n;
};

struct stream {
	uint8_t key[4 + 32 + 4];
	uint32_t newest; /* greatest index in IN that came out */
	bool on_port;
};

static unsigned errors;

static struct {
	uint32_t requests, changed, moved, ackreq, bad_icrc, streams;
	uint32_t held_back; /* packets that others overtook: those were held */
} facts;

#define WRONG(i, ...)                                                                              \
	do {                                                                                       \
		errors++;                                                                          \
		fprintf(stderr, "packet %u: ", (i) + 1);                                           \
		fprintf(stderr, __VA_ARGS__);                                                      \
		fputc('\n', stderr);                                                               \
	} while (0)

static bool may_change(const struct packet *p)
{
	return p->v.class == HP3_CLASS_RC_REQUEST;
}

static void mask(struct packet *p)
{
	uint8_t *f = p->masked, *udp = f + p->v.udp_off, *ip = f + p->v.l3_off;

	if (!may_change(p))
		return;
	hp3_put_be16(udp, 0);
	hp3_put_be16(udp + 6, 0);
	udp[8 + 8] &= 0x7f;
	hp3_put_be32(f + p->v.icrc_off, 0);
	if (p->v.flags & HP3_VF_IPV6) {
		ip[1] &= 0xf0;
		ip[2] = ip[3] = 0;
	}
}

static void load(struct capture *c, const char *name)
{
	char err[PCAP_ERRBUF_SIZE];
	pcap_t *in = pcap_open_offline_with_tstamp_precision(name, PCAP_TSTAMP_PRECISION_NANO, err);
	struct pcap_pkthdr *h;
	const u_char *data;

	if (in == NULL) {
		fprintf(stderr, "%s: %s\n", name, err);
		exit(2);
	}
	while (pcap_next_ex(in, &h, &data) == 1) {
		struct packet *p;

		c->p = realloc(c->p, (c->n + 1) * sizeof(*c->p));
		p = &c->p[c->n++];
		*p = (struct packet){
			.t = (uint64_t)h->ts.tv_sec * NS_PER_SEC + (uint64_t)h->ts.tv_usec,
			.caplen = h->caplen,
			.len = h->len,
			.frame = malloc(h->caplen + 1),
			.masked = malloc(h->caplen + 1),
			.twin = NONE,
		};
		memcpy(p->frame, data, h->caplen);
		memcpy(p->masked, data, h->caplen);
		hp3_parse(p->frame, p->caplen, &p->v);
		mask(p);
	}
	pcap_close(in);
}

static void unload(struct capture *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		free(c->p[i].frame);
		free(c->p[i].masked);
	}
	free(c->p);
}

static bool same(const struct packet *a, const struct packet *b)
{
	return a->t == b->t && a->caplen == b->caplen && a->len == b->len &&
	       memcmp(a->masked, b->masked, a->caplen) == 0;
}

/* One of the path that a flow has left ends in hp3d. */
static bool is_cnp(const struct packet *p)
{
	return p->v.class == HP3_CLASS_CNP;
}

/* Each packet of `out` gets the first one of `in` that has no twin yet. */
static void match(struct capture *in, struct capture *out, uint32_t lost)
{
	for (uint32_t o = 0; o < out->n; o++) {
		for (uint32_t i = 0; i < in->n && out->p[o].twin == NONE; i++) {
			if (in->p[i].twin == NONE && same(&in->p[i], &out->p[o])) {
				in->p[i].twin = o;
				out->p[o].twin = i;
			}
		}
		if (out->p[o].twin == NONE)
			WRONG(o, "came out and did not go in, or changed where it must not");
	}
	for (uint32_t i = 0; i < in->n; i++) {
		if (in->p[i].twin != NONE)
			continue;
		if ((may_change(&in->p[i]) || is_cnp(&in->p[i])) && lost > 0)
			lost--;
		else
			WRONG(i, "went in and did not come out");
	}
}

static bool icrc_good(const struct packet *p)
{
	uint32_t stored = __builtin_bswap32(hp3_be32(p->frame + p->v.icrc_off));

	return stored == reference_icrc(p->frame, p->v.l3_off, p->v.udp_off, p->v.icrc_off);
}

static bool udp_csum_good(const struct packet *p)
{
	uint16_t stored = hp3_be16(p->frame + p->v.udp_off + 6);

	return stored == 0 || stored == reference_udp_csum(p->frame, p->v.l3_off, p->v.udp_off);
}

static uint32_t flow_label(const struct packet *p)
{
	return hp3_be32(p->frame + p->v.l3_off) & 0xfffff;
}

static void compare(uint32_t at, const struct packet *in, const struct packet *out, uint16_t port)
{
	bool ported = in->v.sport != out->v.sport;
	bool asked = !(in->v.flags & HP3_VF_ACKREQ) && (out->v.flags & HP3_VF_ACKREQ);
	bool differs = memcmp(in->frame, out->frame, in->caplen) != 0;

	facts.requests++;
	facts.changed += differs;
	facts.moved += ported;
	facts.ackreq += asked;
	facts.bad_icrc += !icrc_good(out);
	if (ported && out->v.sport != port)
		WRONG(at, "left on port %u, not %u or %u", out->v.sport, in->v.sport, port);
	if ((in->v.flags & HP3_VF_ACKREQ) && !(out->v.flags & HP3_VF_ACKREQ))
		WRONG(at, "lost its AckReq");
	if (icrc_good(in) != icrc_good(out))
		WRONG(at, "ICRC was %s and is not now", icrc_good(in) ? "good" : "bad");
	if ((in->v.flags ^ out->v.flags) & HP3_VF_UDP_CSUM)
		WRONG(at, "UDP checksum came or went");
	if (udp_csum_good(in) != udp_csum_good(out))
		WRONG(at, "UDP checksum was %s and is not now", udp_csum_good(in) ? "good" : "bad");
	if (!ported && !asked && differs)
		WRONG(at, "changed without a new port or AckReq");
	if ((in->v.flags & HP3_VF_IPV6) &&
		flow_label(out) != (ported ? hp3_sport_to_flow_label(port) : flow_label(in)))
		WRONG(at, "flow label %05x does not fit port %u", flow_label(out), out->v.sport);
}

/* Of a direction and destination queue pair. */
static struct stream *stream_of(struct stream *s, const struct packet *p)
{
	uint8_t key[sizeof(s->key)] = {0};
	bool ipv6 = p->v.flags & HP3_VF_IPV6;
	uint32_t i;

	hp3_put_be32(key, p->v.vlan);
	memcpy(key + 4, p->frame + p->v.l3_off + (ipv6 ? 8 : 12), ipv6 ? 32 : 8);
	hp3_put_be32(key + 36, p->v.dest_qpn);
	for (i = 0; i < facts.streams; i++) {
		if (memcmp(s[i].key, key, sizeof(key)) == 0)
			return &s[i];
	}
	if (i == STREAMS_MAX) {
		fprintf(stderr, "more than %u streams\n", STREAMS_MAX);
		exit(2);
	}
	facts.streams++;
	s[i] = (struct stream){.newest = 0};
	memcpy(s[i].key, key, sizeof(key));
	return &s[i];
}

/* Requests keep their order per stream; all else is never held: it keeps the order of IN. */
static void check_order(const struct capture *in, const struct capture *out, uint16_t port)
{
	static struct stream streams[STREAMS_MAX];
	uint32_t rest = 0, newest = 0;

	for (uint32_t o = 0; o < out->n; o++) {
		const struct packet *p = &out->p[o];
		struct stream *s;

		if (p->twin == NONE)
			continue;
		facts.held_back += p->twin < newest;
		newest = p->twin > newest ? p->twin : newest;
		if (!may_change(p)) {
			if (p->twin < rest)
				WRONG(p->twin, "was overtaken though nothing holds its kind");
			rest = p->twin;
			continue;
		}
		compare(p->twin, &in->p[p->twin], p, port);
		s = stream_of(streams, p);
		if (p->twin < s->newest)
			WRONG(p->twin, "was overtaken by packet %u of its stream", s->newest + 1);
		s->newest = p->twin;
		if (s->on_port && p->v.sport != port)
			WRONG(p->twin, "returned to port %u", p->v.sport);
		s->on_port = port != 0 && p->v.sport == port;
	}
}

int main(int argc, char **argv)
{
	struct capture in = {0}, out = {0};
	uint16_t port = argc > 3 ? (uint16_t)strtoul(argv[3], NULL, 0) : 0;
	uint32_t lost = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 0) : 0;

	if (argc < 3) {
		fprintf(stderr, "usage: compare_replay IN.pcap OUT.pcap [PORT [LOST]]\n");
		return 2;
	}
	load(&in, argv[1]);
	load(&out, argv[2]);
	match(&in, &out, lost);
	check_order(&in, &out, port);
	printf("{\"packets\":%u,\"requests\":%u,\"streams\":%u,\"changed\":%u,\"moved\":%u,"
	       "\"ackreq\":%u,\"bad_icrc\":%u,\"held_back\":%u,\"errors\":%u}\n",
		out.n, facts.requests, facts.streams, facts.changed, facts.moved, facts.ackreq,
		facts.bad_icrc, facts.held_back, errors);
	unload(&in);
	unload(&out);
	return errors != 0;
}
