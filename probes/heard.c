/* SPDX-License-Identifier: BSD-3-Clause */
#include "probes/heard.h"

#define STAMP_SECOND 1000000u /* us */
#define CLOCK_MASK   ((1ull << HP3_HEARD_CLOCK_BITS) - 1)

void hp3_heard_init(struct hp3_heard *h, uint64_t seed, uint64_t born)
{
	memset(h, 0, sizeof(*h));
	hp3_put_be64(h->seed.bytes, seed);
	h->born = born;
}

static uint64_t print_of_sender(
	const struct hp3_heard *h, const struct hp3_addressing *a, enum hp3_tag_kind kind)
{
	const uint8_t what = (uint8_t)kind;
	struct hp3_addressing ends = {.ipv6 = a->ipv6};

	memcpy(ends.src_ip, a->src_ip, sizeof(ends.src_ip));
	memcpy(ends.dst_ip, a->dst_ip, sizeof(ends.dst_ip));
	return hp3_tag(&h->seed, &(struct hp3_tag_input){HP3_TAG_SOURCE, &ends, 0, &what, 1}) | 1;
}

/* Is the stamp within clock_s of the clock? */
static bool is_near(uint64_t stamp, const struct hp3_heard_time *time)
{
	uint64_t then = stamp / STAMP_SECOND;

	return (then > time->clock ? then - time->clock : time->clock - then) <= time->clock_s;
}

static uint64_t newest_of(const struct hp3_heard_sender *s)
{
	return s->stamp[HP3_HEARD_STAMPS - 1];
}

/*
 * May the record be reused? Yes if no stamp in it could count any more. A stamp later than the
 * clock could still count.
 */
static bool may_reuse_sender(const struct hp3_heard_sender *s, const struct hp3_heard_time *time)
{
	return s->print == 0 ||
	       (newest_of(s) / STAMP_SECOND < time->clock && !is_near(newest_of(s), time));
}

/* Reuses a record for another sender. */
static void begin_sender(struct hp3_heard *h, struct hp3_heard_sender *s, uint64_t print)
{
	if (s->print != 0 && newest_of(s) > h->gone)
		h->gone = newest_of(s);
	*s = (struct hp3_heard_sender){.print = print};
}

/* The record of the sender, or one that may be reused; NULL: neither. */
static struct hp3_heard_sender *record_of_sender(
	struct hp3_heard *h, uint64_t print, const struct hp3_heard_time *time)
{
	uint32_t sets = HP3_HEARD_SENDERS / HP3_HEARD_WAYS;
	struct hp3_heard_sender *set = &h->sender[print % (2 * sets) / 2 * HP3_HEARD_WAYS];
	struct hp3_heard_sender *room = NULL;

	for (uint32_t i = 0; i < HP3_HEARD_WAYS; i++) {
		if (set[i].print == print)
			return &set[i];
		if (may_reuse_sender(&set[i], time))
			room = &set[i];
	}
	return room;
}

/* The stamp after which messages of this peer count. */
static uint64_t begin_of(
	struct hp3_heard *h, const struct hp3_addressing *a, const struct hp3_heard_time *time)
{
	uint64_t print = print_of_sender(h, a, HP3_TAG_ANSWER);
	const struct hp3_heard_sender *s = record_of_sender(h, print, time);

	return s != NULL && s->print == print ? newest_of(s) : h->born;
}

static bool is_repeated_stamp(const struct hp3_heard_sender *s, uint64_t stamp)
{
	for (uint32_t i = HP3_HEARD_STAMPS - s->n; i < HP3_HEARD_STAMPS; i++)
		if (s->stamp[i] == stamp)
			return true;
	return s->n == HP3_HEARD_STAMPS && stamp < s->stamp[0];
}

/*
 * Adds a stamp in ascending order. If there are HP3_HEARD_STAMPS already, it replaces the oldest.
 */
static void keep_stamp(struct hp3_heard_sender *s, uint64_t stamp)
{
	uint32_t i;

	if (s->n < HP3_HEARD_STAMPS)
		s->n++;
	for (i = HP3_HEARD_STAMPS - s->n; i + 1 < HP3_HEARD_STAMPS && s->stamp[i + 1] < stamp; i++)
		s->stamp[i] = s->stamp[i + 1];
	s->stamp[i] = stamp;
}

enum hp3_heard_fate hp3_heard_take(struct hp3_heard *h, const struct hp3_addressing *a,
	enum hp3_tag_kind kind, uint64_t stamp, const struct hp3_heard_time *time)
{
	uint64_t print = print_of_sender(h, a, kind);
	struct hp3_heard_sender *s;

	if (!is_near(stamp, time))
		return HP3_HEARD_CLOCK;
	if (stamp <= begin_of(h, a, time) || stamp <= h->gone)
		return HP3_HEARD_OLD;
	s = record_of_sender(h, print, time);
	if (s == NULL)
		return HP3_HEARD_NO_ROOM;
	if (s->print != print)
		begin_sender(h, s, print);
	if (is_repeated_stamp(s, stamp))
		return HP3_HEARD_AGAIN;
	keep_stamp(s, stamp);
	return HP3_HEARD_NEW;
}

/* The time nearest to this host's clock that has these low bits. */
static uint64_t whole_clock(uint64_t low, uint64_t clock_us)
{
	uint64_t ahead = (low - clock_us) & CLOCK_MASK;

	return ahead <= CLOCK_MASK / 2 ? clock_us + ahead : clock_us - (CLOCK_MASK + 1 - ahead);
}

void hp3_heard_clock(struct hp3_heard *h, const struct hp3_addressing *a, uint64_t clock_us,
	const struct hp3_heard_time *time)
{
	uint64_t print = print_of_sender(h, a, HP3_TAG_ANSWER),
		 is = whole_clock(clock_us, time->clock * STAMP_SECOND);
	struct hp3_heard_sender *s;

	if (time->clock > h->born / STAMP_SECOND + 2ull * time->clock_s || !is_near(is, time))
		return; /* stamps near the clock are newer than the start */
	s = record_of_sender(h, print, time);
	if (s == NULL || s->print == print)
		return;
	begin_sender(h, s, print);
	keep_stamp(s, is);
}
