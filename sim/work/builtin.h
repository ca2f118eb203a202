/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * Files that are built into the program: flow size distributions ("txt"), scenarios ("ini"), and
 * changes of balancers to the shipped policy ("policy").
 */

struct sim_builtin {
	const char *name, *kind, *text;
};

extern const struct sim_builtin sim_builtins[]; /* the last one has no name */

/* The text of the built-in file, or NULL. */
const char *sim_builtin_text(const char *name, const char *kind);
