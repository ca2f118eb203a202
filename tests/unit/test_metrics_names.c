/* SPDX-License-Identifier: BSD-3-Clause */
/* The names and labels of metrics.def follow the conventions of Prometheus. No two counters have
 * the same name: they are members of one JSON object. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <ctype.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/control/counters.h"
#include "app/hp3d/metrics/page.h"
#include "app/hp3d/metrics/table.h"

static bool is_name(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!islower((unsigned char)s[i]) && s[i] != '_' &&
			(i == 0 || !isdigit((unsigned char)s[i])))
			return false;
	return n > 0;
}

/* The conventions: what a label must not be, names that stand once and end as they have to. */
static void names_are_sound(void **state)
{
	static const char *const many[] = {"qpn", "port_number", "sport", "udp_port", "address",
		"local", "remote", "flow", "pair"};

	for (unsigned i = 0; i < hp3d_metric_count; i++) {
		const struct hp3d_metric *m = &hp3d_metrics[i];
		unsigned labels = 0;

		assert_true(is_name(m->name, strlen(m->name)));
		assert_true(
			strncmp(m->name, "hp3_", 4) == 0 || strncmp(m->name, "process_", 8) == 0);
		assert_null(strstr(m->name, "_total"));
		assert_true(*m->help != '\0');
		assert_true(m->type != HP3D_METRIC_HISTOGRAM ||
			    strcmp(hp3d_metric_unit(m), "seconds") == 0);
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(m->name, hp3d_metrics[k].name);
		for (const char *l = m->labels; *l != '\0'; l += *l == ',') {
			size_t n = strcspn(l, ",");

			assert_true(is_name(l, n));
			for (unsigned k = 0; k < sizeof(many) / sizeof(many[0]); k++)
				assert_false(strlen(many[k]) == n && strncmp(l, many[k], n) == 0);
			labels++;
			l += n;
		}
		assert_true(labels <= HP3D_LABELS_MAX);
	}
}

static void counters_have_names_of_their_own(void **state)
{
	for (unsigned i = 0; i < hp3d_counter_count(); i++)
		for (unsigned k = 0; k < i; k++)
			assert_string_not_equal(hp3d_counter(i).name, hp3d_counter(k).name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_sound),
		cmocka_unit_test(counters_have_names_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
