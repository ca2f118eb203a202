/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All functions of probes/ that read received packets. First the input is a frame. Then it
 * changes bytes of a valid probe, of its answer, and of a switch's ICMP message about a trace;
 * all checksums are then corrected, so that the code after the checksum tests is reached.
 * Checks: nothing beyond the frame is read; a packet not made with the key is neither answered
 * nor accepted; counters add up.
 */
#include <errno.h>
#include <stdlib.h>
#include "../unit/probe_frames.h"
#include "probes/agree.h"
#include "probes/responder.h"
#include "probes/trace.h"
#include "roce/icrc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(x)                                                                                    \
	do {                                                                                       \
		if (!(x))                                                                          \
			abort();                                                                   \
	} while (0)
#define CLOCK 1700000000u
#define NOW   1000000000u
#define L3    14u

static const struct hp3_times at = {CLOCK, NOW};
static struct hp3_probe_stats stats;
static struct hp3_tracer tracer;
static struct hp3_heard heard;
static const struct hp3_receiver rx = {&probe_keys, &heard, {CLOCK, 30}, HP3_PROBE_PORT, &stats};
static const struct hp3_receiver keyless = {&no_keys, &heard, {CLOCK, 30}, HP3_PROBE_PORT, &stats};
static _Alignas(64) uint8_t memory[8192];

static struct hp3_responder *fresh_responder(const struct hp3_probe_keys *keys)
{
	struct hp3_responder_config cfg = {.keys = *keys,
		.heard = &heard,
		.clock_s = 30,
		.source = {.rate = 1, .burst = 1},
		.all = {.rate = 1, .burst = 1},
		.unknown = {.rate = 1, .burst = 1},
		.sources = 8,
		.window = 8};
	struct hp3_responder *r = hp3_responder_create(memory, sizeof(memory), &cfg, &stats);

	MUST(r != NULL);
	return r;
}

/* Returns whether it was answered; if so, once, and the answer is no larger. */
static bool ask_responder(const struct hp3_parsed *f, const struct hp3_probe_keys *keys)
{
	const struct hp3_view *v = f->v;
	struct hp3_responder *r = fresh_responder(keys);
	struct hp3_answer answer, got;
	struct frame out;
	enum hp3_respond_fate fate = hp3_responder_take(r, f, true, &at, &answer);

	MUST((fate == HP3_RESPOND_PASS) == !hp3_peer_is(f->bytes, v));
	if (fate != HP3_RESPOND_ANSWER)
		return false;
	MUST(hp3_icrc_ok(f->bytes, v));
	MUST(hp3_responder_take(r, f, true, &at, &got) == HP3_RESPOND_DROP);
	int n = hp3_answer_build(out.b, sizeof(out.b), f, &answer, RECEIVER(keys, NULL));
	MUST(n > 0 && n - L3 <= v->icrc_off + HP3_ICRC_LEN - v->l3_off + 4u);
	out.len = (uint32_t)n;
	reparse(&out);
	MUST(hp3_answer_read(PARSED(&out), RECEIVER(keys, &stats), &got) == HP3_MESSAGE_OK);
	MUST(got.id == answer.id && got.ce == answer.ce);
	return true;
}

static void read_all(const uint8_t *bytes, uint32_t len)
{
	struct hp3_trace_result res;
	struct hp3_answer answer;
	struct hp3_agree message;
	struct hp3_view v;
	const struct hp3_parsed f = {bytes, len, &v};

	hp3_parse(bytes, len, &v);
	MUST(!ask_responder(&f, &probe_keys));
	ask_responder(&f, &no_keys);
	MUST(hp3_answer_read(&f, RECEIVER(&probe_keys, &stats), &answer) != HP3_MESSAGE_OK);
	hp3_answer_read(&f, RECEIVER(&no_keys, &stats), &answer);
	MUST(hp3_agree_read(&f, &rx, &message) != HP3_MESSAGE_OK);
	MUST(hp3_agree_read(&f, &keyless, &message) != HP3_MESSAGE_OK);
	hp3_tracer_init(&tracer, &(struct hp3_trace_params){.timeout_ns = 1}, 1, &stats);
	MUST(hp3_trace_icmp(&tracer, &f, NOW, &res) == -ENOMSG);
}

/* Pairs of bytes: where behind the IP header's start, and what by XOR. True if anything changed. */
static bool patch(struct frame *f, const uint8_t *data, size_t size)
{
	struct frame before = *f;

	for (size_t i = 0; i + 1 < size && i < 16; i += 2)
		f->b[L3 + data[i] % (f->len - L3)] ^= data[i + 1];
	reparse(f);
	return memcmp(f->b, before.b, f->len) != 0;
}

/* Fields that the tag speaks for decide; the rest of the header may be anything. */
static void patched_probe(const uint8_t *data, size_t size, bool ipv6)
{
	struct frame f, good;
	struct hp3_peer_probe p, q;

	make_probe(&good, ipv6, 0x12345678, CLOCK, &probe_key);
	f = good;
	patch(&f, data, size);
	if (f.v.class == HP3_CLASS_OTHER)
		return;
	hp3_icrc_store(f.b, &f.v);
	if (!ask_responder(PARSED(&f), &probe_keys))
		return;
	MUST(hp3_peer_read(PARSED(&f), &probe_keys, CLOCK, &p) == 0);
	MUST(hp3_peer_read(PARSED(&good), &probe_keys, CLOCK, &q) == 0);
	MUST(p.hash == q.hash && p.id == q.id && p.time == q.time && p.psn == q.psn);
	MUST(p.dest_qpn == q.dest_qpn && f.v.sport == good.v.sport);
}

static void patched_answer(const uint8_t *data, size_t size, bool ipv6)
{
	struct hp3_answer answer = {.id = 7, .clock_us = 9}, got;
	uint32_t ip = ipv6 ? 40 : 20;
	struct frame probe, f, good;

	make_probe(&probe, ipv6, 7, CLOCK, &probe_key);
	good.len = (uint32_t)hp3_answer_build(
		good.b, sizeof(good.b), PARSED(&probe), &answer, RECEIVER(&probe_keys, NULL));
	reparse(&good);
	f = good;
	patch(&f, data, size);
	if (f.b[L3] >> 4 == (ipv6 ? 6 : 4) && hp3_be16(f.b + L3 + ip + 4) == f.len - L3 - ip)
		store_udp_csum(f.b, L3, L3 + ip);
	if (hp3_answer_read(PARSED(&f), RECEIVER(&probe_keys, &stats), &got) == HP3_MESSAGE_OK)
		MUST(got.id == 7 && !got.ce && got.clock_us == 9);
}

static void patched_word(const uint8_t *data, size_t size, bool ipv6)
{
	const struct hp3_agree message = {.kind = HP3_AGREE_YES,
		.pmtu_log2 = 10,
		.evs = 64,
		.turn = 5,
		.stamp_us = CLOCK * 1000000ull};
	struct hp3_addressing a = flow_addressing(ipv6, HP3_PROBE_PORT);
	struct hp3_agree got;
	uint32_t ip = ipv6 ? 40 : 20;
	struct frame f;

	f.len = (uint32_t)hp3_agree_build(f.b, sizeof(f.b), &a, &message, &probe_key);
	reparse(&f);
	patch(&f, data, size);
	if (f.b[L3] >> 4 == (ipv6 ? 6 : 4) && hp3_be16(f.b + L3 + ip + 4) == f.len - L3 - ip)
		store_udp_csum(f.b, L3, L3 + ip);
	if (hp3_agree_read(PARSED(&f), &rx, &got) != HP3_MESSAGE_OK)
		return;
	MUST(got.kind == HP3_AGREE_YES && got.turn == 5 && got.evs == 64);
	MUST(hp3_agree_read(PARSED(&f), &rx, &got) == HP3_MESSAGE_DROP);
	hp3_heard_init(&heard, 1, 0);
}

static void patched_expired(const uint8_t *data, size_t size, bool ipv6)
{
	static const uint8_t hop[16] = {0x14, 1, 2, 3};
	struct hp3_trace_params params = {.timeout_ns = 1, .limit = {.rate = 1, .burst = 1}};
	struct hp3_trace_ask ask = {.cookie = 3, .qpn = 1, .psn = 2, .ttl = 2};
	struct hp3_addressing a = flow_addressing(ipv6, 0xc321);
	struct hp3_trace_result res;
	struct frame probe, f;

	hp3_tracer_init(&tracer, &params, 1, &stats);
	probe.len = (uint32_t)hp3_trace_start(&tracer, &a, &ask, &at, probe.b);
	make_expired(&f, &probe, hop, size ? data[0] % 41 : 0);
	patch(&f, data, size);
	if (f.b[L3] >> 4 == (ipv6 ? 6 : 4))
		repair_icmp(&f);
	if (hp3_trace_icmp(&tracer, PARSED(&f), NOW, &res) == 0) {
		MUST(res.ask.cookie == 3 && res.port == 0xc321 && res.ipv6 == ipv6);
		MUST(res.outcome == HP3_TRACE_HOP || res.outcome == HP3_TRACE_ODD);
		MUST(!hp3_trace_expire(&tracer, NOW + 1, &res));
	} else {
		MUST(hp3_trace_expire(&tracer, NOW + 1, &res));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *f = malloc(size ? size : 1); /* its own block: ASan sees the first byte beyond */

	if (!f)
		return 0;
	memcpy(f, data, size);
	read_all(f, (uint32_t)size);
	free(f);
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		patched_probe(data, size, ipv6);
		patched_answer(data, size, ipv6);
		patched_word(data, size, ipv6);
		patched_expired(data, size, ipv6);
	}
	MUST(stats.peer_probes ==
		stats.answered + stats.bad_probe_icrc + stats.bad_tag + stats.bad_clock +
			stats.replayed + stats.flood_source + stats.flood_all + stats.window_full +
			stats.sources_full + stats.reports_accepted + stats.other_version +
			stats.reports_unkeyed + stats.reports_old + stats.flood_unknown);
	return 0;
}
