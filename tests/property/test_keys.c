/* SPDX-License-Identifier: BSD-3-Clause */
/* Hosts agree on keys, whatever the network and attackers in it do (keys_world.h). */
#include "keys_world.h"
#include "run.h"

#define SUMS(X)                                                                                    \
	X(messages)                                                                                \
	X(replaced)                                                                                \
	X(silent) X(displaced) X(cloned) X(computed) X(lost) X(stray) X(bad_proof) X(others_refused)

static struct keys_result run_keys_from(
	unsigned long long first, unsigned seeds, struct keys_params p)
{
	struct keys_result sum = {0};

	for (unsigned i = 0; i < seeds; i++) {
		struct keys_result r;
		bool failed;

		p.seed = first + i;
		p.hosts = 2 + p.seed % 3;
		failed = keys_world_run(&p, &r) != 0;
		if (failed && getenv("HP3_ONE_VIOLATION") != NULL)
			exit(EXIT_FAILURE);
		assert_false(failed);
#define X(field) sum.field += r.field;
		SUMS(X)
#undef X
	}
	print_message("seeds %llu..%llu:", first, first + seeds - 1);
#define X(field) print_message(" " #field " %llu", (unsigned long long)sum.field);
	SUMS(X)
#undef X
	print_message("\n");
	return sum;
}

static struct keys_result run_keys(struct keys_params p)
{
	if (run_drawn_seeds() != 0)
		run_keys_from(run_drawn(), run_drawn_seeds(), p);
	return run_keys_from(run_first_seed, run_seeds, p);
}

static void messages_get_lost(void **state)
{
	run_keys((struct keys_params){.loss = 300, .copies = 100});
	run_keys((struct keys_params){.loss = 900, .copies = 100, .quiet = true});
}

static void hosts_restart(void **state)
{
	struct keys_result r =
		run_keys((struct keys_params){.loss = 100, .copies = 50, .restarts = 6});

	assert_int_equal(r.replaced, 0);
	assert_sum(r.lost > 0 || run_seeds < 8);
}

static void hosts_forget_who_they_are(void **state)
{
	struct keys_params p = {.loss = 100, .copies = 50, .restarts = 4, .forgets = true};
	struct keys_result r = run_keys(p);

	assert_sum(r.replaced > 0);
	p.quiet = true;
	r = run_keys(p);
	assert_sum(r.replaced > 0);
}

static void somebody_who_sees_nothing(void **state)
{
	run_keys((struct keys_params){.loss = 100, .restarts = 3, .forgets = true, .blind = 300});
}

static void somebody_who_repeats_all(void **state)
{
	struct keys_params p = {.loss = 200, .restarts = 4, .forgets = true, .replays = 300};
	struct keys_result r = run_keys(p);

	assert_sum(r.stray > 0 && r.replaced > 0);
	p.quiet = true;
	run_keys(p);
}

static void somebody_who_forges_answers(void **state)
{
	struct keys_result r = run_keys((struct keys_params){
		.loss = 100, .restarts = 3, .forgets = true, .forgeries = 300, .replays = 50});

	assert_sum(r.bad_proof > 0);
}

/* Each host talks to more addresses where nobody is than there are records. */
static void crowds_where_nobody_is(void **state)
{
	struct keys_params p = {.loss = 100, .restarts = 2, .crowd = 12};
	struct keys_result r = run_keys(p);

	assert_sum(r.displaced > 0);
	p.quiet = true;
	p.blind = 100;
	run_keys(p);
}

static void hosts_agree_no_more(void **state)
{
	struct keys_params p = {.loss = 50, .restarts = 2, .stops = true, .replays = 100};
	struct keys_result r = run_keys(p);

	assert_sum(r.silent > 0 || run_seeds < 8);
	p.quiet = true;
	p.crowd = 4;
	run_keys(p);
}

static void a_copied_disk(void **state)
{
	struct keys_params p = {.loss = 200, .copies = 50, .clones = true};
	struct keys_result r = run_keys(p);

	assert_sum(r.cloned > 0);
	p.replays = 100;
	p.blind = 100;
	run_keys(p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_get_lost),
		cmocka_unit_test(hosts_restart),
		cmocka_unit_test(hosts_forget_who_they_are),
		cmocka_unit_test(somebody_who_sees_nothing),
		cmocka_unit_test(somebody_who_repeats_all),
		cmocka_unit_test(somebody_who_forges_answers),
		cmocka_unit_test(crowds_where_nobody_is),
		cmocka_unit_test(hosts_agree_no_more),
		cmocka_unit_test(a_copied_disk),
	};

	run_arguments(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
