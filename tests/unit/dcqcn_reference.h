/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * DCQCN as in the paper, with floating point. Every timer event is simulated, one after the other
 * in order of time. This reference is slow and simple. It shares only the parameters with
 * cc/dcqcn.c.
 */
#include "cc/dcqcn.h"

struct reference {
	const struct hp3_dcqcn_params *p;
	double rate, target, alpha; /* Mb/s */
	uint64_t alpha_timer, inc_timer, reduced, pending_at; /* UINT64_MAX: off */
	double bytes;
	unsigned time_stage, byte_stage;
	bool cnp_in_period;
};

void reference_init(struct reference *r, const struct hp3_dcqcn_params *p);
void reference_run(struct reference *r, uint64_t now); /* fires all timers up to now */
void reference_cnp(struct reference *r, uint64_t now);
void reference_sent(struct reference *r, unsigned bytes, uint64_t now);

/* The preset with this name; the line rate is 100 Gb/s if the preset has none. Fails the test if
 * there is no such preset. */
struct hp3_dcqcn_params sound_preset(const char *name);
