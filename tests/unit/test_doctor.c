/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every check of app/doctor: on a good host, none finds anything worse than a note. With one fault
 * at a time (doctor_cases.h), its own check reports it, and no other check does.
 */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/plain.h"
#include "doctor_cases.h"

static const struct doctor_cases *const subjects[] = {
	&doctor_host_cases, &doctor_ports_cases, &doctor_traffic_cases, &doctor_rdma_cases};

#define N_SUBJECTS (sizeof(subjects) / sizeof(subjects[0]))

static void a_host_where_all_is_well(void **state)
{
	all_is_well();
	examine();
	if (hp3_doctor_count(&d, HP3_WARNING) > 0 || d.n != 1)
		show("well");
	assert_int_equal(hp3_doctor_count(&d, HP3_WARNING), 0);
	assert_int_equal(d.n, 1); /* the RDMA device */
	forget_host();
}

static void check_case(const struct doctor_case *c)
{
	bool found = false, alone = true;

	all_is_well();
	c->break_it();
	examine();
	for (unsigned k = 0; k < d.n; k++) {
		const struct hp3_finding *f = &d.found[k];
		bool its = strcmp(f->check->id, c->id) == 0;

		found |= its && strstr(f->what, c->what) != NULL &&
			 strstr(f->fix, c->fix) != NULL &&
			 (f->fix[0] != '\0' || f->check->severity == HP3_INFO);
		alone &= its || f->check->severity == HP3_INFO || strcmp(c->id, "rdma-device") == 0;
	}
	if (!found || !alone) {
		show(c->id);
		fail_msg("%s (%s): %s", c->id, c->what,
			found ? "others found something, too" : "not found");
	}
	unreadable = false;
	forget_host();
}

static void each_tells_of_its_own(void **state)
{
	for (size_t s = 0; s < N_SUBJECTS; s++)
		for (size_t i = 0; i < subjects[s]->n; i++)
			check_case(&subjects[s]->rows[i]);
}

static bool has_case(const char *id)
{
	for (size_t s = 0; s < N_SUBJECTS; s++)
		for (size_t i = 0; i < subjects[s]->n; i++)
			if (strcmp(subjects[s]->rows[i].id, id) == 0)
				return true;
	return false;
}

static void every_check_has_a_case(void **state)
{
	for (unsigned i = 0; i < hp3_n_checks; i++)
		if (!has_case(hp3_checks[i].id))
			fail_msg("%s: no case breaks it", hp3_checks[i].id);
}

/* Containers name interfaces; somebody types a fix as root. */
static void a_name_is_quoted_for_the_shell(void **state)
{
	char buf[HP3_SHELL_QUOTE_MAX], many[2 * HP3_SHELL_QUOTE_MAX] = {0};

	assert_string_equal(hp3_shell_quote(buf, "eth0.100@x"), "eth0.100@x");
	assert_string_equal(hp3_shell_quote(buf, ";id>\x1b[8mX;"), "';id>?[8mX;'");
	assert_string_equal(hp3_shell_quote(buf, "a'$(id)"), "'a'\\''$(id)'");
	assert_string_equal(hp3_shell_quote(buf, ""), "''");
	memset(many, '\'', sizeof(many) - 1);
	hp3_shell_quote(buf, many);
	assert_true(strlen(buf) < HP3_SHELL_QUOTE_MAX && strlen(buf) > HP3_SHELL_QUOTE_MAX - 8);
	assert_int_equal(buf[strlen(buf) - 1], '\'');
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_where_all_is_well),
		cmocka_unit_test(each_tells_of_its_own),
		cmocka_unit_test(every_check_has_a_case),
		cmocka_unit_test(traffic_that_the_host_keeps),
		cmocka_unit_test(one_master_is_reported_once),
		cmocka_unit_test(kernels_with_the_bug),
		cmocka_unit_test(answers_in_the_class_of_data_need_no_equal),
		cmocka_unit_test(few_ports_say_nothing_of_a_hash),
		cmocka_unit_test(a_name_is_quoted_for_the_shell),
	};
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
