/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef HP3CTL_COLUMNS_H
#define HP3CTL_COLUMNS_H
/*
 * What a table of flows shows, for flows and watch: the columns, by which --sort goes, and the rate
 * that needs two reads.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define HP3CTL_CELL_MAX 128u

struct hp3ctl_column {
	const char *name; /* for --sort */
	const char *title;
	int width; /* < 0: to the left */
	bool number; /* sorted with the largest on top */
};

extern const struct hp3ctl_column
	hp3ctl_columns[]; /* the first is the flow's id; ends without name */
const char *hp3ctl_column_name(unsigned i); /* NULL behind the last */
unsigned hp3ctl_column(const char *name); /* one that there is */

/* The cell as text; "-" where nothing is known. */
void hp3ctl_cell(unsigned column, json_t *flow, char text[HP3CTL_CELL_MAX]);

/* Sorts an array of flows; equal ones by their id. `reverse`: the other way round. */
void hp3ctl_sort(json_t *flows, unsigned column, bool reverse);

/*
 * Acknowledged bytes per second, as 1,000 bits: sets "acked_kbps" of each flow that was also in the
 * read before (an object by id, made by this function; NULL: none was), and returns the object for
 * the next one.
 */
json_t *hp3ctl_rates(json_t *flows, json_t *before);

#endif
