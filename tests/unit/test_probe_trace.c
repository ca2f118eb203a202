/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces: their packets, which of the switches' messages match a trace, and messages that are odd,
 * late, forged, or missing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "probe_frames.h"
#include "probes/trace.h"
#include "roce/icrc.h"

#define CLOCK 1700000000u
#define MS    1000000ull
#define L3    14u

static struct hp3_tracer t;
static struct hp3_probe_stats st;
static uint64_t now;
static const struct hp3_trace_params params = {
	.timeout_ns = 50 * MS, .limit = {.rate = 100, .burst = 64}};
static const uint8_t spine4[16] = {10, 0, 0, 7};
static const uint8_t spine6[16] = {0xfd, 0, 0, 7};

static int setup(void **state)
{
	memset(&st, 0, sizeof(st));
	now = 1000 * MS;
	hp3_tracer_init(&t, &params, 1, &st);
	t.params.key = probe_key;
	return 0;
}

static int start(struct frame *f, bool ipv6, uint16_t port, uint8_t ttl, uint64_t cookie)
{
	struct hp3_addressing a = flow_addressing(ipv6, port);
	struct hp3_trace_ask ask = {.cookie = cookie, .qpn = 0x1234, .psn = 0x777, .ttl = ttl};
	int n = hp3_trace_start(&t, &a, &ask, &(struct hp3_times){CLOCK, now}, f->b);

	if (n > 0) {
		f->len = (uint32_t)n;
		reparse(f);
	}
	return n > 0 ? 0 : n;
}

static int icmp(const struct frame *f, struct hp3_trace_result *res)
{
	return hp3_trace_icmp(&t, PARSED(f), now, res);
}

static void sent_like_the_data(void **state)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		struct hp3_addressing want = flow_addressing(ipv6, 0xc001), got;
		struct hp3_peer_probe p;
		struct frame f;
		assert_int_equal(start(&f, ipv6, 0xc001, 2, 0), 0);
		hp3_addressing_same(f.b, &f.v, &got);
		assert_int_equal(got.ttl, 2);
		want.ttl = 2;
		expect_same_way(&got, &want);
		assert_int_equal(f.v.dest_qpn, 0x1234);
		/* Too large a TTL: a peer probe, and sound (rule 1). */
		assert_true(hp3_peer_is(f.b, &f.v));
		assert_int_equal(hp3_peer_read(PARSED(&f), &probe_keys, CLOCK, &p), 0);
		assert_int_equal(p.psn, 0x777);
	}
	assert_int_equal(st.traces, 2);
}

/* A hop is found with any quote from 8 bytes to the whole packet. */
static void hop_found_by_8_bytes_and_more(void **state)
{
	for (uint32_t quoted = 8; quoted <= 40; quoted++) {
		for (int ipv6 = 0; ipv6 < 2; ipv6++) {
			struct hp3_trace_result res;
			struct frame probe, f;
			setup(NULL);
			assert_int_equal(start(&probe, ipv6, 0xc001, 2, 77), 0);
			make_expired(&f, &probe, ipv6 ? spine6 : spine4, quoted);
			now += MS;
			assert_int_equal(icmp(&f, &res), 0);
			assert_int_equal(res.outcome, HP3_TRACE_HOP);
			assert_memory_equal(res.hop, ipv6 ? spine6 : spine4, 16);
			assert_int_equal(res.ipv6, ipv6);
			assert_int_equal(res.ask.cookie, 77);
			assert_int_equal(res.ask.ttl, 2);
			assert_int_equal(res.port, 0xc001);
			assert_int_equal(res.rtt_ns, MS);
			assert_int_equal(st.traces_hop, 1);
			assert_int_equal(icmp(&f, &res), -ENOMSG); /* once */
			assert_int_equal(st.traces_stray, 1);
		}
	}
}

/* Switches that change ToS, TTL and checksum of what they quote, pad it with zeros, or add an
 * extension (RFC 4884). */
static void quotes_as_switches_make_them(void **state)
{
	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		uint32_t header = ipv6 ? 40 : 20;
		struct hp3_trace_result res;
		struct frame probe, f;
		assert_int_equal(start(&probe, ipv6, 0xc001, 1, 0), 0);
		make_expired(&f, &probe, ipv6 ? spine6 : spine4, 40);
		uint8_t *quote = f.b + L3 + header + 8;
		if (ipv6) {
			quote[0] |= 0x0f; /* traffic class */
			quote[1] |= 0xf0;
			quote[7] = 0;
		} else {
			quote[1] = 0xff;
			quote[8] = 0;
			quote[10] ^= 0x55;
		}
		memset(quote + header + 8, 0, 32); /* only 8 bytes are real */
		memset(f.b + f.len, 0xab, 100); /* further padding, an extension */
		f.len += 100;
		hp3_put_be16(f.b + L3 + (ipv6 ? 4 : 2),
			(uint16_t)(hp3_be16(f.b + L3 + (ipv6 ? 4 : 2)) + 100));
		repair_icmp(&f);
		assert_int_equal(icmp(&f, &res), 0);
		assert_int_equal(res.outcome, HP3_TRACE_HOP);
	}
}

static void odd_addresses(void **state)
{
	static const uint8_t odd4[][16] = {{0, 0, 0, 0}, {127, 0, 0, 1}, {169, 254, 1, 1},
		{192, 0, 0, 8}, {224, 0, 0, 1}, {255, 255, 255, 255}, {10, 9, 0, 1}, {10, 9, 0, 2}};
	static const uint8_t odd6[][16] = {{0}, {[15] = 1}, {0xfe, 0x80, [15] = 1}, {0xff, 2},
		{0xfd, [15] = 1}, {0xfd, [15] = 2}};

	for (size_t i = 0; i < sizeof(odd4) / 16 + sizeof(odd6) / 16; i++) {
		bool ipv6 = i >= sizeof(odd4) / 16;
		const uint8_t *hop = ipv6 ? odd6[i - sizeof(odd4) / 16] : odd4[i];
		struct hp3_trace_result res;
		struct frame probe, f;
		assert_int_equal(start(&probe, ipv6, 0xc001, 1, 0), 0);
		make_expired(&f, &probe, hop, 8);
		assert_int_equal(icmp(&f, &res), 0);
		assert_int_equal(res.outcome, HP3_TRACE_ODD);
		assert_memory_equal(res.hop, hop, ipv6 ? 16 : 4);
	}
	assert_int_equal(st.traces_odd, 14);
	assert_int_equal(st.traces_hop, 0);
}

static void nobody_answers(void **state)
{
	struct hp3_trace_result res;
	struct frame probe, f;

	assert_int_equal(start(&probe, true, 0xc001, 2, 5), 0);
	now += 50 * MS - 1;
	assert_false(hp3_trace_expire(&t, now, &res));
	now++;
	assert_true(hp3_trace_expire(&t, now, &res));
	assert_int_equal(res.outcome, HP3_TRACE_SILENT);
	assert_int_equal(res.ask.cookie, 5);
	assert_false(hp3_trace_expire(&t, now, &res));
	assert_int_equal(st.traces_silent, 1);

	/* Its port stays taken, so that what comes late is not taken for another's. */
	assert_int_equal(start(&f, true, 0xc001, 3, 6), -EALREADY);
	make_expired(&f, &probe, spine6, 8);
	assert_int_equal(icmp(&f, &res), -ESTALE);
	assert_int_equal(start(&f, true, 0xc001, 3, 6), 0);

	/* Or until it does not come at all. */
	now += 50 * MS;
	assert_true(hp3_trace_expire(&t, now, &res));
	now += 50 * MS;
	assert_false(hp3_trace_expire(&t, now, &res));
	assert_int_equal(start(&f, true, 0xc001, 3, 6), 0);
	assert_int_equal(st.traces_hop + st.traces_odd, 0);
}

static void peer_reached(void **state)
{
	struct hp3_trace_result res;
	struct hp3_peer_probe p;
	struct frame f;

	assert_int_equal(start(&f, false, 0xc001, 16, 9), 0);
	hp3_peer_read(PARSED(&f), &probe_keys, CLOCK, &p);
	assert_false(hp3_trace_reached(&t, p.id ^ 0x40, now, &res));
	assert_false(hp3_trace_reached(&t, p.id ^ 1, now, &res));
	assert_true(hp3_trace_reached(&t, p.id, now + MS, &res));
	assert_int_equal(res.outcome, HP3_TRACE_REACHED);
	assert_int_equal(res.ask.cookie, 9);
	assert_int_equal(res.rtt_ns, MS);
	assert_false(hp3_trace_reached(&t, p.id, now, &res));
	assert_int_equal(st.traces_reached, 1);
}

static void limits(void **state)
{
	struct frame f;
	uint32_t sent = 0;

	for (uint16_t i = 0; i < HP3_TRACES_MAX; i++)
		assert_int_equal(start(&f, false, (uint16_t)(0xc000 + i), 1, i), 0);
	assert_int_equal(start(&f, false, 0xd000, 1, 0), -ENOSPC);
	assert_int_equal(start(&f, false, 0xc003, 2, 0), -EALREADY);

	setup(NULL);
	t.params.limit = (struct hp3_limit){.rate = 100, .burst = 10};
	for (uint32_t ms = 0; ms < 1000; ms++, now += MS) {
		struct hp3_trace_result res;
		while (hp3_trace_expire(&t, now, &res))
			continue;
		int err = start(&f, false, (uint16_t)(0xc000 + ms), 1, 0);
		assert_true(err == 0 || err == -EAGAIN);
		sent += err == 0;
	}
	assert_in_range(sent, 100, 110);
	assert_int_equal(st.traces, sent);

	assert_int_equal(start(&f, false, 1, 0, 0), -EINVAL);
	assert_int_equal(start(&f, false, 1, HP3_TRACE_TTL + 1, 0), -EINVAL);
	assert_int_equal(st.traces, sent);
}

/* What names no trace under way changes nothing and is the host's. */
static void hostile_messages_change_nothing(void **state)
{
	struct hp3_trace_result res;
	struct frame probe, good, f;
	uint32_t passed = 0;

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		setup(NULL);
		assert_int_equal(start(&probe, ipv6, 0xc001, 2, 77), 0);
		make_expired(&good, &probe, ipv6 ? spine6 : spine4, 40);
		uint32_t quote = L3 + (ipv6 ? 40 : 20) + 8, ip = ipv6 ? 40 : 20;
		for (uint32_t bit = quote * 8; bit < (quote + ip + 28) * 8; bit++) {
			uint32_t at = bit / 8 - quote;
			bool id = at >= ip + 24 && at < ip + 28;
			bool address = ipv6 ? at >= 8 && at < 40 : at >= 12 && at < 20;
			bool label = ipv6 ? at == 2 || at == 3 : at == 4 || at == 5;
			f = good;
			f.b[bit / 8] ^= (uint8_t)(1u << bit % 8);
			assert_int_equal(icmp(&f, &res), -ENOMSG); /* checksum */
			repair_icmp(&f);
			if (!id && !address && !label && !(at >= ip && at < ip + 6))
				continue;
			assert_int_equal(icmp(&f, &res), -ENOMSG);
			passed++;
		}
		assert_true(st.traces_bad > 200);
		assert_int_equal(st.traces_hop, 0);
		assert_int_equal(icmp(&good, &res), 0); /* the trace is still under way */
	}
	assert_true(passed > 500);
}

static void others_pass(void **state)
{
	struct hp3_trace_result res;
	struct frame probe, f;

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		uint32_t icmp_at = L3 + (ipv6 ? 40 : 20);
		setup(NULL);
		assert_int_equal(start(&probe, ipv6, 0xc001, 2, 77), 0);
		assert_int_equal(icmp(&probe, &res), -ENOMSG);
		make_expired(&f, &probe, ipv6 ? spine6 : spine4, 40);
		f.b[icmp_at] = ipv6 ? 1 : 3; /* destination unreachable */
		repair_icmp(&f);
		assert_int_equal(icmp(&f, &res), -ENOMSG);
		make_expired(&f, &probe, ipv6 ? spine6 : spine4, 40);
		f.b[icmp_at + 1] = 1; /* reassembly time exceeded */
		repair_icmp(&f);
		assert_int_equal(icmp(&f, &res), -ENOMSG);
		make_expired(&f, &probe, ipv6 ? spine6 : spine4, 40);
		f.b[L3 + (ipv6 ? 39 : 19)] ^= 4; /* to another host */
		repair_icmp(&f);
		assert_int_equal(icmp(&f, &res), -ENOMSG);
		make_expired(&f, &probe, ipv6 ? spine6 : spine4, 40);
		f.b[L3 + 6] = ipv6 ? 44 : 0x20; /* a fragment */
		repair_icmp(&f);
		assert_int_equal(icmp(&f, &res), -ENOMSG);
		assert_int_equal(st.traces_hop + st.traces_odd + st.traces_stray, 0);
	}
}

static void truncated(void **state)
{
	struct hp3_trace_result res;
	struct frame probe, f;

	for (int ipv6 = 0; ipv6 < 2; ipv6++) {
		assert_int_equal(start(&probe, ipv6, 0xc001, 2, 77), 0);
		for (uint32_t quoted = 0; quoted <= 40; quoted++) {
			make_expired(&f, &probe, ipv6 ? spine6 : spine4, quoted);
			for (uint32_t len = 0; len < f.len; len++) {
				const uint8_t *b = guarded_copy(f.b, len);
				struct hp3_view v;
				const struct hp3_parsed got = {b, len, &v};
				hp3_parse(b, len, &v);
				assert_int_equal(hp3_trace_icmp(&t, &got, now, &res), -ENOMSG);
			}
			if (quoted < 8)
				assert_int_equal(icmp(&f, &res), -ENOMSG);
		}
	}
	assert_int_equal(st.traces_hop, 0);
}

/* Many at a time, answered in any order, lost or doubled: each result is that of its own port. */
static void many_ports(void **state)
{
	struct frame probe[32], f;
	struct rng r = {1};
	uint32_t found = 0, silent = 0;

	for (uint32_t round = 0; round < 40; round++, now += 1000 * MS) {
		struct hp3_trace_result res;
		for (uint32_t i = 0; i < 32; i++) {
			uint16_t port = (uint16_t)(0xc000 + round * 32 + i);
			assert_int_equal(start(&probe[i], i % 2, port, 2, port), 0);
		}
		for (uint32_t k = 0; k < 64; k++) {
			uint32_t i = rng_below(&r, 32);
			uint8_t hop[16] = {0x14, 0, (uint8_t)(probe[i].v.sport >> 8),
				(uint8_t)probe[i].v.sport};
			make_expired(&f, &probe[i], hop, rng_below(&r, 2) ? 8 : 40);
			int err = icmp(&f, &res);
			if (err == -ENOMSG)
				continue; /* doubled */
			assert_int_equal(err, 0);
			assert_int_equal(res.outcome, HP3_TRACE_HOP);
			assert_int_equal(res.port, probe[i].v.sport);
			assert_int_equal(res.ask.cookie, res.port);
			assert_int_equal(hp3_be16(res.hop + 2), res.port);
			found++;
		}
		now += 50 * MS;
		while (hp3_trace_expire(&t, now, &res))
			silent++;
		now += 50 * MS;
		assert_false(hp3_trace_expire(&t, now, &res));
	}
	assert_int_equal(found + silent, 40 * 32);
	assert_true(silent > 50 && found > 1000);
	assert_int_equal(st.traces_hop, found);
	assert_int_equal(st.traces_silent, silent);
}

static void names(void **state)
{
	assert_string_equal(hp3_trace_outcome_name(HP3_TRACE_HOP), "hop");
	assert_string_equal(hp3_trace_outcome_name(HP3_TRACE_SILENT), "silent");
	assert_string_equal(hp3_trace_outcome_name((enum hp3_trace_outcome)99), "?");
}

#define TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sent_like_the_data),
		TEST(hop_found_by_8_bytes_and_more),
		TEST(quotes_as_switches_make_them),
		TEST(odd_addresses),
		TEST(nobody_answers),
		TEST(peer_reached),
		TEST(limits),
		TEST(hostile_messages_change_nothing),
		TEST(others_pass),
		TEST(truncated),
		TEST(many_ports),
		TEST(names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
