/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The program as data: defined in program_text.c, loaded and dumped by program.c. Lists end with an
 * element whose name (or instruction) is NULL.
 */
#include <stdint.h>

struct hp3_program_field {
	const char *name;
	uint32_t bits;
};

struct hp3_program_struct {
	const char *name;
	struct hp3_program_field fields[40];
};

/* A header instance: `name` in the packet, of struct type `type`. `scratch`: it is never on the
 * wire. */
struct hp3_program_header {
	const char *name, *type;
	uint32_t scratch;
};

struct hp3_program_action {
	const char *name;
	const char *args; /* struct type, or NULL */
	const char *code[8];
};

/* match: "exact" or "lpm". Without keys, the default action is the only entry. */
struct hp3_program_table {
	const char *name;
	const char *key[4];
	const char *match[4];
	const char *actions[4];
	const char *miss; /* default action */
	const char *miss_args;
	uint32_t size;
};

/* A counter is a pair of register arrays, NAME_packets and NAME_bytes; `drops` has only packets. */
struct hp3_program_counter {
	const char *name;
	uint32_t size;
	uint32_t bytes;
};

extern const struct hp3_program_struct hp3_program_structs[];
extern const struct hp3_program_header hp3_program_headers[];
extern const struct hp3_program_action hp3_program_actions[];
extern const struct hp3_program_table hp3_program_tables[];
extern const struct hp3_program_counter hp3_program_counters[];
extern const char *const hp3_program_code[];
