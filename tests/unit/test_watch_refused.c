/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages for refusals of BPF by the kernel: one errno differs in meaning between loading and
 * attaching. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <bpf/libbpf.h>
#include "app/watch/watch.h"

static int load_says, attach_says;
static char said[512];

int __wrap_bpf_object__load_skeleton(struct bpf_object_skeleton *s);
int __wrap_bpf_object__attach_skeleton(struct bpf_object_skeleton *s);

int __wrap_bpf_object__load_skeleton(struct bpf_object_skeleton *s)
{
	return load_says;
}

int __wrap_bpf_object__attach_skeleton(struct bpf_object_skeleton *s)
{
	return attach_says;
}

static void event(void *ctx, const struct hp3_watch_event *event)
{
}

static void notice(void *ctx, const char *text)
{
	snprintf(said, sizeof(said), "%s", text);
}

static void refused(uint8_t verbs, int load, int attach)
{
	struct hp3_watch_options o = {.verbs = verbs, .event = event, .notice = notice};
	struct hp3_watch *w;

	load_says = load;
	attach_says = attach;
	assert_int_equal(hp3_watch_open(&o, &w), load < 0 ? load : attach);
}

static void by_the_verifier(void **state)
{
	static const uint8_t both[] = {HP3_WATCH_KERNEL, HP3_WATCH_LIBRARY};

	for (unsigned i = 0; i < 2; i++) {
		refused(both[i], -EACCES, 0);
		assert_non_null(strstr(said, "the verifier of this kernel refuses"));
		assert_null(strstr(said, "CAP_BPF"));
	}
}

static void for_want_of_a_capability(void **state)
{
	refused(HP3_WATCH_KERNEL, -EPERM, 0);
	assert_non_null(strstr(said, "CAP_BPF"));
	refused(HP3_WATCH_LIBRARY, -EPERM, 0);
	assert_non_null(strstr(said, "CAP_BPF"));
	refused(HP3_WATCH_KERNEL, 0, -EACCES);
	assert_non_null(strstr(said, "CAP_BPF"));
	assert_null(strstr(said, "verifier"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_the_verifier),
		cmocka_unit_test(for_want_of_a_capability),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
