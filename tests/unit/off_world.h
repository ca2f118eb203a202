/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * For test_engine_off.c: an engine with some features disabled, and with one queue pair or none;
 * and a table that has each public function of the engine as a function without arguments.
 */
#include "engine/info.h"
#include "engine/policy.h"

struct off_world {
	struct hp3_engine_config cfg;
	struct hp3_engine *e;
	size_t size;
	uint64_t now;
	struct hp3_acts acts;
	uint32_t flow; /* argument of the calls */
	struct hp3_ends ends;
};

struct off_entry {
	const char *name;
	int (*call)(struct off_world *w); /* the engine's return value; 0: void */
	/* The error that the header documents for features disabled by `cfg`; 0: none. */
	int (*promised)(const struct hp3_engine_config *cfg);
};

extern const struct off_entry off_entries[];
extern const unsigned off_entry_count;

/* A request that the RNIC of the queue pair sends; an ACK that arrives for it. */
void off_request(struct off_world *w, uint32_t psn);
void off_ack(struct off_world *w, uint32_t psn);
