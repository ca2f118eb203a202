/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once
/*
 * The columns of tables of flows (commands flows and watch), for display and --sort. Also computes
 * the rates of flows from two reads.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define HP3CTL_CELL_MAX 128u

struct hp3ctl_column {
	const char *name; /* name for --sort */
	const char *title;
	int width; /* < 0: left-aligned */
	bool number; /* sorted with the largest on top */
};

/* The first column is the flow's id. An entry without a name ends the array. */
extern const struct hp3ctl_column hp3ctl_columns[];
const char *hp3ctl_column_name(unsigned i); /* NULL after the last column */
unsigned hp3ctl_column(const char *name); /* the name must exist */

/* The cell as text; "-" if the value is not known. */
void hp3ctl_cell(unsigned column, json_t *flow, char text[HP3CTL_CELL_MAX]);

/* Sorts an array of flows by a column, and flows with equal values by their id. `reverse`: in
 * reverse order. */
void hp3ctl_sort(json_t *flows, unsigned column, bool reverse);

/*
 * Sets "acked_kbps", the rate of acknowledged bytes in kbit/s, of each flow that was also in the
 * previous read. `before`: the result of the previous call, an object whose keys are flow ids, or
 * NULL. Returns the object for the next call.
 */
json_t *hp3ctl_rates(json_t *flows, json_t *before);
