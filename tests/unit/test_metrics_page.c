/* SPDX-License-Identifier: BSD-3-Clause */
/* The text of a page in both formats, and the choice of the format by the client's request. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "app/hp3d/metrics/page.h"
#include "app/hp3d/metrics/server.h"

static const struct hp3d_metric counter = {HP3D_METRIC_COUNTER, "hp3_sent_bytes", "rail,side",
	"bytes \"out\" \\ here\nand there", NULL, 0};
static const struct hp3d_metric gauge = {HP3D_METRIC_GAUGE, "hp3_level", "", "a level", NULL, 0};
static const struct hp3d_metric none = {HP3D_METRIC_GAUGE, "hp3_none", "", "no samples", NULL, 0};
static const struct hp3d_metric info = {HP3D_METRIC_INFO, "hp3_build", "version", "it", NULL, 0};
static const struct hp3d_metric times = {
	HP3D_METRIC_HISTOGRAM, "hp3_wait_seconds", "rail", "waits", NULL, 0};

static char *write_page(bool openmetrics)
{
	struct hp3d_page p;

	assert_true(hp3d_page_begin(&p, openmetrics));
	hp3d_page_family(&p, &counter);
	hp3d_page_count(&p, (struct hp3d_labels){{"a", "in\"n\\e\nr\x1b[2J\xc2\x9b"}}, UINT64_MAX);
	hp3d_page_count(&p, (struct hp3d_labels){{"b", ""}}, 0);
	hp3d_page_family(&p, &none);
	hp3d_page_family(&p, &gauge);
	hp3d_page_number(&p, (struct hp3d_labels){{NULL}}, 0.25);
	hp3d_page_family(&p, &info);
	hp3d_page_count(&p, (struct hp3d_labels){{"1"}}, 1);
	assert_true(hp3d_page_end(&p));
	return p.text.at;
}

static void openmetrics(void **state)
{
	char *text = write_page(true);

	assert_string_equal(text, "# HELP hp3_sent_bytes bytes \\\"out\\\" \\\\ here\\nand there\n"
				  "# TYPE hp3_sent_bytes counter\n"
				  "# UNIT hp3_sent_bytes bytes\n"
				  "hp3_sent_bytes_total{rail=\"a\",side=\"in\\\"n\\\\e\\nr?[2J?"
				  "\?\"} 18446744073709551615\n"
				  "hp3_sent_bytes_total{rail=\"b\",side=\"\"} 0\n"
				  "# HELP hp3_level a level\n"
				  "# TYPE hp3_level gauge\n"
				  "hp3_level 0.25\n"
				  "# HELP hp3_build it\n"
				  "# TYPE hp3_build info\n"
				  "hp3_build_info{version=\"1\"} 1\n"
				  "# EOF\n");
	free(text);
}

static void plain_text(void **state)
{
	char *text = write_page(false);

	assert_string_equal(text,
		"# HELP hp3_sent_bytes_total bytes \"out\" \\\\ here\\nand there\n"
		"# TYPE hp3_sent_bytes_total counter\n"
		"hp3_sent_bytes_total{rail=\"a\",side=\"in\\\"n\\\\e\\nr?[2J?\?\"} "
		"18446744073709551615\n"
		"hp3_sent_bytes_total{rail=\"b\",side=\"\"} 0\n"
		"# HELP hp3_level a level\n"
		"# TYPE hp3_level gauge\n"
		"hp3_level 0.25\n"
		"# HELP hp3_build_info it\n"
		"# TYPE hp3_build_info gauge\n"
		"hp3_build_info{version=\"1\"} 1\n");
	free(text);
}

/* Buckets add up, and every time lies in the first bucket that is not below it. */
static void histograms(void **state)
{
	struct hp3d_page p;
	struct hp3d_histogram h = {.sum_ns = 2500000000u};
	char line[128];

	assert_true(hp3d_page_begin(&p, true));
	assert_int_equal(hp3d_bucket_of(0), 0);
	assert_int_equal(hp3d_bucket_of(UINT64_MAX), HP3D_BUCKETS);
	for (unsigned k = 0; k < HP3D_BUCKETS; k++) {
		uint64_t bound = UINT64_C(1000) << k;

		assert_int_equal(hp3d_bucket_of(bound), k);
		assert_int_equal(hp3d_bucket_of(bound + 1), k + 1);
		h.bucket[k] = 1;
	}
	h.bucket[HP3D_BUCKETS] = 2;
	hp3d_page_family(&p, &times);
	hp3d_page_histogram(&p, (struct hp3d_labels){{"a"}}, &h);
	assert_true(hp3d_page_end(&p));
	assert_non_null(strstr(p.text.at, "# TYPE hp3_wait_seconds histogram\n"));
	assert_non_null(strstr(p.text.at, "hp3_wait_seconds_bucket{rail=\"a\",le=\"1e-06\"} 1\n"));
	assert_non_null(
		strstr(p.text.at, "hp3_wait_seconds_bucket{rail=\"a\",le=\"0.001024\"} 11\n"));
	snprintf(line, sizeof(line), "hp3_wait_seconds_bucket{rail=\"a\",le=\"+Inf\"} %u\n",
		HP3D_BUCKETS + 2);
	assert_non_null(strstr(p.text.at, line));
	assert_non_null(strstr(p.text.at, "hp3_wait_seconds_sum{rail=\"a\"} 2.5\n"));
	snprintf(line, sizeof(line), "hp3_wait_seconds_count{rail=\"a\"} %u\n", HP3D_BUCKETS + 2);
	assert_non_null(strstr(p.text.at, line));
	free(p.text.at);
}

/* A write fails, but the stream has no error afterwards: as in glibc, without memory. */
static void bytes_are_missing(void **state)
{
	struct hp3d_page p = {.text.out = fopen("/dev/full", "w")};

	assert_non_null(p.text.out);
	setvbuf(p.text.out, NULL, _IONBF, 0);
	hp3d_page_family(&p, &gauge);
	hp3d_page_number(&p, (struct hp3d_labels){{NULL}}, 0.25);
	clearerr(p.text.out);
	assert_false(hp3d_page_end(&p));
}

static void who_wants_openmetrics(void **state)
{
	static const char *const yes[] = {"application/openmetrics-text",
		"application/openmetrics-text; version=1.0.0",
		"application/openmetrics-text;version=\"1.0.0\"",
		"Application/OpenMetrics-Text ; Version = 1.0.0 ; q=0.1",
		/* Prometheus 2.42 and 2.53 */
		"application/openmetrics-text;version=1.0.0,application/openmetrics-text;"
		"version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		"application/openmetrics-text;version=1.0.0;q=0.5,application/"
		"openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		"text/plain;q=0.5, application/openmetrics-text;q=0.5"};
	static const char *const no[] = {NULL, "", "*/*", "text/plain", "text/html, */*",
		"application/openmetrics-text;version=0.0.1", "application/openmetrics-text;q=0",
		"application/openmetrics-text;q=0.000, */*", "application/openmetrics-text;q=x",
		"application/openmetrics-text;q=0.3,text/plain;q=0.301",
		"application/openmetrics-text;q=0.3,text/*", "application/openmetrics-text2",
		"xapplication/openmetrics-text", ",,;;==,q=1", ";", "=", "application/json"};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++)
		assert_true(hp3d_accepts_openmetrics(yes[i]));
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++)
		assert_false(hp3d_accepts_openmetrics(no[i]));
}

static void buckets_of_its_own(void **state)
{
	static const double le[] = {1e-5, 1e-2};
	static const uint64_t n[] = {5, 0, 2};
	struct hp3d_page p;

	assert_true(hp3d_page_begin(&p, true));
	hp3d_page_family(&p, &times);
	hp3d_page_buckets(&p, (struct hp3d_labels){{"a"}}, le, n, 2, 0.5);
	assert_true(hp3d_page_end(&p));
	assert_non_null(strstr(p.text.at, "hp3_wait_seconds_bucket{rail=\"a\",le=\"1e-05\"} 5\n"
					  "hp3_wait_seconds_bucket{rail=\"a\",le=\"0.01\"} 5\n"
					  "hp3_wait_seconds_bucket{rail=\"a\",le=\"+Inf\"} 7\n"
					  "hp3_wait_seconds_sum{rail=\"a\"} 0.5\n"
					  "hp3_wait_seconds_count{rail=\"a\"} 7\n"));
	free(p.text.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(openmetrics),
		cmocka_unit_test(plain_text),
		cmocka_unit_test(histograms),
		cmocka_unit_test(buckets_of_its_own),
		cmocka_unit_test(bytes_are_missing),
		cmocka_unit_test(who_wants_openmetrics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
