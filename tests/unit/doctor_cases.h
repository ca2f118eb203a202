/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/* The faults of tests/unit/test_doctor.c, and more tests, by subject. */
#include "doctor_kit.h"

/* A fault, and the finding of the check `id` about it. */
struct doctor_case {
	const char *id;
	void (*break_it)(void);
	const char *what, *fix; /* parts of the finding */
};

struct doctor_cases {
	const struct doctor_case *rows;
	size_t n;
};

extern const struct doctor_cases doctor_host_cases, doctor_ports_cases, doctor_traffic_cases,
	doctor_rdma_cases;

/* doctor_traffic.c, doctor_rdma.c */
void traffic_that_the_host_keeps(void **state);
void one_master_is_reported_once(void **state);
void kernels_with_the_bug(void **state);
void answers_in_the_class_of_data_need_no_equal(void **state);
void few_ports_say_nothing_of_a_hash(void **state);
