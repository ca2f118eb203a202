/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3_TEST_OFF_WORLD_H
#define HP3_TEST_OFF_WORLD_H
/*
 * An engine with some features switched off, one queue pair (or none), and every entry of the
 * engine's public headers as a call without arguments (test_engine_off.c).
 */
#include "engine/info.h"
#include "engine/policy.h"
#include "ppp/placement.h"

struct off_world {
	struct hp3_engine_config cfg;
	struct hp3_engine *e;
	size_t size;
	uint64_t now;
	struct hp3_acts acts;
	uint32_t flow; /* that calls name */
	struct hp3_ends ends;
};

struct off_entry {
	const char *name;
	int (*call)(struct off_world *w); /* what the entry returned; 0 where it returns nothing */
	/* The error that the header documents for features disabled by `cfg`; 0: none. */
	int (*promised)(const struct hp3_engine_config *cfg);
};

extern const struct off_entry off_entries[];
extern const unsigned off_entry_count;

/* Packets of the queue pair, as its RNIC sends them and as they come back. */
void off_request(struct off_world *w, uint32_t psn);
void off_ack(struct off_world *w, uint32_t psn);

#endif
