/* SPDX-License-Identifier: BSD-3-Clause */
#include "responder_rig.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

struct hp3_responder_config cfg;
struct hp3_probe_stats st;
struct hp3_responder *r;
struct hp3_heard heard;
void *mem;
uint64_t now;

void responder_anew(void)
{
	size_t size = hp3_responder_size(&cfg);

	assert_true(size > 0);
	free(mem);
	mem = aligned_alloc(64, (size + 63) & ~(size_t)63);
	r = hp3_responder_create(mem, size, &cfg, &st);
	assert_non_null(r);
}

int responder_setup(void **state)
{
	cfg = (struct hp3_responder_config){.keys = probe_keys,
		.seed = 1,
		.clock_s = 30,
		.source = {.rate = 100, .burst = 20},
		.all = {.rate = 1000, .burst = 200},
		.unknown = {.rate = 160, .burst = 32},
		.heard = &heard,
		.sources = 64,
		.window = 8192};
	hp3_heard_init(&heard, 1, 0);
	memset(&st, 0, sizeof(st));
	now = 5 * SEC;
	responder_anew();
	return 0;
}

int responder_teardown(void **state)
{
	free(mem);
	mem = NULL;
	return 0;
}

int take_at(const struct frame *f, uint64_t clock)
{
	struct hp3_answer answer;

	return hp3_responder_take(r, PARSED(f), true, &(struct hp3_times){clock, now}, &answer);
}

int take(const struct frame *f)
{
	return take_at(f, CLOCK);
}

void peer_probe(struct frame *f, uint32_t peer, uint32_t id, uint64_t time)
{
	struct hp3_addressing a = flow_addressing(false, 0xc000);
	struct hp3_peer_probe p = {.dest_qpn = 1, .psn = 2, .id = id, .time = time};

	hp3_put_be32(a.src_ip, 0x0a000000 + peer);
	f->len = (uint32_t)hp3_peer_build(f->b, sizeof(f->b), &a, &p, &cfg.keys.key[0]);
	reparse(f);
}

void expect_sum(void)
{
	assert_int_equal(st.peer_probes,
		st.answered + st.bad_probe_icrc + st.bad_tag + st.bad_clock + st.replayed +
			st.flood_source + st.flood_all + st.window_full + st.sources_full +
			st.reports_accepted + st.other_version + st.reports_unkeyed +
			st.reports_old + st.flood_unknown);
}
