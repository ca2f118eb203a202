/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Input: any bytes, decoded into calls of a resequencer: packets in any order, repeated, far
 * ahead, of any span (the length in a RETH, 0 to 2^32 - 1, determines the span of a READ), NAKs,
 * time. The test has its own list of held packets for comparison. Checks after every call:
 *
 * - a packet is held once, and released once; copies are only made of held packets;
 * - no packet is released before a missing one, unless its time limit has passed; packets after
 *   it are then released in the order of PSNs. This may take several calls; meanwhile, no other
 *   packet overtakes the packets that are still to be released;
 * - the resequencer waits for a packet exactly while packets are held;
 * - no packet is held longer than allowed. If the caller was descheduled, this time and one
 *   maximum wait are added;
 * - packets that the RNIC has acknowledged are not held any more.
 *
 * No request has a span of half the PSN space or more; such spans are reduced to just below
 * half.
 */
#include "history.h"
#include "input.h"
#include "rfr/resequencer.h"

#define HANDLES 2048u
#define HALF    (1u << 23)
#define LONGEST (HALF - HP3_RESEQ_WINDOW - 1)

static struct hp3_reseq r;
static struct hp3_reseq_params params;
static uint64_t now;
static bool is_held[HANDLES];
static uint32_t psn_of[HANDLES], span_of[HANDLES], n_held, handle;
static uint64_t at_of[HANDLES];
static bool stopped[HANDLES]; /* the caller stood still since */
static uint32_t expected;

static uint32_t out(uint32_t h)
{
	MUST(h < HANDLES && is_held[h]);
	is_held[h] = false;
	n_held--;
	return psn_of[h];
}

static bool is_kept(uint32_t psn)
{
	for (uint32_t h = 0; h < HANDLES; h++)
		if (is_held[h] && psn_of[h] == psn)
			return true;
	return false;
}

static void keep(uint32_t psn, uint32_t span)
{
	is_held[handle] = true;
	at_of[handle] = now;
	stopped[handle] = false;
	psn_of[handle] = psn;
	span_of[handle] = span;
	n_held++;
}

/* Packets that follow at a time. */
static uint32_t some(void)
{
	uint8_t how = u8();

	return how & 1 ? how >> 1 & 7 : UINT32_MAX;
}

/* So many follow in order, and more where none may be left off; if all do nothing is left that
 * could. */
static void follow(uint32_t most)
{
	uint32_t h, n = 0;
	bool pauses;

	while (!(pauses = n >= most && hp3_reseq_pauses(&r)) && hp3_reseq_next(&r, now, &h)) {
		int32_t ahead = hp3_psn_diff(out(h), expected);

		MUST(ahead <= 0);
		if (ahead == 0)
			expected = hp3_psn_add(expected, span_of[h]);
		n++;
	}
	for (h = 0; h < HANDLES; h++)
		MUST(!is_held[h] || hp3_psn_diff(psn_of[h], expected) >= !pauses);
	MUST(pauses == is_kept(expected) && pauses == hp3_reseq_follows(&r));
}

/* Everything, in order. */
static void flush(void)
{
	uint32_t h, last = 0;
	bool first = true;

	while (hp3_reseq_flush(&r, &h)) {
		uint32_t psn = out(h);

		MUST(first || hp3_psn_diff(psn, last) > 0);
		last = psn;
		first = false;
	}
	MUST(n_held == 0);
}

static void time_out(void)
{
	uint32_t h, last = 0, n = 0;
	uint64_t longest = params.most_ns + params.give_up_ns * 9 / 8;
	bool copy, shown;

	follow(UINT32_MAX);
	shown = r.shown;
	while (hp3_reseq_late(&r, &params, now, &h, &copy)) {
		MUST(h < HANDLES && is_held[h] && !(copy && shown));
		if (copy) {
			for (uint32_t i = 0; i < HANDLES; i++)
				MUST(!is_held[i] || hp3_psn_diff(psn_of[i], psn_of[h]) >= 0);
			shown = true;
			continue;
		}
		MUST(n == 0 || hp3_psn_diff(psn_of[h], last) > 0);
		last = out(h);
		n++;
	}
	MUST(n == 0 || n_held == 0);
	for (h = 0; h < HANDLES; h++)
		MUST(!is_held[h] || now - at_of[h] < longest + (stopped[h] ? params.most_ns : 0));
}

/* Mostly near, now and then on the edge of the window, or anywhere. */
static uint32_t some_psn(void)
{
	static const int32_t edges[] = {0, 1, 2, 63, 64, 65, HP3_RESEQ_WINDOW - 2,
		HP3_RESEQ_WINDOW - 1, HP3_RESEQ_WINDOW, HP3_RESEQ_WINDOW + 1, HALF - 1, HALF};
	uint8_t how = u8();

	if (how < 0xc0)
		return hp3_psn_add(r.expected, how & 15);
	if (how < 0xe0)
		return (r.expected - (how & 15)) & HP3_PSN_MASK;
	if (how < 0xfc)
		return hp3_psn_add(
			r.expected, (uint32_t)edges[u8() % (sizeof(edges) / sizeof(edges[0]))]);
	return u32() & HP3_PSN_MASK;
}

/* Of most packets 1; of a READ what its length says. */
static uint32_t some_span(void)
{
	static const uint32_t lengths[] = {
		0, 1, 1024, 1025, 65536, 1u << 31, UINT32_MAX - 1, UINT32_MAX};
	uint8_t how = u8();
	uint32_t length = how & 8 ? u32() : lengths[how & 7], pmtu_log2 = 8 + (how >> 4) % 5;

	if (how < 0xc0)
		return 1;
	return (uint32_t)((length + (1ull << pmtu_log2) - 1) >> pmtu_log2);
}

static void swap(uint32_t psn, uint32_t said, uint32_t span)
{
	MUST(out(hp3_reseq_swap(&r, psn, said, handle)) == psn);
	keep(psn, span);
}

static void arrive(void)
{
	uint32_t psn = some_psn(), said = some_span(), span;

	said = said == 0 ? 1 : said;
	span = said < LONGEST ? said : LONGEST;
	while (is_held[handle])
		handle = (handle + 1) % HANDLES;
	r.again = said & 1;
	switch (hp3_reseq_arrive(&r, &params, psn, said, handle, now)) {
	case HP3_RESEQ_PASS:
		MUST(psn == expected && !is_kept(psn));
		expected = hp3_psn_add(expected, span);
		follow(some());
		break;
	case HP3_RESEQ_OLD:
		MUST(hp3_psn_diff(psn, expected) < 0);
		break;
	case HP3_RESEQ_HOLD:
		MUST(hp3_psn_diff(psn, expected) > 0 && !is_kept(psn));
		keep(psn, span);
		break;
	case HP3_RESEQ_COPY:
		MUST(is_kept(psn));
		if (said & 2)
			swap(psn, said, span);
		break;
	case HP3_RESEQ_BEYOND:
		MUST(hp3_psn_diff(psn, expected) > (int32_t)params.window);
		break;
	}
}

static void refuse(void)
{
	uint32_t psn = some_psn();

	if (!hp3_reseq_refused(&r, psn, now)) {
		MUST(n_held != 0);
		flush();
		MUST(hp3_reseq_refused(&r, psn, now));
	}
	MUST(r.expected == psn || hp3_psn_diff(psn, expected) < 0); /* it was given since */
	expected = r.expected;
	follow(some());
}

static void acknowledge(void)
{
	uint32_t psn = some_psn(), h;
	int32_t ahead = hp3_psn_diff(psn, expected);

	if (!hp3_reseq_acknowledged(&r, psn, now)) {
		MUST(ahead <= 0 || ahead > 1 << 22);
		return;
	}
	MUST(ahead > 0);
	expected = psn;
	while (hp3_reseq_had(&r, &h))
		MUST(hp3_psn_diff(out(h), expected) < 0);
	for (h = 0; h < HANDLES; h++)
		MUST(!is_held[h] || hp3_psn_diff(psn_of[h], expected) >= 0);
	follow(some());
}

/* The caller knows that what is expected is lost: a copy is due now. */
static void lose(void)
{
	bool due = n_held != 0 && !r.shown;

	if (hp3_reseq_follows(&r))
		return;
	hp3_reseq_lost(&r);
	MUST(!due || hp3_reseq_due(&r, &params) <= now);
	time_out();
	MUST(n_held == 0 || r.shown);
}

/* So much of the time in which packets were held does not count. */
static void stand(uint64_t lost)
{
	hp3_reseq_stood(&r, lost, now);
	for (uint32_t h = 0; h < HANDLES; h++) {
		at_of[h] += lost < now - at_of[h] ? lost : now - at_of[h];
		stopped[h] = is_held[h];
	}
}

static void step(void)
{
	uint8_t op = u8();

	if (op < 0xc0)
		arrive();
	else if (op < 0xd8)
		now += 1ull << (op & 31) % 24;
	else if (op < 0xe6)
		time_out();
	else if (op < 0xe8)
		lose();
	else if (op < 0xf0)
		refuse();
	else if (op < 0xf8)
		acknowledge();
	else if (op < 0xfa)
		flush();
	else if (op < 0xfd)
		follow(some());
	else
		stand(1ull << (op & 3) * 8);
	MUST(r.held == n_held && r.expected == expected);
	MUST((hp3_reseq_due(&r, &params) == UINT64_MAX) == (n_held == 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	in = data;
	end = data + size;
	memset(is_held, 0, sizeof(is_held));
	n_held = handle = 0;
	now = 1000000;
	params = (struct hp3_reseq_params){.window = u8() & 1 ? HP3_RESEQ_WINDOW - 1 : 64,
		.least_ns = 10000,
		.most_ns = 200000,
		.give_up_ns = 1600000};
	expected = u8() & 1 ? HP3_PSN_MASK - u8() : u32() & HP3_PSN_MASK;
	hp3_reseq_init(&r, expected);
	while (in < end)
		step();
	now += 1ull << 40;
	time_out();
	time_out();
	MUST(n_held == 0);
	return 0;
}
