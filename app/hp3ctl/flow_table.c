/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of the command flows. It is at most HP3CTL_WIDTH columns wide: the columns with the
 * highest priority that fit are shown. Long ids (IPv6) are on lines of their own.
 */
#include <stdio.h>
#include <string.h>
#include "app/hp3ctl/columns.h"
#include "app/hp3ctl/hp3ctl.h"

#define ID_MAX      48 /* longest id that shares a line with other columns */
#define COLUMNS_MAX 32u

/* Columns by priority, besides the flow's id and the column by which the table is sorted. */
static const char *const wanted[] = {"port", "state", "unpaired", "rate", "rtt", "marked", "moves",
	"home", "path", "local_qpn", "idle", "in_flight", "bytes"};

#define WANTED (sizeof(wanted) / sizeof(wanted[0]))

struct table {
	int width[COLUMNS_MAX]; /* 0: the column is not shown */
	bool id_apart; /* ids are on lines of their own */
};

/* The width of the longest cell; 0: no flow has a value, and the column may be left out. */
static int width_of_cells(unsigned column, json_t *flows, bool always)
{
	int width = (int)strlen(hp3ctl_columns[column].title);
	char text[HP3CTL_CELL_MAX];
	bool known = always;
	json_t *flow;
	size_t i;

	json_array_foreach (flows, i, flow) {
		int n;

		hp3ctl_cell(column, flow, text);
		n = (int)strlen(text);
		known = known || strcmp(text, "-") != 0;
		width = n > width ? n : width;
	}
	return known ? width : 0;
}

static void add_column(struct table *t, unsigned column, json_t *flows, int *left)
{
	const char *name = hp3ctl_columns[column].name;
	bool always = strcmp(name, "unpaired") != 0 && strcmp(name, "path") != 0;
	int width = width_of_cells(column, flows, always);

	if (column == 0 || t->width[column] != 0 || width == 0 || width + 1 > *left)
		return;
	t->width[column] = width;
	*left -= width + 1;
}

static void lay_out(struct table *t, json_t *flows, const char *sort)
{
	int left = HP3CTL_WIDTH;

	t->width[0] = width_of_cells(0, flows, true);
	t->id_apart = t->width[0] > ID_MAX;
	if (!t->id_apart)
		left -= t->width[0];
	if (sort != NULL)
		add_column(t, hp3ctl_column(sort), flows, &left);
	for (size_t i = 0; i < WANTED; i++)
		add_column(t, hp3ctl_column(wanted[i]), flows, &left);
}

/* NULL: the titles. */
static void print_row(const struct table *t, json_t *flow)
{
	char text[HP3CTL_CELL_MAX];
	int column = 0; /* where the line ends, without the blanks behind its last word */

	for (unsigned i = 0; hp3ctl_columns[i].name; i++) {
		bool is_left = hp3ctl_columns[i].width < 0;
		int width = t->width[i];

		if (width == 0)
			continue;
		if (flow)
			hp3ctl_cell(i, flow, text);
		else
			snprintf(text, sizeof(text), "%s", hp3ctl_columns[i].title);
		if (i == 0 && t->id_apart) {
			printf("%s\n", text);
			continue;
		}
		printf("%*s%*s", i ? 1 + column : column, "", is_left ? 0 : width, text);
		column = is_left ? width - (int)strlen(text) : 0;
	}
	putchar('\n');
}

void hp3ctl_print_flow_table(json_t *flows, const char *sort)
{
	json_t *reasons = json_object(), *flow;
	struct table t = {.id_apart = false};
	size_t i;

	lay_out(&t, flows, sort);
	print_row(&t, NULL);
	json_array_foreach (flows, i, flow) {
		print_row(&t, flow);
		hp3ctl_count_unpaired(reasons, flow);
	}
	if (json_object_size(reasons) > 0)
		putchar('\n');
	hp3ctl_print_unpaired(reasons);
	json_decref(reasons);
}
