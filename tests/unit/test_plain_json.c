/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of other programs: their strings have only printable ASCII. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include "app/plain_json.h"

static void all_strings_in_it(void **state)
{
	static const char answer[] = "{\"a\":\"\\u001b]0;x\\u0007\",\"rows\":[{\"hop\":\"x\\nrank "
				     "1=evil #\"},[\"\\u009b2J\",1,null,true]]}";
	json_t *j = hp3_plain_json(json_loads(answer, 0, NULL));
	char *text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);

	assert_string_equal(text, "{\"a\":\"?]0;x?\",\"rows\":[{\"hop\":\"x?rank 1=evil "
				  "#\"},[\"\?\?2J\",1,null,true]]}");
	free(text);
	json_decref(j);
}

static void no_key_is_anything_else(void **state)
{
	json_t *j = hp3_plain_json(json_loads(
		"{\"good\":[{\"\\u001b[2J\":1,\"b\":2}],\"\\u009b1A\":{},\"x\\ny\":3}", 0, NULL));
	char *text = json_dumps(j, JSON_COMPACT);

	assert_string_equal(text, "{\"good\":[{\"b\":2}]}");
	free(text);
	json_decref(j);
}

static void what_is_none(void **state)
{
	assert_null(hp3_plain_json(NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_strings_in_it),
		cmocka_unit_test(no_key_is_anything_else),
		cmocka_unit_test(what_is_none),
	};

	return cmocka_run_group_tests_name("plain json", tests, NULL, NULL);
}
