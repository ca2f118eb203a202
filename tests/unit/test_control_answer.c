/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of answers, and numbers of requests; the requests themselves need lcores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include "app/control/reply.h"

static void answers_say_what_went_wrong(void **state)
{
	json_t *j = hp3d_json_error("not-found", "look elsewhere", "no flow %s", "\xc3\xa4");
	char *text = json_dumps(j, JSON_COMPACT);

	assert_string_equal(text,
		"{\"v\":1,\"ok\":false,\"error\":{\"code\":\"not-found\",\"text\":"
		"\"no flow \xc3\xa4\",\"fix\":\"look elsewhere\"}}");
	free(text);
	json_decref(j);
	assert_null(hp3d_json_ok(NULL));
}

static void numbers_are_checked(void **state)
{
	static const char *const bad[] = {"{\"n\":0}", "{\"n\":11}", "{\"n\":-1}", "{\"n\":\"5\"}",
		"{\"n\":5.0}", "{\"n\":null}", "{\"n\":[5]}"};
	uint64_t n = 7;
	json_t *error, *req = json_loads("{\"n\":5}", 0, NULL);

	assert_true(hp3d_json_number(req, "other", 1, 10, &n, &error));
	assert_int_equal(n, 7);
	assert_true(hp3d_json_number(req, "n", 1, 10, &n, &error));
	assert_int_equal(n, 5);
	json_decref(req);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		req = json_loads(bad[i], 0, NULL);
		assert_false(hp3d_json_number(req, "n", 1, 10, &n, &error));
		assert_int_equal(n, 5);
		assert_string_equal(
			json_string_value(json_object_get(json_object_get(error, "error"), "text")),
			"\"n\" must be an integer from 1 to 10");
		json_decref(error);
		json_decref(req);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_say_what_went_wrong),
		cmocka_unit_test(numbers_are_checked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
