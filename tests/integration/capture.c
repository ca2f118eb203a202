/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture.h"
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Zeroes what hp3d may change, and what follows from it. */
static void strip(struct packet *p)
{
	uint8_t *udp = p->core + p->v.udp_off;

	if (p->v.class == HP3_CLASS_OTHER)
		return;
	memset(udp, 0, 2); /* source port */
	memset(udp + 6, 0, 2); /* checksum */
	udp[8 + 8] &= 0x7f; /* BTH: AckReq */
	memset(p->core + p->v.icrc_off, 0, HP3_ICRC_LEN);
	if (p->v.flags & HP3_VF_IPV6) {
		p->core[p->v.l3_off + 1] &= 0xf0;
		memset(p->core + p->v.l3_off + 2, 0, 2);
	}
}

static void *must(void *mem)
{
	if (mem == NULL) {
		fprintf(stderr, "out of memory\n");
		exit(1);
	}
	return mem;
}

void capture_load(struct capture *c, const char *path)
{
	char err[PCAP_ERRBUF_SIZE] = "";
	pcap_t *in = pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, err);
	struct pcap_pkthdr *h;
	const u_char *data;

	*c = (struct capture){0};
	if (in == NULL) {
		fprintf(stderr, "%s: %s\n", path, err);
		exit(1);
	}
	while (pcap_next_ex(in, &h, &data) == 1) {
		struct packet *p;

		c->p = must(realloc(c->p, (c->n + 1) * sizeof(*c->p)));
		p = &c->p[c->n];
		*p = (struct packet){
			.t_ns = (uint64_t)h->ts.tv_sec * 1000000000u + (uint64_t)h->ts.tv_usec,
			.caplen = h->caplen,
			.len = h->len,
			.data = must(malloc(h->caplen + 1)),
			.core = must(malloc(h->caplen + 1)),
			.place = c->n};
		memcpy(p->data, data, h->caplen);
		memcpy(p->core, data, h->caplen);
		hp3_parse(p->data, p->caplen, &p->v);
		strip(p);
		c->n++;
	}
	pcap_close(in);
}

void capture_free(struct capture *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		free(c->p[i].data);
		free(c->p[i].core);
	}
	free(c->p);
}

static bool same(const struct packet *a, const struct packet *b)
{
	return a->t_ns == b->t_ns && a->caplen == b->caplen && a->len == b->len &&
	       memcmp(a->core, b->core, a->caplen) == 0;
}

bool capture_match(const struct capture *in, struct capture *out)
{
	bool *taken = must(calloc(in->n + 1, sizeof(*taken)));
	bool ok = in->n == out->n;

	if (!ok)
		fprintf(stderr, "%u packets in, %u out\n", in->n, out->n);
	for (uint32_t i = 0; i < out->n && ok; i++) {
		uint32_t k = 0;

		while (k < in->n && (taken[k] || !same(&in->p[k], &out->p[i])))
			k++;
		ok = k < in->n;
		if (ok) {
			taken[k] = true;
			out->p[i].place = k;
		} else {
			fprintf(stderr, "packet %u of the output is none of the input's\n", i + 1);
		}
	}
	free(taken);
	return ok;
}

static uint32_t add(uint32_t sum, const uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		sum += i % 2 == 0 ? (uint32_t)p[i] << 8 : p[i];
	return sum;
}

bool packet_udp_csum_ok(const struct packet *p)
{
	const uint8_t *ip = p->data + p->v.l3_off, *udp = p->data + p->v.udp_off;
	uint32_t n = hp3_be16(udp + 4), sum = n + 17;

	if (hp3_be16(udp + 6) == 0)
		return true;
	sum = p->v.flags & HP3_VF_IPV6 ? add(sum, ip + 8, 32) : add(sum, ip + 12, 8);
	sum = add(sum, udp, n);
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}
