/* SPDX-License-Identifier: BSD-3-Clause */
/* Displayed names of servers: without passwords, tokens, and terminal control characters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/urls.h"

static void no_password_and_no_token(void **state)
{
	static const char *const cases[][2] = {
		{"", ""},
		{"nats://127.0.0.1:4222", "nats://127.0.0.1:4222"},
		{"nats://h0:secret@127.0.0.1:4222", "nats://***@127.0.0.1:4222"},
		{"nats://token@127.0.0.1", "nats://***@127.0.0.1"},
		{"h0:secret@127.0.0.1:4222", "***@127.0.0.1:4222"},
		{"nats://a:b@c@d:1, tls://x:y@z,nats://n", "nats://***@d:1, tls://***@z,nats://n"},
		{"nats://u:p/q@h: no route to host", "nats://***@h: no route to host"},
		{"nats://h\x1b]0;x\x07\n", "nats://h?]0;x??"},
	};
	char text[128];

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(hp3_urls_shown(cases[i][0], text, sizeof(text)), cases[i][1]);
}

/* Cut anywhere, it shows no more. */
static void cut_short(void **state)
{
	for (size_t cap = 1; cap < 64; cap++) {
		char *text = malloc(cap);

		hp3_urls_shown("nats://h0:secret@127.0.0.1:4222, nats://h1:secret@h", text, cap);
		assert_true(strlen(text) < cap);
		assert_null(strstr(text, "secret"));
		assert_null(strstr(text, "h0"));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_password_and_no_token),
		cmocka_unit_test(cut_short),
	};

	return cmocka_run_group_tests_name("servers", tests, NULL, NULL);
}
