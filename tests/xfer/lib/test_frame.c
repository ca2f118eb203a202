/* SPDX-License-Identifier: BSD-3-Clause */
/* The control channel's frames: no message is lost or repeated, however connections break. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <endian.h>
#include <errno.h>
#include <string.h>
#include "base/minmax.h"
#include "base/random.h"
#include "xfer/lib/frame.h"

#define MESSAGES 3000u

/* One direction of a session: messages of random lengths, whose bytes tell their number. */
struct session {
	uint64_t seed;
	struct hp3x_outbox out;
	struct hp3x_inbound in;
	uint32_t added, received;
};

static void message_check(const struct hp3x_frame *f, const uint8_t *data)
{
	for (uint32_t i = 0; i < f->length; i++)
		assert_int_equal(data[i], (uint8_t)(f->seq + i));
}

static void messages_add(struct session *s)
{
	uint8_t data[HP3X_MESSAGE];

	while (s->added < MESSAGES && hp3_random_below(&s->seed, 4) != 0) {
		uint32_t length = hp3_random_below(&s->seed, 8) == 0
					  ? hp3_random_below(&s->seed, HP3X_MESSAGE + 1)
					  : hp3_random_below(&s->seed, 100);

		if (hp3x_outbox_room(&s->out) < length)
			return;
		s->added++;
		for (uint32_t i = 0; i < length; i++)
			data[i] = (uint8_t)(s->added + i);
		hp3x_outbox_add(&s->out, data, length);
	}
}

/* As many bytes as a socket takes now. */
static void bytes_carry(struct session *s)
{
	size_t most = hp3_random_below(&s->seed, 3) == 0 ? hp3_random_below(&s->seed, 200000)
							 : hp3_random_below(&s->seed, 60);
	struct iovec iov[2];
	int n = hp3x_outbox_unsent(&s->out, iov);

	for (int i = 0; i < n; i++) {
		uint8_t *space;
		size_t room = hp3x_inbound_space(&s->in, &space);
		size_t bytes = hp3_min_u64(hp3_min_u64(iov[i].iov_len, most), room);

		memcpy(space, iov[i].iov_base, bytes);
		s->in.n += (uint32_t)bytes;
		hp3x_outbox_sent(&s->out, bytes);
		most -= bytes;
		if (bytes < iov[i].iov_len)
			return;
	}
}

static void frames_take(struct session *s)
{
	struct hp3x_frame f;
	const uint8_t *data;

	while (hp3x_inbound_next(&s->in, &f, &data) == 1) {
		assert_int_equal(f.kind, HP3X_FRAME_MESSAGE);
		assert_true(f.seq <= s->in.seq + 1);
		if (f.seq <= s->in.seq)
			continue;
		message_check(&f, data);
		s->in.seq = f.seq;
		s->received++;
	}
}

static void session_run(uint64_t seed)
{
	struct session s = {.seed = seed};

	assert_int_equal(hp3x_outbox_open(&s.out), 0);
	assert_int_equal(hp3x_inbound_open(&s.in), 0);
	while (s.received < MESSAGES) {
		messages_add(&s);
		bytes_carry(&s);
		frames_take(&s);
		if (hp3_random_below(&s.seed, 5) == 0)
			assert_int_equal(hp3x_outbox_acked(&s.out, s.in.seq), 0);
		if (hp3_random_below(&s.seed, 40) == 0) {
			/* The connection breaks; bytes under way are lost. */
			s.in.at = s.in.n = 0;
			assert_int_equal(hp3x_outbox_rewind(&s.out, s.in.seq), 0);
		}
	}
	assert_int_equal(s.received, s.added);
	hp3x_outbox_close(&s.out);
	hp3x_inbound_close(&s.in);
}

static void broken_connections(void **state)
{
	for (uint64_t seed = 1; seed <= 5; seed++)
		session_run(seed);
}

static void impossible_acks(void **state)
{
	struct hp3x_outbox out;

	assert_int_equal(hp3x_outbox_open(&out), 0);
	hp3x_outbox_add(&out, "a", 1);
	assert_int_equal(hp3x_outbox_acked(&out, 2), -EPROTO);
	assert_int_equal(hp3x_outbox_acked(&out, 1), -EPROTO); /* it was not sent */
	hp3x_outbox_close(&out);
}

static void frames_that_are_too_long(void **state)
{
	struct hp3x_frame f = {.length = htole32(HP3X_MESSAGE + 1)};
	struct hp3x_inbound in;
	const uint8_t *data;
	uint8_t *space;

	assert_int_equal(hp3x_inbound_open(&in), 0);
	assert_true(hp3x_inbound_space(&in, &space) >= sizeof(f));
	memcpy(space, &f, sizeof(f));
	in.n = sizeof(f);
	assert_int_equal(hp3x_inbound_next(&in, &f, &data), -EPROTO);
	hp3x_inbound_close(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(broken_connections),
		cmocka_unit_test(impossible_acks),
		cmocka_unit_test(frames_that_are_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
