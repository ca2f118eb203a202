/* SPDX-License-Identifier: BSD-3-Clause */
/* Two domains in one process: each public function of xfer/hp3x.h, and its errors. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include "two_domains.h"

static struct hp3x_write write_of(struct side *s, uint64_t length)
{
	return (struct hp3x_write){.from = s->region, .to = &s->remote, .length = length};
}

static void a_write_arrives_and_counts(void **state)
{
	struct two *t = *state;
	struct hp3x_write w = write_of(&t->a, LENGTH);
	struct hp3x_completion c;
	uint64_t value;

	bytes_fill(t->a.bytes, LENGTH, 1);
	w.counter = 7;
	w.add = 1000;
	w.common.context = t;
	c = side_wait(&t->a, hp3x_write(t->a.peer, &w));
	assert_int_equal(c.status, HP3X_OK);
	assert_ptr_equal(c.context, t);
	assert_ptr_equal(c.peer, t->a.peer);
	assert_int_equal(c.length, LENGTH);
	assert_true(c.slices > 1 && c.began > 0 && c.began <= c.ended);
	assert_int_equal(hp3x_counter_wait(t->b.domain, 7, 1000, deadline_in(PATIENCE)), 0);
	assert_memory_equal(t->a.bytes, t->b.bytes, LENGTH);
	assert_int_equal(hp3x_counter_take(t->b.domain, 7, &value), 0);
	assert_int_equal(value, 1000);
	assert_int_equal(hp3x_counter(t->b.domain, 7, &value), 0);
	assert_int_equal(value, 0);
}

static void both_directions_at_once(void **state)
{
	struct two *t = *state;
	struct hp3x_write a = write_of(&t->a, LENGTH / 2), b = write_of(&t->b, LENGTH / 2);
	int64_t ops[2];

	bytes_fill(t->a.bytes, LENGTH / 2, 3);
	bytes_fill(t->b.bytes + LENGTH / 2, LENGTH / 2, 4);
	b.from_offset = b.to_offset = LENGTH / 2;
	ops[0] = hp3x_write(t->a.peer, &a);
	ops[1] = hp3x_write(t->b.peer, &b);
	assert_int_equal(side_wait(&t->a, ops[0]).status, HP3X_OK);
	assert_int_equal(side_wait(&t->b, ops[1]).status, HP3X_OK);
	assert_memory_equal(t->a.bytes, t->b.bytes, LENGTH);
}

static void a_read_comes_back(void **state)
{
	struct two *t = *state;
	struct hp3x_read r = {.to = t->a.region,
		.to_offset = 5,
		.from = &t->a.remote,
		.from_offset = 77,
		.length = LENGTH / 2,
		.counter = 3,
		.add = 1};

	bytes_fill(t->b.bytes, LENGTH, 9);
	assert_int_equal(side_wait(&t->a, hp3x_read(t->a.peer, &r)).status, HP3X_OK);
	assert_memory_equal(t->a.bytes + 5, t->b.bytes + 77, LENGTH / 2);
	assert_int_equal(hp3x_counter_wait(t->b.domain, 3, 1, deadline_in(PATIENCE)), 0);
}

static void pages_arrive(void **state)
{
	static struct hp3x_page page[HP3X_MOST_PAGES];
	struct two *t = *state;
	struct hp3x_pages w = {.from = t->a.region,
		.to = &t->a.remote,
		.page = page,
		.n_pages = HP3X_MOST_PAGES,
		.counter = 4095,
		.add = 1};

	bytes_fill(t->a.bytes, LENGTH, 5);
	/* Pages of 4,096 and fewer bytes, in the opposite order at the receiver. */
	for (uint32_t i = 0; i < HP3X_MOST_PAGES; i++)
		page[i] = (struct hp3x_page){
			i * 4096ul, (HP3X_MOST_PAGES - 1 - i) * 4096ul, 4096 - i % 100};
	assert_int_equal(side_wait(&t->a, hp3x_write_pages(t->a.peer, &w)).status, HP3X_OK);
	assert_int_equal(hp3x_counter_wait(t->b.domain, 4095, 1, deadline_in(PATIENCE)), 0);
	for (uint32_t i = 0; i < HP3X_MOST_PAGES; i++)
		assert_memory_equal(t->a.bytes + page[i].from_offset,
			t->b.bytes + page[i].to_offset, page[i].length);
}

static void messages_arrive_in_order(void **state)
{
	static char big[HP3X_MOST_SEND + 1], got[HP3X_MOST_SEND];
	struct two *t = *state;
	uint32_t number;

	for (uint32_t i = 0; i < 300; i++)
		assert_true(hp3x_send(t->a.peer, &i, sizeof(i), NULL) > 0);
	for (uint32_t i = 0; i < 300; i++) {
		assert_int_equal(side_receive(&t->b, &number, sizeof(number)), sizeof(number));
		assert_int_equal(number, i);
	}
	memset(big, 'x', sizeof(big));
	assert_int_equal(hp3x_send(t->b.peer, big, sizeof(big), NULL), -EMSGSIZE);
	assert_true(hp3x_send(t->b.peer, big, HP3X_MOST_SEND, NULL) > 0);
	assert_int_equal(side_receive(&t->a, got, 100), -EMSGSIZE);
	assert_int_equal(side_receive(&t->a, got, sizeof(got)), HP3X_MOST_SEND);
	assert_memory_equal(got, big, HP3X_MOST_SEND);
}

/* done() runs in the domain's thread, and may submit. */
struct relay {
	struct two *t;
	uint32_t left;
	pthread_t thread;
};

static void relay_done(const struct hp3x_completion *c)
{
	struct relay *r = c->context;
	struct hp3x_write w = write_of(&r->t->a, 4096);

	r->thread = pthread_self();
	w.common = (struct hp3x_common){.context = r, .done = relay_done};
	w.counter = 1;
	w.add = 1;
	if (c->status == HP3X_OK && --r->left > 0)
		hp3x_write(c->peer, &w);
}

static void done_may_submit(void **state)
{
	static struct relay r; /* the last done() may come late */
	struct two *t = *state;
	struct hp3x_completion first = {.context = &r, .peer = t->a.peer}, none;

	r = (struct relay){.t = t, .left = 200};
	relay_done(&first);
	assert_int_equal(hp3x_counter_wait(t->b.domain, 1, 199, deadline_in(PATIENCE)), 0);
	assert_int_equal(hp3x_poll(t->a.domain, &none, 1), 0);
	assert_false(pthread_equal(r.thread, pthread_self()));
}

static void the_remote_memory_is_checked(void **state)
{
	struct two *t = *state;
	struct hp3x_write w = write_of(&t->a, 100000);
	struct hp3x_remote wrong = t->a.remote;

	for (uint32_t i = 0; i < HP3X_RAILS; i++)
		wrong.key[i] ^= 5;
	w.to = &wrong;
	w.counter = 2;
	w.add = 1;
	assert_int_equal(side_wait(&t->a, hp3x_write(t->a.peer, &w)).status, HP3X_REFUSED);
	/* The peer goes on. */
	w.to = &t->a.remote;
	assert_int_equal(side_wait(&t->a, hp3x_write(t->a.peer, &w)).status, HP3X_OK);
	assert_int_equal(hp3x_counter_wait(t->b.domain, 2, 1, deadline_in(PATIENCE)), 0);
}

static void wrong_ops_are_refused_with_a_sentence(void **state)
{
	struct two *t = *state;
	struct hp3x_write w = write_of(&t->a, LENGTH + 1);
	struct hp3x_remote stale = t->a.remote;
	struct hp3x_region *r;

	assert_int_equal(hp3x_write(t->a.peer, &w), -EINVAL);
	assert_non_null(strstr(hp3x_error(), "not inside the region"));
	w = write_of(&t->a, 8);
	w.to_offset = UINT64_MAX - 2;
	assert_int_equal(hp3x_write(t->a.peer, &w), -EINVAL);
	w = write_of(&t->a, 8);
	w.counter = HP3X_COUNTERS;
	w.add = 1;
	assert_int_equal(hp3x_write(t->a.peer, &w), -EINVAL);
	assert_non_null(strstr(hp3x_error(), "counters are 0 to 4095"));
	w = write_of(&t->a, 8);
	stale.domain ^= 1;
	w.to = &stale;
	side_wait(&t->a, hp3x_send(t->a.peer, "", 0, NULL)); /* now it knows the peer */
	assert_int_equal(hp3x_write(t->a.peer, &w), -ESTALE);
	assert_int_equal(hp3x_cancel(t->a.domain, 123456), -ENOENT);
	assert_int_equal(hp3x_region_add(t->a.domain, t->a.bytes, 0, &r), -EINVAL);
	assert_int_equal(hp3x_remote_read("nonsense", 8, &stale), -EBADMSG);
	assert_int_equal(hp3x_region_add_dmabuf(t->a.domain, 0, 0, 1, 0, &r), -EOPNOTSUPP);
	assert_int_equal(hp3x_progress(t->a.domain), -EINVAL);
}

static void wrong_options_are_refused_with_a_sentence(void **state)
{
	const char *none[] = {"nonesuch0"};
	struct hp3x_options o = {.provider = "pigeons"};
	struct hp3x_domain *d;

	assert_int_equal(hp3x_open(&o, &d), -ENODEV);
	assert_non_null(strstr(hp3x_error(), "pigeons"));
	o = (struct hp3x_options){.provider = "tcp", .rails = none, .n_rails = 1};
	assert_int_equal(hp3x_open(&o, &d), -ENODEV);
	assert_non_null(strstr(hp3x_error(), "nonesuch0"));
	o = (struct hp3x_options){.provider = "tcp", .paths_per_rail = 9};
	assert_int_equal(hp3x_open(&o, &d), -EINVAL);
	o = (struct hp3x_options){.provider = "tcp", .hang_ms = 10, .hang_min_ms = 11};
	assert_int_equal(hp3x_open(&o, &d), -EINVAL);
	assert_non_null(strstr(hp3x_error(), "set hang_min_ms to at most hang_ms"));
	o.hang_min_ms = 0; /* its default is not more than hang_ms */
	assert_int_equal(hp3x_open(&o, &d), 0);
	hp3x_close(d);
	o = (struct hp3x_options){.provider = "tcp", .listen = "here"};
	assert_int_equal(hp3x_open(&o, &d), -EINVAL);
	assert_non_null(strstr(hp3x_error(), "10.0.0.2:18515"));
}

/* A region that an op uses stays. After its removal, the peer's writes are refused. */
static void regions_go_when_nothing_uses_them(void **state)
{
	struct two *t = *state;
	struct hp3x_write w = write_of(&t->a, LENGTH);
	int64_t op = hp3x_write(t->a.peer, &w);
	int busy = hp3x_region_remove(t->a.region);

	if (busy == 0) /* the write has ended already */
		assert_int_equal(hp3x_region_add(t->a.domain, t->a.bytes, LENGTH, &t->a.region), 0);
	else
		assert_int_equal(busy, -EBUSY);
	assert_int_equal(side_wait(&t->a, op).status, HP3X_OK);
	assert_int_equal(hp3x_region_remove(t->b.region), 0);
	w = write_of(&t->a, 4096);
	assert_int_equal(side_wait(&t->a, hp3x_write(t->a.peer, &w)).status, HP3X_REFUSED);
}

static void a_closed_peer_ends_ops_of_both(void **state)
{
	struct two *t = *state;
	struct hp3x_write w = write_of(&t->a, LENGTH);
	struct hp3x_completion c;
	int64_t op;

	assert_int_equal(side_wait(&t->a, hp3x_write(t->a.peer, &w)).status, HP3X_OK);
	op = hp3x_write(t->a.peer, &w);
	hp3x_peer_close(t->a.peer);
	assert_int_equal(hp3x_poll(t->a.domain, &c, 1), 1);
	assert_int_equal(c.op, op);
	assert_true(c.status == HP3X_CLOSED || c.status == HP3X_OK);
	assert_null(c.peer);
	w = write_of(&t->b, LENGTH);
	while (hp3x_peer_state(t->b.peer) != HP3X_PEER_GONE)
		two_wait(t);
	assert_string_equal(hp3x_peer_reason(t->b.peer), "the peer has closed the connection");
	assert_int_equal(hp3x_write(t->b.peer, &w), -ENOTCONN);
	hp3x_peer_close(t->b.peer);
}

static void a_closed_domain_ends_ops_of_the_peer(void **state)
{
	struct two *t = *state;
	struct hp3x_write w = write_of(&t->a, LENGTH);
	struct hp3x_completion c;
	int64_t op = hp3x_write(t->a.peer, &w);

	hp3x_close(t->b.domain);
	t->b.domain = NULL;
	for (uint64_t until = deadline_in(PATIENCE); hp3x_poll(t->a.domain, &c, 1) == 0;)
		assert_true(deadline_in(0) < until);
	assert_int_equal(c.op, op);
	assert_true(c.status == HP3X_PEER_LOST || c.status == HP3X_OK);
}

static void paths_are_shown(void **state)
{
	struct two *t = *state;
	struct hp3x_write w = write_of(&t->a, LENGTH);
	struct hp3x_path path[64];
	uint64_t bytes = 0;
	int n;

	for (int i = 0; i < 20; i++)
		assert_int_equal(side_wait(&t->a, hp3x_write(t->a.peer, &w)).status, HP3X_OK);
	n = hp3x_paths(t->a.domain, path, 64);
	assert_true(n >= 2);
	for (int i = 0; i < n; i++) {
		assert_ptr_equal(path[i].peer, t->a.peer);
		assert_true(path[i].local_rail < 2);
		assert_non_null(hp3x_rail_name(t->a.domain, path[i].local_rail));
		bytes += path[i].bytes;
	}
	assert_true(bytes >= 20ull * LENGTH);
	assert_string_equal(hp3x_rail_name(t->a.domain, 1), "127.0.0.2");
	assert_null(hp3x_rail_name(t->a.domain, 2));
	assert_string_equal(hp3x_provider(t->a.domain), "tcp");
}

static void own_progress_needs_no_thread(void **state)
{
	struct two *t = two_open(true, 0);
	struct hp3x_write w = write_of(&t->a, LENGTH);
	int64_t op;

	bytes_fill(t->a.bytes, LENGTH, 8);
	w.counter = 1;
	w.add = 1;
	op = hp3x_write(t->a.peer, &w);
	assert_int_equal(hp3x_region_remove(t->a.region), -EBUSY); /* nothing has moved yet */
	assert_int_equal(side_wait(&t->a, op).status, HP3X_OK);
	assert_int_equal(hp3x_counter_wait(t->b.domain, 1, 1, deadline_in(PATIENCE)), 0);
	assert_int_equal(hp3x_counter_wait(t->b.domain, 1, 2, deadline_in(1000000)), -ETIMEDOUT);
	assert_memory_equal(t->a.bytes, t->b.bytes, LENGTH);
	two_close(t);
}

int main(void)
{
#define WITH_TWO(test) cmocka_unit_test_setup_teardown(test, two_setup, two_teardown)
	const struct CMUnitTest tests[] = {
		WITH_TWO(a_write_arrives_and_counts),
		WITH_TWO(both_directions_at_once),
		WITH_TWO(a_read_comes_back),
		WITH_TWO(pages_arrive),
		WITH_TWO(messages_arrive_in_order),
		WITH_TWO(done_may_submit),
		WITH_TWO(the_remote_memory_is_checked),
		WITH_TWO(wrong_ops_are_refused_with_a_sentence),
		cmocka_unit_test(wrong_options_are_refused_with_a_sentence),
		WITH_TWO(regions_go_when_nothing_uses_them),
		WITH_TWO(a_closed_peer_ends_ops_of_both),
		WITH_TWO(a_closed_domain_ends_ops_of_the_peer),
		WITH_TWO(paths_are_shown),
		cmocka_unit_test(own_progress_needs_no_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
