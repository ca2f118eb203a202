/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any file as a capture to replay, with and without moves. The replay ends in time, or
 * the file is refused with a message. Every packet is in the output, or counted as dropped. A
 * packet whose ICRC was correct has a correct ICRC in the output. If no packet was changed, the
 * output equals the input. Input that is not a capture is a list of changes to a valid capture:
 * their number, then position (two bytes) and value of each.
 */
#include <jansson.h>
#include <pcap/pcap.h>
#include <signal.h>
#include <sys/time.h>
#include "app/hp3d/lcores/eal.h"
#include "app/hp3d/replay/replay.h"
#include "input.h"
#include "roce/build.h"

#define CHANGE      3u /* bytes */
#define CHANGES_MAX 16u
#define MESSAGES    12u
#define FRAME       256u
#define GAP_NS      10000u
#define SECONDS     10 /* of CPU, for one replay */
#define MOVE_TO     50000u

static struct hp3_config cfg;
static char out_path[32];
static uint8_t *base; /* a capture */
static size_t base_size;

static void too_long(int sig)
{
	abort();
}

static void put(pcap_dumper_t *d, unsigned number, const uint8_t *f, int len)
{
	struct pcap_pkthdr h = {
		.caplen = (uint32_t)len, .len = (uint32_t)len, .ts = {1700000000, number * GAP_NS}};

	MUST(len > 0);
	pcap_dump((u_char *)d, &h, f);
}

/* Messages of one packet, two at a time, and their acknowledgements. */
static void make_base(void)
{
	struct hp3_addressing a = {.dst_mac = {2, 0, 0, 0, 0, 2},
				      .src_mac = {2, 0, 0, 0, 0, 1},
				      .src_ip = {10, 9, 0, 1},
				      .dst_ip = {10, 9, 0, 2},
				      .tclass = 2,
				      .ttl = 64,
				      .sport = 49500,
				      .pkey = 0xffff},
			      b = a;
	struct hp3_fields fields = {.opcode = HP3_OP_RC_SEND_ONLY,
		.ackreq = true,
		.dest_qpn = 0x22,
		.payload = "sixteen bytes of",
		.payload_len = 16};
	FILE *f = open_memstream((char **)&base, &base_size);
	pcap_t *dead =
		pcap_open_dead_with_tstamp_precision(DLT_EN10MB, FRAME, PCAP_TSTAMP_PRECISION_NANO);
	pcap_dumper_t *d = f != NULL && dead != NULL ? pcap_dump_fopen(dead, f) : NULL;
	uint8_t frame[FRAME];

	MUST(d != NULL);
	memcpy(b.src_ip, a.dst_ip, 4);
	memcpy(b.dst_ip, a.src_ip, 4);
	for (unsigned i = 0; i < MESSAGES; i++) {
		fields.psn = i;
		put(d, 2 * i, frame, hp3_build(frame, sizeof(frame), &a, &fields));
		if (i > 0)
			put(d, 2 * i + 1, frame,
				hp3_build_ack(frame, sizeof(frame), &b, 0x11, i - 1, 0x1f, i));
	}
	pcap_dump_close(d);
	pcap_close(dead);
}

static void start(void)
{
	hp3_config_defaults(&cfg);
	cfg.eal.memory_mb = 64;
	cfg.engine.max_flows = 64;
	cfg.engine.max_pairs = 16;
	cfg.engine.hold_packets = 64;
	cfg.engine.max_moves = 16;
	snprintf(cfg.eal.file_prefix, sizeof(cfg.eal.file_prefix), "hp3-fuzz-replay-%d",
		(int)getpid());
	MUST(hp3d_eal_init(&cfg, 0, true) == 0);
	snprintf(out_path, sizeof(out_path), "/proc/self/fd/%d", memfd_create("out", 0));
	make_base();
	signal(SIGPROF, too_long);
}

static json_int_t number(const json_t *j, const char *name)
{
	const json_t *v = json_object_get(j, name);

	MUST(json_is_integer(v) && json_integer_value(v) >= 0);
	return json_integer_value(v);
}

/* The packets of both, with their stamps, one by one. libpcap does not read all pcapng files. */
static void compare(const char *in)
{
	char err[PCAP_ERRBUF_SIZE];
	pcap_t *p[2] = {
		pcap_open_offline_with_tstamp_precision(in, PCAP_TSTAMP_PRECISION_NANO, err),
		pcap_open_offline_with_tstamp_precision(out_path, PCAP_TSTAMP_PRECISION_NANO, err)};
	struct pcap_pkthdr *h[2];
	const u_char *data[2];

	MUST(p[0] != NULL && p[1] != NULL);
	while (pcap_next_ex(p[0], &h[0], &data[0]) == 1) {
		MUST(pcap_next_ex(p[1], &h[1], &data[1]) == 1);
		MUST(h[0]->caplen == h[1]->caplen && h[0]->len == h[1]->len);
		MUST(h[0]->ts.tv_sec == h[1]->ts.tv_sec && h[0]->ts.tv_usec == h[1]->ts.tv_usec);
		MUST(memcmp(data[0], data[1], h[0]->caplen) == 0);
	}
	MUST(pcap_next_ex(p[1], &h[1], &data[1]) != 1);
	pcap_close(p[0]);
	pcap_close(p[1]);
}

static void check(const char *in, const char *said, bool compared)
{
	json_t *j = json_loads(said, 0, NULL), *icrc = json_object_get(j, "icrc");
	json_int_t gone = number(j, "discarded") + number(j, "consumed") + number(j, "copies");

	MUST(number(icrc, "bad_out") <= number(icrc, "bad_in"));
	MUST(number(icrc, "good_out") + gone >= number(icrc, "good_in"));
	if (compared && gone == 0 && number(j, "changed") == 0)
		compare(in);
	json_decref(j);
}

static void replay(const uint8_t *data, size_t size, uint16_t move_to)
{
	static char said[1 << 20], told[4096];
	const struct hp3d_replay r = {
		.in = fuzz_file(data, size), .out = out_path, .move_to = move_to, .json = true};
	struct itimerval limit = {.it_value.tv_sec = SECONDS}, none = {0};
	FILE *out = fuzz_keep(&stdout, said, sizeof(said));
	FILE *err = fuzz_keep(&stderr, told, sizeof(told));
	int ret;

	setitimer(ITIMER_PROF, &limit, NULL);
	ret = hp3d_replay(&cfg, &r);
	setitimer(ITIMER_PROF, &none, NULL);
	fuzz_keep_end(&stderr, err);
	fuzz_keep_end(&stdout, out);
	MUST(strstr(told, "lost in the replay") == NULL);
	MUST(ret == 0 || told[0] != '\0');
	if (ret == 0)
		check(r.in, said, move_to == 0 && data[0] != 0x0a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint8_t magics[][4] = {
		{0x4d, 0x3c, 0xb2, 0xa1}, {0xd4, 0xc3, 0xb2, 0xa1}, {0x0a, 0x0d, 0x0d, 0x0a}};
	uint8_t *changed;

	if (base == NULL)
		start();
	for (unsigned i = 0; size >= 4 && i < 3; i++) {
		if (memcmp(data, magics[i], 4) == 0) {
			replay(data, size, 0);
			replay(data, size, MOVE_TO);
			return 0;
		}
	}
	changed = malloc(base_size);
	MUST(changed != NULL);
	memcpy(changed, base, base_size);
	for (size_t i = 0; size > 0 && i <= data[0] % CHANGES_MAX && (i + 1) * CHANGE < size; i++) {
		const uint8_t *c = data + 1 + i * CHANGE;

		changed[(c[0] << 8 | c[1]) % base_size] = c[2];
	}
	replay(changed, base_size, size % 2 != 0 ? MOVE_TO : 0);
	free(changed);
	return 0;
}
