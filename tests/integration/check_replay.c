/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * usage: check_replay HP3D CAPTURE moves|still|jumps
 *
 * Replays a capture as it is, and twice with every requester stream moved to another port. Each
 * time every packet must come out exactly once, whole, with a right ICRC and UDP checksum, and per
 * queue pair in the order it came in. No packet may leave on a new port before the output has a
 * reply to the newest packet of the old port: the drain, as the receiving RNIC would see it.
 * "moves" says that streams can be moved in this capture: then they must have been.
 */
#include <jansson.h>
#include <pcap/pcap.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "capture.h"
#include "roce/icrc.h"

#define TO          50000u
#define AGED_NS     600000000000ull
#define STREAMS     64u
#define FAIL(...)   fail(__func__, __VA_ARGS__)
#define SUMMARY_CAP 65536

enum expect { MOVES, STILL, JUMPS };

static unsigned failures;

static void fail(const char *where, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fprintf(stderr, "check_replay: %s: ", where);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	va_end(ap);
	failures++;
}

/* Runs hp3d, leaves its summary in *summary (new reference). */
static void replay(const char *hp3d, const char *in, const char *out, unsigned to, json_t **summary)
{
	char cmd[4096], text[SUMMARY_CAP];
	FILE *f;
	size_t n;
	int rc;

	n = (size_t)snprintf(
		cmd, sizeof(cmd), "'%s' --replay '%s' --out '%s' --json", hp3d, in, out);
	if (to != 0)
		snprintf(cmd + n, sizeof(cmd) - n, " --move %u", to);
	f = popen(cmd, "r");
	if (f == NULL) {
		perror("popen");
		exit(1);
	}
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	rc = pclose(f);
	*summary = json_loads(text, 0, NULL);
	if (rc != 0 || *summary == NULL) {
		fprintf(stderr, "check_replay: exit status %d of %s\n%s", rc, cmd, text);
		exit(1);
	}
}

static json_int_t number(json_t *summary, const char *group, const char *key)
{
	json_t *v = json_object_get(group ? json_object_get(summary, group) : summary, key);

	if (!json_is_integer(v))
		FAIL("no %s.%s in the summary", group ? group : "", key);
	return json_integer_value(v);
}

/* One requester stream, as seen in the output. */
struct stream {
	const uint8_t *addresses; /* source, destination */
	uint32_t qpn;
	uint32_t vlan;
	uint16_t sport;
	uint32_t place[2]; /* by stream kind: the input packet that came last */
	bool seen[2];
	uint32_t hi; /* newest PSN */
	bool requests, acked;
	unsigned switches;
};

static const uint8_t *addresses(const struct packet *p, uint32_t *each)
{
	*each = p->v.flags & HP3_VF_IPV6 ? 16 : 4;
	return p->data + p->v.l3_off + (p->v.flags & HP3_VF_IPV6 ? 8 : 12);
}

static struct stream *stream_of(struct stream *list, unsigned *n, const struct packet *p)
{
	uint32_t each;
	const uint8_t *a = addresses(p, &each);

	for (unsigned i = 0; i < *n; i++) {
		if (list[i].qpn == p->v.dest_qpn && list[i].vlan == p->v.vlan &&
			memcmp(list[i].addresses, a, 2 * each) == 0)
			return &list[i];
	}
	if (*n == STREAMS) {
		fprintf(stderr, "check_replay: more than %u streams\n", STREAMS);
		exit(1);
	}
	list[*n] = (struct stream){.addresses = a, .qpn = p->v.dest_qpn, .vlan = p->v.vlan};
	return &list[(*n)++];
}

/* A reply proves the arrival of everything up to its PSN; a NAK only of what is before. */
static void note_reply(struct stream *list, unsigned n, const struct packet *p)
{
	uint32_t each;
	const uint8_t *a = addresses(p, &each);

	if ((p->v.flags & HP3_VF_AETH) && HP3_SYN_KIND(p->v.syndrome) != HP3_SYN_ACK)
		return;
	for (unsigned i = 0; i < n; i++) {
		struct stream *s = &list[i];

		if (s->requests && memcmp(s->addresses, a + each, each) == 0 &&
			memcmp(s->addresses + each, a, each) == 0 &&
			hp3_psn_diff(p->v.psn, s->hi) >= 0)
			s->acked = true;
	}
}

static void note_request(struct stream *s, const struct packet *p, uint32_t i)
{
	if (s->requests && p->v.sport != s->sport) {
		s->switches++;
		if (!s->acked)
			FAIL("packet %u leaves on port %u while PSN %u is under way on %u", i + 1,
				p->v.sport, s->hi, s->sport);
	}
	if (!s->requests || hp3_psn_diff(p->v.psn, s->hi) > 0) {
		s->hi = p->v.psn;
		s->acked = false;
	}
	s->sport = p->v.sport;
	s->requests = true;
}

/* Order per stream, and drains; returns how many times a stream changed its port. */
static unsigned check_order(const struct capture *out)
{
	static struct stream list[STREAMS];
	unsigned n = 0, switches = 0;

	for (uint32_t i = 0; i < out->n; i++) {
		const struct packet *p = &out->p[i];
		bool reply = p->v.class == HP3_CLASS_RC_REPLY;
		struct stream *s;

		/* A flow that was silent so long is forgotten, and its port with it. */
		for (unsigned k = 0; i > 0 && p->t_ns > out->p[i - 1].t_ns + AGED_NS && k < n; k++)
			list[k].requests = false;
		if (p->v.class == HP3_CLASS_OTHER)
			continue;
		s = stream_of(list, &n, p);
		if (s->seen[reply] && p->place < s->place[reply])
			FAIL("packet %u of the output overtook packet %u of the input", i + 1,
				s->place[reply] + 1);
		s->seen[reply] = true;
		s->place[reply] = p->place;
		if (p->v.class == HP3_CLASS_RC_REQUEST)
			note_request(s, p, i);
		else if (reply)
			note_reply(list, n, p);
	}
	for (unsigned i = 0; i < n; i++)
		switches += list[i].switches;
	return switches;
}

/* Packet by packet: what changed, and is it whole. Returns how many have another port. */
static unsigned check_packets(const struct capture *in, const struct capture *out, unsigned to)
{
	unsigned moved = 0;

	for (uint32_t i = 0; i < out->n; i++) {
		const struct packet *p = &out->p[i], *was = &in->p[p->place];

		if (p->v.class == HP3_CLASS_OTHER)
			continue;
		if (!hp3_icrc_ok(p->data, &p->v))
			FAIL("packet %u: ICRC is wrong", i + 1);
		if (!packet_udp_csum_ok(p))
			FAIL("packet %u: UDP checksum is wrong", i + 1);
		if ((was->v.flags & HP3_VF_ACKREQ) && !(p->v.flags & HP3_VF_ACKREQ))
			FAIL("packet %u: AckReq is gone", i + 1);
		if (p->v.class != HP3_CLASS_RC_REQUEST &&
			memcmp(p->data, was->data, p->caplen) != 0)
			FAIL("packet %u is no request and was changed", i + 1);
		if (p->v.sport == was->v.sport)
			continue;
		moved++;
		if (p->v.sport != to)
			FAIL("packet %u left on port %u", i + 1, p->v.sport);
		if ((p->v.flags & HP3_VF_IPV6) &&
			(hp3_be32(p->data + p->v.l3_off) & 0xfffff) != hp3_sport_to_flow_label(to))
			FAIL("packet %u: flow label does not go with its port", i + 1);
	}
	return moved;
}

static void check(
	const char *hp3d, const char *path, const char *tmp, unsigned to, enum expect expect)
{
	struct capture in, out;
	unsigned moved, switches;
	json_t *s;

	replay(hp3d, path, tmp, to, &s);
	capture_load(&in, path);
	capture_load(&out, tmp);
	if (!capture_match(&in, &out))
		exit(1);
	moved = check_packets(&in, &out, to);
	switches = check_order(&out);
	printf("%s --move %u: %u packets, %u moved, %u switches\n", path, to, out.n, moved,
		switches);
	if (expect == MOVES && (moved == 0 || switches == 0))
		FAIL("streams could have been moved and were not");
	if (expect == STILL && moved != 0)
		FAIL("%u packets were moved where none should", moved);
	if (number(s, NULL, "packets_in") != in.n || number(s, NULL, "packets_out") != out.n)
		FAIL("the summary counts other packets");
	if (number(s, "icrc", "bad_in") != 0 || number(s, "icrc", "bad_out") != 0)
		FAIL("the summary finds bad ICRCs");
	if (number(s, NULL, "changed") < moved)
		FAIL("the summary counts fewer changes than there are");
	if (number(s, "moves", "switch") + number(s, "moves", "idle_switch") < switches)
		FAIL("the summary counts fewer switches than there are");
	json_decref(s);
	capture_free(&in);
	capture_free(&out);
}

static void make_jumps(const char *path, const char *copy)
{
	pcap_t *file = pcap_open_dead(DLT_EN10MB, 65535);
	pcap_dumper_t *out = pcap_dump_open(file, copy);
	struct capture c;

	if (out == NULL) {
		fprintf(stderr, "check_replay: %s: %s\n", copy, pcap_geterr(file));
		exit(1);
	}
	capture_load(&c, path);
	for (uint32_t i = 0; i < c.n; i++) {
		struct pcap_pkthdr h = {.caplen = c.p[i].caplen, .len = c.p[i].len};

		h.ts.tv_usec = (suseconds_t)i;
		if (i > c.n / 3 && i < c.n / 3 * 2)
			h.ts.tv_sec = (time_t)(c.p[i].t_ns / 1000000000u);
		if (i == c.n / 2)
			h.ts = (struct timeval){UINT32_MAX, 999999}; /* read as one before 1970 */
		pcap_dump((u_char *)out, &h, c.p[i].data);
	}
	capture_free(&c);
	pcap_dump_close(out);
	pcap_close(file);
}

static bool equal_files(const char *a, const char *b)
{
	FILE *fa = fopen(a, "rb"), *fb = fopen(b, "rb");
	int ca = 0, cb = 0;

	if (fa == NULL || fb == NULL) {
		perror("fopen");
		exit(1);
	}
	while (ca == cb && ca != EOF) {
		ca = getc(fa);
		cb = getc(fb);
	}
	fclose(fa);
	fclose(fb);
	return ca == cb;
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/hp3-replay.XXXXXX", one[64], two[64], copy[64];
	enum expect expect;
	const char *in;

	if (argc != 4 || mkdtemp(dir) == NULL) {
		fprintf(stderr, "usage: check_replay HP3D CAPTURE moves|still|jumps\n");
		return 2;
	}
	expect = strcmp(argv[3], "moves") == 0   ? MOVES
		 : strcmp(argv[3], "still") == 0 ? STILL
						 : JUMPS;
	in = argv[2];
	snprintf(one, sizeof(one), "%s/1.pcap", dir);
	snprintf(two, sizeof(two), "%s/2.pcap", dir);
	snprintf(copy, sizeof(copy), "%s/in.pcap", dir);
	if (expect == JUMPS) {
		make_jumps(in, copy);
		in = copy;
	}
	check(argv[1], in, one, 0, STILL);
	check(argv[1], in, one, TO, expect);
	check(argv[1], in, two, TO, expect);
	if (!equal_files(one, two))
		FAIL("two runs gave different files");
	unlink(one);
	unlink(two);
	unlink(copy);
	rmdir(dir);
	return failures == 0 ? 0 : 1;
}
