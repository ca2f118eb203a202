/* SPDX-License-Identifier: BSD-3-Clause */
/* Which messages count: keys of pairs of hosts, a second key, no key, versions, restarts. */
#include <setjmp.h>
#include <sodium/crypto_shorthash.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "responder_rig.h"
#include "roce/icrc.h"

static void make_report(struct frame *f, uint8_t number, uint64_t time)
{
	struct hp3_addressing a = flow_addressing(false, 0xc000);
	struct hp3_peer_probe p = {.dest_qpn = 1,
		.psn = 2,
		.id = hp3_report_id(0x42, number),
		.time = time * 1000000,
		.report = true};

	f->len = (uint32_t)hp3_peer_build(f->b, sizeof(f->b), &a, &p, &cfg.keys.key[0]);
	reparse(f);
}

static int take_unauthenticated(const struct frame *f)
{
	struct hp3_answer answer;

	return hp3_responder_take(r, PARSED(f), false, AT_NOW, &answer);
}

/* The key of a and b, as it would be known to who broke into one of these hosts. */
static struct hp3_probe_key key_between(const struct hp3_addressing *a)
{
	struct hp3_probe_key key;
	uint8_t ends[34] = {0, a->ipv6};

	memcpy(ends + 2, a->src_ip, 4);
	memcpy(ends + 18, a->dst_ip, 4);
	crypto_shorthash_siphashx24(key.bytes, ends, sizeof(ends), probe_key.bytes);
	return key;
}

/* A report that bears a tag made with `key` itself. */
static void forge(struct frame *f, const struct hp3_addressing *a, const struct hp3_probe_key *key)
{
	uint8_t in[62] = {HP3_TAG_PROBE, a->ipv6}, out[8];
	uint8_t *va;

	make_report(f, 1, CLOCK);
	memcpy(f->b + 26, a->src_ip, 4);
	memcpy(f->b + 30, a->dst_ip, 4);
	store_ip_csum(f->b + 14);
	reparse(f);
	va = f->b + f->v.udp_off + 20;
	memcpy(in + 2, a->src_ip, 4);
	memcpy(in + 18, a->dst_ip, 4);
	hp3_put_be16(in + 34, 0xc000);
	hp3_put_be16(in + 36, HP3_ROCE_UDP_PORT);
	hp3_put_be32(in + 38, 1 | 0x80000000u);
	hp3_put_be32(in + 42, 2);
	hp3_put_be32(in + 46, hp3_be32(va + 4));
	hp3_put_be64(in + 50, CLOCK * 1000000ull);
	crypto_shorthash(out, in, sizeof(in), key->bytes);
	memcpy(va + 8, out + 4, 4);
	memcpy(va + 24, out, 4);
	hp3_icrc_store(f->b, &f->v);
}

static void the_key_of_two_hosts_speaks_for_one_of_them_to_the_other(void **state)
{
	struct hp3_addressing ab = flow_addressing(false, 0xc000), ba = ab, cb = ab;
	struct hp3_probe_key leaked = key_between(&ab);
	struct frame f;

	memcpy(ba.src_ip, ab.dst_ip, 4);
	memcpy(ba.dst_ip, ab.src_ip, 4);
	cb.src_ip[3] = 77;
	forge(&f, &cb, &leaked);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	forge(&f, &ba, &leaked); /* nor back */
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	forge(&f, &cb, &probe_key); /* the secret itself makes no tags */
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(st.bad_tag, 3);
	forge(&f, &ab, &leaked);
	assert_int_equal(take(&f), HP3_RESPOND_REPORT);
	expect_sum();
}

/* While keys change, both are believed, and an answer comes under the key of its probe. */
static void a_second_key(void **state)
{
	const struct hp3_probe_key old = {{9, 9}};
	const struct hp3_probe_keys askers[] = {
		{{probe_key}}, {{old}}, {{old, probe_key}}, {{probe_key, old}}};
	struct hp3_probe_stats got = {0};
	struct hp3_answer answer;
	struct frame probe, f;

	cfg.keys.key[1] = old;
	assert_int_equal(hp3_responder_reconfigure(r, &cfg), 0);
	for (uint32_t i = 0; i < 4; i++) {
		make_probe(&probe, false, i, CLOCK, &askers[i].key[0]);
		assert_int_equal(hp3_responder_take(r, PARSED(&probe), false, AT_NOW, &answer),
			HP3_RESPOND_ANSWER);
		f.len = (uint32_t)hp3_answer_build(
			f.b, sizeof(f.b), PARSED(&probe), &answer, RECEIVER(&cfg.keys, NULL));
		reparse(&f);
		assert_int_equal(hp3_answer_read(PARSED(&f), RECEIVER(&askers[i], &got), &answer),
			HP3_MESSAGE_OK);
	}
	assert_int_equal(st.old_key, 2);
	assert_int_equal(got.old_key, 0);
	cfg.keys.key[1] = no_key;
	assert_int_equal(hp3_responder_reconfigure(r, &cfg), 0);
	make_probe(&probe, false, 9, CLOCK, &old);
	assert_int_equal(take(&probe), HP3_RESPOND_DROP);
	make_probe(&probe, false, 9, CLOCK, &no_key); /* an empty second key is none */
	assert_int_equal(take(&probe), HP3_RESPOND_DROP);
	assert_int_equal(st.bad_tag, 2);
}

/* Captured, and sent again after a restart of the receiver, whose memory is gone. */
static void a_report_does_not_survive_a_restart(void **state)
{
	struct frame before, after;

	make_report(&before, 1, CLOCK - 2);
	make_report(&after, 2, CLOCK + 1);
	assert_int_equal(take(&before), HP3_RESPOND_REPORT);
	hp3_heard_init(&heard, 1, (CLOCK - 1) * 1000000ull);
	responder_anew();
	for (uint32_t s = 0; s < 60; s++)
		assert_int_equal(take_at(&before, CLOCK + s), HP3_RESPOND_DROP);
	assert_int_equal(st.reports_old, 29);
	assert_int_equal(st.bad_clock, 31);
	assert_int_equal(take(&after), HP3_RESPOND_REPORT);
	make_report(&after, 3, CLOCK - 1); /* in the moment in which it began: nobody knows */
	assert_int_equal(take(&after), HP3_RESPOND_DROP);
	expect_sum();
}

static void without_a_key_no_report_is_believed(void **state)
{
	struct frame f;

	cfg.keys = no_keys;
	responder_anew();
	make_report(&f, 1, CLOCK);
	assert_int_equal(take(&f), HP3_RESPOND_DROP);
	assert_int_equal(take_unauthenticated(&f), HP3_RESPOND_DROP);
	assert_int_equal(st.reports_unkeyed, 2);
	expect_sum();
}

static void another_version_is_named(void **state)
{
	struct frame f;

	for (int report = 0; report < 2; report++) {
		if (report)
			make_report(&f, 1, CLOCK);
		else
			make_probe(&f, true, 1, CLOCK, &probe_key);
		f.b[f.v.udp_off + 21] ^= (HP3_PROBES_VERSION ^ 3) << 4; /* 3: there was none yet */
		assert_int_equal(hp3_peer_version(f.b, &f.v), 3);
		assert_int_equal(take(&f), HP3_RESPOND_DROP);
		assert_int_equal(st.bad_probe_icrc, report + 1);
		hp3_icrc_store(f.b, &f.v);
		assert_int_equal(take(&f), HP3_RESPOND_DROP);
		assert_int_equal(st.other_version, report + 1);
	}
	assert_int_equal(st.bad_tag, 0);
	expect_sum();
}

/* 20,000 forged probes a second from ever new sources, without a key: who is known is answered. */
static void unauthenticated_take_nothing_from_who_is_known(void **state)
{
	uint32_t answered = 0, unauthenticated = 0;
	struct frame f;

	cfg.keys = no_keys;
	cfg.sources = 8;
	cfg.window = 65536;
	responder_anew();
	for (uint32_t i = 0; i < 40000; i++, now += SEC / 20000) {
		peer_probe(&f, 1000 + i, i, CLOCK);
		unauthenticated += take_unauthenticated(&f) == HP3_RESPOND_ANSWER;
		if (i % 400 == 0) {
			peer_probe(&f, 1, i, CLOCK);
			answered += take(&f) == HP3_RESPOND_ANSWER;
		}
	}
	assert_int_equal(answered, 100);
	assert_in_range(unauthenticated, 2 * 160, 32 + 2 * 160);
	assert_int_equal(st.flood_unknown, 40000 - unauthenticated);
	expect_sum();
}

/* One that floods under a few addresses leaves the others of no record their share. */
static void unauthenticated_share_buckets(void **state)
{
	uint32_t loud = 0, quiet = 0;
	struct frame f;

	cfg.keys = no_keys;
	cfg.window = 65536;
	responder_anew();
	for (uint32_t i = 0; i < 20000; i++, now += SEC / 10000) {
		peer_probe(&f, 7, i, CLOCK);
		loud += take_unauthenticated(&f) == HP3_RESPOND_ANSWER;
		if (i % 500 == 0) {
			peer_probe(&f, 100 + i / 500, i, CLOCK);
			quiet += take_unauthenticated(&f) == HP3_RESPOND_ANSWER;
		}
	}
	assert_in_range(loud, 2 * 10, 2 + 2 * 10);
	assert_in_range(quiet, 38, 40); /* one in 256 falls into the bucket of the loud one */
	expect_sum();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESPONDER_TEST(the_key_of_two_hosts_speaks_for_one_of_them_to_the_other),
		RESPONDER_TEST(a_second_key),
		RESPONDER_TEST(a_report_does_not_survive_a_restart),
		RESPONDER_TEST(without_a_key_no_report_is_believed),
		RESPONDER_TEST(another_version_is_named),
		RESPONDER_TEST(unauthenticated_take_nothing_from_who_is_known),
		RESPONDER_TEST(unauthenticated_share_buckets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
