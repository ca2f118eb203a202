/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets of several paths reach the RNIC in the order of their PSNs (rfr/resequencer.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/random.h"
#include "rfr/resequencer.h"

#define US     1000ull
#define SECOND 1000000000ull
#define FIRST  0xfffff0u /* PSNs wrap soon */

static const struct hp3_reseq_params params = {
	.window = 64, .least_ns = 10 * US, .most_ns = 200 * US, .give_up_ns = 1000 * US};

static struct hp3_reseq r;
static uint64_t now;
static uint32_t got[4096], n_got; /* what the RNIC got: numbers of packets from FIRST on */

static int begin(void **state)
{
	memset(&r, 0, sizeof(r));
	hp3_reseq_init(&r, FIRST);
	now = 1000 * US;
	r.before = 0; /* as after many gaps that closed at once */
	r.until = now + SECOND;
	n_got = 0;
	return 0;
}

static void give(uint32_t i)
{
	assert_true(n_got < 4096);
	got[n_got++] = i;
}

static void let_out(void)
{
	uint32_t handle;

	while (hp3_reseq_next(&r, now, &handle))
		give(handle);
}

/* Packet i, which takes `span` PSNs, comes; its handle is its number. */
static enum hp3_reseq_verdict spans(uint32_t i, uint32_t span)
{
	enum hp3_reseq_verdict vd =
		hp3_reseq_arrive(&r, &params, hp3_psn_add(FIRST, i), span, i, now);

	if (vd == HP3_RESEQ_PASS || vd == HP3_RESEQ_OLD || vd == HP3_RESEQ_BEYOND)
		give(i);
	if (vd == HP3_RESEQ_PASS)
		let_out();
	return vd;
}

static enum hp3_reseq_verdict comes(uint32_t i)
{
	return spans(i, 1);
}

static void late(void)
{
	uint32_t handle;
	bool copy;

	while (hp3_reseq_late(&r, &params, now, &handle, &copy))
		give(handle);
}

static void rnic_got(uint32_t n, ...)
{
	va_list list;

	assert_int_equal(n_got, n);
	va_start(list, n);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(got[i], va_arg(list, uint32_t));
	va_end(list);
}

static void what_is_in_order_passes(void **state)
{
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(comes(i), HP3_RESEQ_PASS);
	assert_int_equal(n_got, 100);
	assert_true(hp3_reseq_due(&r, &params) == UINT64_MAX);
}

static void what_is_ahead_waits_for_the_missing(void **state)
{
	comes(0);
	assert_int_equal(comes(3), HP3_RESEQ_HOLD);
	assert_int_equal(comes(2), HP3_RESEQ_HOLD);
	assert_int_equal(comes(2), HP3_RESEQ_COPY);
	rnic_got(1, 0);
	comes(1);
	rnic_got(4, 0, 1, 2, 3);
	assert_int_equal(comes(1), HP3_RESEQ_OLD);
	assert_true(hp3_reseq_due(&r, &params) == UINT64_MAX);
}

/* What it says of its length counts, too. */
static void a_copy_takes_the_place(void **state)
{
	uint32_t psn = hp3_psn_add(FIRST, 2);

	assert_int_equal(hp3_reseq_leap(&r, psn), 2);
	assert_int_equal(comes(2), HP3_RESEQ_HOLD);
	assert_int_equal(hp3_reseq_leap(&r, psn), 0);
	assert_int_equal(comes(2), HP3_RESEQ_COPY);
	assert_int_equal(hp3_reseq_swap(&r, psn, 3, 7), 2);
	assert_int_equal(r.held, 1);
	comes(0);
	comes(1);
	rnic_got(3, 0, 1, 7);
	assert_int_equal(comes(5), HP3_RESEQ_PASS);
}

static void one_gap_behind_another(void **state)
{
	comes(1);
	comes(3);
	comes(0);
	rnic_got(2, 0, 1);
	assert_true(hp3_reseq_due(&r, &params) == now + 10 * US);
	comes(2);
	rnic_got(4, 0, 1, 2, 3);
}

/* The RNIC gets a copy of the one behind the gap only, and what it repeats is not waited for. */
static void what_is_lost_is_asked_for_once(void **state)
{
	for (uint32_t i = 1; i < 8; i++)
		comes(i);
	now += 10 * US - 1;
	late();
	rnic_got(0);
	now++;
	late();
	rnic_got(1, 1);
	late();
	rnic_got(1, 1);
	now += 50 * US; /* it has gone back */
	for (uint32_t i = 0; i < 9; i++)
		comes(i);
	rnic_got(17, 1, 0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5, 6, 7, 8);
	assert_int_equal(r.held, 0);
}

static void what_never_comes_is_given_up_in_order(void **state)
{
	comes(5);
	comes(2);
	comes(3);
	now += 10 * US;
	late();
	now += 1000 * US;
	late();
	rnic_got(4, 2, 2, 3, 5);
	assert_int_equal(r.held, 0);
	assert_int_equal(comes(0), HP3_RESEQ_PASS); /* the RNIC still waits for it */
	assert_int_equal(comes(2), HP3_RESEQ_HOLD);
	assert_int_equal(comes(1), HP3_RESEQ_PASS);
	rnic_got(7, 2, 2, 3, 5, 0, 1, 2);
}

static void what_is_beyond_the_window_passes(void **state)
{
	assert_int_equal(comes(params.window), HP3_RESEQ_HOLD);
	assert_int_equal(comes(params.window + 1), HP3_RESEQ_BEYOND);
	rnic_got(1, params.window + 1);
}

/* Before anything was measured it is waited as long as it may be. */
static void the_first_wait_is_the_longest(void **state)
{
	hp3_reseq_init(&r, FIRST);
	comes(1);
	assert_true(hp3_reseq_due(&r, &params) == now + params.most_ns);
	comes(0);
	comes(3);
	assert_in_range(
		hp3_reseq_due(&r, &params), now + params.most_ns - US, now + params.most_ns);
	comes(2);
	for (uint32_t i = 4; i < 1604; i += 2) {
		now += 5 * US;
		comes(i + 1);
		comes(i);
	}
	comes(1605);
	assert_true(hp3_reseq_due(&r, &params) == now + params.least_ns);
}

/* What is missing holds up what came first behind it, also where another gap was before. */
static void lateness_is_counted_from_what_waits(void **state)
{
	comes(1);
	now += US;
	comes(3);
	now += 5 * US;
	assert_true(hp3_reseq_lateness(&r, hp3_psn_add(FIRST, 0), now) == 6 * US);
	assert_true(hp3_reseq_lateness(&r, hp3_psn_add(FIRST, 2), now) == 0); /* not yet its turn */
	comes(0);
	now += 2 * US;
	assert_true(hp3_reseq_lateness(&r, hp3_psn_add(FIRST, 2), now) == 7 * US);
	comes(2);
	assert_true(hp3_reseq_lateness(&r, hp3_psn_add(FIRST, 4), now) == 0);
	assert_true(hp3_reseq_due(&r, &params) == UINT64_MAX);
}

/* The longer packets were late, the longer it is waited for the next one; until that is long ago.
 */
static void the_wait_is_measured(void **state)
{
	comes(1);
	now += 9 * US;
	comes(0);
	comes(3);
	assert_true(hp3_reseq_due(&r, &params) == now + 18 * US);
	now += 17 * US;
	comes(2);
	comes(5);
	assert_true(hp3_reseq_due(&r, &params) == now + 34 * US);
	comes(4);
	for (uint32_t i = 6; i < 406; i += 2) {
		comes(i + 1);
		comes(i);
	}
	comes(407);
	assert_true(hp3_reseq_due(&r, &params) == now + 34 * US);
	comes(406);
	for (uint32_t i = 408; i < 414; i += 2) { /* long ago: before that, and not any more */
		now += SECOND / 2;
		comes(i + 1);
		comes(i);
	}
	comes(415);
	assert_true(hp3_reseq_due(&r, &params) == now + params.least_ns);
	now += 5000 * US;
	comes(414);
	comes(417);
	assert_true(hp3_reseq_due(&r, &params) == now + params.most_ns);
}

/* What was sent again tells nothing of the paths; nor do paths that are used no more. */
static void what_is_measured_and_what_not(void **state)
{
	comes(1);
	now += params.least_ns;
	late();
	rnic_got(1, 1);
	now += 50 * US;
	r.again = true;
	comes(0);
	r.again = false;
	comes(3);
	assert_true(hp3_reseq_due(&r, &params) == now + params.least_ns);
}

/* The RNIC says what it waits for: before, or behind what is expected here. */
static void the_rnic_refuses(void **state)
{
	uint32_t handle;

	for (uint32_t i = 0; i < 10; i++)
		comes(i);
	comes(12);
	n_got = 0;
	assert_true(hp3_reseq_refused(&r, hp3_psn_add(FIRST, 4), now));
	assert_false(hp3_reseq_next(&r, now, &handle));
	for (uint32_t i = 4; i < 12; i++)
		assert_int_equal(comes(i), HP3_RESEQ_PASS);
	rnic_got(9, 4, 5, 6, 7, 8, 9, 10, 11, 12);
	comes(20);
	comes(22);
	assert_true(hp3_reseq_refused(&r, hp3_psn_add(FIRST, 20), now));
	let_out();
	rnic_got(10, 4, 5, 6, 7, 8, 9, 10, 11, 12, 20);
	/* too far back for what is held: that leaves first, in order */
	comes(24);
	assert_false(hp3_reseq_refused(
		&r, hp3_psn_add(FIRST, (uint32_t)(22 - (int)HP3_RESEQ_WINDOW)), now));
	assert_true(hp3_reseq_flush(&r, &handle) && handle == 22);
	assert_true(hp3_reseq_flush(&r, &handle) && handle == 24);
	assert_false(hp3_reseq_flush(&r, &handle));
	assert_true(hp3_reseq_refused(
		&r, hp3_psn_add(FIRST, (uint32_t)(22 - (int)HP3_RESEQ_WINDOW)), now));
}

/* A READ request takes as many PSNs as its responses. */
/* The RNIC was shown 5, asks for 1, gets it, and what it had asked for is read behind that. */
static void a_nak_that_crosses_what_it_asks_for(void **state)
{
	comes(0);
	for (uint32_t i = 2; i < 6; i++)
		comes(i);
	now += 200 * US;
	late();
	comes(1);
	rnic_got(7, 0, 2, 1, 2, 3, 4, 5);
	assert_true(hp3_reseq_refused(&r, hp3_psn_add(FIRST, 1), now));
	assert_int_equal(comes(6), HP3_RESEQ_PASS);
	assert_int_equal(comes(3), HP3_RESEQ_OLD); /* sent again, and asked for before that */
	assert_int_equal(comes(4), HP3_RESEQ_OLD);
	assert_true(hp3_reseq_refused(&r, hp3_psn_add(FIRST, 3), now));
	assert_int_equal(comes(7), HP3_RESEQ_PASS);
	assert_true(hp3_reseq_refused(&r, hp3_psn_add(FIRST, 7), now)); /* was lost behind us */
	assert_int_equal(comes(8), HP3_RESEQ_HOLD);
}

/* The same of a READ that is sent again: until it left, the RNIC discarded what it was given. */
static void a_read_that_is_sent_again(void **state)
{
	comes(0);
	for (uint32_t i = 2; i < 6; i++)
		comes(i);
	now += 200 * US;
	late();
	comes(1);
	assert_true(hp3_reseq_repeated(&r, hp3_psn_add(FIRST, 1), now));
	assert_int_equal(comes(6), HP3_RESEQ_HOLD);
	assert_int_equal(comes(3), HP3_RESEQ_HOLD);
	assert_int_equal(comes(1), HP3_RESEQ_PASS);
}

/* It has more than what is expected: what is held of that is not needed. */
static void the_rnic_acknowledges_more(void **state)
{
	uint32_t handle;

	comes(0);
	for (uint32_t i = 5; i < 9; i++)
		comes(i);
	assert_false(hp3_reseq_acknowledged(&r, hp3_psn_add(FIRST, 1), now));
	assert_false(hp3_reseq_acknowledged(&r, hp3_psn_add(FIRST, 1 + (1 << 23)), now));
	assert_true(hp3_reseq_acknowledged(&r, hp3_psn_add(FIRST, 7), now));
	assert_true(hp3_reseq_had(&r, &handle) && handle == 5);
	assert_true(hp3_reseq_had(&r, &handle) && handle == 6);
	assert_false(hp3_reseq_had(&r, &handle));
	let_out();
	rnic_got(3, 0, 7, 8);
	assert_int_equal(comes(9), HP3_RESEQ_PASS);
}

/* One gap after the other closes in time, and the packet behind all of them waits no longer. */
static void gaps_in_a_row_hold_nothing_for_longer(void **state)
{
	uint64_t from = now, most = params.most_ns + params.give_up_ns * 9 / 8;

	comes(60);
	comes(1);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(comes(2 * i + 3), HP3_RESEQ_HOLD); /* behind the next gap */
		now += 150 * US;
		late();
		assert_int_equal(comes(2 * i), HP3_RESEQ_PASS);
	}
	now = from + most - 1;
	late();
	assert_int_equal(r.held, 2);
	now++;
	assert_true(hp3_reseq_due(&r, &params) <= now);
	late();
	assert_int_equal(r.held, 0);
	assert_int_equal(got[n_got - 1], 60);
}

static void requests_that_take_several_psns(void **state)
{
	spans(0, 4);
	assert_int_equal(spans(9, 1), HP3_RESEQ_HOLD);
	assert_int_equal(spans(5, 4), HP3_RESEQ_HOLD);
	assert_int_equal(comes(4), HP3_RESEQ_PASS);
	rnic_got(4, 0, 4, 5, 9);
	/* assumed too long: what was passed over follows, and nothing stays for ever */
	assert_int_equal(spans(12, 1), HP3_RESEQ_HOLD);
	assert_int_equal(spans(11, 1), HP3_RESEQ_HOLD);
	assert_int_equal(spans(20, 1), HP3_RESEQ_HOLD);
	spans(10, 8);
	rnic_got(7, 0, 4, 5, 9, 10, 11, 12);
	assert_int_equal(spans(18, 1000000), HP3_RESEQ_PASS);
	rnic_got(9, 0, 4, 5, 9, 10, 11, 12, 18, 20);
	assert_int_equal(r.held, 0);
}

/*
 * A requester that goes back N, and a network that delays, loses and copies: the RNIC, which drops
 * what does not come next, gets all of it, and with nothing lost or late it never sees a gap.
 */
struct world {
	uint64_t rng;
	uint64_t at[512]; /* in the air: when it comes */
	uint32_t packet[512], n;
	uint32_t rnic, next, naks; /* what the RNIC waits for; what is sent next */
	bool nak; /* told, not yet answered */
};

/* A length of 2^32 - 1 at the least path MTU takes all PSNs: it overtakes nothing, and nothing is
 * lost of what is held. */
static void a_request_of_all_psns_keeps_its_place(void **state)
{
	assert_int_equal(spans(2, 1u << 24), HP3_RESEQ_HOLD);
	assert_int_equal(comes(1), HP3_RESEQ_HOLD);
	assert_int_equal(comes(0), HP3_RESEQ_PASS);
	rnic_got(3, 0, 1, 2);
	begin(state);
	assert_int_equal(comes(5), HP3_RESEQ_HOLD);
	assert_int_equal(spans(0, 1u << 24), HP3_RESEQ_PASS);
	rnic_got(2, 0, 5);
	assert_int_equal(r.held, 0);
	assert_true(hp3_reseq_due(&r, &params) == UINT64_MAX);
}

/* Half of all PSNs away, the RNIC waits for none of what is held. */
static void a_refusal_far_away_hands_over_what_is_held(void **state)
{
	uint32_t handle;

	assert_int_equal(comes(3), HP3_RESEQ_HOLD);
	assert_false(hp3_reseq_refused(&r, hp3_psn_add(FIRST, 1u << 23), now));
	assert_true(hp3_reseq_flush(&r, &handle));
	assert_int_equal(handle, 3);
	assert_true(hp3_reseq_refused(&r, hp3_psn_add(FIRST, 1u << 23), now));
	assert_int_equal(r.held, 0);
}

static void world_rnic(struct world *w)
{
	for (uint32_t i = 0; i < n_got; i++) {
		if (got[i] == w->rnic) {
			w->rnic++;
			w->nak = false;
		} else if (got[i] > w->rnic && !w->nak) {
			w->nak = true;
			w->naks++;
			w->next = w->rnic;
		}
	}
	n_got = 0;
}

static uint32_t world_runs(uint64_t seed, uint32_t lost_permille, uint32_t spread_us)
{
	static struct world w;
	const uint32_t all = 3000;
	uint64_t quiet = 0;

	begin(NULL);
	w = (struct world){.rng = seed};
	while (w.rnic < all) {
		now += US / 2;
		quiet++;
		if (w.next < all && w.next < w.rnic + 48 && w.n < 512) {
			quiet = 0;
			if (hp3_random(&w.rng) % 1000 >= lost_permille) {
				w.at[w.n] = now + 5 * US + hp3_random(&w.rng) % (spread_us * US);
				w.packet[w.n++] = w.next;
			}
			w.next++;
		}
		for (uint32_t i = 0; i < w.n;) {
			if (w.at[i] > now) {
				i++;
				continue;
			}
			comes(w.packet[i]);
			w.at[i] = w.at[--w.n];
			w.packet[i] = w.packet[w.n];
		}
		late();
		world_rnic(&w);
		if (quiet > 4000) { /* its timer */
			w.next = w.rnic;
			w.nak = false;
		}
		assert_true(r.held <= params.window);
		assert_true(now < 10000000 * US);
	}
	return w.naks;
}

static void all_of_it_arrives_and_gaps_are_losses(void **state)
{
	for (uint64_t seed = 1; seed <= 200 / HP3_FEWER; seed++) {
		assert_int_equal(world_runs(seed, 0, 8), 0);
		world_runs(seed, 5, 30);
		world_runs(seed, 50, 100);
	}
}

/* The caller was asleep: what is missing may lie unread. It is waited for anew, but not for ever.
 */
static void who_was_asleep_waits_anew(void **state)
{
	assert_false(hp3_reseq_stood(&r, 0, now)); /* nothing is missing */
	comes(1);
	comes(3);
	for (uint32_t i = 0; i < HP3_RESEQ_AGAIN; i++) {
		now += 5000 * US;
		assert_true(hp3_reseq_stood(&r, 5000 * US, now));
		late();
		assert_int_equal(n_got, 0);
		assert_true(hp3_reseq_due(&r, &params) == now + params.least_ns);
	}
	now += params.least_ns - 1;
	assert_false(hp3_reseq_stood(&r, 0, now));
	comes(0); /* late by what it was awake */
	assert_true(r.late == params.least_ns - 1);
	rnic_got(2, 0, 1);
	assert_true(hp3_reseq_due(&r, &params) < now + 2 * params.least_ns);
	now += 5000 * US;
	assert_true(hp3_reseq_stood(&r, 5000 * US, now)); /* another gap */
	now += params.most_ns;
	late();
	assert_int_equal(n_got, 3); /* and now it counts as lost */
}

static uint64_t held_at[4096], stopped, stopped_at[4096]; /* by number of a packet */
static bool is_waiting[4096];

/* The packet goes on: for how long was it held, but for the time in which the caller stopped? */
static void judge_age(uint32_t i, uint64_t *longest)
{
	uint64_t age = now - held_at[i] - (stopped - stopped_at[i]);

	if (is_waiting[i] && age > *longest)
		*longest = age;
	is_waiting[i] = false;
}

static void judge_ages(uint64_t *longest)
{
	for (uint32_t i = 0; i < n_got; i++)
		judge_age(got[i], longest);
	n_got = 0;
}

static void arrives(uint32_t i)
{
	if (comes(i) != HP3_RESEQ_HOLD)
		return;
	held_at[i] = now;
	stopped_at[i] = stopped;
	is_waiting[i] = true;
}

static void leave_in_time(uint64_t *longest)
{
	uint32_t handle;
	bool copy;

	while (hp3_reseq_late(&r, &params, now, &handle, &copy))
		if (!copy)
			give(handle);
	judge_ages(longest);
}

/* Packets follow gap by gap, each in time or never; now and then the caller stops, if it `stops`.
 */
static uint64_t longest_hold(uint64_t seed, bool stops)
{
	uint64_t rng = seed, longest = 0;
	uint32_t next = 0;

	begin(NULL);
	stopped = 0;
	memset(is_waiting, 0, sizeof(is_waiting));
	while (next < 4000) {
		uint64_t left = hp3_random(&rng) % (190 * US);

		next = (uint32_t)((r.expected - FIRST) & HP3_PSN_MASK);
		if (next + 60 >= 4096)
			break;
		arrives(next + 1 + (uint32_t)(hp3_random(&rng) % 60));
		judge_ages(&longest);
		while (left > 0) { /* hp3d looks every 25 us */
			uint64_t step = left < 25 * US ? left : 25 * US;

			now += step;
			left -= step;
			leave_in_time(&longest);
		}
		if (stops && hp3_random(&rng) % 2 == 0) {
			uint64_t lost = hp3_random(&rng) % (400 * US);

			now += lost;
			stopped += lost;
			hp3_reseq_stood(&r, lost, now);
			leave_in_time(&longest);
		}
		if (hp3_random(&rng) % 8 != 0)
			arrives(next);
		judge_ages(&longest);
	}
	return longest;
}

/* The bounds in docs/internals/spray.md, in longest waits: 5.5 and 6.5 where give_up_ns is 4. */
static void nothing_is_held_for_longer_than_that(void **state)
{
	const uint64_t bound = params.most_ns + params.give_up_ns * 9 / 8;
	uint64_t most[2] = {0}, longest;

	for (uint64_t seed = 1; seed <= 3000 / HP3_FEWER; seed++) {
		for (unsigned stops = 0; stops < 2; stops++) {
			longest = longest_hold(seed, stops);
			if (longest > most[stops])
				most[stops] = longest;
		}
	}
	assert_in_range(most[0], bound - bound / 4, bound + 25 * US);
	assert_in_range(most[1], bound + 1, bound + params.most_ns + 25 * US);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(what_is_in_order_passes, begin),
		cmocka_unit_test_setup(what_is_ahead_waits_for_the_missing, begin),
		cmocka_unit_test_setup(a_copy_takes_the_place, begin),
		cmocka_unit_test_setup(one_gap_behind_another, begin),
		cmocka_unit_test_setup(what_is_lost_is_asked_for_once, begin),
		cmocka_unit_test_setup(what_never_comes_is_given_up_in_order, begin),
		cmocka_unit_test_setup(what_is_beyond_the_window_passes, begin),
		cmocka_unit_test_setup(the_first_wait_is_the_longest, begin),
		cmocka_unit_test_setup(lateness_is_counted_from_what_waits, begin),
		cmocka_unit_test_setup(the_wait_is_measured, begin),
		cmocka_unit_test_setup(what_is_measured_and_what_not, begin),
		cmocka_unit_test_setup(the_rnic_refuses, begin),
		cmocka_unit_test_setup(a_nak_that_crosses_what_it_asks_for, begin),
		cmocka_unit_test_setup(a_read_that_is_sent_again, begin),
		cmocka_unit_test_setup(the_rnic_acknowledges_more, begin),
		cmocka_unit_test_setup(gaps_in_a_row_hold_nothing_for_longer, begin),
		cmocka_unit_test_setup(requests_that_take_several_psns, begin),
		cmocka_unit_test_setup(a_request_of_all_psns_keeps_its_place, begin),
		cmocka_unit_test_setup(a_refusal_far_away_hands_over_what_is_held, begin),
		cmocka_unit_test(nothing_is_held_for_longer_than_that),
		cmocka_unit_test_setup(who_was_asleep_waits_anew, begin),
		cmocka_unit_test_setup(all_of_it_arrives_and_gaps_are_losses, begin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
