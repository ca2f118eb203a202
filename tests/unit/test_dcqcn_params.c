/* SPDX-License-Identifier: BSD-3-Clause */
/* The parameters of DCQCN: the published sets, and refused ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "dcqcn_reference.h"

/* The table of the published sets, as printed. */
static void presets_are_the_published_ones(void **state)
{
	static const struct {
		const char *name;
		uint32_t g, alpha, decrease, increase, ai, hai, min, cnp, f, kmin, kmax, pmax;
	} t[] = {
		{"paper", 1020, 55, 50, 55, 40, 40, 1, 50, 5, 5000, 200000, 1},
		{"connectx", 1019, 1, 4, 300, 5, 50, 1, 4, 1, 0, 0, 0},
		{"hpcc", 1020, 1, 4, 300, 20, 200, 1000, 0, 1, 400000, 1600000, 20},
		{"conweave", 1020, 1, 4, 300, 40, 100, 100, 4, 1, 100000, 400000, 20},
	};

	assert_int_equal(hp3_dcqcn_presets_n, sizeof(t) / sizeof(t[0]));
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		const struct hp3_dcqcn_preset *s = hp3_dcqcn_preset(t[i].name);

		assert_non_null(s);
		assert_int_equal(s->rp.dce_tcp_g, t[i].g);
		assert_int_equal(s->rp.dce_tcp_rtt, t[i].alpha);
		assert_int_equal(s->rp.rate_reduce_monitor_period, t[i].decrease);
		assert_int_equal(s->rp.rpg_time_reset, t[i].increase);
		assert_int_equal(s->rp.rpg_ai_rate, t[i].ai);
		assert_int_equal(s->rp.rpg_hai_rate, t[i].hai);
		assert_int_equal(s->rp.rpg_min_rate, t[i].min);
		assert_int_equal(s->min_time_between_cnps, t[i].cnp);
		assert_int_equal(s->rp.rpg_threshold, t[i].f);
		assert_int_equal(s->kmin, t[i].kmin);
		assert_int_equal(s->kmax, t[i].kmax);
		assert_int_equal(s->pmax, t[i].pmax);
	}
	assert_null(hp3_dcqcn_preset("timely"));
}

static void unsound_parameters_are_refused_by_name(void **state)
{
	const struct hp3_dcqcn_params sound = sound_preset("connectx");
	static const struct {
		size_t at;
		uint32_t value;
		const char *name;
	} t[] = {
#define BAD(field, value) {offsetof(struct hp3_dcqcn_params, field), value, #field ": "}
		BAD(rpg_max_rate, 0),
		BAD(rpg_max_rate, 1000001),
		BAD(rpg_min_rate, 0),
		BAD(rpg_min_rate, 100001),
		BAD(rpg_ai_rate, 100001),
		BAD(rpg_hai_rate, 100001),
		BAD(rate_to_set_on_first_cnp, 100001),
		BAD(rpg_threshold, 0),
		BAD(rpg_threshold, 32),
		BAD(rpg_time_reset, 0),
		BAD(dce_tcp_rtt, 0),
		BAD(rate_reduce_monitor_period, 0),
		BAD(dce_tcp_g, 1024),
		BAD(initial_alpha_value, 0),
		BAD(initial_alpha_value, 1025),
		BAD(rpg_gd, 9),
		BAD(rpg_gd, 12),
		BAD(rpg_min_dec_fac, 101),
		BAD(raise, 101),
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct hp3_dcqcn_params p = sound;
		const char *error;

		memcpy((char *)&p + t[i].at, &t[i].value, sizeof(uint32_t));
		error = hp3_dcqcn_check(&p);
		assert_non_null(error);
		assert_memory_equal(error, t[i].name, strlen(t[i].name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(presets_are_the_published_ones),
		cmocka_unit_test(unsound_parameters_are_refused_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
