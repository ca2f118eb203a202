/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One end of reliable connections, without an RNIC: speaks RoCEv2 on an interface.
 *
 * usage: rc_endpoint INTERFACE a|b [KEY=NUMBER ...]
 *
 * keys: qps, pairs (of addresses, the queue pairs are dealt out), message and window (packets),
 * payload (bytes, a multiple of 8), rate (packets per second, all queue pairs), slow_us (paths, see
 * wire.h), vlan, inner (tag in that one), ad (0, 1: vlan is an 802.1ad tag), ipv6, spread (distance
 * of first PSNs), stamps (0, 1; see wire.h), timeout (IBTA code), home (UDP source port of the
 * first queue pair; the next one's is two more). Queue pair i of end a is 0x100 + i, of end b 0x200
 * + i.
 *
 * Commands on stdin, a line each: send N (messages more on each queue pair), stop (when the
 * messages begun are complete), withhold 0|1 (ACKs), report (one line of JSON; pauses of the wire
 * and of this process are counted anew from then on), quit.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "rc_qp.h"
#include "wire.h"

#define QPS_MAX    1024u
#define BURST      32u
#define NS_PER_SEC 1000000000ull

struct options {
	uint32_t qps, pairs, message, window, payload, rate, slow_us, vlan, inner, ad, ipv6, spread,
		stamps, timeout, home;
};

static struct options opt = {.qps = 1,
	.pairs = 1,
	.message = 16,
	.window = 64,
	.payload = 256,
	.rate = 8000,
	.spread = 0x20000,
	.home = 0xc001};
static struct rc_shape shape;
static struct rc_qp qps[QPS_MAX];
static struct wire wire;
static uint64_t others, kernel_lost;
static uint64_t late_ns; /* longest time that this process was not there, since the last report */
static bool is_b;

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NS_PER_SEC + (uint64_t)ts.tv_nsec;
}

static void set_option(const char *text)
{
	static const struct {
		const char *name;
		uint32_t *value;
	} keys[] = {{"qps", &opt.qps}, {"pairs", &opt.pairs}, {"message", &opt.message},
		{"window", &opt.window}, {"payload", &opt.payload}, {"rate", &opt.rate},
		{"slow_us", &opt.slow_us}, {"vlan", &opt.vlan}, {"inner", &opt.inner},
		{"ad", &opt.ad}, {"ipv6", &opt.ipv6}, {"spread", &opt.spread},
		{"stamps", &opt.stamps}, {"timeout", &opt.timeout}, {"home", &opt.home}};
	size_t n = strcspn(text, "=");

	for (unsigned i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strlen(keys[i].name) == n && strncmp(text, keys[i].name, n) == 0) {
			*keys[i].value = (uint32_t)strtoul(text + n + 1, NULL, 0);
			return;
		}
	}
	fprintf(stderr, "rc_endpoint: no option %s\n", text);
	exit(2);
}

static void set_address(uint8_t *ip, uint32_t pair, bool b)
{
	static const uint8_t net6[16] = {0xfd, 0, 0, 9};

	if (opt.ipv6) {
		memcpy(ip, net6, 16);
		hp3_put_be16(ip + 12, (uint16_t)pair);
		ip[15] = b ? 2 : 1;
		return;
	}
	memcpy(ip, (uint8_t[4]){10, 9, (uint8_t)pair, b ? 2 : 1}, 4);
}

static struct hp3_tag outer_tag(void)
{
	struct hp3_tag tag = hp3_tag_8021q((uint16_t)opt.vlan);

	if (opt.ad)
		tag.tpid = HP3_TPID_8021AD;
	return tag;
}

static void make_qps(void)
{
	for (uint32_t i = 0; i < opt.qps; i++) {
		struct rc_qp *q = &qps[i];
		uint32_t first = (0xfffff0 + i * opt.spread) & HP3_PSN_MASK; /* wraps soon */

		*q = (struct rc_qp){
			.lqpn = (is_b ? 0x200 : 0x100) + i,
			.rqpn = (is_b ? 0x100 : 0x200) + i,
			.to = {.dst_mac = {2, 0, 0, 0, 0, is_b ? 1 : 2},
				.src_mac = {2, 0, 0, 0, 0, is_b ? 2 : 1},
				.tag = {outer_tag(), hp3_tag_8021q((uint16_t)opt.inner)},
				.ipv6 = opt.ipv6,
				.tclass = 2,
				.ttl = 64,
				.sport = (uint16_t)(opt.home + 2 * i),
				.pkey = 0xffff},
		};
		rc_init(q, first);
		set_address(q->to.src_ip, i % opt.pairs, is_b);
		set_address(q->to.dst_ip, i % opt.pairs, !is_b);
	}
}

static void acknowledge(struct rc_qp *q)
{
	uint8_t frame[WIRE_FRAME];
	uint32_t len;

	if (!shape.withhold && (len = rc_ack(q, frame, sizeof(frame))) > 0)
		wire_send(&wire, frame, len);
}

static void take(const uint8_t *frame, uint32_t len, uint64_t now)
{
	struct hp3_view v;
	uint32_t i;

	hp3_parse(frame, len, &v);
	i = v.dest_qpn - (is_b ? 0x200 : 0x100);
	if (v.vlan != hp3_tags_vlan(qps[0].to.tag) ||
		(v.class != HP3_CLASS_RC_REQUEST && v.class != HP3_CLASS_RC_REPLY) ||
		i >= opt.qps) {
		others++;
		return;
	}
	if (v.class == HP3_CLASS_RC_REPLY) {
		rc_take_reply(&qps[i], now, frame, &v);
		return;
	}
	rc_take_request(&qps[i], frame, &v);
	acknowledge(&qps[i]);
}

/* At most `tokens` requests, fairly; returns how many. */
static uint32_t emit(uint32_t tokens, uint64_t now)
{
	static uint32_t turn;
	uint8_t frame[WIRE_FRAME];
	uint32_t sent = 0;

	for (uint32_t idle = 0; idle < opt.qps && sent < tokens; turn++) {
		uint32_t len = rc_request(&qps[turn % opt.qps], now, frame, sizeof(frame));

		idle = len == 0 ? idle + 1 : 0;
		if (len > 0) {
			wire_send(&wire, frame, len);
			sent++;
		}
	}
	return sent;
}

/* What may never be but 0. */
struct faults {
	uint64_t gaps, duplicates, bad_icrc, bad_payload, stray_acks, naks, again, runs_lost;
};

static void add_faults(struct faults *f, const struct rc_qp *q)
{
	f->gaps += q->responder.n.out_of_order;
	f->duplicates += q->responder.n.duplicates;
	f->bad_icrc += q->bad_icrc;
	f->bad_payload += q->responder.n.wrong + q->responder.n.unchecked + q->responder.ended;
	f->stray_acks += q->requester.n.stale;
	f->naks += q->requester.n.naks + q->requester.n.rnr_naks;
	f->again += q->requester.n.again;
	f->runs_lost += q->runs_lost;
}

static void report(void)
{
	uint64_t sent = 0, acked = 0, received = 0, timeouts = 0;
	struct faults faults = {0};

	kernel_lost += wire_lost(&wire);
	printf("{\"qps\":[");
	for (uint32_t i = 0; i < opt.qps; i++) {
		const struct rc_qp *q = &qps[i];

		sent += q->requester.n.sent;
		timeouts += q->requester.n.timeouts;
		acked += q->acked;
		received += q->responder.n.executed;
		add_faults(&faults, q);
		printf("%s{\"sent\":%llu,\"acked\":%llu,\"received\":%llu,\"ports\":[",
			i == 0 ? "" : ",", (unsigned long long)q->requester.n.sent,
			(unsigned long long)q->acked, (unsigned long long)q->responder.n.executed);
		for (uint32_t k = 0; k < q->n_runs; k++)
			printf("%s[%u,%u]", k == 0 ? "" : ",", q->runs[k].port, q->runs[k].packets);
		printf("]}");
	}
	printf("],\"wire\":{\"sent\":%u,\"frames\":%llu,\"twice\":%llu,\"late\":%llu,\"pause_us\":%"
	       "llu}",
		wire.serial - 1, (unsigned long long)wire.seen.frames,
		(unsigned long long)wire.seen.twice, (unsigned long long)wire.seen.late,
		(unsigned long long)wire.seen.pause_ns / 1000u);
	wire.seen.pause_ns = wire.seen_at = 0;
	printf(",\"timeouts\":%llu,\"late_us\":%llu", (unsigned long long)timeouts,
		(unsigned long long)late_ns / 1000u);
	late_ns = 0;
	printf(",\"sent\":%llu,\"acked\":%llu,\"received\":%llu,\"others\":%llu,\"faults\":{"
	       "\"gaps\":%llu,\"duplicates\":%llu,\"bad_icrc\":%llu,\"bad_payload\":%llu,"
	       "\"stray_acks\":%llu,\"naks\":%llu,\"again\":%llu,\"runs_lost\":%llu,"
	       "\"kernel_lost\":%llu}}\n",
		(unsigned long long)sent, (unsigned long long)acked, (unsigned long long)received,
		(unsigned long long)others, (unsigned long long)faults.gaps,
		(unsigned long long)faults.duplicates, (unsigned long long)faults.bad_icrc,
		(unsigned long long)faults.bad_payload, (unsigned long long)faults.stray_acks,
		(unsigned long long)faults.naks, (unsigned long long)faults.again,
		(unsigned long long)faults.runs_lost, (unsigned long long)kernel_lost);
	fflush(stdout);
}

/* False at the end. */
static bool obey(const char *line)
{
	unsigned long n = strtoul(line + strcspn(line, " \n"), NULL, 10);

	if (strncmp(line, "send", 4) == 0) {
		for (uint32_t i = 0; i < opt.qps; i++)
			qps[i].messages += n;
	} else if (strncmp(line, "stop", 4) == 0) {
		for (uint32_t i = 0; i < opt.qps; i++)
			qps[i].messages = 0;
	} else if (strncmp(line, "withhold", 8) == 0) {
		shape.withhold = n != 0;
		for (uint32_t i = 0; i < opt.qps; i++)
			acknowledge(&qps[i]);
	} else if (strncmp(line, "report", 6) == 0) {
		report();
	} else {
		return false;
	}
	return true;
}

/* One read may bring several lines, or half of one. */
static bool commands(void)
{
	static char text[4096];
	static size_t used;
	ssize_t n = read(STDIN_FILENO, text + used, sizeof(text) - 1 - used);
	char *end;

	if (n <= 0)
		return false;
	used += (size_t)n;
	text[used] = '\0';
	while ((end = strchr(text, '\n')) != NULL) {
		if (!obey(text))
			return false;
		used -= (size_t)(end + 1 - text);
		memmove(text, end + 1, used + 1);
	}
	return true;
}

static void run(void)
{
	struct pollfd p[2] = {
		{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = wire.fd, .events = POLLIN}};
	uint64_t last = now_ns(), credit = 0, now;
	uint8_t frame[WIRE_FRAME];
	uint32_t len;

	for (;;) {
		poll(p, 2, 1);
		now = now_ns();
		late_ns = now - last > late_ns ? now - last : late_ns;
		if ((p[0].revents & (POLLIN | POLLHUP)) && !commands())
			return;
		for (uint32_t i = 0; i < 4 * BURST && (len = wire_receive(&wire, frame, now)) > 0;
			i++)
			take(frame, len, now);
		credit += (now - last) * opt.rate;
		last = now;
		if (credit > BURST * NS_PER_SEC)
			credit = BURST * NS_PER_SEC;
		credit -= emit((uint32_t)(credit / NS_PER_SEC), now) * NS_PER_SEC;
	}
}

int main(int argc, char **argv)
{
	if (argc < 3 || (strcmp(argv[2], "a") != 0 && strcmp(argv[2], "b") != 0)) {
		fprintf(stderr, "usage: rc_endpoint INTERFACE a|b [KEY=NUMBER ...]\n");
		return 2;
	}
	is_b = argv[2][0] == 'b';
	for (int i = 3; i < argc; i++)
		set_option(argv[i]);
	if (opt.qps == 0 || opt.qps > QPS_MAX || opt.pairs == 0 || opt.message == 0 ||
		opt.payload > 1400 || opt.payload % 8 != 0 || opt.payload == 0 ||
		opt.timeout > 31) {
		fprintf(stderr, "rc_endpoint: value out of range\n");
		return 2;
	}
	shape = (struct rc_shape){
		opt.message, opt.payload, opt.window, (uint8_t)opt.timeout, false};
	rc_set_shape(&shape);
	if (!wire_open(&wire, argv[1], opt.slow_us * 1000ull, opt.stamps != 0))
		return 1;
	make_qps();
	printf("ready\n");
	fflush(stdout);
	run();
	wire_close(&wire);
	return 0;
}
