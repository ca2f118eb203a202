/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider on TCP alone: two sets of rails in one process, on loopback. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "xfer/provider.h"

#define LENGTH (8u << 20)

static const struct hp3x_provider *const tcp = &hp3x_tcp;

/* One end: rails, memory, an endpoint; what its events said. */
struct end {
	struct hp3x_rails *rails;
	struct hp3x_memory *memory;
	uint32_t key[HP3X_RAILS];
	uint8_t *bytes;
	struct hp3x_endpoint *endpoint;
	uint8_t description[HP3X_ENDPOINT];
	int description_length;
	uint32_t connected, refused, ok, arrived, failed, shut, last_imm;
	uint64_t last_token;
};

struct two {
	struct end a, b;
};

static void event_count(struct end *e, const struct hp3x_event *event)
{
	assert_int_equal(e->shut, 0); /* nothing follows SHUT */
	switch ((enum hp3x_event_kind)event->kind) {
	case HP3X_EVENT_CONNECTED:
		e->connected += event->success;
		break;
	case HP3X_EVENT_COMPLETED:
		e->ok += event->result == HP3X_RESULT_OK;
		e->refused += event->result == HP3X_RESULT_REFUSED;
		e->last_token = event->token;
		break;
	case HP3X_EVENT_ARRIVED:
		e->arrived++;
		e->last_imm = event->imm;
		break;
	case HP3X_EVENT_FAILED:
		e->failed++;
		break;
	case HP3X_EVENT_SHUT:
		e->shut++;
		break;
	case HP3X_EVENT_RAIL:
		break;
	}
}

static void ends_work(struct two *t)
{
	struct pollfd fd[2] = {
		{tcp->rails_fd(t->a.rails), POLLIN, 0}, {tcp->rails_fd(t->b.rails), POLLIN, 0}};
	struct end *both[2] = {&t->a, &t->b};

	poll(fd, 2, 5000);
	for (int i = 0; i < 2; i++) {
		struct hp3x_event event[8];
		int n = tcp->rails_poll(both[i]->rails, event, 8);

		for (int k = 0; k < n; k++)
			event_count(both[i], &event[k]);
	}
}

#define WORK_UNTIL(t, condition)                                                                   \
	do {                                                                                       \
		for (uint32_t tries = 0; !(condition); tries++) {                                  \
			assert_true(tries < 100000);                                               \
			ends_work(t);                                                              \
		}                                                                                  \
	} while (0)

static void end_open(struct end *e, const char *address)
{
	struct hp3x_place place = {0, 3, 5};

	*e = (struct end){.bytes = malloc(LENGTH)};
	assert_non_null(e->bytes);
	assert_int_equal(tcp->rails_open(&address, 1, &e->rails), 0);
	assert_int_equal(tcp->memory_add(e->rails, e->bytes, LENGTH, &e->memory, e->key), 0);
	e->description_length = tcp->endpoint_open(e->rails, &place, e->description, &e->endpoint);
	assert_true(e->description_length > 0);
}

static int ends_open(void **state)
{
	struct two *t = calloc(1, sizeof(*t));

	end_open(&t->a, "127.0.0.1");
	end_open(&t->b, "127.0.0.2");
	*state = t;
	return 0;
}

static void ends_connect(struct two *t)
{
	struct end *a = &t->a, *b = &t->b;

	/* One end may know the other one long before it is known. */
	assert_int_equal(
		tcp->endpoint_connect(a->endpoint, b->description, b->description_length), 0);
	for (int i = 0; i < 3; i++) {
		struct hp3x_event event[8];

		for (int k = tcp->rails_poll(a->rails, event, 8); k > 0; k--)
			event_count(a, &event[k - 1]);
		for (int k = tcp->rails_poll(b->rails, event, 8); k > 0; k--)
			event_count(b, &event[k - 1]);
	}
	assert_int_equal(
		tcp->endpoint_connect(b->endpoint, a->description, a->description_length), 0);
	WORK_UNTIL(t, a->connected == 1 && b->connected == 1);
}

static void end_close(struct two *t, struct end *e)
{
	if (e->shut == 0 && e->endpoint != NULL) {
		tcp->endpoint_shut(e->endpoint);
		WORK_UNTIL(t, e->shut == 1);
	}
}

static int ends_close(void **state)
{
	struct two *t = *state;

	end_close(t, &t->a);
	end_close(t, &t->b);
	tcp->memory_remove(t->a.rails, t->a.memory);
	if (t->b.memory != NULL)
		tcp->memory_remove(t->b.rails, t->b.memory);
	tcp->rails_close(t->a.rails);
	tcp->rails_close(t->b.rails);
	free(t->a.bytes);
	free(t->b.bytes);
	free(t);
	return 0;
}

static struct hp3x_post post_of(struct two *t, uint8_t kind, uint64_t offset, uint32_t length)
{
	return (struct hp3x_post){.kind = kind,
		.token = 1000 + offset,
		.memory = t->a.memory,
		.address = (uintptr_t)t->a.bytes + offset,
		.remote = (uintptr_t)t->b.bytes + offset,
		.remote_key = t->b.key[0],
		.length = length};
}

static void post_at_once(struct two *t, const struct hp3x_post *p)
{
	assert_int_equal(tcp->endpoint_post(t->a.endpoint, p), 0);
	tcp->rails_flush(t->a.rails);
}

static void bytes_fill(uint8_t *bytes, uint8_t from)
{
	for (uint32_t i = 0; i < LENGTH; i++)
		bytes[i] = (uint8_t)(from + i * 7 + (i >> 11));
}

static void writes_arrive(void **state)
{
	struct two *t = *state;
	uint32_t n = 0;

	ends_connect(t);
	bytes_fill(t->a.bytes, 1);
	memset(t->b.bytes, 0, LENGTH);
	for (uint32_t at = 0; at < LENGTH; n++) {
		uint32_t length = LENGTH - at < 100000 + n ? LENGTH - at : 100000 + n;
		struct hp3x_post p = post_of(t, HP3X_ACT_WRITE, at, length);

		p.has_imm = n % 2 == 0;
		p.imm = n;
		post_at_once(t, &p);
		at += length;
	}
	WORK_UNTIL(t, t->a.ok == n);
	assert_int_equal(t->b.arrived, (n + 1) / 2);
	assert_memory_equal(t->a.bytes, t->b.bytes, LENGTH);
}

static void reads_come_back(void **state)
{
	struct two *t = *state;

	ends_connect(t);
	bytes_fill(t->b.bytes, 9);
	memset(t->a.bytes, 0, LENGTH);
	for (uint32_t i = 0; i < 8; i++) {
		struct hp3x_post p = post_of(t, HP3X_ACT_READ, i * (LENGTH / 8), LENGTH / 8);

		post_at_once(t, &p);
	}
	WORK_UNTIL(t, t->a.ok == 8);
	assert_memory_equal(t->a.bytes, t->b.bytes, LENGTH);
}

static void probes_and_counts_need_no_memory(void **state)
{
	struct two *t = *state;
	struct hp3x_post p = {.kind = HP3X_ACT_PROBE, .token = 7};

	ends_connect(t);
	post_at_once(t, &p);
	WORK_UNTIL(t, t->a.ok == 1);
	assert_int_equal(t->a.last_token, 7);
	p = (struct hp3x_post){.kind = HP3X_ACT_WRITE, .token = 8, .has_imm = true, .imm = 99};
	post_at_once(t, &p);
	WORK_UNTIL(t, t->a.ok == 2);
	assert_int_equal(t->b.last_imm, 99);
}

/* What is outside is refused, and so are all later writes. Nothing is executed; READs go on. */
static void outside_is_refused(void **state)
{
	struct two *t = *state;
	struct hp3x_post wrong[6];

	ends_connect(t);
	memset(t->a.bytes, 1, LENGTH);
	memset(t->b.bytes, 2, LENGTH);
	for (uint32_t i = 0; i < 6; i++) {
		wrong[i] = post_of(t, i % 2 == 0 ? HP3X_ACT_WRITE : HP3X_ACT_READ, 0, 4096);
		wrong[i].has_imm = i % 2 == 0;
	}
	wrong[0].remote_key ^= 1;
	wrong[1].remote_key ^= 1;
	wrong[2].remote += LENGTH - 4095; /* one byte beyond the end */
	wrong[3].remote += LENGTH - 4095;
	wrong[4].remote = UINT64_MAX - 100; /* the end wraps around */
	wrong[5].remote -= 1;
	for (uint32_t i = 0; i < 6; i++) {
		post_at_once(t, &wrong[i]);
		WORK_UNTIL(t, t->a.refused == i + 1);
	}
	assert_int_equal(t->b.arrived, 0);
	for (uint32_t i = 0; i < LENGTH; i++)
		assert_true(t->a.bytes[i] == 1 && t->b.bytes[i] == 2);
	wrong[0] = post_of(t, HP3X_ACT_WRITE, 0, 4096);
	wrong[0].has_imm = true;
	post_at_once(t, &wrong[0]);
	post_at_once(t, &(struct hp3x_post){
				.kind = HP3X_ACT_WRITE, .token = 8, .has_imm = true, .imm = 99});
	WORK_UNTIL(t, t->a.refused == 8);
	assert_int_equal(t->b.arrived, 0);
	assert_int_equal(t->b.bytes[0], 2);
	wrong[1] = post_of(t, HP3X_ACT_READ, 0, 4096);
	post_at_once(t, &wrong[1]);
	WORK_UNTIL(t, t->a.ok == 1);
	assert_int_equal(t->a.bytes[0], 2);
}

/* Memory that is removed while data arrive is not touched any more. */
static void removed_memory_is_not_touched(void **state)
{
	struct two *t = *state;
	struct hp3x_post p = post_of(t, HP3X_ACT_WRITE, 0, LENGTH);
	struct hp3x_event event[8];

	ends_connect(t);
	memset(t->a.bytes, 1, LENGTH);
	memset(t->b.bytes, 2, LENGTH);
	p.has_imm = true;
	post_at_once(t, &p);
	while (t->b.bytes[0] != 1) {
		poll(&(struct pollfd){tcp->rails_fd(t->b.rails), POLLIN, 0}, 1, 1000);
		tcp->rails_poll(t->b.rails, event, 8);
	}
	assert_int_equal(t->b.bytes[LENGTH - 1], 2); /* it is under way */
	tcp->memory_remove(t->b.rails, t->b.memory);
	t->b.memory = NULL;
	memset(t->b.bytes, 3, LENGTH);
	WORK_UNTIL(t, t->a.refused == 1);
	assert_int_equal(t->b.arrived, 0);
	for (uint32_t i = 0; i < LENGTH; i++)
		assert_int_equal(t->b.bytes[i], 3);
}

/* An endpoint that is shut in the middle of a READ does not write into local memory. */
static void shut_ends_all_access(void **state)
{
	struct two *t = *state;
	struct hp3x_post p = post_of(t, HP3X_ACT_READ, 0, LENGTH);

	ends_connect(t);
	memset(t->a.bytes, 1, LENGTH);
	memset(t->b.bytes, 2, LENGTH);
	post_at_once(t, &p);
	while (t->a.bytes[0] != 2)
		ends_work(t);
	tcp->endpoint_shut(t->a.endpoint);
	memset(t->a.bytes, 3, LENGTH);
	WORK_UNTIL(t, t->a.shut == 1 && t->b.failed == 1);
	assert_int_equal(t->a.ok, 0);
	for (uint32_t i = 0; i < LENGTH; i++)
		assert_int_equal(t->a.bytes[i], 3);
	assert_int_equal(tcp->endpoint_post(t->b.endpoint, &p), -ENOTCONN);
}

/* Connections from anybody: wrong greetings, none, too many. */
static void stray_connections(void **state)
{
	struct two *t = *state;
	const char wrong[40] = "hp3x-t1\0the secret of nobody";
	struct sockaddr_in to = {.sin_family = AF_INET};
	int fd[100];

	memcpy(&to.sin_port, t->b.description + 2, 2);
	inet_pton(AF_INET, "127.0.0.2", &to.sin_addr);
	for (int i = 0; i < 100; i++) {
		fd[i] = socket(AF_INET, SOCK_STREAM, 0);
		assert_int_equal(connect(fd[i], (struct sockaddr *)&to, sizeof(to)), 0);
		if (i % 3 == 0)
			assert_true(send(fd[i], wrong, sizeof(wrong), MSG_NOSIGNAL) > 0);
		ends_work(t);
	}
	assert_int_equal(t->b.connected + t->b.failed, 0);
	ends_connect(t);
	post_at_once(t, &(struct hp3x_post){.kind = HP3X_ACT_PROBE});
	WORK_UNTIL(t, t->a.ok == 1);
	for (int i = 0; i < 100; i++)
		close(fd[i]);
}

static void rails_that_do_not_exist(void **state)
{
	const char *none[] = {"nonesuch0"}, *elsewhere[] = {"192.0.2.1"};
	struct hp3x_rails *rails;

	assert_int_equal(tcp->rails_open(none, 1, &rails), -ENODEV);
	assert_non_null(strstr(hp3x_error(), "nonesuch0"));
	assert_int_equal(tcp->rails_open(elsewhere, 1, &rails), -ENODEV);
	assert_non_null(strstr(hp3x_error(), "192.0.2.1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(writes_arrive, ends_open, ends_close),
		cmocka_unit_test_setup_teardown(reads_come_back, ends_open, ends_close),
		cmocka_unit_test_setup_teardown(
			probes_and_counts_need_no_memory, ends_open, ends_close),
		cmocka_unit_test_setup_teardown(outside_is_refused, ends_open, ends_close),
		cmocka_unit_test_setup_teardown(
			removed_memory_is_not_touched, ends_open, ends_close),
		cmocka_unit_test_setup_teardown(shut_ends_all_access, ends_open, ends_close),
		cmocka_unit_test_setup_teardown(stray_connections, ends_open, ends_close),
		cmocka_unit_test(rails_that_do_not_exist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
